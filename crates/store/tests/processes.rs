//! Guarantees between processes: no update is lost, a kill tears nothing, and a fork never hangs.
//!
//! Children are forked and not spawned, so that each also shows that a forked child of a process
//! with threads can use the crate. A child that fails or hangs (an alarm kills it) fails its test.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]
#![expect(clippy::panic, reason = "a test that fails may panic")]

mod test_folder;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use test_folder::TestFolder;
use zarrix_store::process::{ForkHooks, on_fork};
use zarrix_store::{Durability, LOCKS_ARE_WHOLE, LocalStore, MemoryStore, Store};

/// The limit for a child that hangs. It is generous, since a busy machine with a busy disk can stop
/// any child for many seconds.
const HANGS_S: u32 = 300;

/// Whether holders of one lock write one partial file, in turn, so that the next one replaces what a
/// killed one left.
const NAMES_ARE_SHARED: bool = !LOCKS_ARE_WHOLE;

/// Keeps the standard library from a lock that no fork handler knows.
///
/// The runtime of a Rust executable handles stack overflows. Each thread that starts or ends then
/// takes a lock of the standard library, and a child that was forked meanwhile cannot start a thread
/// any more: about one child of a thousand hung. The runtime leaves signals alone that have another
/// action at its start, and a Rust library in another executable has no such runtime. A fault ends
/// the process although its signal is ignored.
#[used]
#[cfg_attr(target_os = "macos", unsafe(link_section = "__DATA,__mod_init_func"))]
#[cfg_attr(not(target_os = "macos"), unsafe(link_section = ".init_array"))]
static BEFORE_THE_RUNTIME: extern "C" fn() = {
    extern "C" fn ignore_faults() {
        // SAFETY: to ignore a signal runs no code of ours.
        unsafe {
            libc::signal(libc::SIGSEGV, libc::SIG_IGN);
            libc::signal(libc::SIGBUS, libc::SIG_IGN);
        }
    }
    ignore_faults
};

/// A forked child; killed on drop if its test did not wait for it.
struct Child(libc::pid_t);

impl Child {
    /// Forks a child that runs `work`.
    fn fork(work: impl FnOnce()) -> Self {
        Self::fork_for(HANGS_S, work)
    }

    /// Forks a child that runs `work` and is killed after `limit_s` seconds.
    fn fork_for(limit_s: u32, work: impl FnOnce()) -> Self {
        // SAFETY: the C library keeps its own locks usable in the child, ours is what is tested,
        // and the child leaves by `_exit` without unwinding into its copy of the harness.
        unsafe {
            let pid = libc::fork();
            if pid == 0 {
                libc::alarm(limit_s);
                let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
                libc::_exit(i32::from(result.is_err()));
            }
            assert!(pid > 0);
            Self(pid)
        }
    }

    fn kill(&self) {
        // SAFETY: the process is our child and has not been waited for.
        unsafe { libc::kill(self.0, libc::SIGKILL) };
    }

    fn is_alive(pid: libc::pid_t) -> bool {
        // SAFETY: signal 0 only asks.
        unsafe { libc::kill(pid, 0) == 0 }
    }

    /// Its exit code, or minus the signal that killed it.
    fn wait(self) -> i32 {
        let mut status = 0;
        // SAFETY: as above; `status` outlives the call.
        unsafe { libc::waitpid(self.0, &raw mut status, 0) };
        std::mem::forget(self);
        if libc::WIFEXITED(status) { libc::WEXITSTATUS(status) } else { -libc::WTERMSIG(status) }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
        // SAFETY: as above.
        unsafe { libc::waitpid(self.0, std::ptr::null_mut(), 0) };
    }
}

fn all_succeed(children: Vec<Child>) {
    let codes: Vec<i32> = children.into_iter().map(Child::wait).collect();
    assert_eq!(codes, vec![0; codes.len()]);
}

