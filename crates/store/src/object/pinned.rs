//! A version of a hierarchy as a store: each value is one version of an object, by its name.
//!
//! The rows of a version say which. They are sorted, and divided into pages, which are loaded when
//! a key in them is asked for. No value is read that has another tag or length than its row.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::response::generation_of;
use super::store::ObjectStore;
use super::versioned::VersionRequest;
use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::key_space::KeySpaces;
use crate::lock::table::KeyLock;
use crate::process::fork;
use crate::store::{Durability, Edge, Fetched, Listing, Part, Request, Store, below};
use crate::tagged::{Cursor, ListedValue, PAGE_ROWS};

/// Pages in memory; each has 16,384 rows at most.
const KEPT_PAGES: usize = 16;

/// A value of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PinnedRow {
    /// Its canonical key.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// Its tag.
    pub tag: String,
    /// The name that the server gave the version.
    pub version: String,
}

type Rows = Arc<Vec<PinnedRow>>;
/// Pages by their numbers, with the number of their last use; and the number of uses.
type Kept = (HashMap<usize, (Rows, u64)>, u64);
type Load = dyn Fn(usize) -> Result<Vec<PinnedRow>> + Send + Sync;

/// The values of a bucket as they were when a version was made; read-only.
pub struct PinnedStore {
    live: ObjectStore,
    id: String,
    /// The first key of each page.
    firsts: Vec<String>,
    spaces: KeySpaces,
    load: Box<Load>,
    kept: Mutex<Kept>,
}

impl std::fmt::Debug for PinnedStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "PinnedStore({})", self.id)
    }
}

impl PinnedStore {
    /// The version of `live` whose pages begin with `firsts`, and are what `load` returns for their
    /// numbers. `spaces` are the key spaces in which keys are not canonical.
    ///
    /// `name` differs for different versions.
    pub fn new(
        live: ObjectStore,
        name: &str,
        firsts: Vec<String>,
        spaces: KeySpaces,
        load: impl Fn(usize) -> Result<Vec<PinnedRow>> + Send + Sync + 'static,
    ) -> Self {
        let id = format!("{}@{name}", live.id());
        Self { live, id, firsts, spaces, load: Box::new(load), kept: Mutex::default() }
    }

    fn page(&self, number: usize) -> Result<Rows> {
        let known = fork::unforked(|| {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.1 += 1;
            let uses = kept.1;
            let (rows, used) = kept.0.get_mut(&number)?;
            *used = uses;
            Some(Arc::clone(rows))
        });
        if let Some(rows) = known {
            return Ok(rows);
        }
        // Outside of the lock: loading reads another store, and calls Python.
        let rows = Arc::new((self.load)(number)?);
        let dropped = fork::unforked(|| {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let uses = kept.1;
            let replaced = kept.0.insert(number, (Arc::clone(&rows), uses));
            let is_full = kept.0.len() > KEPT_PAGES;
            let oldest = kept.0.iter().map(|(number, (_, used))| (*used, *number)).min();
            let oldest = oldest.filter(|_| is_full).and_then(|(_, number)| kept.0.remove(&number));
            (replaced, oldest)
        });
        drop(dropped);
        Ok(rows)
    }

    /// The number of the page that has a canonical key, if any has.
    fn page_of(&self, key: &str) -> usize {
        self.firsts.partition_point(|first| first.as_str() <= key).saturating_sub(1)
    }

    fn find(&self, key: &str) -> Result<Option<PinnedRow>> {
        check_key(key)?;
        for key in self.spaces.candidates(key) {
            if self.firsts.first().is_none_or(|first| key < *first) {
                continue;
            }
            let rows = self.page(self.page_of(&key))?;
            if let Ok(index) = rows.binary_search_by(|row| row.key.cmp(&key)) {
                return Ok(Some(rows[index].clone()));
            }
        }
        Ok(None)
    }

