//! A cancellation token for each thread, polled from deep inside of a task.
//!
//! A task is a chunk, and a chunk may be a shard of a gigabyte or keep a slow codec busy for a
//! second. Code in the middle of one polls here without an argument: the thread knows the job that
//! it works for. Only the calling thread asks the caller; workers see the answer.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Polled by a long call, on the calling thread only.
///
/// True cancels the call with [`EngineError::Interrupted`](crate::error::EngineError::Interrupted),
/// at the next step of the chunks that are in progress.
pub type Interrupt<'a> = &'a dyn Fn() -> bool;

/// How often the caller is asked whether to cancel.
pub(crate) const POLL: Duration = Duration::from_millis(20);

thread_local! {
    static CURRENT: Cell<*const CancelToken<'static>> = const { Cell::new(ptr::null()) };
}

/// What a thread knows about the job that it works for.
pub(crate) struct CancelToken<'a> {
    /// Set by the thread that ends the job.
    stop: &'a AtomicBool,
    interrupt: Option<Interrupt<'a>>,
    asked: Cell<Option<Instant>>,
    interrupted: Cell<bool>,
}

impl<'a> CancelToken<'a> {
    pub fn new(stop: &'a AtomicBool, interrupt: Option<Interrupt<'a>>) -> Self {
        Self { stop, interrupt, asked: Cell::new(None), interrupted: Cell::new(false) }
    }

    /// Runs `work`, during which [`is_over`] knows the job.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// The previous job of the thread: a callback of that job may have started this one.
        struct Before(*const CancelToken<'static>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _before = Before(CURRENT.replace(ptr::from_ref(self).cast()));
        work()
    }

    /// Whether the caller has cancelled the job.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// For use between tasks, which are often very short: the first call only notes the time.
    pub fn is_over(&self) -> bool {
        self.poll(false)
    }

    fn poll(&self, at_once: bool) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return true;
        }
        let Some(interrupt) = self.interrupt else { return false };
        let now = Instant::now();
        let due = self.asked.get().map_or(at_once, |last| now - last >= POLL);
        if due || self.asked.get().is_none() {
            self.asked.set(Some(now));
        }
        if due && interrupt() {
            self.interrupted.set(true);
            self.stop.store(true, Ordering::Relaxed);
        }
        self.interrupted.get()
    }
}

/// Whether this thread should stop what it does; false if it works for no job.
pub(crate) fn is_over() -> bool {
    // SAFETY: set by `during`, which has the value on its stack and restores the pointer before it
    // returns; the cell belongs to this thread.
    unsafe { CURRENT.get().as_ref() }.is_some_and(|token| token.poll(true))
}
