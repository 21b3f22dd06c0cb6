//! Deletions with interference: a directory becomes a link, or the system refuses a call.
//!
//! The order is deterministic, because this program replaces `unlink`, `unlinkat` and `faccessat`
//! by functions that run the hook of a test before, or instead of, the real call.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod test_folder;

use std::cell::RefCell;
use std::ffi::{c_char, c_int};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use test_folder::TestFolder;
use zarrix_store::{Durability, LocalStore, Store};

thread_local! {
    /// Runs when a file is about to be removed; returns the error number.
    static ON_UNLINK: RefCell<Option<Box<dyn FnMut() -> c_int>>> = const { RefCell::new(None) };
    static ON_ACCESS: RefCell<Option<Box<dyn FnMut() -> c_int>>> = const { RefCell::new(None) };
}

type Hook = std::thread::LocalKey<RefCell<Option<Box<dyn FnMut() -> c_int>>>>;

fn answer(hook: &'static Hook, call: impl FnOnce() -> c_int) -> c_int {
    // Taken out during the call, so that calls made by the hook do not run it again.
    let taken = hook.with(RefCell::take);
    let error = match taken {
        None => 0,
        Some(mut act) => {
            let error = act();
            hook.with(|hook| hook.replace(Some(act)));
            error
        }
    };
    if error == 0 {
        return call();
    }
    // SAFETY: the pointer is this thread's own variable.
    unsafe { *libc::__errno_location() = error };
    -1
}

fn unlink_at(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the arguments are those that the C library was given.
    let call = || unsafe { libc::syscall(libc::SYS_unlinkat, directory, path, flags) as c_int };
    if flags == 0 { answer(&ON_UNLINK, call) } else { call() }
}

#[unsafe(no_mangle)]
extern "C" fn unlink(path: *const c_char) -> c_int {
    unlink_at(libc::AT_FDCWD, path, 0)
}

#[unsafe(no_mangle)]
extern "C" fn unlinkat(directory: c_int, path: *const c_char, flags: c_int) -> c_int {
    unlink_at(directory, path, flags)
}

#[unsafe(no_mangle)]
extern "C" fn faccessat(_: c_int, _: *const c_char, _: c_int, _: c_int) -> c_int {
    answer(&ON_ACCESS, || 0)
}

fn store_of_array(folder: &TestFolder) -> LocalStore {
    let store = LocalStore::new(folder.path("s"));
    for key in ["a/c0/0", "a/c1/0", "a/c2/0", "a/zarr.json", "b/zarr.json"] {
        store.put(key, b"1", Durability::Process).unwrap();
    }
    store
}

/// Replaces every directory in that of `store` by a link to `outside`.
fn swap(store: &Path, outside: &Path) {
    // The array is being deleted, so it may already have another name.
    for above in fs::read_dir(store).unwrap() {
        for entry in fs::read_dir(above.unwrap().path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                fs::rename(&path, outside.with_extension(path.file_name().unwrap())).unwrap();
                symlink(outside, &path).unwrap();
            }
        }
    }
}

#[test]
fn a_directory_that_becomes_a_link_while_it_is_deleted_is_not_followed() {
    let folder = TestFolder::new();
    let store = store_of_array(&folder);
    let (within, outside) = (folder.path("s"), folder.path("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("thesis"), b"keep").unwrap();
    let mut first = true;
    ON_UNLINK.replace(Some(Box::new({
        let outside = outside.clone();
        move || {
            if std::mem::take(&mut first) {
                swap(&within, &outside);
            }
            0
        }
    })));
    store.delete_prefix("a", Durability::Process).unwrap();
    ON_UNLINK.take();
    assert_eq!(fs::read(outside.join("thesis")).unwrap(), b"keep");
    assert_eq!(store.list_prefix("").unwrap(), ["b/zarr.json"]);
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 1);
}

#[test]
fn a_deletion_that_fails_leaves_what_is_left_under_its_own_name_and_not_as_an_array() {
    let folder = TestFolder::new();
    let store = store_of_array(&folder);
    let mut calls = 0;
    ON_UNLINK.replace(Some(Box::new(move || {
        calls += 1;
        if calls > 2 { libc::EIO } else { 0 }
    })));
    let failed = store.delete_node("a", &["zarr.json"], Durability::Process);
    ON_UNLINK.take();
    let message = failed.unwrap_err().to_string();
    let left = store.list_prefix("a").unwrap();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|key| key.starts_with("a/c")), "{left:?}");
    assert!(left.iter().any(|key| message.contains(key.as_str())), "{message}");
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 2);
}

#[test]
fn a_deletion_that_is_not_allowed_somewhere_below_changes_nothing() {
    let folder = TestFolder::new();
    let store = store_of_array(&folder);
    let before = store.list_prefix("").unwrap();
    let mut calls = 0;
    ON_ACCESS.replace(Some(Box::new(move || {
        calls += 1;
        if calls == 2 { libc::EACCES } else { 0 }
    })));
    ON_UNLINK.replace(Some(Box::new(|| libc::EACCES)));
    let failed = store.delete_prefix("a", Durability::Process);
    ON_ACCESS.take();
    ON_UNLINK.take();
    assert!(failed.unwrap_err().to_string().contains("/s/a/c"));
    assert_eq!(store.list_prefix("").unwrap(), before);
    assert_eq!(store.leftovers("").unwrap(), Vec::<String>::new());
}
