//! A snapshot as a store.

use std::ops::Range;
use std::sync::Arc;

use super::fetch::{check_length, cut_part};
use super::opened::{Opened, SnapshotValue};
use super::places::{OWN, Place};
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::lock::table::KeyLock;
use crate::store::{Durability, Edge, Fetched, Listing, Part, Reader, Request, Store, Whole};

/// One snapshot of an Icechunk repository.
#[derive(Debug)]
pub struct IcechunkStore(Opened);

impl IcechunkStore {
    /// The snapshot with the name `snapshot` of the repository in `repository`; `None` if there is
    /// no such snapshot.
    ///
    /// No document of the repository may be longer than `most` bytes. Chunks may be parts of files
    /// outside of the repository below the prefixes of `outside`, whose stores have them.
    pub fn open(
        repository: Arc<dyn Store>,
        snapshot: &str,
        most: u64,
        outside: Vec<(String, Arc<dyn Store>)>,
    ) -> Result<Option<Self>> {
        Ok(Opened::open(repository, snapshot, most, outside)?.map(Self))
    }

    /// How many nodes have a path that is not a key, and the first such path.
    #[must_use]
    pub fn refused(&self) -> (u64, String) {
        self.0.snapshot.refused.clone()
    }

    /// Reads the requested part of a value; returns its generation and its length.
    fn read(&self, request: &Request<'_>, dst: &mut Vec<u8>) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        let key = request.key;
        let (place, generation) = match self.0.find(key)? {
            None => return Ok(None),
            Some(SnapshotValue::Document(document, generation)) => {
                cut_part(request, document, dst)?;
                return Ok(Some((generation, document.len() as u64)));
            }
            Some(SnapshotValue::Chunk(place, generation)) => (place, generation),
        };
        let (number, file, span) = match &place {
            Place::Inline(manifest, range) => {
                cut_part(request, manifest.slice(range), dst)?;
                return Ok(Some((generation, place.length())));
            }
            Place::Part(number, file, span) => (*number, file, *span),
        };
        let range;
        let ranges = match request.part {
            Part::AtMost(most) => {
                check_length(key, span, most)?;
                range = 0..span.length;
                std::slice::from_ref(&range)
            }
            Part::Edge(edge) => {
                range = edge.range(span.length);
                std::slice::from_ref(&range)
            }
            Part::Ranges(ranges) => ranges,
        };
        let read = self.0.read_part(key, (number, file, span), ranges, dst);
        let found = read.inspect_err(|_| dst.clear())?;
        Ok(Some((if number == OWN { generation } else { found }, span.length)))
    }
}

fn read_only<T>(key: &str) -> Result<T> {
    Err(StoreError::ReadOnly { key: key.to_owned() })
}

impl Store for IcechunkStore {
    fn id(&self) -> &str {
        &self.0.id
    }

    fn is_inline(&self) -> bool {
        self.0.stores().all(Store::is_inline)
    }

    fn is_remote(&self) -> bool {
        self.0.stores().any(Store::is_remote)
    }

    fn reads_parts(&self) -> bool {
        self.0.stores().all(Store::reads_parts)
    }

    fn gap(&self) -> Option<u64> {
        self.0.repository.gap()
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.get_at_most_into(key, u64::MAX, dst)
    }

    fn get_at_most_into(
        &self,
        key: &str,
        most: u64,
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let found = self.read(&Request { key, part: Part::AtMost(most) }, dst)?;
        Ok(found.map(|(generation, _)| generation))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let found = self.read(&Request { key, part: Part::Ranges(ranges) }, dst)?;
        Ok(found.map(|(generation, _)| generation))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        self.read(&Request { key, part: Part::Edge(edge) }, dst)
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        if let Some(SnapshotValue::Chunk(Place::Part(number, file, span), generation)) =
            self.0.find(key)?
        {
            let opened = self.0.part_store(number).reader(&file);
            let inner = super::opened::found_part(key, &file, opened)?;
            let key = key.to_owned();
            let generation = (number == OWN).then_some(generation);
            return Ok(Some(Box::new(OpenPart { key, inner, span, generation })));
        }
        let mut value = Vec::new();
        let found = self.get_into(key, &mut value)?;
        Ok(found.map(|_| Box::new(Whole::new(key, value)) as Box<dyn Reader>))
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        self.0.fetch(requests, sink);
    }

    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        Ok(match self.0.find(key)? {
            None => None,
            Some(SnapshotValue::Document(_, generation)) => Some(Some(generation)),
            Some(SnapshotValue::Chunk(Place::Part(number, file, _), generation)) => match number {
                OWN => Some(Some(generation)),
                _ => self.0.part_store(number).look(&file)?,
            },
            Some(SnapshotValue::Chunk(Place::Inline(..), generation)) => Some(Some(generation)),
        })
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.0.find(key)?.map(|value| match value {
            SnapshotValue::Document(document, _) => document.len() as u64,
            SnapshotValue::Chunk(place, _) => place.length(),
        }))
    }

    fn put(&self, key: &str, _: &[u8], _: Durability) -> Result<()> {
        read_only(key)
    }

    fn delete(&self, key: &str, _: Durability) -> Result<bool> {
        read_only(key)
    }

    fn delete_prefix(&self, prefix: &str, _: Durability) -> Result<u64> {
        read_only(prefix)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        self.0.keys(prefix)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        self.0.names(prefix)
    }

    fn rename_prefix(&self, source: &str, _: &str, _: Durability) -> Result<()> {
        check_key(source)?;
        read_only(source)
    }

    fn lock(&self, _: &str, key: &str) -> Result<KeyLock> {
        read_only(key)
    }
}

/// A part of an open file.
struct OpenPart<'a> {
    key: String,
    inner: Box<dyn Reader + 'a>,
    span: super::manifest::Span,
    generation: Option<Generation>,
}

impl Reader for OpenPart<'_> {
    fn size(&self) -> u64 {
        self.span.length
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(dst.len() as u64);
        let placed = self.span.placed(&self.key, &range)?;
        if placed.end > self.inner.size() {
            let reason = "its file is shorter than a manifest of the Icechunk repository says";
            return Err(StoreError::Corrupt { key: self.key.clone(), reason: reason.to_owned() });
        }
        self.inner.read_at(placed.start, dst)
    }

    fn version(&self) -> Option<Generation> {
        self.generation.or_else(|| self.inner.version())
    }
}
