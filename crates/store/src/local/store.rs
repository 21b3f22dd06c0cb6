//! Values in files of a directory, one file per key.
//!
//! A read is four system calls (`open`, `fstat`, `read`, `close`); all other costs are negligible.
//! Paths are absolute. A descriptor of the root to start from would save little (the kernel looks
//! up cached names). It would also follow a directory that was moved away, instead of finding the
//! one that replaced it. A value is written to a partial file, which is then renamed. The holder of
//! the key's lock has a name for it to itself; a writer without a lock (or on a file system without
//! locks) uses a random name.
//!
//! Links: reads and listings follow them, a write replaces them, and a deletion removes the link.

use std::ffi::{CStr, OsString};
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use zarrix_codec::memory::Grow;

use crate::carrier::{Carried, Carrier};
use crate::error::{Result, StoreError};
use crate::files::partial::{self, LockSpace};
use crate::files::paths::{id_of, make_parents, resolve, sync_directory_of};
use crate::generation::Generation;
use crate::key::{check_key, check_prefix};
use crate::local::replace::Content;
use crate::local::{carry, deletion, leftovers, pages, replace, tree};
use crate::lock::anchor;
use crate::lock::beyond::Others;
use crate::lock::table::KeyLock;
use crate::process::trace;
use crate::store::{
    Changing, Durability, Edge, Listing, Reader, Store, Update, put_if_locked, update_locked,
};
use crate::sys::{self, Status, unless_absent};
use crate::tagged::{ConditionalPut, Cursor, ListedValue, PutOutcome, Tagged};

/// A smaller file is copied faster through memory.
const LEAST_COPIED: u64 = 256 << 10;

/// A store in a directory, which the first write creates.
#[derive(Clone, Debug)]
pub struct LocalStore {
    /// Absolute; links are resolved in the part that existed when the store was made.
    root: PathBuf,
    id: String,
}

