//! Generations, which tell the versions of a key apart.

/// Tells the versions of a key apart: inode, size and mtime of a file, an ETag, a counter. The
/// default value tells nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Generation(pub u128);

impl Generation {
    const EXACT: u128 = 1;

    /// A generation that no two versions with different bytes share.
    #[must_use]
    pub fn exact(hash: u128) -> Self {
        Self(hash | Self::EXACT)
    }

    /// A generation that other bytes may share: a time in seconds, a weak tag.
    #[must_use]
    pub fn vague(hash: u128) -> Self {
        Self(hash & !Self::EXACT)
    }

    /// This generation as a tag of a value.
    #[must_use]
    pub fn tag(self) -> String {
        format!("{:x}", self.0)
    }

    /// Whether equal generations imply equal bytes.
    #[must_use]
    pub fn is_exact(self) -> bool {
        self.0 & Self::EXACT != 0
    }
}
