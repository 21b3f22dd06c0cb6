//! A temporary directory of one test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub struct TestFolder(PathBuf);

static PLACES: AtomicU32 = AtomicU32::new(0);

impl TestFolder {
    pub fn new() -> Self {
        let number = PLACES.fetch_add(1, Ordering::Relaxed);
        let name = format!("zarrix-store-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path.canonicalize().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
