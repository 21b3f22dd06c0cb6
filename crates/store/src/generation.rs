//! What tells two versions of one key apart.

/// What tells two versions of one key apart: inode, size and mtime of a file, an ETag, a counter.
/// The default tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Generation(pub u128);

impl Generation {
    const EXACT: u128 = 1;

    /// One that no two versions with different bytes have in common.
    #[must_use]
    pub fn exact(hash: u128) -> Self {
        Self(hash | Self::EXACT)
    }

    /// One that may be that of other bytes, too: a time in seconds, a weak tag.
    #[must_use]
    pub fn vague(hash: u128) -> Self {
        Self(hash & !Self::EXACT)
    }

    /// Whether equal generations stand for equal bytes.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.0 & Self::EXACT != 0
    }
}
