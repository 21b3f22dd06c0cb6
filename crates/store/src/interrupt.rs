//! Whether a thread that waits for somebody far away is to go on waiting.
//!
//! A local store answers at once; a remote one may take as long as its time limit. So whoever waits
//! asks now and then. A thread that works for another one (a worker of a pool) goes on until its
//! flag is raised; any other thread asks the program, through a hook that its outermost layer
//! installs (Python's signal handlers, for instance).

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static HOOK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// Installs what tells a waiting thread of the program's own to stop; the first one stays.
pub fn install(hook: fn() -> bool) {
    let _ = HOOK.set(hook);
}

/// Runs `work` on behalf of another thread, which raises `flag` to have its waits ended.
pub fn on_behalf<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    let outer = FLAG.replace(Some(Arc::clone(flag)));
    let result = work();
    FLAG.set(outer);
    result
}

/// Whether this thread is to stop waiting.
#[must_use]
pub fn is_raised() -> bool {
    let flag = FLAG.with_borrow(|flag| flag.as_ref().map(|flag| flag.load(Ordering::Relaxed)));
    flag.unwrap_or_else(|| HOOK.get().is_some_and(|hook| hook()))
}
