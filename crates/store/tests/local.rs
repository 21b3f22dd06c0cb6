//! Tests of directories only: links, leftovers, files of others, directories that come and go. Those
//! that make links or pipes run on Unix.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod test_folder;

#[cfg(unix)]
use std::collections::HashMap;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
#[cfg(unix)]
use std::sync::atomic::{AtomicBool, Ordering};
#[cfg(unix)]
use std::time::Duration;

use test_folder::TestFolder;
#[cfg(unix)]
use zarrix_store::{CarriedTree, Carrier, Carry, FolderWalk, KeySpace, TreeTerms};
use zarrix_store::{Durability, LocalStore, Store, StoreError};

fn put(store: &LocalStore, key: &str, value: &[u8]) {
    store.put(key, value, Durability::Process).unwrap();
}

fn get(store: &LocalStore, key: &str) -> Option<Vec<u8>> {
    let mut value = Vec::new();
    store.get_into(key, &mut value).unwrap().map(|_| value)
}

/// Whether holders of one lock write one partial file, in turn. Elsewhere kernels have no numbers, and
/// each partial file has a name of its own.
fn names_are_shared() -> bool {
    matches!(zarrix_store::SYSTEM, "linux" | "macos")
}

#[test]
fn partial_files_have_shared_names_where_kernels_have_numbers() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/zarr.json", b"1");
    assert_eq!(store.partial_path("a/0").is_some(), names_are_shared());
}

#[test]
fn a_store_makes_nothing_before_its_first_write() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("x/y"));
    assert_eq!(get(&store, "a"), None);
    assert_eq!(store.list_prefix("").unwrap(), Vec::<String>::new());
    assert_eq!(store.delete_prefix("", Durability::Process).unwrap(), 0);
    drop(store.lock("a", "a").unwrap());
    assert!(!folder.path("x").exists());
}

#[test]
fn a_handle_outlives_its_directory() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/b", b"1");
    fs::rename(folder.path("s"), folder.path("away")).unwrap();
    assert_eq!(get(&store, "a/b"), None);
    put(&store, "a/b", b"2");
    assert_eq!(get(&store, "a/b"), Some(b"2".to_vec()));
}

#[cfg(unix)]
#[test]
fn handles_on_one_place_have_one_id() {
    let folder = TestFolder::new();
    fs::create_dir(folder.path("real")).unwrap();
    symlink("real", folder.path("link")).unwrap();
    let id = |name: &str| LocalStore::new(folder.path(name)).id().to_owned();
    let expected = format!("file://{}/new", folder.path("real").display());
    for name in ["real/new", "link/new", "link/./new/", "link/x/../new", "real//new"] {
        assert_eq!(id(name), expected, "{name}");
    }
    assert_ne!(id("real/new"), id("real/other"));
    let here = std::env::current_dir().unwrap();
    assert_eq!(LocalStore::new("").id(), LocalStore::new(here).id());
}

#[cfg(unix)]
#[test]
fn deletion_removes_links_and_never_what_they_point_to() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    fs::create_dir(folder.path("outside")).unwrap();
    fs::write(folder.path("outside/file"), b"keep").unwrap();
    put(&store, "a/x", b"1");
    symlink(folder.path("outside"), folder.path("s/a/dir")).unwrap();
    symlink(folder.path("outside/file"), folder.path("s/a/file")).unwrap();
    symlink(folder.path("outside"), folder.path("s/b")).unwrap();
    assert_eq!(get(&store, "a/file"), Some(b"keep".to_vec()));
    assert_eq!(store.delete_prefix("a", Durability::Process).unwrap(), 3);
    assert_eq!(store.delete_prefix("b", Durability::Process).unwrap(), 1);
    assert_eq!(fs::read(folder.path("outside/file")).unwrap(), b"keep");
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn a_write_replaces_a_link_and_never_what_it_points_to() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, ".zarray", b"{}");
    fs::write(folder.path("outside"), b"keep").unwrap();
    symlink(folder.path("outside"), folder.path("s/0")).unwrap();
    if let Some(partial) = store.partial_path("1") {
        symlink(folder.path("outside"), partial).unwrap();
    }
    let _locks = (store.lock(".zarray", "0").unwrap(), store.lock(".zarray", "1").unwrap());
    put(&store, "0", b"1");
    put(&store, "1", b"2");
    assert_eq!(fs::read(folder.path("outside")).unwrap(), b"keep");
    assert_eq!((get(&store, "0"), get(&store, "1")), (Some(b"1".to_vec()), Some(b"2".to_vec())));
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 3);
}

