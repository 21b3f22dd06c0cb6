//! A zip archive as a store.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::archive::Archive;
use super::archive::Notes as ZipNotes;
use super::format::Entry;
use super::session::Commit;
use super::session::Start as ZipStart;
use super::source::{Source, absent};
use super::value::{Found, read_for};
use super::writing::Writing;
use zarrix_codec::member::Method;
use zarrix_codec::memory::Grow;

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::listing::sorted;
use crate::lock::table::KeyLock;
use crate::ranges::cut_ranges;
use crate::store::{Durability, Edge, Fetched, Listing, Part, Reader, Request, Store};
use crate::sys;
use crate::tagged;

/// A handle on a zip archive.
#[derive(Debug)]
pub struct ZipStore {
    archive: Arc<Archive>,
    /// `None` for a read-only handle.
    writing: Option<Writing>,
    closed: AtomicBool,
}

impl ZipStore {
    fn handle(archive: Arc<Archive>, writing: Option<Writing>) -> Self {
        Self { archive, writing, closed: AtomicBool::new(false) }
    }

    /// Opens the archive in the existing file `path` for reading.
    pub fn open(path: &Path) -> Result<Self> {
        let archive = Archive::in_file(path)?;
        match archive.look(|state| state.source.is_some()) {
            true => Ok(Self::handle(archive, None)),
            false => Err(absent(path)),
        }
    }

    /// Opens the archive in the file `path` for writing members compressed by `method`.
    ///
    /// With `Extend`, nothing is locked yet: the first write shows whether this process may write.
    /// `Replace` and `Create` begin to write now. `allows64` says whether the archive may use
    /// ZIP64.
    pub fn open_for_writing(
        path: &Path,
        start: ZipStart,
        method: Method,
        allows64: bool,
    ) -> Result<Self> {
        let archive = match start {
            // The existing file may be of any kind.
            ZipStart::Replace => Archive::unread(path),
            _ => Archive::in_file(path)?,
        };
        if start != ZipStart::Extend {
            archive.begin(start)?;
        }
        Ok(Self::handle(archive, Some(Writing { method, allows64 })))
    }

    /// Opens the archive in the value of `key` for reading; `None` if there is no such value.
    pub fn in_store(store: Arc<dyn Store>, key: &str) -> Result<Option<Self>> {
        Ok(Archive::in_store(store, key)?.map(|archive| Self::handle(archive, None)))
    }

    /// Makes the written members readable by others; this process can continue to write.
    pub fn flush(&self, durability: Durability) -> Result<()> {
        self.commit(durability, false)
    }

