//! A member's value: found after its local header, decoded to its declared length, checked.

use std::cell::RefCell;
use std::io::ErrorKind;

use zarrix_codec::member::{Method, crc32};
use zarrix_codec::memory::Grow;
use zarrix_codec::{CodecError, Scratch};

use super::directory::Member;
use super::format::{self, Entry};
use super::names;
use super::source::Source;
use crate::error::{Result, StoreError};

/// Extra bytes to read with a local header, which may be longer than the directory suggests.
const SLACK_BYTES: u64 = 256;
/// The highest compression ratio of deflate.
const DEFLATE_RATIO: u64 = 1032;
/// The highest ratio of zstd: a block of at most 128 KiB from at least four bytes.
const ZSTD_RATIO: u64 = (128 << 10) / 4;
/// Memory for a value is reserved before it is decoded if its length is at most its stored length
/// times this ratio, plus this many bytes.
const SURE_RATIO: usize = 64;
const SURE_BYTES: usize = 16 << 20;

thread_local! {
    static SCRATCH: RefCell<(Vec<u8>, Scratch)> = RefCell::default();
}

pub(super) fn corrupt(key: &str, reason: impl Into<String>) -> StoreError {
    StoreError::Corrupt { key: key.to_owned(), reason: reason.into() }
}

/// Replaces the content of `dst` by bytes of an archive, at a range that the directory declares for
/// `key`.
pub(super) fn read_for(
    key: &str,
    source: &dyn Source,
    at: u64,
    bytes: u64,
    dst: &mut Vec<u8>,
) -> Result<()> {
    source.read(at, bytes, dst).map_err(|error| match error {
        StoreError::Io { source, .. } if source.kind() == ErrorKind::UnexpectedEof => {
            corrupt(key, "the zip archive ends before it")
        }
        error => error,
    })
}

/// A member, copied out of the table of members.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub entry: Entry,
    /// Offset of its bytes, if known.
    pub data: Option<u64>,
}

impl Found {
    pub fn of(member: &Member) -> Self {
        Self { entry: member.entry, data: member.data() }
    }

    /// Its compression method; an error if it is not supported.
    pub fn method(&self, key: &str) -> Result<Method> {
        let Entry { method, flags, stored_bytes, bytes, .. } = self.entry;
        if flags & format::ENCRYPTED != 0 {
            return Err(corrupt(key, "it is encrypted in the zip archive, which is not supported"));
        }
        let known = Method::of(method).ok_or_else(|| {
            corrupt(key, format!("the zip archive compresses it by the unknown method {method}"))
        })?;
        let possible = match known {
            Method::Stored => stored_bytes == bytes,
            Method::Deflate => bytes / DEFLATE_RATIO <= stored_bytes,
            Method::Zstd => bytes / ZSTD_RATIO <= stored_bytes,
            _ => true,
        };
        if possible {
            return Ok(known);
        }
        let reason = format!("the zip archive declares {bytes} bytes, stored in {stored_bytes}");
        Err(corrupt(key, reason))
    }

    /// Offset of its bytes.
    pub fn locate(&self, key: &str, source: &dyn Source) -> Result<u64> {
        if let Some(data) = self.data {
            return Ok(data);
        }
        let mut header = Vec::new();
        let wanted = (format::LOCAL_BYTES + key.len()) as u64;
        read_for(key, source, self.entry.header, wanted, &mut header)?;
        Ok(self.entry.header + self.header_bytes(key, &header)? as u64)
    }

    /// Length of the local header at the start of `bytes`, which has to belong to this member.
    fn header_bytes(&self, key: &str, bytes: &[u8]) -> Result<usize> {
        let wrong = |why| corrupt(key, format!("in the zip archive, {why}"));
        let (name, extra) = format::local_lengths(bytes).map_err(wrong)?;
        let stored = bytes.get(format::LOCAL_BYTES..).unwrap_or_default();
        // A name in code page 437 is shorter than the key; a longer name belongs to another member.
        let stored = stored.get(..name).ok_or_else(|| wrong("another member is in its place"))?;
        if names::decode(stored, self.entry.flags) != key {
            return Err(wrong("another member is in its place"));
        }
        Ok(format::LOCAL_BYTES + name + extra)
    }

