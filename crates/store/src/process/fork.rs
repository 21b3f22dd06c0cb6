//! State of a process, and how it survives a fork.
//!
//! A forked child has one thread and a copy of all memory: locks that other threads held stay
//! locked forever, and threads that others waited for do not exist. There are two solutions, one
//! for each kind of state:
//!
//! - [`PerProcess`]: state that the child cannot use (lock tables with waiters, thread pools) is
//!   built anew by the child. The inherited state is leaked and never accessed.
//! - [`unforked`]: state that the child must keep (values in memory, descriptors that it has to
//!   close) is only changed inside short sections, and a fork waits until no thread is in one.
//!
//! Other modules register their work around a fork ([`on_fork`]), so that this module depends on
//! none of them. All of it uses one `pthread_atfork`. Comparing `getpid` instead would cost a
//! system call on every entry, and could not delay a fork.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::process::leaked::{drop_leaked, leaked};
use crate::sys;

/// Counts the forks between this process and its oldest ancestor that used the crate.
static GENERATION: AtomicU64 = AtomicU64::new(0);
static GATE: Gate = Gate::new();
static WATCHING: AtomicBool = AtomicBool::new(false);
/// Atomics, because a forked child must not lock when it reads them; filled from the front, never
/// removed.
static HOOKS: [AtomicPtr<ForkHooks>; MOST_HOOKS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST_HOOKS];
/// More than the number of modules with hooks.
const MOST_HOOKS: usize = 8;

/// Changes in a forked child, and at no other time; state that stores it can tell its own process.
#[must_use]
pub fn generation() -> u64 {
    watch();
    GENERATION.load(Ordering::Acquire)
}

/// Runs `section`, during which this process does not fork.
///
/// It must be short, must wait for nothing but other sections, and must not enter a nested section:
/// a fork that waits for the outer one would block the inner one, a deadlock.
pub fn unforked<R>(section: impl FnOnce() -> R) -> R {
    watch();
    GATE.pass(section)
}

/// Sections that a fork waits for, and that wait while a fork is under way.
///
/// Only atomics: fork handlers, of the system or of an interpreter, hold and release it.
#[derive(Debug)]
pub struct Gate {
    /// Forks under way in this process.
    forking: AtomicU32,
    inside: AtomicU32,
}

impl Gate {
    /// A gate that is open.
    #[must_use]
    pub const fn new() -> Self {
        Self { forking: AtomicU32::new(0), inside: AtomicU32::new(0) }
    }

    /// Runs `section` while the gate is not held, under the conditions of [`unforked`].
    pub fn pass<R>(&self, section: impl FnOnce() -> R) -> R {
        let _inside = Inside::enter(self);
        section()
    }

    /// Before a fork: lets no thread enter, and waits for the threads inside.
    pub fn hold(&self) {
        self.forking.fetch_add(1, Ordering::SeqCst);
        while self.inside.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }

    /// After a fork, in the parent.
    pub fn release(&self) {
        // Saturating: a handler that was registered while another thread was forking runs here
        // without its first half.
        let fewer = |forks: u32| Some(forks.saturating_sub(1));
        let _ = self.forking.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
    }

    /// After a fork, in the child, which has one thread.
    pub fn reset(&self) {
        self.inside.store(0, Ordering::SeqCst);
        self.forking.store(0, Ordering::SeqCst);
    }
}

impl Default for Gate {
    fn default() -> Self {
        Self::new()
    }
}

struct Inside<'a>(&'a Gate);

impl<'a> Inside<'a> {
    fn enter(gate: &'a Gate) -> Self {
        loop {
            gate.inside.fetch_add(1, Ordering::SeqCst);
            if gate.forking.load(Ordering::SeqCst) == 0 {
                return Self(gate);
            }
            gate.inside.fetch_sub(1, Ordering::SeqCst);
            std::thread::yield_now();
        }
    }
}