    /// [`flush`](Self::flush); afterwards another process can write, and this handle cannot.
    pub fn close(&self, durability: Durability) -> Result<()> {
        self.commit(durability, true)?;
        self.closed.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn commit(&self, durability: Durability, end: bool) -> Result<()> {
        if self.writing.is_none() || self.closed.load(Ordering::Relaxed) {
            return Ok(());
        }
        let sync = durability == Durability::Fsync;
        self.archive.commit(&Commit { sync, end, ending: None })
    }

    /// Rewrites the archive without unreferenced members, documents first; returns the bytes saved.
    pub fn pack(&self, durability: Durability) -> Result<u64> {
        self.writing("")?;
        let sync = durability == Durability::Fsync;
        self.archive.pack(&Commit { sync, end: false, ending: None })
    }

    /// Rewrites the archive with its documents first, with a comment and with ZIP64 records.
    ///
    /// Only if this process has written to it.
    pub fn finish(&self, comment: &[u8], durability: Durability) -> Result<()> {
        if self.closed.load(Ordering::Relaxed) || !self.archive.is_being_written() {
            return Ok(());
        }
        let sync = durability == Durability::Fsync;
        let how = Commit { sync, end: false, ending: Some(super::writing::ending(comment)) };
        if self.archive.is_packed() {
            self.archive.commit(&how)
        } else {
            self.archive.pack(&how).map(drop)
        }
    }

    /// The settings for writing of this handle; an error if it is read-only.
    fn writing(&self, key: &str) -> Result<Writing> {
        let writing = self.writing.ok_or_else(|| StoreError::ReadOnly { key: key.to_owned() })?;
        if self.closed.load(Ordering::Relaxed) {
            return Err(StoreError::Closed { path: self.archive.id.clone() });
        }
        Ok(writing)
    }

    /// Irregularities that were found when the archive was opened.
    #[must_use]
    pub fn notes(&self) -> ZipNotes {
        self.archive.look(|state| state.notes.clone())
    }

    fn find(&self, key: &str) -> Result<Option<(Arc<dyn Source>, Found)>> {
        check_key(key)?;
        Ok(self.archive.find(key))
    }

    /// The offset of the value of `key`; `None` if it is compressed.
    fn plain(&self, key: &str, source: &dyn Source, found: &Found) -> Result<Option<u64>> {
        if found.method(key)? != Method::Stored {
            return Ok(None);
        }
        let data = found.locate(key, source)?;
        self.archive.remember(key, found, data);
        Ok(Some(data))
    }

    /// Reads whole values with one request each; missing values cost no request.
    fn fetch_whole(
        &self,
        wanted: &[(usize, &str, u64)],
        sink: &mut dyn FnMut(usize, Result<Fetched>),
    ) {
        let mut found = Vec::new();
        for &(position, key, most) in wanted {
            match self.find(key) {
                Ok(Some((_, member))) if member.entry.bytes > most => {
                    sink(position, self.fetch_one(&Request { key, part: Part::AtMost(most) }));
                }
                Ok(Some((source, member))) => found.push((position, key, source, member)),
                Ok(None) => sink(position, Ok(Fetched::Absent)),
                Err(error) => sink(position, Err(error)),
            }
        }
        let Some((_, _, source, _)) = found.first() else { return };
        let source = Arc::clone(source);
        let size = source.size().unwrap_or(u64::MAX);
        let extents: Vec<_> = found
            .iter()
            .map(|(_, key, _, member)| {
                let (at, bytes) = member.extent(key);
                (at, bytes.min(size.saturating_sub(at)))
            })
            .collect();
        source.read_many(&extents, &mut |index, extent| {
            let (position, key, source, member) = &found[index];
            let answer = extent.and_then(|extent| member.value_of(key, &extent));
            sink(
                *position,
                answer.map(|(value, data)| {
                    self.archive.remember(key, member, data);
                    let total = value.len() as u64;
                    Fetched::Bytes(value, generation(&**source, &member.entry), total)
                }),
            );
        });
    }
}

/// Tells one version of a value from others, by the archive and the member in it.
fn generation(source: &dyn Source, entry: &Entry) -> Generation {
    let place = sys::mix(entry.header ^ u64::from(entry.crc).rotate_left(40));
    let member = u128::from(sys::mix(place ^ entry.bytes));
    Generation(source.generation().0 ^ (member << 64 | u128::from(place)))
}

impl Store for ZipStore {
    fn id(&self) -> &str {
        &self.archive.id
    }

    fn is_inline(&self) -> bool {
        self.archive.look(|state| state.source.as_ref().is_none_or(|source| source.is_inline()))
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
        dst.clear();
        let Some((source, found)) = self.find(key)? else { return Ok(None) };
        let data = found.read(key, most, &*source, dst).inspect_err(|_| dst.clear())?;
        self.archive.remember(key, &found, data);
        Ok(Some(generation(&*source, &found.entry)))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        let Some((source, found)) = self.find(key)? else { return Ok(None) };
        let size = found.entry.bytes;
        let beyond = ranges.iter().find(|range| range.start > range.end || range.end > size);
        if let Some(range) = beyond {
            return Err(StoreError::beyond_end(key, range, size));
        }
        let Some(data) = self.plain(key, &*source, &found)? else {
            let mut value = Vec::new();
            found.read(key, u64::MAX, &*source, &mut value)?;
            cut_ranges(key, &value, ranges, dst)?;
            return Ok(Some(generation(&*source, &found.entry)));
        };
        if let [range] = ranges {
            read_for(key, &*source, data + range.start, range.end - range.start, dst)?;
        } else {
            let placed: Vec<_> = ranges.iter().map(|r| (data + r.start, r.end - r.start)).collect();
            let mut parts: Vec<Result<Vec<u8>>> = Vec::new();
            parts.resize_with(placed.len(), || Ok(Vec::new()));
            source.read_many(&placed, &mut |position, part| parts[position] = part);
            for part in parts {
                let done =
                    part.and_then(|part| dst.append_slice(&part).map_err(StoreError::memory(key)));
                done.inspect_err(|_| dst.clear())?;
            }
        }
        Ok(Some(generation(&*source, &found.entry)))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        let Some((_, found)) = self.find(key)? else { return Ok(None) };
        let range = edge.range(found.entry.bytes);
        let read = self.get_ranges_into(key, std::slice::from_ref(&range), dst)?;
        Ok(read.map(|generation| (generation, found.entry.bytes)))
    }