#[cfg(unix)]
#[test]
fn links_that_go_round_are_listed_once() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/x", b"123");
    fs::create_dir(folder.path("else")).unwrap();
    fs::write(folder.path("else/y"), b"45").unwrap();
    symlink("..", folder.path("s/a/up")).unwrap();
    symlink("self", folder.path("s/self")).unwrap();
    symlink(folder.path("else"), folder.path("s/linked")).unwrap();
    assert_eq!(store.list_prefix("").unwrap(), ["a/x", "linked/y"]);
    assert_eq!(store.size_prefix("").unwrap(), 5);
    assert_eq!(store.list_dir("").unwrap().prefixes, ["a", "linked"]);
}

#[test]
fn leftovers_are_hidden_and_go_with_their_prefix() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/x", b"1");
    fs::write(folder.path("s/a/0.partial"), b"half").unwrap();
    fs::write(folder.path("s/a/y.12-3.partial"), b"half").unwrap();
    assert_eq!(store.list_prefix("").unwrap(), ["a/x"]);
    assert_eq!(store.size_prefix("").unwrap(), 1);
    assert_eq!(store.delete_prefix("a", Durability::Process).unwrap(), 1);
    assert!(!folder.path("s/a").exists());
}

#[test]
fn what_no_key_can_name_and_we_did_not_write_is_never_deleted() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    assert_eq!(store.foreign("").unwrap(), None);
    for key in ["a/zarr.json", "a/c/0", "b/zarr.json"] {
        put(&store, key, b"1");
    }
    let ours = ["a/c/0.partial", "a/zarr.json.12-3.partial", "a/b.12-0af.partial/movie.partial"];
    fs::create_dir(folder.path("s/a/b.12-0af.partial")).unwrap();
    ours.iter().for_each(|name| fs::write(folder.path("s").join(name), b"half").unwrap());
    let leftovers = ["a/b.12-0af.partial", "a/c/0.partial", "a/zarr.json.12-3.partial"];
    assert_eq!(
        (store.foreign("").unwrap(), store.leftovers("").unwrap()),
        (None, leftovers.map(str::to_owned).into())
    );
    let mut theirs = vec!["a/movie.mp4.partial", "a/backup.partial/thesis", "a/c/1.partial/file"];
    if cfg!(unix) {
        theirs.push("a/c/back\\slash");
    }
    for &name in &theirs {
        let path = folder.path("s").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"keep").unwrap();
        assert!(store.foreign("a").unwrap().is_some(), "{name}");
    }
    assert_eq!(store.delete_prefix("a", Durability::Process).unwrap(), 2);
    assert_eq!(store.delete_prefix("", Durability::Process).unwrap(), 1);
    for name in theirs {
        assert_eq!(fs::read(folder.path("s").join(name)).unwrap(), b"keep", "{name}");
    }
    // Files of others in a directory that was set aside are still there, too.
    assert_eq!(store.leftovers("").unwrap(), ["a/b.12-0af.partial"]);
    assert_eq!(fs::read_dir(folder.path("s/a")).unwrap().count(), 4);
}