fn put(store: &dyn Store, key: &str, value: &[u8]) {
    store.put(key, value, Durability::Process).unwrap();
}

fn number(store: &dyn Store, key: &str) -> u64 {
    let mut value = Vec::new();
    match store.get_into(key, &mut value).unwrap() {
        Some(_) => String::from_utf8(value).unwrap().parse().unwrap(),
        None => 0,
    }
}

fn increment(store: &dyn Store, anchor: &str, key: &str) {
    let lock = store.lock(anchor, key).unwrap();
    assert!(lock.is_process_wide());
    let next = number(store, key) + 1;
    put(store, key, next.to_string().as_bytes());
}

#[test]
fn processes_that_update_one_key_while_its_anchor_is_replaced_lose_nothing() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"0");
    let replacer = Child::fork(|| {
        loop {
            increment(&store, "a/.zarray", "a/.zarray");
        }
    });
    let writers = (0..4)
        .map(|_| Child::fork(|| (0..200).for_each(|_| increment(&store, "a/.zarray", "a/0.0"))));
    all_succeed(writers.collect());
    drop(replacer);
    assert_eq!(number(&store, "a/0.0"), 800);
    assert!(number(&store, "a/.zarray") > 10);
}

#[test]
fn an_anchor_is_locked_although_many_processes_write_its_chunks_without_pause() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"0");
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let key = format!("a/{writer}");
            let store = &store;
            Child::fork(move || {
                loop {
                    increment(store, "a/.zarray", &key);
                }
            })
        })
        .collect();
    let replacer =
        Child::fork(|| (0..100).for_each(|_| increment(&store, "a/.zarray", "a/.zarray")));
    all_succeed(vec![replacer]);
    drop(writers);
    assert_eq!(number(&store, "a/.zarray"), 100);
}

#[test]
fn processes_that_create_and_replace_an_anchor_lose_no_update() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    std::fs::create_dir(folder.path("s")).unwrap();
    let writers = (0..4)
        .map(|_| Child::fork(|| (0..200).for_each(|_| increment(&store, ".zattrs", ".zattrs"))));
    all_succeed(writers.collect());
    assert_eq!(number(&store, ".zattrs"), 800);
}

#[test]
fn an_anchor_stays_locked_when_its_holder_has_replaced_it() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, ".zarray", b"0");
    let writers = (0..4).map(|_| {
        Child::fork(|| {
            for _ in 0..50 {
                let _lock = store.lock(".zarray", ".zarray").unwrap();
                (0..3).for_each(|_| increment(&store, ".zarray", ".zarray"));
            }
        })
    });
    all_succeed(writers.collect());
    assert_eq!(number(&store, ".zarray"), 600);
}

#[test]
fn a_group_opened_as_a_store_of_its_own_has_the_same_locks() {
    let folder = TestFolder::new();
    let outer = LocalStore::new(folder.path("s"));
    let inner = LocalStore::new(folder.path("s/g"));
    put(&outer, "g/a/.zarray", b"{}");
    let writers = (0..4).map(|writer| {
        Child::fork(|| {
            for _ in 0..150 {
                match writer % 2 {
                    0 => increment(&outer, "g/a/.zarray", "g/a/c/0"),
                    _ => increment(&inner, "a/.zarray", "a/c/0"),
                }
            }
        })
    });
    all_succeed(writers.collect());
    assert_eq!(number(&outer, "g/a/c/0"), 600);
}

