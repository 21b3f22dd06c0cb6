//! The source of an archive's bytes: a file, or a value of another store.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use zarrix_codec::memory::Grow;

use crate::error::{Result, StoreError};
use crate::generation::Generation;
use crate::process::trace;
use crate::store::{Edge, Fetched, Part, Request, Store};
use crate::sys::{self, Status};

/// Bytes that are read by offset; all methods may be called concurrently from any thread.
pub(super) trait Source: Send + Sync + std::fmt::Debug {
    /// Its path or address, for messages.
    fn place(&self) -> String;

    /// Its length in bytes.
    fn size(&self) -> Result<u64>;

    /// Differs from that of any source that replaces this one.
    fn generation(&self) -> Generation;

    /// Whether a read is so cheap that a worker makes it inline.
    fn is_inline(&self) -> bool;

    /// Replaces the content of `dst` by `bytes` bytes from `at` on; fewer bytes are an error.
    fn read(&self, at: u64, bytes: u64, dst: &mut Vec<u8>) -> Result<()>;

    /// Fills `dst` with the bytes from `at` on.
    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let mut bytes = Vec::new();
        self.read(at, dst.len() as u64, &mut bytes)?;
        dst.copy_from_slice(&bytes);
        Ok(())
    }

    /// Reads many ranges, each delivered to `sink` with its position, in any order.
    fn read_many(&self, ranges: &[(u64, u64)], sink: &mut dyn FnMut(usize, Result<Vec<u8>>)) {
        for (position, &(at, bytes)) in ranges.iter().enumerate() {
            let mut dst = Vec::new();
            let read = self.read(at, bytes, &mut dst);
            sink(position, read.map(|()| dst));
        }
    }
}

/// A range of at most this many bytes takes memory before it is known whether it exists.
const UNCHECKED_BYTES: u64 = 1 << 20;

/// Refuses a range that a directory declares and the source of `size()` bytes does not have, before
/// it takes memory, and before an offset that the system would refuse with another error.
fn check_range(at: u64, bytes: u64, size: impl FnOnce() -> io::Result<u64>) -> io::Result<()> {
    let stop = at.checked_add(bytes).filter(|&stop| i64::try_from(stop).is_ok());
    if bytes <= UNCHECKED_BYTES && stop.is_some() {
        return Ok(());
    }
    let size = size()?;
    if stop.is_some_and(|stop| stop <= size) {
        return Ok(());
    }
    let problem = format!("the archive ends at byte {size}");
    Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem))
}

