//! Archives that declare values that were never stored; fuzzing found that they exhausted memory.
//! Only Linux says how much memory a process took at most.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that fails may panic")]

mod test_folder;

use std::sync::Arc;

use test_folder::TestFolder;
use zarrix_store::{Durability, MemoryStore, Store, ZipMethod, ZipStart, ZipStore};

/// The peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_member_that_declares_4_gib_and_has_none_takes_no_memory() {
    let folder = TestFolder::new();
    for method in [ZipMethod::Deflate, ZipMethod::Bzip2, ZipMethod::Lzma, ZipMethod::Zstd] {
        let path = folder.path(&format!("{method:?}.zip"));
        let store = ZipStore::open_for_writing(&path, ZipStart::Create, method, true).unwrap();
        store.put("a", &[7; 5000], Durability::Process).unwrap();
        store.close(Durability::Process).unwrap();
        let mut archive = std::fs::read(&path).unwrap();
        let record = archive.windows(4).rposition(|bytes| bytes == b"PK\x01\x02").unwrap();
        archive[record + 24..record + 28].copy_from_slice(&0xFFFF_FF00_u32.to_le_bytes());
        let memory = Arc::new(MemoryStore::new());
        memory.put("z", &archive, Durability::Process).unwrap();
        let lie = ZipStore::in_store(memory, "z").unwrap().unwrap();
        let before = peak();
        let error = lie.get_into("a", &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("declares 4294967040"), "{method:?}: {error}");
        assert!(peak() - before < 64 << 10, "{method:?} took {} KiB", peak() - before);
    }
}
