//! A server's response: bytes of one version of a value.

use std::hash::{DefaultHasher, Hash, Hasher};

use bytes::Bytes;
use object_store::ObjectMeta;

use crate::generation::Generation;

/// Bytes of one version of a value.
#[derive(Debug)]
pub(super) struct Received {
    pub bytes: Bytes,
    pub generation: Generation,
    /// Length of the whole value.
    pub total: u64,
}

/// The generation of a version: a hash of the server's tag, or else of time and length.
pub(super) fn generation(meta: &ObjectMeta) -> Generation {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        seed.hash(&mut hasher);
        match (&meta.e_tag, &meta.version) {
            (None, None) => (meta.last_modified, meta.size).hash(&mut hasher),
            // Two versions with the same tag have the same bytes; the cache tells them apart only
            // by the tag.
            (Some(tag), _) => tag.hash(&mut hasher),
            (None, version) => version.hash(&mut hasher),
        }
        u128::from(hasher.finish())
    };
    let hash = half(0) << 64 | half(1);
    match &meta.e_tag {
        Some(tag) if !tag.starts_with("W/") => Generation::exact(hash),
        _ => Generation::vague(hash),
    }
}
