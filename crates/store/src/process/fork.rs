//! State of a process, and what becomes of it when the process forks.
//!
//! A forked child has one thread and a copy of all memory: locks that other threads held stay held
//! for ever, threads that others waited for are gone. Two answers, each for its kind of state:
//!
//! - [`PerProcess`]: state that the child cannot use (lock tables with waiters, thread pools) is
//!   built anew by the child, and the inherited one is leaked. Nothing of it is ever touched.
//! - [`unforked`]: state that the child must keep (values in memory, descriptors that it has to
//!   close) is only changed inside short sections, and a fork waits until no thread is in one.
//!
//! What another module does around a fork, it registers ([`on_fork`]), so that this one knows of none.
//! All of it hangs on one `pthread_atfork`. Comparing `getpid` instead would cost a system call on every
//! entry and could not hold a fork back.

use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::process::sys;

/// Counts the forks between this process and its oldest ancestor that used the crate.
static GENERATION: AtomicU64 = AtomicU64::new(0);
static GATE: Gate = Gate::new();
static WATCHING: AtomicBool = AtomicBool::new(false);
/// Atomics, because a forked child reads them where it may not lock; filled from the front, once.
static HOOKS: [AtomicPtr<ForkHooks>; MOST_HOOKS] =
    [const { AtomicPtr::new(std::ptr::null_mut()) }; MOST_HOOKS];
/// More than there are modules that have hooks.
const MOST_HOOKS: usize = 8;

/// Changes in a forked child, and at no other time; state that remembers it knows its process.
#[must_use]
pub fn generation() -> u64 {
    watch();
    GENERATION.load(Ordering::Acquire)
}

/// Runs `section`, during which this process does not fork.
///
/// It must be short, must not wait for anything but other sections, and must not enter a second
/// one: a fork that waits for the first would be waited for by the second.
pub fn unforked<R>(section: impl FnOnce() -> R) -> R {
    watch();
    GATE.pass(section)
}

/// Sections that a fork waits for, and that wait while there is one.
///
/// Atomics alone: it is held and released by fork handlers, of the system or of an interpreter.
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

    /// Runs `section` while the gate is not held; what [`unforked`] asks of it goes here, too.
    pub fn pass<R>(&self, section: impl FnOnce() -> R) -> R {
        let _inside = Inside::enter(self);
        section()
    }

    /// Before a fork: keeps everyone out, and waits for those who are in.
    pub fn hold(&self) {
        self.forking.fetch_add(1, Ordering::SeqCst);
        while self.inside.load(Ordering::SeqCst) != 0 {
            std::thread::yield_now();
        }
    }

    /// After it, in the parent.
    pub fn release(&self) {
        // Saturating: a handler registered while another thread was forking runs without its first
        // half.
        let fewer = |forks: u32| Some(forks.saturating_sub(1));
        let _ = self.forking.fetch_update(Ordering::SeqCst, Ordering::SeqCst, fewer);
    }

    /// After it, in the child, which has one thread.
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

/// Registers the fork handlers. Threads that race here each register them, and the handlers bear
/// that; waiting for the first would be a wait that a fork could make endless.
fn watch() {
    if !WATCHING.load(Ordering::Acquire) {
        sys::at_fork(before_fork, after_fork_in_parent, after_fork_in_child);
        WATCHING.store(true, Ordering::Release);
    }
}

/// What a module does around every fork of its process.
///
/// A module that registers while another thread forks is called after that fork without having been
/// called before it, and its hooks must bear that.
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

/// Lets `hooks` run around every later fork; hooks that are registered already stay so, once.
///
/// Those that were registered last run first before a fork, and last after it, as with
/// `pthread_atfork`. They stay registered in forked children.
///
/// # Errors
/// There are more modules than places for them.
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
    HOOKS.iter().filter_map(|place| sys::leaked(place.load(Ordering::SeqCst)))
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
    /// A value that `build` makes when a process first asks for it.
    ///
    /// Threads that ask at the same time may each call it; one result is kept, the others dropped.
    #[must_use]
    pub const fn new(build: fn() -> T) -> Self {
        Self { current: AtomicPtr::new(std::ptr::null_mut()), build }
    }

    /// This process's value. No lock, and no wait for another thread that builds it.
    pub fn get(&'static self) -> &'static T {
        let current = self.current.load(Ordering::Acquire);
        match sys::leaked(current) {
            Some(built) if built.generation == GENERATION.load(Ordering::Acquire) => &built.value,
            _ => self.rebuild(),
        }
    }

    /// This process's value if it was built; nothing is built for the question.
    pub fn peek(&'static self) -> Option<&'static T> {
        let built = sys::leaked(self.current.load(Ordering::Acquire))?;
        let is_ours = built.generation == GENERATION.load(Ordering::Acquire);
        is_ours.then_some(&built.value)
    }

    #[cold]
    fn rebuild(&'static self) -> &'static T {
        let generation = generation();
        let fresh = Box::into_raw(Box::new(Built { generation, value: (self.build)() }));
        loop {
            let current = self.current.load(Ordering::Acquire);
            if let Some(built) = sys::leaked(current)
                && built.generation == generation
            {
                sys::drop_leaked(fresh);
                return &built.value;
            }
            let swapped =
                self.current.compare_exchange(current, fresh, Ordering::AcqRel, Ordering::Acquire);
            if swapped.is_ok()
                && let Some(built) = sys::leaked(fresh)
            {
                return &built.value;
            }
        }
    }
}
