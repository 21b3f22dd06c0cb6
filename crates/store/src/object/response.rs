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

/// The tag of a version, the same in listings and in answers: some services quote it only in one of
/// them.
pub(super) fn tag(meta: &ObjectMeta) -> String {
    match &meta.e_tag {
        Some(tag) => unquoted(tag).to_owned(),
        None => format!("{:x}", meta.last_modified.timestamp_nanos_opt().unwrap_or_default()),
    }
}

/// A strong tag without its quotes.
pub(super) fn unquoted(tag: &str) -> &str {
    let inside = tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"'));
    inside.unwrap_or(tag)
}

/// A tag as it is in a header.
pub(super) fn quoted(tag: &str) -> String {
    if tag.contains('"') { tag.to_owned() } else { format!("\"{tag}\"") }
}

/// The generation of a version by its tag, where nothing else is known of it.
pub(super) fn generation_of(tag: &str) -> Generation {
    let half = |seed: u8| {
        let mut hasher = DefaultHasher::new();
        (seed, tag).hash(&mut hasher);
        u128::from(hasher.finish())
    };
    let hash = half(0) << 64 | half(1);
    if tag.starts_with("W/") { Generation::vague(hash) } else { Generation::exact(hash) }
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
