//! Whether the metadata of an open array is still stored, and still describes the same chunks.
//!
//! An array can be deleted, moved or replaced while it is open. A write checks this under the lock
//! of its chunk, or once per call if the store only locks within this process. A read checks when
//! it finds a missing chunk, which reads as the fill value only while the array exists. It also
//! checks before it reports a chunk as corrupt, which may be a valid chunk of another array.
//!
//! The generation that last passed is remembered, so that a check is one `stat`. Metadata that
//! changed is read and, unless it has the same bytes, judged by the caller.

use std::io::ErrorKind;
use std::sync::atomic::AtomicUsize;

use zarrix_store::{Edge, Generation, KeyLock, StoreError};

use crate::array::io::ArrayIO;
use crate::array::metadata::Document;
use crate::chunk::buffer::Target;
use crate::error::{EngineError, Result};

/// Larger than any metadata.
const MAX_BYTES: u64 = 1 << 26;

impl ArrayIO {
    /// Takes the lock of the chunk `key`, to write to it.
    pub(crate) fn lock(&self, key: &str) -> Result<KeyLock> {
        let lock = self.store.lock(&self.anchor, key)?;
        if self.document.is_some() && lock.lacks_anchor() {
            return Err(self.gone());
        }
        if self.store.is_inline() {
            self.check_version(lock.anchor_version())?;
        }
        Ok(lock)
    }

    /// Runs `read`, which reads `chunks` chunks, and tells missing chunks from a missing array.
    pub(crate) fn reading<'t>(
        &self,
        chunks: usize,
        target: Target<'t>,
        read: impl FnOnce(Target<'_>) -> Result<()>,
    ) -> Result<()> {
        if self.document.is_none() {
            return read(target);
        }
        let absent = AtomicUsize::new(0);
        let done = read(target.counting(&absent));
        let absent = absent.into_inner();
        // Checking a local store costs as little as a missing chunk, so it also pays where an array
        // is deleted in the middle of a call.
        let is_empty = absent > 0 && (absent >= chunks || self.store.is_inline());
        self.explained(done, is_empty)
    }

    /// `done`, unless the array has been deleted or replaced: this explains chunks that are missing
    /// or do not decode.
    pub(crate) fn explained<T>(&self, done: Result<T>, is_empty: bool) -> Result<T> {
        match done {
            Ok(_) if is_empty => self.check_document()?,
            Err(EngineError::CorruptChunk { .. } | EngineError::MissingChunk { .. }) => {
                self.check_document()?;
            }
            _ => {}
        }
        done
    }

    /// Refuses an array that was deleted, or replaced by one with other chunks.
    pub(crate) fn check_document(&self) -> Result<()> {
        let Some(document) = &self.document else { return Ok(()) };
        // In other stores, checking costs as much as fetching.
        let mut version = None;
        if self.store.is_inline() {
            match self.store.look(&self.anchor)? {
                None => return self.check_vouched(document),
                Some(Some(version)) if document.is_known(version) => return Ok(()),
                Some(looked) => version = looked,
            }
        }
        let mut text = Vec::new();
        match self.store.get_at_most_into(&self.anchor, MAX_BYTES, &mut text) {
            Ok(None) => return self.check_vouched(document),
            // It exists, and this is all that we may know about it.
            Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => {
                return Ok(());
            }
            found => found?,
        };
        if text != document.text {
            (document.judge)(&text).map_err(EngineError::Caller)?;
        }
        if let Some(version) = version {
            document.note(version);
        }
        Ok(())
    }

    /// [`Self::check_document`] before a call that writes, if chunk locks do not check: in stores
    /// that lock within this process, or in files of their own.
    pub(crate) fn check_before_writing(&self) -> Result<()> {
        if self.store.is_inline() { Ok(()) } else { self.check_document() }
    }

    /// [`Self::check_document`] under a lock that gives the generation, at no cost if this has
    /// passed before.
    pub(crate) fn check_version(&self, version: Option<Generation>) -> Result<()> {
        match (&self.document, version) {
            (Some(document), Some(version)) if document.is_known(version) => Ok(()),
            _ => self.check_document(),
        }
    }

    fn check_vouched(&self, document: &Document) -> Result<()> {
        if let Some(vouching) = &document.vouching
            && self.store.get_edge_into(vouching, Edge::First(1), &mut Vec::new())?.is_some()
        {
            return Ok(());
        }
        Err(self.gone())
    }

    pub(crate) fn gone(&self) -> EngineError {
        EngineError::Gone { document: self.anchor.clone(), store: self.store.id().to_owned() }
    }
}
