//! Runs the conformance suite, which stores of other crates run as well, on every store of this
//! crate.

#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod place;

use place::Place;
use zarrix_store::{LocalStore, MemoryStore, ZipMethod, ZipStart, ZipStore, conformance};

#[test]
fn a_local_store_conforms() {
    let place = Place::new();
    conformance(&LocalStore::new(place.path("s")), &LocalStore::new(place.path("s"))).unwrap();
}

#[cfg(unix)]
#[test]
fn a_local_store_below_a_link_conforms() {
    let place = Place::new();
    std::fs::create_dir(place.path("real")).unwrap();
    std::os::unix::fs::symlink("real", place.path("link")).unwrap();
    let (store, twin) =
        (LocalStore::new(place.path("link/s")), LocalStore::new(place.path("real/./s")));
    conformance(&store, &twin).unwrap();
}

#[test]
fn a_memory_store_conforms() {
    let store = MemoryStore::new();
    conformance(&store, &store).unwrap();
}

#[test]
fn a_zip_store_conforms() {
    let place = Place::new();
    for (name, method) in [("a.zip", ZipMethod::Stored), ("b.zip", ZipMethod::Deflate)] {
        let open =
            |start| ZipStore::open_for_writing(&place.path(name), start, method, true).unwrap();
        conformance(&open(ZipStart::Create), &open(ZipStart::Extend)).unwrap();
    }
}
