//! Whether the work of this thread is to go on, asked from deep inside of it.
//!
//! A task is a chunk, and a chunk may be a shard of a gigabyte or take a slow codec a second. What is
//! in the middle of one asks here, without having been handed anything: the thread knows the job
//! that it works for. Only the caller's own thread asks the caller; workers see its answer.

use std::cell::Cell;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Asked by a long call, on the calling thread only, whether to go on.
///
/// True ends the call with [`EngineError::Interrupted`](crate::error::EngineError::Interrupted), at the next step of the chunks in work.
pub type Interrupt<'a> = &'a dyn Fn() -> bool;

/// How often the caller is asked whether to go on.
pub(crate) const POLL: Duration = Duration::from_millis(20);

thread_local! {
    static CURRENT: Cell<*const CancelToken<'static>> = const { Cell::new(ptr::null()) };
}

/// What a thread knows of the job that it works for.
pub(crate) struct CancelToken<'a> {
    /// Set by whoever ends the job.
    stop: &'a AtomicBool,
    interrupt: Option<Interrupt<'a>>,
    asked: Cell<Option<Instant>>,
    interrupted: Cell<bool>,
}

impl<'a> CancelToken<'a> {
    pub fn new(stop: &'a AtomicBool, interrupt: Option<Interrupt<'a>>) -> Self {
        Self { stop, interrupt, asked: Cell::new(None), interrupted: Cell::new(false) }
    }

    /// Does `work`, in which [`is_over`] knows of the job.
    pub fn during<R>(&self, work: impl FnOnce() -> R) -> R {
        /// The job that the thread was at before: a callback of it may have begun this one.
        struct Before(*const CancelToken<'static>);
        impl Drop for Before {
            fn drop(&mut self) {
                CURRENT.set(self.0);
            }
        }
        let _before = Before(CURRENT.replace(ptr::from_ref(self).cast()));
        work()
    }

    /// Whether the caller has ended the job.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.get()
    }

    /// Between tasks, of which many take no time: the first call only notes when it was.
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

/// Whether this thread is to leave what it is at; false where there is no job.
pub(crate) fn is_over() -> bool {
    // SAFETY: set by `during`, which has the value on its stack and takes the pointer back before
    // it returns; it is this thread's own.
    unsafe { CURRENT.get().as_ref() }.is_some_and(|token| token.poll(true))
}