impl LocalStore {
    /// The store in the directory `root`; nothing is created, opened or checked yet.
    ///
    /// A relative `root`, and the links in it, are resolved now: the store keeps its directory if
    /// the process changes its working directory, and two stores on one directory have equal ids.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = resolve(&root.into());
        let id = id_of(&root);
        Self { root, id }
    }

    /// The absolute path of the directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Gives the file of `key` its write permission back, which a guarded link took, if it has no
    /// other name any more; returns whether it did.
    pub fn release(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        self.at(key, carry::release).map_err(|source| self.failed("release", key)(source))
    }

    /// The file that a holder of the lock of `key` writes before it is renamed, for tests that put
    /// something in its way; `None` if all such writers choose random names.
    #[must_use]
    pub fn partial_path(&self, key: &str) -> Option<PathBuf> {
        let path = self.path(key);
        let parent = sys::c_name(path.parent()?.as_os_str()).ok()?;
        let device = sys::status_at(&parent).ok()?.device();
        let name =
            partial::of_key(path.as_os_str().as_encoded_bytes(), LockSpace::of_device(device)?)?;
        Some(sys::os_string(name).into())
    }

    fn path(&self, key: &str) -> PathBuf {
        if key.is_empty() { self.root.clone() } else { self.root.join(key) }
    }

    /// Makes the directories above a key that are missing, and returns them, the deepest first.
    /// Where they cannot be made, a write says why.
    fn make_directories_above(&self, key: &str, durability: Durability) -> Vec<PathBuf> {
        let path = self.path(key);
        let above = path.ancestors().skip(1);
        let missing: Vec<_> = above.take_while(|one| !one.exists()).map(Path::to_owned).collect();
        if missing.is_empty() || self.at(key, |path| make_parents(path, durability)).is_ok() {
            missing
        } else {
            Vec::new()
        }
    }

    /// Makes a change whose lock needs the directories above the key.
    fn with_directories<T>(
        &self,
        update: Update<'_>,
        change: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        // Processes that create an anchor exclude each other by its directory, which has to exist.
        let made = match update.anchor == update.key {
            true => self.make_directories_above(update.key, update.durability),
            false => Vec::new(),
        };
        let done = change();
        // Those that are empty were made for nothing.
        for directory in made {
            if fs::remove_dir(directory).is_err() {
                break;
            }
        }
        done
    }

    /// Calls `then` with the path of `key`, which is built on the stack.
    fn at<R>(&self, key: &str, then: impl FnOnce(&CStr) -> io::Result<R>) -> io::Result<R> {
        if let Some(reason) = sys::refused_name(key) {
            return Err(io::Error::new(io::ErrorKind::InvalidFilename, reason));
        }
        let root = self.root.as_os_str().as_encoded_bytes();
        let length = root.len() + 1 + key.len();
        let mut short = [0_u8; 512];
        let mut long;
        let path = if length < short.len() {
            &mut short[..=length]
        } else {
            long = vec![0; length + 1];
            &mut long[..]
        };
        path[..root.len()].copy_from_slice(root);
        path[root.len()] = b'/';
        path[root.len() + 1..length].copy_from_slice(key.as_bytes());
        sys::separate(&mut path[root.len()..length]);
        then(CStr::from_bytes_with_nul(path).map_err(|_| io::ErrorKind::InvalidInput)?)
    }

    /// Syncs the directory that has, or had, the name of `prefix`; for the root, the root itself.
    fn sync_names_beside(&self, prefix: &str) -> Result<()> {
        let path = self.path(prefix);
        let above = path.ancestors().skip(usize::from(!prefix.is_empty()));
        for directory in above {
            match unless_absent(sys::sync_directory(directory)) {
                Ok(Some(())) => break,
                // It became empty and was removed.
                Ok(None) if directory != self.root => {}
                Ok(None) => break,
                Err(source) => return Err(self.failed("sync", prefix)(source)),
            }
        }
        Ok(())
    }

    fn failed(&self, operation: &'static str, key: &str) -> impl Fn(io::Error) -> StoreError {
        let path = self.path(key);
        move |source| StoreError::Io { operation, path: path.display().to_string(), source }
    }

    /// Opens the file of `key`; `None` if there is none.
    fn open(&self, key: &str) -> io::Result<Option<(std::fs::File, Status)>> {
        let file = self.at(key, |path| sys::open(path, sys::READ));
        let Some(file) = unless_absent(file)? else { return Ok(None) };
        let status = sys::status_of(&file)?;
        if status.is_dir() {
            return Ok(None);
        }
        if !status.is_file() {
            let problem = "it is neither a file nor a directory";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, problem));
        }
        Ok(Some((file, status)))
    }

    fn replace(&self, key: &str, content: Content<'_>, durability: Durability) -> Result<()> {
        check_key(key)?;
        let mut span = trace::request("put", key);
        span.moved(content.length() as usize);
        let held = crate::lock::table::held(&self.id, key);
        self.at(key, |path| replace::replace(path, content, durability, held.as_deref()))
            .map_err(|source| self.failed("write", key)(source))
    }

    /// The status of the file of `key`; `None` if there is none.
    fn status(&self, key: &str) -> Result<Option<Status>> {
        check_key(key)?;
        let _span = trace::request("head", key);
        let status = unless_absent(self.at(key, sys::status_at));
        let status = status.map_err(|source| self.failed("look at", key)(source))?;
        Ok(status.filter(Status::is_file))
    }

    fn read(&self, key: &str, most: u64, dst: &mut Vec<u8>) -> io::Result<Option<Status>> {
        let mut span = trace::request("get", key);
        let Some((file, status)) = self.open(key)? else { return Ok(None) };
        let wanted = reserve(dst, status.len().min(most))?;
        let read = sys::append(&file, 0, wanted, dst)?;
        span.moved(read);
        if read < wanted {
            return Err(cut_short(read as u64, status.len()));
        }
        Ok(Some(status))
    }

    fn read_edge(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> io::Result<Option<(Generation, u64)>> {
        let mut span = trace::request("get", key);
        let Some((file, status)) = self.open(key)? else { return Ok(None) };
        let range = edge.range(status.len());
        let wanted = reserve(dst, range.end - range.start)?;
        let read = sys::append(&file, range.start, wanted, dst)?;
        span.moved(read);
        if read < wanted {
            return Err(cut_short(range.start + read as u64, status.len()));
        }
        Ok(Some((status.generation(), status.len())))
    }

    fn read_ranges(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        let mut span = trace::request("get", key);
        let failed = |source| self.failed("read", key)(source);
        let Some((file, status)) = self.open(key).map_err(failed)? else { return Ok(None) };
        let size = status.len();
        if let Some(range) = ranges.iter().find(|range| range.start > range.end || range.end > size)
        {
            return Err(StoreError::beyond_end(key, range, size));
        }
        for range in ranges {
            let wanted = reserve(dst, range.end - range.start).map_err(failed)?;
            let read = sys::append(&file, range.start, wanted, dst).map_err(failed)?;
            if read < wanted {
                return Err(failed(cut_short(range.start + read as u64, size)));
            }
        }
        span.moved(dst.len());
        Ok(Some(status.generation()))
    }
}

