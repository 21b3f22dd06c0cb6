//! The locks that a store takes outside of this process, and how it may wait for them.

use std::ffi::CString;

use crate::generation::Generation;
use crate::lock::descriptors;

/// A lock that a store has taken outside of this process.
pub(crate) enum Beyond {
    /// None: the store has no such locks, or not here.
    Nothing,
    /// None: the anchor in which a chunk would be locked does not exist.
    NoAnchor,
    /// Bytes of the anchor at this path, and its version, unless it is too recent to be certain.
    Locked(descriptors::LockedFile, CString, Option<Generation>),
}

/// Which other locks the waiting thread holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    None,
    OfThisAnchor,
    Elsewhere,
}
