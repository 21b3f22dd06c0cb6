//! From a key to the place of its value: in a document, in the repository, or outside of it.

use std::ops::Range;
use std::sync::Arc;

use super::file::damaged;
use super::ids::NodeId;
use super::manifest::{ChunkAt, Manifest, Span, key_of};
use super::snapshot::{Array, Node, Snapshot};
use crate::error::{Refusal, Result, StoreError};
use crate::store::Store;

/// The name of every document.
pub(super) const DOCUMENT: &str = "zarr.json";

/// A longer location is cut in messages.
const MOST_SHOWN: usize = 200;

/// A key of the store, by the node that it belongs to.
#[derive(Clone, Debug)]
pub(super) enum Asked<'a> {
    /// The document of a node.
    Document(&'a Node),
    /// A chunk of an array, whether it is stored or not.
    Chunk(&'a Node, Array, Vec<u32>),
}

/// What a key names in a snapshot; `None` if nothing can be there.
pub(super) fn asked<'a>(snapshot: &'a Snapshot, key: &str) -> Option<Asked<'a>> {
    let (path, name) = key.rsplit_once('/').unwrap_or(("", key));
    if name == DOCUMENT {
        return snapshot.nodes.get(path).map(Asked::Document);
    }
    let mut coords = Vec::new();
    let mut rest = key;
    loop {
        let (above, name) = rest.rsplit_once('/').unwrap_or(("", rest));
        if name == "c" {
            let node = snapshot.nodes.get(above)?;
            let array = node.array.filter(|array| array.axes == coords.len())?;
            coords.reverse();
            return Some(Asked::Chunk(node, array, coords));
        }
        // As they are written: another spelling is another key.
        let number = name.parse::<u32>().ok().filter(|_| name.len() == 1 || !name.starts_with('0'));
        coords.push(number.filter(|_| name.bytes().all(|byte| byte.is_ascii_digit()))?);
        if above.is_empty() {
            return None;
        }
        rest = above;
    }
}

/// Where a value is.
#[derive(Clone, Debug)]
pub(super) enum Place {
    /// In a manifest.
    Inline(Arc<Manifest>, Range<usize>),
    /// A part of a file: the number of its store, its key there, and the part.
    Part(usize, String, Span),
}

impl Place {
    pub fn length(&self) -> u64 {
        match self {
            Self::Inline(_, range) => range.len() as u64,
            Self::Part(_, _, span) => span.length,
        }
    }
}

/// The repository's own store, among those that have chunks.
pub(super) const OWN: usize = 0;

/// A place outside of the repository that may be read: locations begin with its name.
#[derive(Debug)]
pub(super) struct Outside {
    pub prefix: String,
    pub store: Arc<dyn Store>,
}

/// The place that `manifest` has for a chunk.
pub(super) fn place_in(
    repository: &dyn Store,
    manifest: &Arc<Manifest>,
    (node, coords): (&NodeId, &[u32]),
    outside: &[Outside],
) -> Result<Option<Place>> {
    let found = manifest.find(node, coords);
    let found = found.map_err(|flaw| damaged(repository, &key_of(manifest.id), flaw))?;
    Ok(match found {
        None => None,
        Some(ChunkAt::Inline(bytes)) => {
            let range = manifest.range_of(bytes);
            Some(Place::Inline(Arc::clone(manifest), range))
        }
        Some(ChunkAt::Native(id, span)) => {
            Some(Place::Part(OWN, format!("chunks/{}", id.name()), span))
        }
        Some(ChunkAt::Virtual(location, span)) => {
            let (number, key) = resolve(&location, outside)?;
            Some(Place::Part(number, key, span))
        }
    })
}

/// The store and the key of a location outside of the repository.
fn resolve(location: &str, outside: &[Outside]) -> Result<(usize, String)> {
    let fits = outside.iter().enumerate().filter_map(|(number, place)| {
        let key = location.strip_prefix(&place.prefix)?;
        let is_whole = place.prefix.ends_with('/') || key.starts_with('/');
        is_whole.then(|| (place.prefix.len(), number + 1, key.trim_start_matches('/')))
    });
    let (_, number, key) = fits.max().ok_or_else(|| StoreError::Remote {
        operation: "read",
        path: without_user(location),
        refusal: Refusal::Denied,
        reason: "a chunk of the Icechunk repository is a part of it, outside of the repository; \
                 name a folder above it in allowed= if you trust the repository with it"
            .to_owned(),
    })?;
    Ok((number, unescaped(key)))
}

/// A location without the name and the password that may stand before its host.
fn without_user(location: &str) -> String {
    let shown: String = location.chars().take(MOST_SHOWN).collect();
    match shown.split_once("://") {
        Some((scheme, rest)) => match rest.split_once('/') {
            Some((host, path)) if host.contains('@') => {
                let host = host.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{host}/{path}")
            }
            _ => shown,
        },
        None => shown,
    }
}

/// The key that the path of a URL names: `%20` is a space.
fn unescaped(path: &str) -> String {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let [first, more @ ..] = rest {
        let digits = more.first_chunk::<2>().filter(|_| *first == b'%');
        let value = digits.and_then(|digits| std::str::from_utf8(digits).ok());
        match value.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = more.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = more;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