    /// Replaces the content of `dst` by the value, or by the first `most + 1` bytes of a longer one.
    pub fn read(
        &self,
        key: &str,
        most: u64,
        source: &dyn Source,
        dst: &mut Vec<u8>,
    ) -> Result<u64> {
        let method = self.method(key)?;
        let data = self.locate(key, source)?;
        let Entry { stored_bytes, bytes, .. } = self.entry;
        if method == Method::Stored {
            read_for(key, source, data, bytes.min(most.saturating_add(1)), dst)?;
            if bytes <= most {
                self.check(key, dst)?;
            }
            return Ok(data);
        }
        self.check_length(key, most)?;
        SCRATCH.with_borrow_mut(|(stored, scratch)| {
            read_for(key, source, data, stored_bytes, stored)?;
            self.decode(key, method, stored, dst, scratch)
        })?;
        Ok(data)
    }

    /// The range of the source with the member; the length of its header is estimated if unknown.
    pub fn extent(&self, key: &str) -> (u64, u64) {
        match self.data {
            Some(data) => (data, self.entry.stored_bytes),
            None => {
                let header = format::LOCAL_BYTES as u64 + key.len() as u64 + SLACK_BYTES;
                (self.entry.header, header.saturating_add(self.entry.stored_bytes))
            }
        }
    }

    /// The value from the bytes of its [`extent`](Self::extent), and the offset of its data.
    pub fn value_of(&self, key: &str, extent: &[u8]) -> Result<(Vec<u8>, u64)> {
        let method = self.method(key)?;
        let (skip, data) = match self.data {
            Some(data) => (0, data),
            None => {
                let bytes = self.header_bytes(key, extent)?;
                (bytes, self.entry.header + bytes as u64)
            }
        };
        let stored = usize::try_from(self.entry.stored_bytes).ok();
        let stored = stored.and_then(|bytes| extent.get(skip..)?.get(..bytes));
        let stored =
            stored.ok_or_else(|| corrupt(key, "its header in the zip archive is too long"))?;
        let mut value = Vec::new();
        if method == Method::Stored {
            value.append_slice(stored).map_err(StoreError::memory(key))?;
            self.check(key, &value)?;
        } else {
            SCRATCH.with_borrow_mut(|(_, scratch)| {
                self.decode(key, method, stored, &mut value, scratch)
            })?;
        }
        Ok((value, data))
    }

    fn check_length(&self, key: &str, most: u64) -> Result<()> {
        if self.entry.bytes <= most {
            return Ok(());
        }
        Err(StoreError::TooLong { key: key.to_owned(), bytes: self.entry.bytes, most })
    }

    fn decode(
        &self,
        key: &str,
        method: Method,
        stored: &[u8],
        dst: &mut Vec<u8>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let sure = stored.len().saturating_mul(SURE_RATIO).saturating_add(SURE_BYTES) as u64;
        let decoded = if self.entry.bytes <= sure {
            let bytes = usize::try_from(self.entry.bytes).unwrap_or(usize::MAX);
            dst.set_length(bytes).map_err(StoreError::memory(key))?;
            method.decode_into(stored, dst, scratch)
        } else {
            // The declared length may be wrong.
            let most = usize::try_from(self.entry.bytes).unwrap_or(usize::MAX);
            method.decode_bounded(stored, most, dst, scratch)
        };
        let checked = decoded
            .map_err(|error| match error {
                CodecError::Memory(refused) => StoreError::memory(key)(refused),
                error => corrupt(key, format!("in the zip archive, {error}")),
            })
            .and_then(|()| self.check_declared(key, dst))
            .and_then(|()| self.check(key, dst));
        checked.inspect_err(|_| dst.clear())
    }

    fn check_declared(&self, key: &str, value: &[u8]) -> Result<()> {
        let (found, declared) = (value.len() as u64, self.entry.bytes);
        if found == declared {
            return Ok(());
        }
        Err(corrupt(key, format!("it has {found} bytes, the zip archive declares {declared}")))
    }

    fn check(&self, key: &str, value: &[u8]) -> Result<()> {
        let (found, declared) = (crc32(value), self.entry.crc);
        if found == declared {
            return Ok(());
        }
        let (found, declared) = (format!("{found:#010x}"), format!("{declared:#010x}"));
        Err(corrupt(key, format!("its CRC-32 is {found}, the zip archive declares {declared}")))
    }
}