#[cfg(unix)]
#[test]
fn only_leftovers_are_removed_as_leftovers() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/zarr.json", b"1");
    fs::write(folder.path("s/a/0.partial"), b"half").unwrap();
    fs::write(folder.path("s/a/movie.partial"), b"keep").unwrap();
    fs::create_dir(folder.path("outside")).unwrap();
    fs::write(folder.path("outside/0.partial"), b"keep").unwrap();
    symlink(folder.path("outside"), folder.path("s/link")).unwrap();
    let remove = |name, age| store.remove_leftover(name, age).unwrap();
    for name in ["a/zarr.json", "a/movie.partial", "link/0.partial", "none/0.partial", "a"] {
        assert!(!remove(name, Some(Duration::ZERO)), "{name}");
    }
    assert!(!remove("a/0.partial", Some(Duration::from_secs(3600))));
    assert!(remove("a/0.partial", Some(Duration::ZERO)));
    assert_eq!(fs::read(folder.path("outside/0.partial")).unwrap(), b"keep");
    assert_eq!(fs::read_dir(folder.path("s/a")).unwrap().count(), 2);
}

#[test]
fn the_holder_of_a_lock_removes_only_what_holders_of_that_lock_write() {
    if !names_are_shared() {
        return;
    }
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/zarr.json", b"1");
    let holders = |key| store.partial_path(key).unwrap();
    let mine = [holders("a/0"), holders("a/zarr.json"), folder.path("s/a/1.partial")];
    // Other machines, other programs and writers without a lock write these.
    let others = ["a/0.0123456789abcdef.partial", "a/0.1234567a.partial", "a/0.12-3.partial"];
    let others = others.map(|name| folder.path("s").join(name));
    for path in mine.iter().chain(&others) {
        fs::write(path, b"half").unwrap();
        let name = path.strip_prefix(store.root()).unwrap().to_str().unwrap();
        assert_eq!(store.remove_leftover(name, None).unwrap(), mine.contains(path), "{name}");
        assert_eq!(path.exists(), others.contains(path), "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_write_takes_nothing_that_was_put_in_its_way() {
    if !names_are_shared() {
        return;
    }
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, ".zarray", b"{}");
    fs::write(folder.path("outside"), b"keep").unwrap();
    let partial = |key| store.partial_path(key).unwrap();
    fs::hard_link(folder.path("outside"), partial("0")).unwrap();
    let pipe = std::ffi::CString::new(partial("1").to_str().unwrap()).unwrap();
    // SAFETY: the path ends in NUL.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    fs::create_dir(partial("2")).unwrap();
    for key in ["0", "1", "2"] {
        let _lock = store.lock(".zarray", key).unwrap();
        // More than fits into a pipe without a reader.
        put(&store, key, &[7; 100_000]);
        assert_eq!(get(&store, key).unwrap().len(), 100_000, "{key}");
    }
    assert_eq!(fs::read(folder.path("outside")).unwrap(), b"keep");
    assert!(partial("2").is_dir());
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 5);
}

#[test]
fn a_chunk_written_by_its_key_is_kept_apart_from_who_writes_it_under_its_array_s_lock() {
    if !names_are_shared() {
        return;
    }
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/.zarray", b"{}");
    put(&store, "a/0", b"1");
    // The partial file of another process at that moment.
    let other = store.partial_path("a/0").unwrap();
    std::fs::write(&other, b"half of").unwrap();
    {
        let _lock = store.lock("a/0", "a/0").unwrap();
        put(&store, "a/0", b"2");
    }
    assert_eq!(std::fs::read(&other).unwrap(), b"half of");
    let _lock = store.lock("a/.zarray", "a/0").unwrap();
    put(&store, "a/0", b"3");
    assert!(!other.exists());
    assert_eq!(get(&store, "a/0"), Some(b"3".to_vec()));
}

