//! The documents of a repository as files: a header of 39 bytes, and a flatbuffer.

use std::cell::RefCell;

use zarrix_codec::member::Method;
use zarrix_codec::{CodecError, Scratch};

use crate::error::{Result, StoreError};
use crate::store::Store;

const MAGIC: &[u8; 12] = b"ICE\xf0\x9f\xa7\x8aCHUNK";
/// After it, the name of the program that wrote the file, in 24 bytes.
const VERSION: usize = 36;
const KIND: usize = 37;
const COMPRESSION: usize = 38;
const HEADER: usize = 39;

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

/// Calls `then` with what decoders of this thread need.
pub(super) fn with_scratch<R>(then: impl FnOnce(&mut Scratch) -> R) -> R {
    SCRATCH.with_borrow_mut(then)
}

/// What a file is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Snapshot = 1,
    Manifest = 2,
    Repository = 6,
}

/// The error of a file that is damaged, or not what it should be.
pub(super) fn damaged(store: &dyn Store, key: &str, reason: impl Into<String>) -> StoreError {
    let path = format!("{}/{key}", store.id());
    StoreError::Damaged { path, reason: format!("in this Icechunk repository, {}", reason.into()) }
}

/// The flatbuffer in the file `key`, decoded to at most `most` bytes; `None` if there is no file.
pub(super) fn read(store: &dyn Store, key: &str, kind: Kind, most: u64) -> Result<Option<Vec<u8>>> {
    let mut file = Vec::new();
    if store.get_at_most_into(key, most, &mut file)?.is_none() {
        return Ok(None);
    }
    decode(store, key, kind, most, file).map(Some)
}

/// The flatbuffer in `file`, which is the value of `key`.
pub(super) fn decode(
    store: &dyn Store,
    key: &str,
    kind: Kind,
    most: u64,
    mut file: Vec<u8>,
) -> Result<Vec<u8>> {
    if file.len() as u64 > most {
        return Err(too_long(store, key, most));
    }
    if file.len() < HEADER || !file.starts_with(MAGIC) {
        return Err(damaged(store, key, "the file does not begin as a file of Icechunk"));
    }
    let (version, found) = (file[VERSION], file[KIND]);
    if !matches!(version, 1 | 2) {
        let reason = format!(
            "the file has version {version} of the format, and versions 1 and 2 are supported"
        );
        return Err(damaged(store, key, reason));
    }
    if found != kind as u8 {
        let reason =
            format!("the file is of kind {found}, and a {kind:?} ({}) is expected", kind as u8);
        return Err(damaged(store, key, reason));
    }
    match file[COMPRESSION] {
        0 => {
            file.drain(..HEADER);
            Ok(file)
        }
        1 => decompress(store, key, most, &file[HEADER..]),
        other => {
            let reason = format!("the file has the unknown compression {other}");
            Err(damaged(store, key, reason))
        }
    }
}

fn decompress(store: &dyn Store, key: &str, most: u64, src: &[u8]) -> Result<Vec<u8>> {
    let limit = usize::try_from(most).unwrap_or(usize::MAX);
    let mut decoded = Vec::new();
    let done =
        with_scratch(|scratch| Method::Zstd.decode_bounded(src, limit, &mut decoded, scratch));
    match done {
        Ok(()) => Ok(decoded),
        Err(CodecError::Memory(refused)) => Err(StoreError::memory(key)(refused)),
        Err(error) => Err(damaged(store, key, format!("{error}; {}", limit_of(most)))),
    }
}

fn limit_of(most: u64) -> String {
    format!(
        "the limit is config.max_document_bytes={most} (ZARRIX_MAX_DOCUMENT_BYTES); raise it if a \
         longer file is intended"
    )
}

fn too_long(store: &dyn Store, key: &str, most: u64) -> StoreError {
    damaged(store, key, format!("the file is longer than {most} bytes; {}", limit_of(most)))
}
