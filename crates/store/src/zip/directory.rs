//! An archive's directory: found from the end of the file, checked, and read.
//!
//! The directory is not trusted. It is read in steps up to the first invalid record, so that its
//! declared counts allocate nothing. Unfinished appended data is skipped: if the file does not end
//! in a directory, the last earlier one is searched for, provided that the file begins like an
//! archive. If members have the same name, the last one counts; a name that is not a valid key
//! cannot be requested.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use super::format::{self, End, Entry, Record};
use super::names;
use super::source::Source;
use crate::error::{Result, StoreError};
use crate::key::check_key;

/// The end record with the longest comment, and the ZIP64 records before it.
pub(super) const TAIL_BYTES: u64 = (format::END_BYTES + format::END64_BYTES + 0xFFFF) as u64;
/// How much of a directory, or of a file that is searched for one, is read at once.
const STEP_BYTES: u64 = 1 << 20;
/// Longest directory that is read, with some ten million members; a server can claim any length.
const MOST_DIRECTORY_BYTES: u64 = 1 << 30;
/// How many of the names that are not valid keys the message lists.
const REFUSED_NAMES: usize = 8;

/// A member as the store sees it.
#[derive(Debug)]
pub(super) struct Member {
    pub entry: Entry,
    /// Offset of its bytes; 0 until its local header was read.
    data: AtomicU64,
}

impl Member {
    pub fn new(entry: Entry) -> Self {
        Self { entry, data: AtomicU64::new(0) }
    }

    /// Offset of its bytes, if known.
    pub fn data(&self) -> Option<u64> {
        Some(self.data.load(Ordering::Relaxed)).filter(|&at| at != 0)
    }

    /// Caches the offset of its bytes.
    pub fn set_data(&self, at: u64) {
        self.data.store(at, Ordering::Relaxed);
    }
}

/// The members by key.
pub(super) type Members = BTreeMap<String, Member>;

/// A directory that was read.
#[derive(Debug, Default)]
pub(super) struct Directory {
    pub members: Members,
    /// The first names that are not valid keys, and how many there are.
    pub refused: Vec<String>,
    pub refused_count: u64,
    /// Whether unfinished data follows it in the file.
    pub recovered: bool,
    /// Add this to the offsets that the directory declares.
    pub shift: u64,
    /// Offset, length and number of its records.
    pub place: (u64, u64, u64),
    pub comment: Vec<u8>,
}

pub(super) fn damaged(source: &dyn Source, reason: impl Into<String>) -> StoreError {
    StoreError::Damaged { path: source.place(), reason: reason.into() }
}

/// Reads the directory of an archive.
pub(super) fn read(source: &dyn Source) -> Result<Directory> {
    let mut directory = Directory::default();
    let end = find(source, &mut directory)?;
    directory.recovered = end.stop < source.size()? && !is_padding(source, end.stop)?;
    directory.comment = end.comment;
    Ok(directory)
}

/// Whether only zeros follow; some tools and devices pad files with them.
fn is_padding(source: &dyn Source, from: u64) -> Result<bool> {
    let size = source.size()?;
    if size - from > TAIL_BYTES {
        return Ok(false);
    }
    let mut rest = Vec::new();
    source.read(from, size - from, &mut rest)?;
    Ok(rest.iter().all(|&byte| byte == 0))
}