    /// Passes rows from the canonical key `from` on to `sink`, until that returns false.
    fn walk(&self, from: &str, sink: &mut dyn FnMut(&PinnedRow) -> bool) -> Result<()> {
        for number in self.page_of(from)..self.firsts.len() {
            let rows = self.page(number)?;
            let start = rows.partition_point(|row| row.key.as_str() < from);
            for row in &rows[start..] {
                if !sink(row) {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Passes the rows below `prefix`, with the keys that values are stored under, to `sink`, until
    /// that returns false. `from` is the canonical key of the first one.
    fn walk_below(
        &self,
        prefix: &str,
        from: Option<&str>,
        sink: &mut dyn FnMut(&str, &PinnedRow) -> bool,
    ) -> Result<()> {
        // The canonical keys of an array do not begin with a prefix of its own keys.
        let base = self.spaces.array_of(prefix).map_or(prefix, |(path, ..)| path);
        let start = if base.is_empty() { String::new() } else { format!("{base}/") };
        let wanted = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        self.walk(from.unwrap_or(&start), &mut |row| {
            if !row.key.starts_with(&start) {
                return row.key < start;
            }
            let key = self.spaces.spelled(&row.key);
            !key.starts_with(&wanted) || sink(&key, row)
        })
    }

    /// The names below a prefix that is not in an array with other keys: a row for each of them.
    fn names(&self, prefix: &str) -> Result<Listing> {
        let start = if prefix.is_empty() { String::new() } else { format!("{prefix}/") };
        let mut found = Listing::default();
        let mut from = start.clone();
        loop {
            let mut next = None;
            self.walk(&from, &mut |row| {
                next = row.key.strip_prefix(&start).map(ToOwned::to_owned);
                false
            })?;
            let Some(rest) = next else { break };
            match rest.split_once('/') {
                // The letter after '/': behind all that is below this name.
                Some((name, _)) => {
                    from = format!("{start}{name}0");
                    found.prefixes.push(name.to_owned());
                }
                None => {
                    from = format!("{start}{rest}\0");
                    found.keys.push(rest);
                }
            }
        }
        Ok(found)
    }

    /// The request for the part of a version; `None` if no bytes of it are needed.
    fn ranges(row: &PinnedRow, request: &Request<'_>) -> Result<Option<Vec<Range<u64>>>> {
        let (key, size) = (request.key, row.size);
        Ok(match request.part {
            Part::AtMost(most) if size > most => {
                return Err(StoreError::TooLong { key: key.to_owned(), bytes: size, most });
            }
            Part::AtMost(_) => Some(Vec::new()),
            Part::Edge(_) if size == 0 => None,
            Part::Edge(edge) => Some(vec![edge.range(size)]),
            Part::Ranges(ranges) => match ranges.iter().find(|range| range.end > size) {
                Some(range) => return Err(StoreError::beyond_end(key, range, size)),
                None => {
                    let has_any = ranges.iter().any(|range| range.start < range.end);
                    has_any.then(|| ranges.to_vec())
                }
            },
        })
    }

    fn read(
        &self,
        key: &str,
        part: Part<'_>,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        let mut answer = None;
        self.fetch(&[Request { key, part }], &mut |_, found| answer = Some(found));
        Ok(match answer.unwrap_or(Ok(Fetched::Absent))? {
            Fetched::Absent => None,
            Fetched::Bytes(bytes, generation, total) => {
                *dst = bytes;
                Some((generation, total))
            }
        })
    }
}

fn listed(key: &str, row: &PinnedRow) -> ListedValue {
    ListedValue { key: key.to_owned(), size: row.size, tag: row.tag.clone() }
}

fn read_only<T>(key: &str) -> Result<T> {
    Err(StoreError::ReadOnly { key: key.to_owned() })
}

impl Store for PinnedStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        false
    }

    fn is_remote(&self) -> bool {
        true
    }

    fn gap(&self) -> Option<u64> {
        self.live.gap()
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
        Ok(self.read(key, Part::AtMost(most), dst)?.map(|(generation, _)| generation))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        Ok(self.read(key, Part::Ranges(ranges), dst)?.map(|(generation, _)| generation))
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        self.read(key, Part::Edge(edge), dst)
    }

    fn fetch(&self, requests: &[Request<'_>], sink: &mut dyn FnMut(usize, Result<Fetched>)) {
        let mut asked = Vec::new();
        for (position, request) in requests.iter().enumerate() {
            let found = self
                .find(request.key)
                .and_then(|row| row.map(|row| Ok((Self::ranges(&row, request)?, row))).transpose());
            match found {
                Err(error) => sink(position, Err(error)),
                Ok(None) => sink(position, Ok(Fetched::Absent)),
                Ok(Some((None, row))) => {
                    sink(position, Ok(Fetched::Bytes(Vec::new(), generation(&row), row.size)));
                }
                Ok(Some((Some(ranges), row))) => asked.push((position, ranges, row)),
            }
        }
        let mut versions = Vec::with_capacity(asked.len());
        for (position, ranges, PinnedRow { size, tag, version, .. }) in &asked {
            let part = if ranges.is_empty() { Part::WHOLE } else { Part::Ranges(ranges) };
            let key = requests[*position].key;
            versions.push(VersionRequest { key, version, tag, size: *size, part });
        }
        if versions.is_empty() {
            return;
        }
        self.live.fetch_versions(&versions, &mut |index, found| {
            let (position, _, row) = &asked[index];
            let marked = found.map(|found| match found {
                Fetched::Bytes(bytes, ..) => Fetched::Bytes(bytes, generation(row), row.size),
                Fetched::Absent => Fetched::Absent,
            });
            sink(*position, marked);
        });
    }

    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        Ok(self.find(key)?.map(|row| Some(generation(&row)).filter(|one| one.is_exact())))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.find(key)?.map(|row| row.size))
    }

    fn head(&self, key: &str) -> Result<Option<ListedValue>> {
        Ok(self.find(key)?.map(|row| listed(key, &row)))
    }

    fn list_page(&self, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
        check_prefix(&cursor.prefix)?;
        let (prefix, after) = (cursor.prefix.clone(), cursor.after.clone());
        let from = if after.is_empty() { None } else { self.spaces.candidates(&after).pop() };
        let mut page = Vec::new();
        self.walk_below(&prefix, from.as_deref(), &mut |key, row| {
            if key > after.as_str() {
                page.push(listed(key, row));
            }
            page.len() < PAGE_ROWS
        })?;
        cursor.is_done = page.len() < PAGE_ROWS;
        if let Some(last) = page.last() {
            cursor.after.clone_from(&last.key);
        }
        Ok(page)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let mut keys = Vec::new();
        self.walk_below(prefix, None, &mut |key, _| {
            keys.push(key.to_owned());
            true
        })?;
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let mut found = match self.spaces.array_of(prefix) {
            None => self.names(prefix)?,
            Some(_) => {
                let (mut found, start) = (Listing::default(), below(prefix, "").len());
                self.walk_below(prefix, None, &mut |key, _| {
                    match key[start..].split_once('/') {
                        Some((name, _)) => found.prefixes.push(name.to_owned()),
                        None => found.keys.push(key[start..].to_owned()),
                    }
                    true
                })?;
                found
            }
        };
        found.keys.sort_unstable();
        found.prefixes.sort_unstable();
        found.prefixes.dedup();
        Ok(found)
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        check_prefix(prefix)?;
        let mut bytes = 0;
        self.walk_below(prefix, None, &mut |_, row| {
            bytes += row.size;
            true
        })?;
        Ok(bytes)
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

    fn rename_prefix(&self, source: &str, _: &str, _: Durability) -> Result<()> {
        read_only(source)
    }

    fn lock(&self, _: &str, key: &str) -> Result<KeyLock> {
        read_only(key)
    }
}

fn generation(row: &PinnedRow) -> Generation {
    generation_of(&row.tag)
}
