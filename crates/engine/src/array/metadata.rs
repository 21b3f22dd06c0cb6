//! The metadata that an array was opened by.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use zarrix_store::Generation;

/// Why an array's metadata no longer describes the chunks of the array that was opened.
pub type Refused = Box<dyn std::error::Error + Send + Sync>;

/// Judges metadata that is not byte for byte what was opened.
pub type Judge = Box<dyn Fn(&[u8]) -> std::result::Result<(), Refused> + Send + Sync>;

/// The metadata that an array was opened by.
pub struct Document {
    pub(crate) text: Vec<u8>,
    /// Key of consolidated metadata that names the array, if it has no metadata of its own.
    pub(crate) vouching: Option<String>,
    pub(crate) judge: Judge,
    /// Hash of the generation that was last found to describe the same chunks; 0 if there is none.
    seen: AtomicU64,
}

impl fmt::Debug for Document {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Document({} bytes)", self.text.len())
    }
}

impl Document {
    /// The metadata `text`; `vouching` is the key of consolidated metadata that counts as well.
    #[must_use]
    pub fn new(text: Vec<u8>, vouching: Option<String>, judge: Judge) -> Self {
        Self { text, vouching, judge, seen: AtomicU64::new(0) }
    }

    pub(crate) fn is_known(&self, version: Generation) -> bool {
        self.seen.load(Ordering::Relaxed) == mixed(version)
    }

    /// Remembers a generation that describes the same chunks.
    pub(crate) fn note(&self, version: Generation) {
        self.seen.store(mixed(version), Ordering::Relaxed);
    }
}

/// 64 bits of a generation: one word, so that it is read and written atomically without a lock.
fn mixed(Generation(version): Generation) -> u64 {
    (version >> 64) as u64 ^ (version as u64).rotate_left(23) | 1
}