/// Finds the last complete directory, and fills `directory` from it.
fn find(source: &dyn Source, directory: &mut Directory) -> Result<End> {
    let size = source.size()?;
    let mut window = Vec::new();
    let mut first_fault = None;
    let mut stop = size;
    let mut step = TAIL_BYTES;
    while stop > 0 {
        let begin = stop.saturating_sub(step);
        // Steps overlap, for records that cross a border.
        let until = size.min(stop + TAIL_BYTES);
        source.read(begin, until - begin, &mut window)?;
        let within = (stop - begin) as usize + format::END_BYTES;
        for at in format::end_candidates(&window).filter(|&at| at < within) {
            let Some(end) = format::end(&window, begin, at) else { continue };
            match fill(source, &end, directory) {
                Ok(()) => return Ok(end),
                Err(error @ StoreError::Damaged { .. }) => {
                    first_fault.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if stop == size && !(source.is_inline() && begins_as_archive(source, size)?) {
            break;
        }
        (stop, step) = (begin, STEP_BYTES);
    }
    Err(first_fault.unwrap_or_else(|| {
        damaged(source, format!("it is not a zip archive: {size} bytes without a directory"))
    }))
}

fn begins_as_archive(source: &dyn Source, size: u64) -> Result<bool> {
    let mut first = Vec::new();
    source.read(0, size.min(4), &mut first)?;
    Ok(first == format::FIRST_BYTES)
}

/// Reads the directory that `end` refers to; an error leaves `directory` without members.
fn fill(source: &dyn Source, end: &End, directory: &mut Directory) -> Result<()> {
    // It lies directly before the end record if data precedes the archive in the file. It lies at
    // the declared offset if data lies in between.
    let adjacent = end.at.checked_sub(end.directory_bytes);
    let mut fault = None;
    let places = [adjacent, Some(end.directory_at)];
    for at in places.into_iter().flatten() {
        let Some(shift) = at.checked_sub(end.directory_at) else { continue };
        if at.checked_add(end.directory_bytes).is_none_or(|stop| stop > end.at) {
            continue;
        }
        if end.directory_bytes > MOST_DIRECTORY_BYTES {
            let bytes = end.directory_bytes;
            let reason = format!("a directory of {bytes} bytes; at most {MOST_DIRECTORY_BYTES}");
            fault.get_or_insert(damaged(source, reason));
            continue;
        }
        *directory = Directory { shift, ..Directory::default() };
        let mut count = 0_u64;
        let walked = walk(source, at, end.directory_bytes, &mut |record| {
            count += 1;
            directory.add(record);
        });
        match walked {
            // Without ZIP64 fields, the number of entries is declared modulo 2^16.
            Ok(()) if count == end.entries || count & 0xFFFF == end.entries => {
                directory.place = (at, end.directory_bytes, count);
                return Ok(());
            }
            Ok(()) => {
                let reason = format!("{count} directory records, {} declared", end.entries);
                fault.get_or_insert(damaged(source, reason));
            }
            Err(error @ StoreError::Damaged { .. }) => {
                fault.get_or_insert(error);
            }
            Err(error) => return Err(error),
        }
    }
    *directory = Directory::default();
    Err(fault.unwrap_or_else(|| damaged(source, "the directory lies outside of the file")))
}

impl Directory {
    fn add(&mut self, record: &Record<'_>) {
        let name = names::decode(record.name, record.entry.flags);
        if name.ends_with('/') {
            return;
        }
        if check_key(&name).is_err() {
            self.refused_count += 1;
            if self.refused.len() < REFUSED_NAMES {
                self.refused.push(name.into_owned());
            }
            return;
        }
        let header = record.entry.header.saturating_add(self.shift);
        let entry = Entry { header, ..record.entry };
        self.members.insert(name.into_owned(), Member::new(entry));
    }
}

/// Calls `visit` with the records of the directory of `bytes` bytes at `at`.
pub(super) fn walk(
    source: &dyn Source,
    at: u64,
    bytes: u64,
    visit: &mut dyn FnMut(&Record<'_>),
) -> Result<()> {
    let mut pending: Vec<u8> = Vec::new();
    let mut step = Vec::new();
    let mut read = 0;
    while read < bytes {
        let more = STEP_BYTES.min(bytes - read);
        source.read(at + read, more, &mut step)?;
        read += more;
        pending.extend_from_slice(&step);
        let mut done = 0;
        while done < pending.len() {
            let record = format::record(&pending[done..]).map_err(|why| damaged(source, why))?;
            let Some(record) = record else { break };
            visit(&record);
            done += record.length;
        }
        pending.drain(..done);
    }
    if pending.is_empty() {
        Ok(())
    } else {
        Err(damaged(source, "a directory record is truncated"))
    }
}
