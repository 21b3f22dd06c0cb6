//! A manifest: where the chunks of some arrays are.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

use zarrix_codec::ZstdDictionary;

use super::file::{self, Kind, damaged, with_scratch};
use super::flat::{FlatTable, FlatVector, Flaw, Read, required};
use super::ids::{Id, NodeId};
use crate::error::{Result, StoreError};
use crate::store::Store;

/// NumPy allows no more.
const MOST_AXES: usize = 64;

/// The longest location.
const MOST_LOCATION: usize = 8192;
/// The number of the one algorithm that compresses locations.
const ZSTD: u8 = 1;

/// A manifest whose tables were all checked.
#[derive(Debug)]
pub(super) struct Manifest {
    pub id: Id,
    buffer: Vec<u8>,
    /// Where the references of each array are.
    arrays: HashMap<NodeId, usize>,
    /// By which locations are compressed.
    dictionary: Option<ZstdDictionary>,
}

/// Where a chunk is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ChunkAt<'a> {
    /// In the manifest.
    Inline(&'a [u8]),
    /// In a file of the repository.
    Native(Id, Span),
    /// In the file at this location.
    Virtual(String, Span),
}

/// As [`ChunkAt`], with locations as they are stored.
enum Stored<'a> {
    Inline(&'a [u8]),
    Native(Id, Span),
    Virtual(&'a [u8], Span),
    Packed(&'a [u8], Span),
}

/// A part of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub offset: u64,
    pub length: u64,
}

impl Span {
    /// Where a range of the part is in the file.
    pub fn placed(self, key: &str, range: &Range<u64>) -> Result<Range<u64>> {
        let end = self.offset.checked_add(range.end);
        match end.filter(|_| range.start <= range.end && range.end <= self.length) {
            Some(end) => Ok(self.offset + range.start..end),
            None => Err(StoreError::beyond_end(key, range, self.length)),
        }
    }
}

pub(super) fn key_of(id: Id) -> String {
    format!("manifests/{}", id.name())
}

impl Manifest {
    /// The manifest in `file`, which is the value of its key.
    pub fn parse(store: &dyn Store, id: Id, file: Vec<u8>, most: u64) -> Result<Self> {
        let key = key_of(id);
        let buffer = file::decode(store, &key, Kind::Manifest, most, file)?;
        let flawed = |flaw| damaged(store, &key, flaw);
        let arrays = checked(&buffer, id).map_err(flawed)?;
        let dictionary = dictionary(&buffer).map_err(flawed)?;
        Ok(Self { id, buffer, arrays, dictionary })
    }

    /// How much memory it takes.
    pub fn bytes(&self) -> usize {
        self.buffer.capacity() + 64 * self.arrays.len() + 256
    }

    /// Where bytes of the manifest are in it.
    pub fn range_of(&self, bytes: &[u8]) -> Range<usize> {
        let first = bytes.as_ptr().addr() - self.buffer.as_ptr().addr();
        first..first + bytes.len()
    }

    /// The bytes at a range of the manifest.
    pub fn slice(&self, range: &Range<usize>) -> &[u8] {
        self.buffer.get(range.clone()).unwrap_or_default()
    }

    fn references(&self, node: &NodeId) -> Read<Option<FlatVector<'_>>> {
        let at = self.arrays.get(node);
        at.map(|at| FlatVector::new(&self.buffer, *at, 4)).transpose()
    }

    /// Where the chunk of an array is; `None` if it is not stored.
    pub fn find(&self, node: &NodeId, coords: &[u32]) -> Read<Option<ChunkAt<'_>>> {
        let Some(references) = self.references(node)? else { return Ok(None) };
        let (mut first, mut end) = (0, references.len());
        while first < end {
            let middle = first + (end - first) / 2;
            let reference = references.table(middle)?;
            match index(reference)?.cmp(coords.iter().copied()) {
                Ordering::Equal => return self.found(place(reference)?).map(Some),
                Ordering::Less => first = middle + 1,
                Ordering::Greater => end = middle,
            }
        }
        Ok(None)
    }

    fn found<'a>(&self, stored: Stored<'a>) -> Read<ChunkAt<'a>> {
        Ok(match stored {
            Stored::Inline(bytes) => ChunkAt::Inline(bytes),
            Stored::Native(id, span) => ChunkAt::Native(id, span),
            Stored::Virtual(location, span) => ChunkAt::Virtual(text(location)?, span),
            Stored::Packed(packed, span) => ChunkAt::Virtual(self.unpacked(packed)?, span),
        })
    }

    fn unpacked(&self, packed: &[u8]) -> Read<String> {
        let dictionary =
            self.dictionary.as_ref().ok_or("the dictionary of locations is missing")?;
        let mut location = [0; MOST_LOCATION];
        let decoded = with_scratch(|scratch| dictionary.decode(packed, &mut location, scratch));
        let length = decoded.map_err(|_| "a location cannot be decompressed")?;
        text(location.get(..length).unwrap_or_default())
    }

    /// The coordinates of every chunk of an array, in ascending order.
    pub fn chunks(&self, node: &NodeId) -> Read<impl Iterator<Item = Read<Vec<u32>>>> {
        let references = self.references(node)?;
        let all = references.into_iter().flat_map(FlatVector::tables);
        Ok(all.map(|reference| Ok(index(reference?)?.collect())))
    }
}