#[test]
fn a_killed_writer_leaves_a_complete_value_and_one_hidden_file() {
    const SIZE: usize = 1 << 20;
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"{}");
    put(&store, "a/0", &vec![0; SIZE]);
    let mut leftovers = 0;
    let generation = || store.get_ranges_into("a/0", &[], &mut Vec::new()).unwrap();
    // On a busy machine, more than fifty kills may be needed until one interrupts a write.
    for round in 0..500_u64 {
        if round >= 50 && leftovers > 0 {
            break;
        }
        let before = generation();
        let writer = Child::fork(|| {
            for version in 1_u8.. {
                let _lock = store.lock("a/.zarray", "a/0").unwrap();
                put(&store, "a/0", &vec![version; SIZE]);
            }
        });
        while generation() == before {
            std::thread::yield_now();
        }
        std::thread::sleep(Duration::from_micros(round * 7919 % 5000));
        writer.kill();
        assert_eq!(writer.wait(), -libc::SIGKILL);
        let mut value = Vec::new();
        store.get_into("a/0", &mut value).unwrap().unwrap();
        assert_eq!(value.len(), SIZE);
        assert_eq!(value.iter().filter(|&&byte| byte != value[0]).count(), 0);
        let files = std::fs::read_dir(folder.path("s/a")).unwrap().count();
        let hidden = if NAMES_ARE_SHARED { files - 2 } else { files - 2 - leftovers };
        assert!(hidden <= 1, "{files} files");
        leftovers += hidden;
        assert_eq!(store.list_prefix("").unwrap(), ["a/.zarray", "a/0"]);
        assert_eq!(store.list_dir("a").unwrap().keys, [".zarray", "0"]);
    }
    assert!(leftovers > 0, "no kill fell into a write: the test showed nothing");
    let _lock = store.lock("a/.zarray", "a/0").unwrap();
    put(&store, "a/0", b"x");
    let kept = if NAMES_ARE_SHARED { 0 } else { leftovers };
    assert_eq!(std::fs::read_dir(folder.path("s/a")).unwrap().count(), 2 + kept);
}

#[test]
fn a_killed_holder_s_lock_is_free_at_once_although_its_forked_child_lives() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"{}");
    let holder = Child::fork(|| {
        let _lock = store.lock("a/.zarray", "a/0").unwrap();
        // It outlives its parent, and the test kills it.
        let grandchild = Child::fork(|| std::thread::sleep(Duration::from_secs(HANGS_S.into())));
        put(&store, "grandchild", grandchild.0.to_string().as_bytes());
        grandchild.wait();
    });
    let grandchild = loop {
        match number(&store, "grandchild") {
            0 => std::thread::sleep(Duration::from_millis(1)),
            pid => break libc::pid_t::try_from(pid).unwrap(),
        }
    };
    holder.kill();
    assert_eq!(holder.wait(), -libc::SIGKILL);
    all_succeed(vec![Child::fork(|| increment(&store, "a/.zarray", "a/0"))]);
    assert!(Child::is_alive(grandchild), "the lock may have been free because no process had it");
    // SAFETY: it was alive just now, and ends by itself only after minutes.
    unsafe { libc::kill(grandchild, libc::SIGKILL) };
}

/// Forks 200 children while threads read, write and hold locks; each child does all three. Where a
/// lock is of the whole array, none is held for longer than a write: all would wait for it.
fn fork_while_busy(store: &dyn Store) {
    let busy = AtomicBool::new(true);
    put(store, "a/.zarray", b"{}");
    put(store, "a/fixed", &[7; 16 << 10]);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let busy = &busy;
            scope.spawn(move || {
                let key = format!("a/{thread}");
                let mut value = Vec::new();
                while busy.load(Ordering::SeqCst) {
                    let lock = store.lock("a/.zarray", &key).unwrap();
                    put(store, &key, b"12");
                    drop(lock);
                    store.get_into("a/fixed", &mut value).unwrap();
                    store.list_dir("a").unwrap();
                }
            });
        }
        let held_here = (!LOCKS_ARE_WHOLE).then(|| store.lock("a/.zarray", "a/held").unwrap());
        for round in 0..200 {
            let child = Child::fork(|| {
                let mut value = Vec::new();
                store.get_into("a/fixed", &mut value).unwrap().unwrap();
                assert_eq!(value, [7; 16 << 10]);
                let key = format!("a/child{}", round % 4);
                drop(store.lock("a/.zarray", &key).unwrap());
                let lock = store.lock("a/.zarray", &key).unwrap();
                put(store, &key, b"34");
                assert_eq!(number(store, &key), 34);
                let _lock = (!LOCKS_ARE_WHOLE).then_some(lock);
                std::thread::scope(|scope| {
                    let inner = scope.spawn(|| drop(store.lock("a/.zarray", "a/own").unwrap()));
                    inner.join().unwrap();
                });
            });
            if child.wait() != 0 {
                busy.store(false, Ordering::SeqCst);
                panic!("child {round} failed or hung");
            }
        }
        drop(held_here);
        busy.store(false, Ordering::SeqCst);
    });
}