/// Reserves space for `bytes` bytes, which may exceed any memory.
pub(super) fn room(dst: &mut Vec<u8>, bytes: u64) -> io::Result<usize> {
    dst.clear();
    let bytes = usize::try_from(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    dst.try_reserve(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(bytes)
}

/// An open file, read at explicit offsets: a forked child shares the description, but no position.
#[derive(Debug)]
pub(super) struct FileSource {
    path: PathBuf,
    file: File,
    status: Status,
}

impl FileSource {
    /// Opens the file at `path`; `None` if there is none.
    pub(super) fn open(path: &Path) -> Result<Option<Self>> {
        let failed = |source| io_error("open", path, source);
        let name = c_path(path).map_err(failed)?;
        let Some(file) = sys::unless_absent(sys::open(&name, sys::READ)).map_err(failed)? else {
            return Ok(None);
        };
        let status = sys::status_of(&file).map_err(failed)?;
        if !status.is_file() {
            return Err(failed(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file")));
        }
        Ok(Some(Self { path: path.to_owned(), file, status }))
    }

    /// The same file, with another path for messages.
    pub(super) fn named(self, path: &Path) -> Self {
        Self { path: path.to_owned(), ..self }
    }

    /// Its status when it was opened.
    pub(super) fn status(&self) -> &Status {
        &self.status
    }
}

pub(super) fn c_path(path: &Path) -> io::Result<std::ffi::CString> {
    sys::c_name(path.as_os_str())
}

pub(super) fn io_error(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}

/// The error of an archive that does not exist.
pub(super) fn absent(path: &Path) -> StoreError {
    let source = io::Error::from_raw_os_error(sys::code::ABSENT);
    io_error("open", path, source)
}

impl Source for FileSource {
    fn place(&self) -> String {
        self.path.display().to_string()
    }

    fn size(&self) -> Result<u64> {
        let status = sys::status_of(&self.file);
        Ok(status.map_err(|source| io_error("look at", &self.path, source))?.len())
    }

    fn generation(&self) -> Generation {
        // Identifies the file only: bytes that are already in it are never overwritten during use.
        let (device, inode) = self.status.identity();
        Generation(u128::from(sys::mix(device)) << 64 | u128::from(sys::mix(inode)))
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn read(&self, at: u64, bytes: u64, dst: &mut Vec<u8>) -> Result<()> {
        let mut span = trace::request("read", "");
        span.moved(usize::try_from(bytes).unwrap_or(usize::MAX));
        let length = || Ok(sys::status_of(&self.file)?.len());
        let read =
            check_range(at, bytes, length).and_then(|()| room(dst, bytes)).and_then(|wanted| {
                match sys::append(&self.file, at, wanted, dst)? {
                    read if read == wanted => Ok(()),
                    read => {
                        let problem = format!("the archive ends at byte {}", at + read as u64);
                        Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem))
                    }
                }
            });
        read.map_err(|source| {
            dst.clear();
            io_error("read", &self.path, source)
        })
    }

    fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let mut span = trace::request("read", "");
        span.moved(dst.len());
        sys::read_exact_at(&self.file, dst, at)
            .map_err(|source| io_error("read", &self.path, source))
    }
}

/// A value of another store, read by ranges of one version of it.
#[derive(Debug)]
pub(super) struct ValueSource {
    store: Arc<dyn Store>,
    key: String,
    size: u64,
    generation: Generation,
    /// Its last bytes, from the request that also returned its size.
    tail: Vec<u8>,
}

impl ValueSource {
    /// Opens the value of `key`, and caches its last bytes; `None` if there is none.
    pub(super) fn open(store: Arc<dyn Store>, key: &str, tail_bytes: u64) -> Result<Option<Self>> {
        let mut tail = Vec::new();
        let found = store.get_edge_into(key, Edge::Last(tail_bytes), &mut tail)?;
        Ok(found.map(|(generation, size)| Self {
            store,
            key: key.to_owned(),
            size,
            generation,
            tail,
        }))
    }

    /// The bytes, if they are cached.
    fn kept(&self, at: u64, bytes: u64) -> Option<&[u8]> {
        let begin = at.checked_sub(self.size - self.tail.len() as u64)?;
        let begin = usize::try_from(begin).ok()?;
        self.tail.get(begin..)?.get(..usize::try_from(bytes).ok()?)
    }

    fn check(&self, found: Option<Generation>) -> Result<()> {
        if found == Some(self.generation) {
            return Ok(());
        }
        let problem = "the archive was replaced since it was opened; open it again";
        Err(StoreError::Damaged { path: self.place(), reason: problem.to_owned() })
    }
}

impl Source for ValueSource {
    fn place(&self) -> String {
        format!("{}/{}", self.store.id(), self.key)
    }

    fn size(&self) -> Result<u64> {
        Ok(self.size)
    }

    fn generation(&self) -> Generation {
        self.generation
    }

    fn is_inline(&self) -> bool {
        self.store.is_inline()
    }

    fn read(&self, at: u64, bytes: u64, dst: &mut Vec<u8>) -> Result<()> {
        if let Some(kept) = self.kept(at, bytes) {
            dst.set_to(kept).map_err(StoreError::memory(&self.key))?;
            return Ok(());
        }
        let range = at..at.saturating_add(bytes);
        let found = self.store.get_ranges_into(&self.key, std::slice::from_ref(&range), dst)?;
        self.check(found).inspect_err(|_| dst.clear())
    }

    fn read_many(&self, ranges: &[(u64, u64)], sink: &mut dyn FnMut(usize, Result<Vec<u8>>)) {
        let ranges: Vec<_> = ranges.iter().map(|&(at, n)| at..at.saturating_add(n)).collect();
        let part = |range| Part::Ranges(std::slice::from_ref(range));
        let request = |range| Request { key: &self.key, part: part(range) };
        let requests: Vec<_> = ranges.iter().map(request).collect();
        self.store.fetch(&requests, &mut |position, found| {
            let bytes = match found {
                Ok(Fetched::Bytes(bytes, generation, _)) => {
                    self.check(Some(generation)).map(|()| bytes)
                }
                Ok(Fetched::Absent) => self.check(None).map(|()| Vec::new()),
                Err(error) => Err(error),
            };
            sink(position, bytes);
        });
    }
}