#[test]
fn a_write_that_fails_keeps_the_old_value_and_leaves_nothing() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a/b", b"old");
    let onto_directory = store.put("a", b"new", Durability::Process);
    let below_value = store.put("a/b/c", b"new", Durability::Process);
    assert!(matches!(onto_directory, Err(StoreError::Io { operation: "write", .. })));
    assert!(matches!(below_value, Err(StoreError::Io { operation: "write", .. })));
    assert_eq!(get(&store, "a/b"), Some(b"old".to_vec()));
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 1);
    assert_eq!(fs::read_dir(folder.path("s/a")).unwrap().count(), 1);
}

#[test]
fn without_an_anchor_a_chunk_is_locked_among_threads_only_and_written_all_the_same() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    // A directory in folder of the anchor cannot be opened for writing, even by root.
    fs::create_dir_all(folder.path("s/.zarray")).unwrap();
    for anchor in [".zarray", ".none"] {
        let lock = store.lock(anchor, "0").unwrap();
        assert!(!lock.is_process_wide());
        put(&store, "0", b"1");
    }
    assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 2);
}

#[cfg(unix)]
#[test]
fn what_is_neither_file_nor_directory_is_an_error_and_no_wait() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a", b"1");
    let pipe = std::ffi::CString::new(folder.path("s/pipe").to_str().unwrap()).unwrap();
    // SAFETY: the path ends in NUL.
    assert_eq!(unsafe { libc::mkfifo(pipe.as_ptr(), 0o600) }, 0);
    let mut value = Vec::new();
    assert!(store.get_into("pipe", &mut value).is_err());
    assert_eq!(store.list_prefix("").unwrap(), ["a"]);
}

#[test]
fn a_file_longer_than_memory_is_an_error() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    put(&store, "a", b"1");
    let file = fs::File::options().write(true).open(folder.path("s/a")).unwrap();
    if file.set_len(1 << 43).is_ok() {
        let mut value = Vec::new();
        // A system that overcommits memory may grant 8 TiB, so only the ranges are read.
        store
            .get_ranges_into("a", std::slice::from_ref(&(1 << 42..(1 << 42) + 4)), &mut value)
            .unwrap();
        assert_eq!(value, [0; 4]);
        let beyond = store.get_ranges_into("a", std::slice::from_ref(&(0..u64::MAX)), &mut value);
        assert!(matches!(beyond, Err(StoreError::Io { .. })));
    }
}

#[test]
fn a_long_path_is_read_like_a_short_one() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    let key = format!("{0}/{0}/{0}/x", "n".repeat(200));
    put(&store, &key, b"1");
    assert_eq!(get(&store, &key), Some(b"1".to_vec()));
    let too_long = "n".repeat(300);
    assert!(store.put(&too_long, b"1", Durability::Process).is_err());
}

#[test]
fn what_is_deleted_is_there_as_a_whole_or_not_at_all() {
    let folder = TestFolder::new();
    let store = LocalStore::new(folder.path("s"));
    for _ in 0..10 {
        (0..200).for_each(|i| put(&store, &format!("a/b/{i}"), b"1"));
        let counts = std::thread::scope(|scope| {
            let looker = scope.spawn(|| {
                let mut counts = vec![200];
                while counts[counts.len() - 1] > 0 {
                    counts.push(fs::read_dir(folder.path("s/a/b")).map_or(0, Iterator::count));
                }
                counts
            });
            assert_eq!(store.delete_prefix("a", Durability::Process).unwrap(), 200);
            looker.join().unwrap()
        });
        // A reader that has the directory open during the rename can see a part of it.
        let partly = counts.iter().filter(|count| !matches!(count, 0 | 200)).count();
        assert!(partly <= 1, "{counts:?}");
        assert_eq!(fs::read_dir(folder.path("s")).unwrap().count(), 0);
    }
}

#[cfg(unix)]
#[test]
fn a_file_that_is_replaced_while_it_is_carried_is_there() {
    // A directory with many files is carried by calls of its own.
    for (files, times) in [(1, 400), (40, 200)] {
        carry_beside_writers(files, times);
    }
}