fn index(reference: FlatTable<'_>) -> Read<impl ExactSizeIterator<Item = u32>> {
    let index = required(reference.vector(0, 4)?)?;
    if index.len() > MOST_AXES {
        return Err("the coordinates of a chunk have more than 64 axes");
    }
    Ok(index.u32s())
}

fn place(reference: FlatTable<'_>) -> Read<Stored<'_>> {
    let span = Span { offset: reference.u64(2)?, length: reference.u64(3)? };
    let (inline, native) = (reference.bytes(1)?, reference.fixed(4)?);
    let (location, packed) = (reference.bytes(5)?, reference.bytes(8)?);
    match (inline, native, location, packed) {
        (Some(bytes), None, None, None) => Ok(Stored::Inline(bytes)),
        (None, Some(id), None, None) => Ok(Stored::Native(Id(id), span)),
        (None, None, Some(location), None) => Ok(Stored::Virtual(location, span)),
        (None, None, None, Some(packed)) => Ok(Stored::Packed(packed, span)),
        _ => Err("a chunk has no place, or several"),
    }
}

/// A location, which is not checked before it is used: many chunks may share one.
fn text(location: &[u8]) -> Read<String> {
    if location.len() > MOST_LOCATION {
        return Err("a location has more than 8192 bytes");
    }
    std::str::from_utf8(location).map(str::to_owned).map_err(|_| "a location is not UTF-8")
}

/// The dictionary that locations are compressed with, if there is one.
fn dictionary(buffer: &[u8]) -> Read<Option<ZstdDictionary>> {
    let root = FlatTable::root(buffer)?;
    let Some(bytes) = root.bytes(2)? else { return Ok(None) };
    if root.u8(3, ZSTD)? != ZSTD {
        return Err("locations are compressed by an unknown algorithm");
    }
    ZstdDictionary::new(bytes).map(Some).map_err(|_| "the dictionary of locations is damaged")
}

/// Checks all tables of a manifest; returns where the references of each array are.
fn checked(buffer: &[u8], id: Id) -> Read<HashMap<NodeId, usize>> {
    let root = FlatTable::root(buffer)?;
    if required(root.fixed(0)?)? != id.0 {
        return Err("the file is that of another manifest");
    }
    let mut arrays = HashMap::new();
    let mut left = buffer.len();
    for array in required(root.vector(1, 4)?)?.tables() {
        let array = array?;
        let references = required(array.vector(1, 4)?)?;
        // Vectors that overlap could make this work long.
        left = left.checked_sub(references.elements.len()).ok_or::<Flaw>("its arrays overlap")?;
        check_references(references)?;
        if arrays.insert(required(array.fixed(0)?)?, references.position()).is_some() {
            return Err("an array is in a manifest twice");
        }
    }
    Ok(arrays)
}

fn check_references(references: FlatVector<'_>) -> Read<()> {
    let mut last: Option<FlatTable<'_>> = None;
    for reference in references.tables() {
        let reference = reference?;
        place(reference)?;
        if let Some(last) = last
            && (index(last)?.len() != index(reference)?.len()
                || index(last)?.cmp(index(reference)?) != Ordering::Less)
        {
            return Err("the chunks of an array are not in order");
        }
        last = Some(reference);
    }
    Ok(())
}
