//! A row of the tables of codecs.

use std::sync::Arc;

use super::options::Options;
use crate::codec::Codec;
use crate::error::Result;

/// The input of a codec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Bytes of an element, after the codecs before it.
    pub item_bytes: usize,
}

impl Input {
    /// The float type of an element, for codecs whose configuration does not have it.
    pub(super) fn float(self) -> &'static str {
        match self.item_bytes {
            2 => "<f2",
            4 => "<f4",
            _ => "<f8",
        }
    }
}

pub(super) type Make = fn(&Options<'_>, Input) -> Result<Arc<dyn Codec>>;

/// A codec's name, the keys that its configuration may have, and how to make it.
pub(super) type Row = (&'static str, &'static [&'static str], Make);