/// Reserves space for `more` bytes; a file may claim to be longer than any memory.
fn reserve(dst: &mut Vec<u8>, more: u64) -> io::Result<usize> {
    let more = usize::try_from(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
    dst.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory)?;
    Ok(more)
}

/// A program that does not replace files atomically has truncated this one during the read.
fn cut_short(at: u64, size: u64) -> io::Error {
    let problem = format!("the file ended at byte {at} of {size} while it was read");
    io::Error::new(io::ErrorKind::UnexpectedEof, problem)
}

impl Store for LocalStore {
    fn id(&self) -> &str {
        &self.id
    }

    fn is_inline(&self) -> bool {
        true
    }

    fn get_into(&self, key: &str, dst: &mut Vec<u8>) -> Result<Option<Generation>> {
        self.get_at_most_into(key, u64::MAX - 1, dst)
    }

    fn get_at_most_into(
        &self,
        key: &str,
        most: u64,
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        check_key(key)?;
        let found = self.read(key, most.saturating_add(1), dst).map_err(|source| {
            dst.clear();
            self.failed("read", key)(source)
        })?;
        Ok(found.map(|status| status.generation()))
    }

    fn get_ranges_into(
        &self,
        key: &str,
        ranges: &[Range<u64>],
        dst: &mut Vec<u8>,
    ) -> Result<Option<Generation>> {
        dst.clear();
        check_key(key)?;
        self.read_ranges(key, ranges, dst).inspect_err(|_| dst.clear())
    }

    fn get_edge_into(
        &self,
        key: &str,
        edge: Edge,
        dst: &mut Vec<u8>,
    ) -> Result<Option<(Generation, u64)>> {
        dst.clear();
        check_key(key)?;
        self.read_edge(key, edge, dst).map_err(|source| {
            dst.clear();
            self.failed("read", key)(source)
        })
    }

    fn reads_parts(&self) -> bool {
        true
    }

    fn reads_value_once(&self) -> bool {
        true
    }

    fn copy_from(
        &self,
        key: &str,
        source: &dyn Store,
        other: &str,
        durability: Durability,
        memory: &mut Vec<u8>,
    ) -> Result<Option<u64>> {
        if !source.reads_parts() || source.checks_whole_values() {
            let Some(_) = source.get_into(other, memory)? else { return Ok(None) };
            self.put(key, memory, durability)?;
            return Ok(Some(memory.len() as u64));
        }
        let Some(reader) = source.reader(other)? else { return Ok(None) };
        let size = reader.size();
        match reader.file() {
            Some(file) if size >= LEAST_COPIED => {
                self.replace(key, Content::File(file, size), durability)?;
            }
            _ => {
                let length = usize::try_from(size).unwrap_or(usize::MAX);
                memory.set_length(length).map_err(StoreError::memory(other))?;
                reader.read_at(0, memory)?;
                self.put(key, memory, durability)?;
            }
        }
        Ok(Some(size))
    }

