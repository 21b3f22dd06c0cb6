//! The records of a zip archive, read and written in one place (APPNOTE.TXT 4.3).
//!
//! An archive has its members, each after a local header; then a directory with a record for each
//! member; then the end record, from which everything else is found. A number that does not fit
//! into 32 (or 16) bits is stored as all ones there, and its value is in a ZIP64 field.

/// Length of the end record without its comment.
pub(super) const END_BYTES: usize = 22;
/// Length of the ZIP64 records before it: a ZIP64 end record and its locator.
pub(super) const END64_BYTES: usize = 56 + 20;
/// Length of a local header without its name and extra fields.
pub(super) const LOCAL_BYTES: usize = 30;
const RECORD_BYTES: usize = 46;

const LOCAL: u32 = 0x0403_4b50;
const RECORD: u32 = 0x0201_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;
/// First bytes of an archive that has members.
pub(super) const FIRST_BYTES: [u8; 4] = LOCAL.to_le_bytes();

const EXTRA64: u16 = 1;
/// The flag of members that are encrypted.
pub(super) const ENCRYPTED: u16 = 1;
const ONES16: u16 = u16::MAX;
const ONES32: u32 = u32::MAX;

/// Position, size and checksum of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// Where its local header begins.
    pub header: u64,
    /// Lengths of the stored bytes and of the value.
    pub stored_bytes: u64,
    pub bytes: u64,
    /// CRC-32 of the value.
    pub crc: u32,
    pub method: u16,
    pub flags: u16,
}

/// A record of the directory.
#[derive(Debug)]
pub(super) struct Record<'a> {
    pub name: &'a [u8],
    /// As declared: offsets count from the start of the archive, which may lie within the file.
    pub entry: Entry,
    /// Length of the record.
    pub length: usize,
}

/// The end record, with the ZIP64 values where it has them.
#[derive(Debug)]
pub(super) struct End {
    /// Where the end records begin in the file.
    pub at: u64,
    /// End of the records, including the comment.
    pub stop: u64,
    pub entries: u64,
    pub directory_bytes: u64,
    /// As declared.
    pub directory_at: u64,
    pub comment: Vec<u8>,
}

/// The fault of a record.
pub(super) type Fault = &'static str;

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk::<N>().copied()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    number(bytes, at).map(u16::from_le_bytes)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    number(bytes, at).map(u32::from_le_bytes)
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    number(bytes, at).map(u64::from_le_bytes)
}

/// The record at the start of `bytes`; `None` if it continues after them.
pub(super) fn record(bytes: &[u8]) -> Result<Option<Record<'_>>, Fault> {
    if bytes.len() >= 4 && u32_at(bytes, 0) != Some(RECORD) {
        return Err("a directory record has no signature");
    }
    Ok(whole_record(bytes).transpose()?.filter(|record| record.length <= bytes.len()))
}

fn whole_record(bytes: &[u8]) -> Option<Result<Record<'_>, Fault>> {
    let (flags, method) = (u16_at(bytes, 8)?, u16_at(bytes, 10)?);
    let (crc, stored, plain) = (u32_at(bytes, 16)?, u32_at(bytes, 20)?, u32_at(bytes, 24)?);
    let lengths = [u16_at(bytes, 28)?, u16_at(bytes, 30)?, u16_at(bytes, 32)?].map(usize::from);
    let header = u32_at(bytes, 42)?;
    let length = RECORD_BYTES + lengths.iter().sum::<usize>();
    let name = bytes.get(RECORD_BYTES..RECORD_BYTES + lengths[0])?;
    let extra = bytes.get(RECORD_BYTES + lengths[0]..)?.get(..lengths[1])?;
    let mut wide = extra64(extra).unwrap_or_default();
    let mut field = |narrow: u32| -> Result<u64, Fault> {
        if narrow != ONES32 {
            return Ok(narrow.into());
        }
        // Without a ZIP64 field, all ones are the number itself.
        if wide.is_empty() {
            return Ok(narrow.into());
        }
        let (value, rest) = wide.split_first_chunk().ok_or("a ZIP64 field is truncated")?;
        wide = rest;
        Ok(u64::from_le_bytes(*value))
    };
    let entry = (|| {
        let (bytes, stored_bytes) = (field(plain)?, field(stored)?);
        Ok(Entry { header: field(header)?, stored_bytes, bytes, crc, method, flags })
    })();
    Some(entry.map(|entry| Record { name, entry, length }))
}

