//! What a store locks outside of this process, and how it may wait for that.

use std::ffi::CString;

use crate::generation::Generation;
use crate::lock::descriptors;

/// What a store has locked outside of this process.
pub(crate) enum Beyond {
    /// Nothing: it cannot, or not here.
    Nothing,
    /// Nothing: there is no anchor that a chunk could be locked in.
    NoAnchor,
    /// Bytes of the anchor at this path, and its version, unless that is too young to be told.
    Locked(descriptors::Held, CString, Option<Generation>),
}

/// What other locks the thread holds that is about to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Others {
    None,
    OfThisAnchor,
    Elsewhere,
}
