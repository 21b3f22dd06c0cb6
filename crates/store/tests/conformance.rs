//! Runs the conformance suite, which stores of other crates run as well, on every store of this
//! crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod test_folder;

use test_folder::TestFolder;
use zarrix_store::{LocalStore, MemoryStore, ZipMethod, ZipStart, ZipStore, conformance};

#[test]
fn a_local_store_conforms() {
    let folder = TestFolder::new();
    conformance(&LocalStore::new(folder.path("s")), &LocalStore::new(folder.path("s"))).unwrap();
}

#[cfg(unix)]
#[test]
fn a_local_store_below_a_link_conforms() {
    let folder = TestFolder::new();
    std::fs::create_dir(folder.path("real")).unwrap();
    std::os::unix::fs::symlink("real", folder.path("link")).unwrap();
    let (store, twin) =
        (LocalStore::new(folder.path("link/s")), LocalStore::new(folder.path("real/./s")));
    conformance(&store, &twin).unwrap();
}

#[test]
fn a_memory_store_conforms() {
    let store = MemoryStore::new();
    conformance(&store, &store).unwrap();
}

#[test]
fn a_zip_store_conforms() {
    let folder = TestFolder::new();
    for (name, method) in [("a.zip", ZipMethod::Stored), ("b.zip", ZipMethod::Deflate)] {
        let open =
            |start| ZipStore::open_for_writing(&folder.path(name), start, method, true).unwrap();
        conformance(&open(ZipStart::Create), &open(ZipStart::Extend)).unwrap();
    }
}