/// The ZIP64 field among extra fields.
fn extra64(mut extra: &[u8]) -> Option<&[u8]> {
    loop {
        let (kind, bytes) = (u16_at(extra, 0)?, usize::from(u16_at(extra, 2)?));
        if kind == EXTRA64 {
            return extra.get(4..4 + bytes);
        }
        extra = extra.get(4 + bytes..)?;
    }
}

/// The lengths of the name and of the extra fields in a local header.
pub(super) fn local_lengths(header: &[u8]) -> Result<(usize, usize), Fault> {
    if u32_at(header, 0) != Some(LOCAL) {
        return Err("there is no member where the directory says");
    }
    let lengths =
        u16_at(header, 26).zip(u16_at(header, 28)).ok_or("a local header is truncated")?;
    Ok((lengths.0.into(), lengths.1.into()))
}

/// The offsets in `tail` at which end records may begin, last first.
pub(super) fn end_candidates(tail: &[u8]) -> impl Iterator<Item = usize> + '_ {
    let signature = END.to_le_bytes();
    let last = (tail.len() + 1).saturating_sub(END_BYTES);
    (0..last).rev().filter(move |&at| tail[at..].starts_with(&signature))
}

/// The end record at `at` in `tail`, which is the part of the file from `tail_at` on.
pub(super) fn end(tail: &[u8], tail_at: u64, at: usize) -> Option<End> {
    let found = &tail[at..];
    let comment = found.get(END_BYTES..)?.get(..usize::from(u16_at(found, 20)?))?.to_vec();
    let mut end = End {
        at: tail_at + at as u64,
        stop: tail_at + (at + END_BYTES + comment.len()) as u64,
        entries: u16_at(found, 10)?.into(),
        directory_bytes: u32_at(found, 12)?.into(),
        directory_at: u32_at(found, 16)?.into(),
        comment,
    };
    let Some(locator) = at.checked_sub(20).filter(|&at| u32_at(tail, at) == Some(LOCATOR64)) else {
        // Disk numbers and entries of this disk: archives that are split are not supported.
        let parts = [u16_at(found, 4)?, u16_at(found, 6)?, u16_at(found, 8)?];
        let whole = parts[0] == parts[1] && u64::from(parts[2]) == end.entries;
        return whole.then_some(end);
    };
    // It lies directly before its locator or, if it has extensions, at the offset in the locator.
    let declared = u64_at(tail, locator + 8)?.checked_sub(tail_at);
    let declared = declared.and_then(|at| usize::try_from(at).ok());
    let places = [locator.checked_sub(56), declared];
    let is_one = |at: &usize| u32_at(tail, *at) == Some(END64);
    let at = places.into_iter().flatten().find(is_one)?;
    end.at = tail_at + at as u64;
    end.entries = u64_at(tail, at + 32)?;
    end.directory_bytes = u64_at(tail, at + 40)?;
    end.directory_at = u64_at(tail, at + 48)?;
    (u64_at(tail, at + 24)? == end.entries).then_some(end)
}

/// 1980-01-01, 00:00, the earliest time: equal content makes equal archives.
const DOS_TIME_AND_DATE: [u8; 4] = [0, 0, 0x21, 0];
const VERSION: u16 = 20;
const VERSION64: u16 = 45;
/// Made on Unix, so that the mode has a meaning.
const MADE_BY: u16 = 3 << 8 | VERSION64;
/// A file that its owner may write and everyone may read.
const ATTRIBUTES: u32 = 0o100_644 << 16;

/// A number for its 32-bit field; one that does not fit is appended to `wide`.
fn narrow(value: u64, wide: &mut Vec<u8>) -> u32 {
    match u32::try_from(value) {
        Ok(value) if value != ONES32 => value,
        _ => {
            wide.extend_from_slice(&value.to_le_bytes());
            ONES32
        }
    }
}

/// The fields that a local header and a directory record share, from the version needed on.
fn push_common(out: &mut Vec<u8>, entry: &Entry, is_wide: bool, lengths: [u32; 2]) {
    let version = if is_wide { VERSION64 } else { VERSION };
    for value in [version, entry.flags, entry.method] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    out.extend_from_slice(&DOS_TIME_AND_DATE);
    for value in [entry.crc, lengths[0], lengths[1]] {
        out.extend_from_slice(&value.to_le_bytes());
    }
}

