//! Whether a thread that waits for a remote server should go on waiting.
//!
//! A local store answers at once; a remote one may take as long as its time limit. Therefore a
//! waiting thread asks from time to time. A thread that works for another one (a worker of a pool)
//! goes on until its flag is raised; any other thread asks the program, through a hook that its
//! outermost layer installs (Python's signal handlers, for instance).

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static HOOK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static FLAG: RefCell<Option<Flag>> = const { RefCell::new(None) };
}

/// What ends this thread's waits.
struct Flag {
    raised: Arc<AtomicBool>,
    /// Whether the program may end them, too.
    is_own_thread: bool,
}

/// Installs what tells a waiting thread of the program's own to stop; the first one stays.
pub fn install(hook: fn() -> bool) {
    let _ = HOOK.set(hook);
}

/// Runs `work` on behalf of another thread; a `flag` that is raised ends its waits.
pub fn on_behalf<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    with(Flag { raised: Arc::clone(flag), is_own_thread: false }, work)
}

/// Runs `work` with others who raise `flag` when it has become pointless; the program still ends
/// its waits, too.
pub fn beside<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    with(Flag { raised: Arc::clone(flag), is_own_thread: true }, work)
}

fn with<R>(flag: Flag, work: impl FnOnce() -> R) -> R {
    /// What ended the thread's waits before; also where `work` panics.
    struct Outer(Option<Flag>);
    impl Drop for Outer {
        fn drop(&mut self) {
            FLAG.set(self.0.take());
        }
    }
    let _outer = Outer(FLAG.replace(Some(flag)));
    work()
}

/// Whether this thread is to stop waiting.
#[must_use]
pub fn is_raised() -> bool {
    let (raised, asks) = FLAG.with_borrow(|flag| {
        flag.as_ref()
            .map_or((false, true), |flag| (flag.raised.load(Ordering::Relaxed), flag.is_own_thread))
    });
    raised || (asks && HOOK.get().is_some_and(|hook| hook()))
}