#[test]
fn children_forked_while_threads_are_busy_use_a_local_store_at_once() {
    let folder = TestFolder::new();
    fork_while_busy(&LocalStore::new(folder.path("s")));
}

#[test]
fn children_forked_while_threads_are_busy_use_a_memory_store_at_once() {
    fork_while_busy(&MemoryStore::new());
}

/// Forks children that start a thread, while the parent's threads start and end without a pause.
///
/// A child does not wait for its thread to end, only for what it does: a thread that ends takes the
/// lock of the standard library in any case, and one child of 24,000 was forked meanwhile.
#[test]
fn children_forked_while_threads_start_start_their_own() {
    let busy = AtomicBool::new(true);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while busy.load(Ordering::SeqCst) {
                    std::thread::spawn(|| ()).join().unwrap();
                }
            });
        }
        let works = || {
            let (sender, receiver) = std::sync::mpsc::channel();
            std::thread::spawn(move || sender.send(()));
            receiver.recv().unwrap();
        };
        let forked = || Child::fork_for(20, works).wait();
        let failed = (0..4000).map(|_| forked()).find(|code| *code != 0);
        busy.store(false, Ordering::SeqCst);
        assert_eq!(failed, None);
    });
}

#[test]
fn a_forked_child_neither_holds_nor_frees_what_its_parent_locked() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"{}");
    let lock = store.lock("a/.zarray", "a/0").unwrap();
    let mut inherited = Some(lock);
    // Dropping its copy of the guard must not unlock the parent's.
    all_succeed(vec![Child::fork(|| drop(inherited.take()))]);
    let waiting = Child::fork_for(1, || increment(&store, "a/.zarray", "a/0"));
    assert_eq!(waiting.wait(), -libc::SIGALRM);
    drop(inherited);
    all_succeed(vec![Child::fork(|| increment(&store, "a/.zarray", "a/0"))]);
}

static BEFORE: AtomicUsize = AtomicUsize::new(0);
static IN_PARENT: AtomicUsize = AtomicUsize::new(0);
static IN_CHILD: AtomicUsize = AtomicUsize::new(0);
static HOOKS: ForkHooks = ForkHooks {
    before: || {
        BEFORE.fetch_add(1, Ordering::SeqCst);
    },
    parent: || {
        IN_PARENT.fetch_add(1, Ordering::SeqCst);
    },
    child: || {
        IN_CHILD.fetch_add(1, Ordering::SeqCst);
    },
};

#[test]
fn hooks_that_are_registered_twice_run_once_on_each_side_of_a_fork() {
    // In a child of its own: other tests fork, too.
    all_succeed(vec![Child::fork(|| {
        on_fork(&HOOKS).unwrap();
        on_fork(&HOOKS).unwrap();
        let counts = || [&BEFORE, &IN_PARENT, &IN_CHILD].map(|count| count.load(Ordering::SeqCst));
        all_succeed(vec![Child::fork(|| assert_eq!(counts(), [1, 0, 1]))]);
        assert_eq!(counts(), [1, 1, 0]);
        // They stay registered in a child.
        all_succeed(vec![Child::fork(|| {
            all_succeed(vec![Child::fork(|| assert_eq!(counts(), [3, 1, 2]))]);
        })]);
    })]);
}