fn push_lengths(out: &mut Vec<u8>, name: &str, wide: &[u8]) {
    let extra = if wide.is_empty() { 0 } else { wide.len() + 4 };
    for length in [name.len(), extra] {
        out.extend_from_slice(&(length as u16).to_le_bytes());
    }
}

fn push_extra64(out: &mut Vec<u8>, wide: &[u8]) {
    if !wide.is_empty() {
        for value in [EXTRA64, wide.len() as u16] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(wide);
    }
}

/// The local header of a member.
pub(super) fn local_header(name: &str, entry: &Entry) -> Vec<u8> {
    let mut wide = Vec::new();
    let mut lengths = [entry.stored_bytes, entry.bytes];
    // Here both lengths go into the ZIP64 field if one has to.
    if lengths.iter().any(|&length| length >= ONES32.into()) {
        wide.extend(lengths.iter().rev().flat_map(|length| length.to_le_bytes()));
        lengths = [ONES32.into(); 2];
    }
    let mut out = LOCAL.to_le_bytes().to_vec();
    push_common(&mut out, entry, !wide.is_empty(), lengths.map(|length| length as u32));
    push_lengths(&mut out, name, &wide);
    out.extend_from_slice(name.as_bytes());
    push_extra64(&mut out, &wide);
    out
}

/// Appends the directory record of a member; the offset is written as it is in `entry`.
pub(super) fn push_record(out: &mut Vec<u8>, name: &str, entry: &Entry) {
    let mut wide = Vec::new();
    let plain = narrow(entry.bytes, &mut wide);
    let stored = narrow(entry.stored_bytes, &mut wide);
    let header = narrow(entry.header, &mut wide);
    out.extend_from_slice(&RECORD.to_le_bytes());
    out.extend_from_slice(&MADE_BY.to_le_bytes());
    push_common(out, entry, !wide.is_empty(), [stored, plain]);
    push_lengths(out, name, &wide);
    // No comment, the first disk, unknown content type.
    out.extend_from_slice(&[0; 6]);
    out.extend_from_slice(&ATTRIBUTES.to_le_bytes());
    out.extend_from_slice(&header.to_le_bytes());
    out.extend_from_slice(name.as_bytes());
    push_extra64(out, &wide);
}

/// The variable parts of an end record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    pub comment: Vec<u8>,
    /// Whether ZIP64 records are written even if nothing needs them.
    pub always64: bool,
}

/// Appends the end records of a directory of `entries` records, with `bytes` bytes at `at`.
pub(super) fn push_end(out: &mut Vec<u8>, (entries, bytes, at): (u64, u64, u64), ending: &Ending) {
    let is_wide = ending.always64
        || entries >= ONES16.into()
        || bytes >= ONES32.into()
        || at >= ONES32.into();
    let mut fields = (entries.min(ONES16.into()) as u16, bytes as u32, at as u32);
    if is_wide {
        fields = (ONES16, ONES32, ONES32);
        out.extend_from_slice(&END64.to_le_bytes());
        out.extend_from_slice(&44_u64.to_le_bytes());
        out.extend_from_slice(&MADE_BY.to_le_bytes());
        out.extend_from_slice(&VERSION64.to_le_bytes());
        out.extend_from_slice(&[0; 8]);
        for value in [entries, entries, bytes, at] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&LOCATOR64.to_le_bytes());
        out.extend_from_slice(&0_u32.to_le_bytes());
        out.extend_from_slice(&at.saturating_add(bytes).to_le_bytes());
        out.extend_from_slice(&1_u32.to_le_bytes());
    }
    out.extend_from_slice(&END.to_le_bytes());
    out.extend_from_slice(&[0; 4]);
    for value in [fields.0, fields.0] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    for value in [fields.1, fields.2] {
        out.extend_from_slice(&value.to_le_bytes());
    }
    let comment = &ending.comment[..ending.comment.len().min(ONES16.into())];
    out.extend_from_slice(&(comment.len() as u16).to_le_bytes());
    out.extend_from_slice(comment);
}

/// Upper bound of the length that [`push_end`] appends.
pub(super) fn end_limit(ending: &Ending) -> u64 {
    (END_BYTES + END64_BYTES + ending.comment.len()) as u64
}
