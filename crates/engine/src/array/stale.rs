//! Whether the metadata of an open array is still stored, and still describes the same chunks.
//!
//! An array can be deleted, moved or replaced while it is open. A write looks under the lock of its
//! chunk, or once a call where the store only locks within this process. A read looks where it finds
//! nothing: chunks that are missing read as the fill value only as long as the array is there. It
//! looks as well before it calls a chunk corrupt, which may be a sound one of another array.
//!
//! What was last found to say the same is known by its version, so that a look is one `stat`.
//! Metadata that changed is read and, unless it is byte for byte the same, judged by the caller.

use std::io::ErrorKind;
use std::sync::atomic::AtomicUsize;

use zarrix_store::{Edge, Generation, KeyLock, StoreError};

use crate::array::io::ArrayIO;
use crate::array::metadata::Document;
use crate::chunk::buffer::Target;
use crate::error::{EngineError, Result};

/// More than any metadata has.
const MAX_BYTES: u64 = 1 << 26;

impl ArrayIO {
    /// The lock of the chunk `key`, to write to it.
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

    /// Runs `read`, which reads so many chunks, and tells missing chunks from a missing array.
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
        // A look at a local store costs as little as a missing chunk, so that it is worth it where
        // an array is deleted in the middle of a call, too.
        let is_empty = absent > 0 && (absent >= chunks || self.store.is_inline());
        self.explained(done, is_empty)
    }

    /// `done`, unless the array has been deleted or replaced: that explains a chunk that does not
    /// decode, and one that is not there.
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

    /// Refuses to go on where the array has been deleted, or replaced by one with other chunks.
    pub(crate) fn check_document(&self) -> Result<()> {
        let Some(document) = &self.document else { return Ok(()) };
        // Elsewhere a look costs what fetching it does.
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
            // It is there, and that is all that may be known of it.
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

    /// [`Self::check_document`] before a call that writes, where locks of chunks do not look: stores
    /// that lock within this process, or in files of their own.
    pub(crate) fn check_before_writing(&self) -> Result<()> {
        if self.store.is_inline() { Ok(()) } else { self.check_document() }
    }

    /// [`Self::check_document`] under a lock that tells the version, at no cost if it is known.
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
