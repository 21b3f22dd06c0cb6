//! Work for several servers at the same time: a call takes as long as the slowest of them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread::{Builder, scope};

use zarrix_store::Store;

use crate::error::EngineError;
use crate::threads::cancel::{Interrupt, POLL};

/// How many servers a call waits for at the same time.
const MOST_AT_ONCE: usize = 16;

/// An error of a call, which may be a consequence of another one.
pub(super) trait CallError: Send {
    /// The error of a call that was cancelled.
    fn interrupted() -> Self;

    /// Whether the work was cancelled.
    fn is_interrupted(&self) -> bool;
}

impl CallError for EngineError {
    fn interrupted() -> Self {
        Self::Interrupted
    }

    fn is_interrupted(&self) -> bool {
        matches!(self, Self::Interrupted)
    }
}

impl CallError for (usize, EngineError) {
    fn interrupted() -> Self {
        (0, EngineError::Interrupted)
    }

    fn is_interrupted(&self) -> bool {
        self.1.is_interrupted()
    }
}

/// Calls `work` for each item: for those whose store is a server, on threads of their own. An error
/// stops the others.
pub(super) fn for_each_store<'a, T: Sync, E: CallError>(
    items: &'a [T],
    store: impl Fn(&T) -> Option<&'a dyn Store>,
    interrupt: Interrupt<'_>,
    work: &(dyn Fn(&T, Interrupt<'_>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    // Stores in Python may belong to a thread, and answer while they hold the GIL.
    let waits =
        |item: &&T| store(item).is_some_and(|store| store.is_remote() && store.gap().is_some());
    let (servers, others): (Vec<&T>, Vec<&T>) = items.iter().partition(waits);
    others.into_iter().try_for_each(|item| work(item, interrupt))?;
    servers.chunks(MOST_AT_ONCE).try_for_each(|some| at_once(some, interrupt, work))
}

fn at_once<T: Sync, E: CallError>(
    items: &[&T],
    interrupt: Interrupt<'_>,
    work: &(dyn Fn(&T, Interrupt<'_>) -> Result<(), E> + Sync),
) -> Result<(), E> {
    let Some((first, rest)) = items.split_first() else { return Ok(()) };
    let stop = AtomicBool::new(false);
    let done_by = |item: &T, interrupt: Interrupt<'_>| {
        let done = work(item, interrupt);
        if done.is_err() {
            stop.store(true, Ordering::Relaxed);
        }
        done
    };
    scope(|scope| {
        let (sender, ended) = channel();
        let (mut own, mut results) = (vec![*first], Vec::new());
        for &item in rest {
            let (sender, stop, done_by) = (sender.clone(), &stop, &done_by);
            let body = move || {
                // It is received until all threads have ended.
                let _ = sender.send(done_by(item, &|| stop.load(Ordering::Relaxed)));
            };
            // Where the system has no further thread, the caller does the work.
            if Builder::new().name("zarrix-server".to_owned()).spawn_scoped(scope, body).is_err() {
                own.push(item);
            }
        }
        drop(sender);
        for item in own {
            results.push(done_by(item, &|| stop.load(Ordering::Relaxed) || interrupt()));
        }
        results.extend(wait_for_all(&ended, &stop, interrupt));
        first_error(results)
    })
}

/// The results of other threads; the caller is asked meanwhile whether to cancel.
fn wait_for_all<E: CallError>(
    ended: &Receiver<Result<(), E>>,
    stop: &AtomicBool,
    interrupt: Interrupt<'_>,
) -> Vec<Result<(), E>> {
    let mut results = Vec::new();
    loop {
        match ended.recv_timeout(POLL) {
            Ok(result) => results.push(result),
            Err(RecvTimeoutError::Disconnected) => return results,
            Err(RecvTimeoutError::Timeout) => {
                if !stop.load(Ordering::Relaxed) && interrupt() {
                    stop.store(true, Ordering::Relaxed);
                    results.push(Err(E::interrupted()));
                }
            }
        }
    }
}

/// The error that made the others stop.
fn first_error<E: CallError>(results: Vec<Result<(), E>>) -> Result<(), E> {
    let mut errors: Vec<E> = results.into_iter().filter_map(Result::err).collect();
    let cause = errors.iter().position(|error| !error.is_interrupted()).unwrap_or_default();
    if errors.is_empty() { Ok(()) } else { Err(errors.swap_remove(cause)) }
}