    fn carry(
        &self,
        key: &str,
        other: &str,
        carrier: &Carrier,
        durability: Durability,
    ) -> Result<Option<Carried>> {
        check_key(key)?;
        check_key(other)?;
        let _span = trace::request("carry", key);
        let place = || {
            self.at(key, |from| self.at(other, |to| carry::replace(from, to, carrier, durability)))
        };
        let mut carried = place();
        if carried.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            carried = self.at(other, |to| make_parents(to, durability)).and_then(|()| place());
        }
        let carried = carried.map_err(|source| self.failed("carry", key)(source))?;
        if carried.is_some() && durability == Durability::Fsync {
            self.at(other, sync_directory_of)
                .map_err(|source| self.failed("sync", other)(source))?;
        }
        Ok(carried)
    }

    fn reader(&self, key: &str) -> Result<Option<Box<dyn Reader + '_>>> {
        check_key(key)?;
        // The clock is read first and then the status of the file: any later change in place shows
        // in its times.
        let (_span, now) = (trace::request("open", key), SystemTime::now());
        let opened = self.open(key).map_err(|source| self.failed("read", key)(source))?;
        Ok(opened.map(|(file, status)| {
            let (store, key, size) = (self, key.to_owned(), status.len());
            let version = status.version(now);
            Box::new(OpenFile { store, key, file, size, version }) as Box<dyn Reader>
        }))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.status(key)?.map(|status| status.len()))
    }

    /// One `stat`; a file that has just changed may change again and look the same.
    fn look(&self, key: &str) -> Result<Option<Option<Generation>>> {
        let now = SystemTime::now();
        Ok(self.status(key)?.map(|status| status.version(now)))
    }

    fn put(&self, key: &str, value: &[u8], durability: Durability) -> Result<()> {
        self.replace(key, Content::Bytes(value), durability)
    }

    fn put_parts(&self, key: &str, parts: &[&[u8]], durability: Durability) -> Result<()> {
        self.replace(key, Content::Parts(parts), durability)
    }

    fn delete(&self, key: &str, durability: Durability) -> Result<bool> {
        check_key(key)?;
        let _span = trace::request("delete", key);
        let gone = self.at(key, |path| match sys::unlink(path) {
            // A directory is not a value; Linux returns EISDIR, POSIX specifies EPERM.
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::IsADirectory | io::ErrorKind::PermissionDenied
                ) =>
            {
                let is_dir = sys::status_at(path).is_ok_and(|status| status.is_dir());
                if is_dir { Ok(None) } else { Err(error) }
            }
            result => unless_absent(result),
        });
        let gone = gone.map_err(|source| self.failed("delete", key)(source))?.is_some();
        if gone && durability == Durability::Fsync {
            self.at(key, |path| unless_absent(sync_directory_of(path)))
                .map_err(|source| self.failed("delete", key)(source))?;
        }
        Ok(gone)
    }

    fn delete_prefix(&self, prefix: &str, durability: Durability) -> Result<u64> {
        check_prefix(prefix)?;
        let _span = trace::request("delete", prefix);
        let gone = deletion::delete(&self.root, &self.path(prefix))?;
        if durability == Durability::Fsync {
            self.sync_names_beside(prefix)?;
        }
        Ok(gone)
    }

    fn delete_node(&self, prefix: &str, _: &[&str], durability: Durability) -> Result<u64> {
        // Documents are deleted first in any case.
        self.delete_prefix(prefix, durability)
    }

    fn foreign(&self, prefix: &str) -> Result<Option<OsString>> {
        check_prefix(prefix)?;
        leftovers::foreign(&self.path(prefix))
    }

    fn leftovers(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        leftovers::list(&self.path(prefix), prefix)
    }

    fn remove_leftover(&self, name: &str, least_age: Option<Duration>) -> Result<bool> {
        leftovers::remove(&self.root, name, least_age)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        let mut keys = Vec::new();
        tree::walk(&self.path(prefix), prefix, &mut |key, _| {
            keys.push(key.to_owned());
            Ok(())
        })?;
        keys.sort_unstable();
        Ok(keys)
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        tree::list_dir(&self.path(prefix))
    }

    fn size_prefix(&self, prefix: &str) -> Result<u64> {
        check_prefix(prefix)?;
        let _span = trace::request("list", prefix);
        let mut total = 0_u64;
        tree::walk(&self.path(prefix), prefix, &mut |_, path| {
            // Deleted since it was listed: not an error, and no bytes.
            if let Some(found) = unless_absent(std::fs::metadata(path))? {
                total = total.saturating_add(found.len());
            }
            Ok(())
        })?;
        Ok(total)
    }

    fn rename_prefix(&self, source: &str, target: &str, durability: Durability) -> Result<()> {
        check_key(source)?;
        check_key(target)?;
        let _span = trace::request("rename", source);
        let rename = |from: &CStr| self.at(target, |to| replace::rename(from, to, durability));
        self.at(source, rename).map_err(|error| self.failed("rename", source)(error))?;
        if durability == Durability::Fsync {
            // Sync the new name first: a loss of power in between leaves both names.
            self.sync_names_beside(target)?;
            self.sync_names_beside(source)?;
        }
        Ok(())
    }

    fn update(
        &self,
        update: Update<'_>,
        old: &mut Vec<u8>,
        new: &mut Vec<u8>,
        change: &mut Changing<'_>,
    ) -> Result<()> {
        check_key(update.key)?;
        crate::store::require_at_most(self.size(update.key)?, update)?;
        self.with_directories(update, || update_locked(self, update, old, new, change))
    }

    fn put_if(
        &self,
        update: Update<'_>,
        value: &[u8],
        put: ConditionalPut<'_>,
    ) -> Result<PutOutcome> {
        check_key(update.key)?;
        self.with_directories(update, || put_if_locked(self, update, value, put.condition))
    }

    fn head(&self, key: &str) -> Result<Option<ListedValue>> {
        let entry = |status: Status| ListedValue {
            key: key.to_owned(),
            size: status.len(),
            tag: pages::tag(&status),
        };
        Ok(self.status(key)?.map(entry))
    }

    fn get_tagged(&self, key: &str, most: u64, dst: &mut Vec<u8>) -> Result<Option<Tagged>> {
        dst.clear();
        check_key(key)?;
        let found = self.read(key, most.saturating_add(1), dst).map_err(|source| {
            dst.clear();
            self.failed("read", key)(source)
        })?;
        Ok(found.map(|status| Tagged { tag: pages::tag(&status), changes: String::new() }))
    }

    fn list_page(&self, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
        check_prefix(&cursor.prefix)?;
        let prefix = cursor.prefix.clone();
        let _span = trace::request("list", &prefix);
        pages::list_page(&self.path(&cursor.prefix), cursor)
    }

    fn lock(&self, anchor: &str, key: &str) -> Result<KeyLock> {
        check_key(anchor)?;
        check_key(key)?;
        KeyLock::with(&self.id, anchor, key, |others: Others| {
            self.at(anchor, |path| anchor::lock(path, anchor::relative(anchor, key), others))
        })
    }
}

/// An open file; it is one version, since each version is another file.
struct OpenFile<'a> {
    store: &'a LocalStore,
    key: String,
    file: std::fs::File,
    size: u64,
    version: Option<Generation>,
}

impl Reader for OpenFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let mut span = trace::request("read", &self.key);
        span.moved(dst.len());
        sys::read_exact_at(&self.file, dst, offset)
            .map_err(|source| self.store.failed("read", &self.key)(source))
    }

    fn file(&self) -> Option<&File> {
        Some(&self.file)
    }

    fn version(&self) -> Option<Generation> {
        self.version
    }
}