impl Drop for Inside<'_> {
    fn drop(&mut self) {
        self.0.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Registers the fork handlers. Threads that race here each register them, which the handlers
/// tolerate. If one waited for another, a fork could make the wait endless.
fn watch() {
    if !WATCHING.load(Ordering::Acquire) {
        sys::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
        WATCHING.store(true, Ordering::Release);
    }
}

/// The work of a module around every fork of its process.
///
/// If a module registers while another thread forks, its hooks are called after that fork, but not
/// before it. They must tolerate that.
#[derive(Debug)]
pub struct ForkHooks {
    /// Runs in the parent before the fork, when no thread is in an [`unforked`] section.
    pub before: fn(),
    /// Runs in the parent after the fork, before such sections may be entered again.
    pub parent: fn(),
    /// Runs in the child, where only atomics and system calls are allowed: the child of a process
    /// with threads may not lock or allocate here. [`generation`] has changed by then.
    pub child: fn(),
}

/// Runs `hooks` around every later fork; hooks that are already registered are not added again.
///
/// The hooks that were registered last run first before a fork, and last after it, as with
/// `pthread_atfork`. They stay registered in forked children.
///
/// # Errors
/// There are too many modules with hooks.
pub fn on_fork(hooks: &'static ForkHooks) -> std::io::Result<()> {
    watch();
    let new = std::ptr::from_ref(hooks).cast_mut();
    for place in &HOOKS {
        let order = Ordering::SeqCst;
        match place.compare_exchange(std::ptr::null_mut(), new, order, order) {
            Ok(_) => return Ok(()),
            Err(other) if std::ptr::eq(other, new) => return Ok(()),
            Err(_) => {}
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::QuotaExceeded))
}

/// The registered hooks, in the order in which they were registered.
fn hooks() -> impl DoubleEndedIterator<Item = &'static ForkHooks> {
    HOOKS.iter().filter_map(|place| leaked(place.load(Ordering::SeqCst)))
}

extern "C" fn before_fork() {
    GATE.hold();
    hooks().rev().for_each(|hooks| (hooks.before)());
}

extern "C" fn after_fork_in_parent() {
    hooks().for_each(|hooks| (hooks.parent)());
    GATE.release();
}

/// Only atomics and system calls: the child of a process with threads may do little else here.
extern "C" fn after_fork_in_child() {
    GENERATION.fetch_add(1, Ordering::SeqCst);
    hooks().for_each(|hooks| (hooks.child)());
    GATE.reset();
}

/// A value that every process builds for itself; a forked child leaks its parent's.
#[derive(Debug)]
pub struct PerProcess<T: Send + Sync + 'static> {
    current: AtomicPtr<Built<T>>,
    build: fn() -> T,
}

#[derive(Debug)]
struct Built<T> {
    generation: u64,
    value: T,
}

impl<T: Send + Sync + 'static> PerProcess<T> {
    /// A value that `build` makes on the first use in a process.
    ///
    /// Threads that race for the first use may each call it; one result is used, the others are
    /// dropped.
    #[must_use]
    pub const fn new(build: fn() -> T) -> Self {
        Self { current: AtomicPtr::new(std::ptr::null_mut()), build }
    }

    /// This process's value. It takes no lock, and waits for no other thread that builds the value.
    pub fn get(&'static self) -> &'static T {
        let current = self.current.load(Ordering::Acquire);
        match leaked(current) {
            Some(built) if built.generation == GENERATION.load(Ordering::Acquire) => &built.value,
            _ => self.rebuild(),
        }
    }

    /// This process's value if it was built; this call does not build it.
    pub fn peek(&'static self) -> Option<&'static T> {
        let built = leaked(self.current.load(Ordering::Acquire))?;
        let is_ours = built.generation == GENERATION.load(Ordering::Acquire);
        is_ours.then_some(&built.value)
    }

    #[cold]
    fn rebuild(&'static self) -> &'static T {
        let generation = generation();
        let fresh = Box::into_raw(Box::new(Built { generation, value: (self.build)() }));
        loop {
            let current = self.current.load(Ordering::Acquire);
            if let Some(built) = leaked(current)
                && built.generation == generation
            {
                drop_leaked(fresh);
                return &built.value;
            }
            let swapped =
                self.current.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_ok()
                && let Some(built) = leaked(fresh)
            {
                return &built.value;
            }
        }
    }
}