    fn reads_parts(&self) -> bool {
        self.is_inline()
    }

    fn checks_whole_values(&self) -> bool {
        true
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        let Some((source, found)) = self.find(key)? else { return Ok(None) };
        if let Some(data) = self.plain(key, &*source, &found)? {
            let bytes = found.entry.bytes;
            return Ok(Some(Box::new(Plain { key: key.to_owned(), source, data, bytes })));
        }
        let mut value = Vec::new();
        found.read(key, u64::MAX, &*source, &mut value)?;
        Ok(Some(Box::new(crate::store::Whole::new(key, value))))
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let mut whole = Vec::new();
        for (position, request) in requests.iter().enumerate() {
            match request.part {
                Part::AtMost(most) => whole.push((position, request.key, most)),
                _ => sink(position, self.fetch_one(request)),
            }
        }
        self.fetch_whole(&whole, sink);
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        check_key(key)?;
        Ok(self.archive.look(|state| state.members.get(key).map(|member| member.entry.bytes)))
    }

    /// The place of the member in the archive, and its checksum.
    fn head(&self, key: &str) -> Result<Option<tagged::ListedValue>> {
        check_key(key)?;
        Ok(self.archive.look(|state| {
            let entry = &state.members.get(key)?.entry;
            let tag = format!("{:x}-{:x}", entry.header, entry.crc);
            Some(tagged::ListedValue { key: key.to_owned(), size: entry.bytes, tag })
        }))
    }

    fn put(&self, key: &str, value: &[u8], _: Durability) -> Result<()> {
        check_key(key)?;
        self.archive.put(key, value, self.writing(key)?)
    }

    fn delete(&self, key: &str, _: Durability) -> Result<bool> {
        check_key(key)?;
        self.writing(key)?;
        Ok(self.archive.remove(&[key.to_owned()])? > 0)
    }

    fn delete_prefix(&self, prefix: &str, _: Durability) -> Result<u64> {
        check_prefix(prefix)?;
        self.writing(prefix)?;
        if prefix.is_empty() {
            return self.archive.remove_all();
        }
        self.archive.remove(&self.list_prefix(prefix)?)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        Ok(self.archive.look(|state| sorted::keys(&state.members, prefix)))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        Ok(self.archive.look(|state| sorted::listing(&state.members, prefix)))
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        check_prefix(prefix)?;
        Ok(self.archive.look(|state| {
            let lengths =
                sorted::below(&state.members, prefix).map(|(_, member)| member.entry.bytes);
            lengths.fold(0, u64::saturating_add)
        }))
    }

    fn rename_prefix(&self, source: &str, target: &str, _: Durability) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        self.writing(source)?;
        self.archive.rename(source, target)
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        self.writing(key)?;
        // First the archive: then a read under the lock sees the current members.
        self.archive.begin(ZipStart::Extend)?;
        let has_anchor = || self.archive.look(|state| state.members.contains_key(anchor));
        KeyLock::in_process_beside(&self.archive.id, anchor, key, has_anchor)
    }
}

/// A member whose parts are read in place.
struct Plain {
    key: String,
    source: Arc<dyn Source>,
    data: u64,
    bytes: u64,
}

impl Reader for Plain {
    fn size(&self) -> u64 {
        self.bytes
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let end = offset.saturating_add(dst.len() as u64);
        if end > self.bytes {
            return Err(StoreError::beyond_end(&self.key, &(offset..end), self.bytes));
        }
        self.source.read_at(self.data + offset, dst)
    }
}
