//! Whether a thread that waits for a remote server should continue to wait.
//!
//! A local store responds at once; a remote one may take as long as its time limit. Therefore a
//! waiting thread checks at intervals. A thread that works for another one (a worker of a pool)
//! waits until its flag is raised. Any other thread asks the program, through a hook that its
//! outermost layer installs (Python's signal handlers, for instance).

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

static HOOK: OnceLock<fn() -> bool> = OnceLock::new();

thread_local! {
    static FLAG: RefCell<Option<Flag>> = const { RefCell::new(None) };
}

/// The flag that ends this thread's waits.
struct Flag {
    raised: Arc<AtomicBool>,
    /// Whether the program may end them, too.
    is_own_thread: bool,
}

/// Installs the hook that tells the program's own threads to stop waiting; only the first call
/// counts.
pub fn install(hook: fn() -> bool) {
    let _ = HOOK.set(hook);
}

/// Runs `work` on behalf of another thread; its waits end when `flag` is raised.
pub fn on_behalf<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    with(Flag { raised: Arc::clone(flag), is_own_thread: false }, work)
}

/// Runs `work` beside other threads, which raise `flag` when its result is no longer needed; the
/// program can still end its waits, too.
pub fn beside<R>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> R) -> R {
    with(Flag { raised: Arc::clone(flag), is_own_thread: true }, work)
}

fn with<R>(flag: Flag, work: impl FnOnce() -> R) -> R {
    /// The thread's previous flag; restored even if `work` panics.
    struct Outer(Option<Flag>);
    impl Drop for Outer {
        fn drop(&mut self) {
            FLAG.set(self.0.take());
        }
    }
    let _outer = Outer(FLAG.replace(Some(flag)));
    work()
}

/// Whether this thread should stop waiting.
#[must_use]
pub fn is_raised() -> bool {
    let (raised, asks) = FLAG.with_borrow(|flag| {
        flag.as_ref()
            .map_or((false, true), |flag| (flag.raised.load(Ordering::Relaxed), flag.is_own_thread))
    });
    raised || (asks && HOOK.get().is_some_and(|hook| hook()))
}
