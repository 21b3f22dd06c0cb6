//! How far a call has come: other threads wait for its first entries while it reads the rest.
//!
//! A caller that uses the entries one after the other needs not wait for the last one. The chunks
//! of such a call are read in the order of the first entry that needs them, each once. We rejected
//! several short calls, which decode the chunks that their entries share once per call.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Tells other threads which entries of a running call are complete.
#[derive(Debug, Default)]
pub struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// All entries below this number are complete.
    complete: usize,
    /// Nothing more will be complete.
    is_over: bool,
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many of the first entries are complete.
    pub fn complete(&self) -> usize {
        self.state().complete
    }

    /// Waits until `count` entries are complete, the call has ended, or the time is over. Returns
    /// how many entries are complete, and whether the call has ended.
    pub fn wait(&self, count: usize, most: Duration) -> (usize, bool) {
        let begun = Instant::now();
        let mut state = self.state();
        while state.complete < count && !state.is_over {
            let left = most.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            let waited = self.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        (state.complete, state.is_over)
    }

    fn advance(&self, complete: usize) {
        let mut state = self.state();
        if complete > state.complete {
            state.complete = complete;
            self.changed.notify_all();
        }
    }

    /// The call has ended.
    pub fn end(&self) {
        self.state().is_over = true;
        self.changed.notify_all();
    }
}

/// Counts the chunks that entries still need, and reports entries to a [`Progress`].
#[derive(Debug)]
pub(crate) struct Tally<'a> {
    progress: &'a Progress,
    /// For each entry, the chunks that it still needs.
    pending: Vec<AtomicUsize>,
    /// The first entry that still needs one.
    first: Mutex<usize>,
}

impl<'a> Tally<'a> {
    /// For entries that need so many chunks each.
    pub fn new(progress: &'a Progress, pending: Vec<AtomicUsize>) -> Self {
        Self { progress, pending, first: Mutex::new(0) }
    }

    /// A chunk was read for an entry. How many it still needs.
    pub fn read(&self, entry: usize) -> usize {
        self.pending[entry].fetch_sub(1, Ordering::AcqRel) - 1
    }

    /// Reports the entries from the first on that need nothing more.
    pub fn report(&self) {
        let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
        let done = self.pending[*first..]
            .iter()
            .take_while(|pending| pending.load(Ordering::Acquire) == 0)
            .count();
        *first += done;
        self.progress.advance(*first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_reported_from_the_first_on() {
        let progress = Progress::default();
        let pending = [1, 2, 0, 1].map(AtomicUsize::new).into();
        let tally = Tally::new(&progress, pending);
        assert_eq!(tally.read(1), 1);
        assert_eq!(tally.read(1), 0);
        tally.report();
        assert_eq!(progress.complete(), 0);
        assert_eq!(tally.read(0), 0);
        tally.report();
        assert_eq!(progress.wait(3, Duration::ZERO), (3, false));
        assert_eq!(progress.wait(4, Duration::from_millis(1)), (3, false));
        progress.end();
        assert_eq!(progress.wait(4, Duration::MAX), (3, true));
    }
}
