//! Parts of a file of another format as a read-only store: the chunks of HDF5, for example.
//!
//! The file must not change while it is read: every read compares its status with that at the
//! beginning, so that no value mixes two versions.

use std::collections::BTreeMap;
use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use zarrix_codec::memory::Grow;

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::listing::sorted;
use crate::lock::table::KeyLock;
use crate::store::{Durability, Edge, Listing, Reader, Store};
use crate::sys;

/// Where a value lies in the file.
#[derive(Clone, Copy, Debug)]
struct PartRange {
    offset: u64,
    bytes: u64,
}

/// Keys whose values are parts of one open file.
#[derive(Debug)]
pub struct FileParts {
    id: String,
    path: PathBuf,
    file: File,
    seen: Generation,
    parts: BTreeMap<String, PartRange>,
}

impl FileParts {
    /// Opens the file at `path`, whose values are at `parts`: key, offset and length.
    ///
    /// `version` is the size, and the time of the last modification in seconds and nanoseconds,
    /// that the caller has seen.
    ///
    /// # Errors
    /// The file is another one by now, or is not a file, or a part is not inside it.
    pub fn open(
        path: &Path,
        version: (u64, i64, i64),
        parts: Vec<(String, u64, u64)>,
    ) -> Result<Self> {
        let failed = |source| io_error("open", path, source);
        let name = sys::c_name(path.as_os_str()).map_err(failed)?;
        let file = sys::open(&name, sys::READ).map_err(failed)?;
        let status = sys::status_of(&file).map_err(failed)?;
        if !status.is_file() {
            let problem = "it is not a file";
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, problem)));
        }
        let (seconds, nanos) = status.modified_at();
        if version != (status.len(), seconds, nanos) {
            return Err(changed(path));
        }
        // Caches name a store by its id, and other parts of the same file are another store.
        let mut hasher = DefaultHasher::new();
        parts.hash(&mut hasher);
        let mut by_key = BTreeMap::new();
        for (key, offset, bytes) in parts {
            check_key(&key)?;
            if offset.checked_add(bytes).is_none_or(|end| end > status.len()) {
                let end = offset.saturating_add(bytes);
                return Err(StoreError::beyond_end(&key, &(offset..end), status.len()));
            }
            by_key.insert(key, PartRange { offset, bytes });
        }
        let seen = status.generation();
        let id = format!("parts {:x} of {}: {:x}", hasher.finish(), path.display(), seen.0);
        Ok(Self { id, path: path.to_owned(), file, seen, parts: by_key })
    }

    fn part(&self, key: &str) -> Result<Option<PartRange>> {
        check_key(key)?;
        Ok(self.parts.get(key).copied())
    }

    /// An error if the file has changed.
    fn check(&self) -> Result<()> {
        let status = sys::status_of(&self.file);
        let status = status.map_err(|source| io_error("look at", &self.path, source))?;
        if status.generation() == self.seen { Ok(()) } else { Err(changed(&self.path)) }
    }

    fn version(&self, part: PartRange) -> Generation {
        Generation(self.seen.0 ^ u128::from(sys::mix(part.offset)) << 64)
    }

    /// Appends ranges of a value, which lie inside it.
    fn append(
        &self,
        key: &str,
        part: PartRange,
        range: &Range<u64>,
        dst: &mut Vec<u8>,
    ) -> Result<()> {
        if range.start > range.end || range.end > part.bytes {
            return Err(StoreError::beyond_end(key, range, part.bytes));
        }
        let bytes = usize::try_from(range.end - range.start).unwrap_or(usize::MAX);
        dst.make_room(bytes).map_err(StoreError::memory(key))?;
        let failed = |source| io_error("read", &self.path, source);
        let read = sys::append(&self.file, part.offset + range.start, bytes, dst);
        if read.map_err(failed)? < bytes {
            return Err(changed(&self.path));
        }
        Ok(())
    }

    fn ranges(
        &self,
        key: &str,
        part: PartRange,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<()> {
        dst.clear();
        let read = ranges.iter().try_for_each(|range| self.append(key, part, range, dst));
        read.and_then(|()| self.check()).inspect_err(|_| dst.clear())
    }
}

fn io_error(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}

fn changed(path: &Path) -> StoreError {
    let reason = "it has changed while it was read".to_owned();
    StoreError::Damaged { path: path.display().to_string(), reason }
}

fn read_only<T>(key: &str) -> Result<T> {
    Err(StoreError::ReadOnly { key: key.to_owned() })
}

/// One value.
struct Open<'a> {
    store: &'a FileParts,
    key: String,
    part: PartRange,
}

impl Reader for Open<'_> {
    fn size(&self) -> u64 {
        self.part.bytes
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let range = offset..offset.saturating_add(dst.len() as u64);
        if range.end > self.part.bytes {
            return Err(StoreError::beyond_end(&self.key, &range, self.part.bytes));
        }
        sys::read_exact_at(&self.store.file, dst, self.part.offset + offset)
            .map_err(|source| io_error("read", &self.store.path, source))?;
        self.store.check()
    }
}

impl Store for FileParts {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        dst.clear();
        let Some(part) = self.part(key)? else { return Ok(None) };
        self.ranges(key, part, std::slice::from_ref(&(0..part.bytes)), dst)?;
        Ok(Some(self.version(part)))
    }

    fn get_at_most_into(
        &self,
        key: &str,
        most: u64,
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let found = self.get_edge_into(key, Edge::First(most.saturating_add(1)), dst)?;
        Ok(found.map(|(version, _)| version))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        let Some(part) = self.part(key)? else { return Ok(None) };
        self.ranges(key, part, ranges, dst)?;
        Ok(Some(self.version(part)))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        let Some(part) = self.part(key)? else { return Ok(None) };
        self.ranges(key, part, std::slice::from_ref(&edge.range(part.bytes)), dst)?;
        Ok(Some((self.version(part), part.bytes)))
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        let found = self.part(key)?;
        Ok(found.map(|part| {
            Box::new(Open { store: self, key: key.to_owned(), part }) as Box<dyn Reader>
        }))
    }

    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        Ok(self.part(key)?.map(|_| None))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.part(key)?.map(|part| part.bytes))
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
        Ok(sorted::keys(&self.parts, prefix))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        Ok(sorted::listing(&self.parts, prefix))
    }

    fn rename_prefix(&self, source: &str, _: &str, _: Durability) -> Result<()> {
        read_only(source)
    }

    fn lock(&self, _: &str, key: &str) -> Result<KeyLock> {
        read_only(key)
    }
}
