//! An open snapshot: it finds values, and reads parts of them.

use std::io::ErrorKind;
use std::ops::Range;
use std::sync::Arc;

use zarrix_codec::memory;

use super::cached::Manifests;
use super::file::damaged;
use super::ids::{Id, NodeId};
use super::manifest::Span;
use super::places::{Asked, OWN, Outside, Place, asked, place_in};
use super::snapshot::{Array, Snapshot};
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::check_key;
use crate::store::Store;
use crate::sys;

/// A snapshot, its repository, and the manifests that are in memory.
#[derive(Debug)]
pub(super) struct Opened {
    pub id: String,
    pub repository: Arc<dyn Store>,
    pub snapshot: Snapshot,
    pub manifests: Manifests,
    pub outside: Vec<Outside>,
}

/// A value that was found.
pub(super) enum SnapshotValue<'a> {
    Document(&'a [u8], Generation),
    Chunk(Place, Generation),
}

impl Opened {
    /// `IcechunkStore::open`
    pub fn open(
        repository: Arc<dyn Store>,
        snapshot: &str,
        most: u64,
        outside: Vec<(String, Arc<dyn Store>)>,
    ) -> Result<Option<Self>> {
        let Some(id) = Id::of(snapshot) else { return Ok(None) };
        let Some(snapshot) = Snapshot::read(&*repository, id, most)? else { return Ok(None) };
        let outside: Vec<_> =
            outside.into_iter().map(|(prefix, store)| Outside { prefix, store }).collect();
        let places: String =
            outside.iter().map(|one| format!(" {}={}", one.prefix, one.store.id())).collect();
        let id = format!("icechunk:{}/{}{places}", repository.id(), id.name());
        let manifests = Manifests::new(Arc::clone(&repository), most);
        Ok(Some(Self { id, repository, snapshot, manifests, outside }))
    }

    pub fn part_store(&self, number: usize) -> &dyn Store {
        match number.checked_sub(OWN + 1).and_then(|index| self.outside.get(index)) {
            Some(outside) => &*outside.store,
            None => &*self.repository,
        }
    }

    pub fn stores(&self) -> impl Iterator<Item = &dyn Store> {
        (0..=self.outside.len()).map(|number| self.part_store(number))
    }

    fn flawed(&self, flaw: impl Into<String>) -> StoreError {
        let key = format!("snapshots/{}", self.snapshot.id.name());
        damaged(&*self.repository, &key, flaw)
    }

    /// The manifests that may have a chunk of an array, or any chunk.
    pub fn manifest_ids(&self, array: Array, coords: Option<&[u32]>) -> Result<Vec<Id>> {
        let found = self.snapshot.manifests(array, coords).and_then(Iterator::collect);
        found.map_err(|flaw| self.flawed(flaw))
    }

    fn chunk(&self, node: &NodeId, array: Array, coords: &[u32]) -> Result<Option<Place>> {
        for id in self.manifest_ids(array, Some(coords))? {
            let manifest = self.manifests.get(id)?;
            let found = place_in(&*self.repository, &manifest, (node, coords), &self.outside)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    pub fn find(&self, key: &str) -> Result<Option<SnapshotValue<'_>>> {
        check_key(key)?;
        Ok(match asked(&self.snapshot, key) {
            None => None,
            Some(Asked::Document(node)) => {
                let document = self.snapshot.document(node);
                Some(SnapshotValue::Document(document, self.generation(&node.id, &[])))
            }
            Some(Asked::Chunk(node, array, coords)) => {
                let place = self.chunk(&node.id, array, &coords)?;
                place.map(|place| SnapshotValue::Chunk(place, self.generation(&node.id, &coords)))
            }
        })
    }

    /// A value of a snapshot never changes.
    pub fn generation(&self, node: &NodeId, coords: &[u32]) -> Generation {
        let start = u64::from_be_bytes(*node) ^ coords.len() as u64;
        let place = coords.iter().fold(start, |hash, one| sys::mix(hash ^ u64::from(*one)));
        Generation::exact(self.snapshot.id.bits() ^ u128::from(sys::mix(place)) << 32)
    }

    /// Replaces the content of `dst` by ranges of a chunk, concatenated.
    pub fn read_part(
        &self,
        key: &str,
        (number, file, span): (usize, &str, Span),
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Generation> {
        let one;
        let mut many = Vec::new();
        let placed = if let [range] = ranges {
            one = [span.placed(key, range)?];
            &one[..]
        } else {
            for range in ranges {
                memory::push(&mut many, span.placed(key, range)?)
                    .map_err(StoreError::memory(key))?;
            }
            &many[..]
        };
        let read = self.part_store(number).get_ranges_into(file, placed, dst);
        found_part(key, file, read)
    }
}

/// The answer of a store for a part of a file, which a manifest says is there.
pub(super) fn found_part<T>(key: &str, file: &str, read: Result<Option<T>>) -> Result<T> {
    let reason = match read {
        Ok(Some(found)) => return Ok(found),
        Ok(None) => "is missing",
        Err(StoreError::Io { source, .. }) if source.kind() == ErrorKind::UnexpectedEof => {
            "is shorter than a manifest says"
        }
        Err(error) => return Err(error),
    };
    let reason = format!("the file {file:?}, in which it is for an Icechunk repository, {reason}");
    Err(StoreError::Corrupt { key: key.to_owned(), reason })
}