#[cfg(unix)]
fn carry_beside_writers(files: usize, times: usize) {
    let folder = TestFolder::new();
    let source = folder.path("s");
    fs::create_dir_all(source.join("a")).unwrap();
    for file in 0..files {
        fs::write(source.join(format!("a/{file}")), b"value").unwrap();
    }
    let space = KeySpace::of(1, "v2.");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (source, done) = (&source, &done);
            scope.spawn(move || {
                let new = source.join(format!("a/{writer}.new"));
                for file in (0..files).cycle() {
                    fs::write(&new, b"value").unwrap();
                    fs::rename(&new, source.join(format!("a/{file}"))).unwrap();
                    if done.load(Ordering::Relaxed) {
                        break;
                    }
                }
            });
        }
        let carried: Vec<_> = (0..times)
            .map(|number| {
                let dest = folder.path(&format!("v{number}"));
                let carrier = Carrier::new(Carry::Link, false);
                let terms = TreeTerms { carrier, skipped: Vec::new(), digests: false };
                let tree = CarriedTree::new(&source, Some(&dest), terms);
                let (walk, visit) = tree.begin("", HashMap::from([("a".to_owned(), space)]));
                for inside in tree.enter(&walk, &visit)? {
                    tree.enter(&walk, &inside)?;
                }
                let value = |file| fs::read(dest.join(format!("a/{file}"))).ok();
                Ok::<_, StoreError>((0..files).map(value).collect::<Vec<_>>())
            })
            .collect();
        done.store(true, Ordering::Relaxed);
        for values in carried {
            for value in values.unwrap() {
                assert_eq!(value.as_deref(), Some(&b"value"[..]));
            }
        }
    });
}

#[cfg(unix)]
#[test]
fn a_walk_lists_files_in_the_order_of_keys_and_ends_pages_at_links() {
    let folder = TestFolder::new();
    let top = folder.path("s");
    for name in ["a/x", "a-b/x", "a.c", "a0", "z/zarr.json", "z/0", "d.partial", "b\\c"] {
        let path = top.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, b"value").unwrap();
    }
    symlink(top.join("a"), top.join("l")).unwrap();
    symlink("nowhere", top.join("m")).unwrap();
    let mut walk = FolderWalk::begin(&top, vec!["zarr.json".to_owned()]).unwrap();
    let keys = |files: &[zarrix_store::WalkedFile]| {
        files.iter().map(|file| (file.key.clone(), file.is_before)).collect::<Vec<_>>()
    };
    let (files, link) = walk.page(3).unwrap();
    assert!(link.is_none());
    assert_eq!(keys(&files), [("a-b/x", false), ("a.c", false), ("a/x", false)].map(named));
    assert!(files.iter().all(|file| file.size == 5 && !file.is_settled));
    let (files, link) = walk.page(9).unwrap();
    assert_eq!(keys(&files), [named(("a0", false))]);
    let link = link.unwrap();
    assert_eq!((link.key.as_str(), link.is_folder, link.is_nested), ("l", true, false));
    walk.enter(&top.join("a"), "l/", true).unwrap();
    assert_eq!(walk.folders(), [top.clone(), top.join("a")]);
    let (files, link) = walk.page(9).unwrap();
    assert_eq!(keys(&files), [named(("l/x", false))]);
    assert_eq!(link.map(|link| (link.key, link.is_folder)), Some(("m".to_owned(), false)));
    let (files, link) = walk.page(9).unwrap();
    assert_eq!(keys(&files), [("z/0", false), ("z/zarr.json", true)].map(named));
    assert!(link.is_none() && walk.page(9).unwrap().0.is_empty());
    assert!(
        FolderWalk::begin(&top.join("none"), Vec::new()).unwrap().page(9).unwrap().0.is_empty()
    );
}

#[cfg(unix)]
fn named((key, is_before): (&str, bool)) -> (String, bool) {
    (key.to_owned(), is_before)
}
