//! Writing to an archive: from the first change until its directory is at the end of the file.
//!
//! Bytes that a reader may refer to are never overwritten, and the file always ends in a complete
//! directory (`lengthen.rs`). An existing archive is first lengthened by free space with a copy of
//! its directory after it. Any number of threads then write members into the free space
//! concurrently. At the end, the new directory is written after the members, and the file is
//! truncated after it; this one step publishes all changes. If the writer is killed before that,
//! the archive is unchanged for every reader of zip archives. A new archive, or one that replaces
//! another, is written to a partial file and renamed.
//!
//! One process writes at a time: it holds a lock on a byte of the file, far past its end, and on
//! the same byte of the file that it will replace. A forked child holds no lock of its parent's
//! session and writes nothing to it.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::directory::{self, Directory, Members};
use super::format::{self, Ending, Entry};
use super::lengthen;
use super::names;
use super::source::{FileSource, Source, absent, c_path, io_error};
use crate::error::{Result, StoreError};
use crate::files::paths;
use crate::key::{PARTIAL, check_key};
use crate::lock::anchor::{is_still, unless_refused};
use crate::lock::descriptors::LockedFile;
use crate::process::fork;
use crate::sys::{self, Hold, unless_absent};

/// The byte that a writer locks; far from those of anchors, which lie in other files anyway.
const WRITER: std::ops::Range<i64> = 1 << 62..(1 << 62) + 1;
/// Free space that is added at once: as much as was written before, within these bounds.
const LEAST_SPACE: u64 = 4 << 20;
const MOST_SPACE: u64 = 1 << 30;
/// How often a file is opened again because it was replaced meanwhile.
const ATTEMPTS: usize = 100;

/// What to do with an archive that exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// New members are added to it.
    Extend,
    /// It is replaced when the new one is complete.
    Replace,
    /// Its existence is an error.
    Create,
}

/// Calls a reader with the current members.
pub(super) type Visit<'a> = &'a dyn Fn(&mut dyn FnMut(&Members));

/// How a directory is written.
#[derive(Clone, Debug, Default)]
pub(super) struct Commit {
    /// Whether it survives a loss of power.
    pub sync: bool,
    /// Whether this is the last commit of the session.
    pub end: bool,
    /// The new values of the end record; without them, it keeps its values.
    pub ending: Option<Ending>,
}

/// A session of writing to one archive, in the process that began it.
#[derive(Debug)]
pub(super) struct Session {
    generation: u64,
    path: PathBuf,
    pub source: Arc<FileSource>,
    /// Open for writing, and locked.
    file: LockedFile,
    space: Mutex<Space>,
    quiet: Condvar,
}

#[derive(Debug)]
struct Space {
    /// Offset of the next member, and the end of the free space.
    next: u64,
    limit: u64,
    /// Length of the file.
    length: u64,
    /// Number of members being written, and whether new ones have to wait.
    writing: usize,
    closing: bool,
    ended: bool,
    /// Whether anything changed since the last commit.
    dirty: bool,
    destination: Destination,
    committed: Committed,
}

/// The file that is written to.
#[derive(Debug)]
enum Destination {
    /// The archive itself.
    Archive,
    /// A partial file that will replace it; with `must_write`, even if no member was written.
    Beside { partial: PathBuf, over: Over, must_write: bool },
}

/// What the partial file replaces.
#[derive(Debug)]
enum Over {
    Nothing,
    /// An existing file, which stays locked until it is replaced.
    Theirs {
        _held: LockedFile,
    },
    /// The file of the session that writes this one, which has locked it.
    Ours,
}

/// The directory as it stands in the file.
#[derive(Debug, Default)]
struct Committed {
    records: Vec<u8>,
    count: u64,
    ending: Ending,
    /// Members from this offset on are not in it.
    boundary: u64,
    shift: u64,
}

/// Space for a member; while it is held, no directory is written.
#[derive(Debug)]
pub(super) struct Slot {
    pub at: u64,
    session: Arc<Session>,
}

impl Slot {
    /// Writes at `offset` of the slot.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let written =
            self.session.file.file().and_then(|f| sys::write_all_at(f, bytes, self.at + offset));
        written.map_err(|source| io_error("write", &self.session.path, source))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut space = self.session.space();
        space.writing -= 1;
        space.dirty = true;
        drop(space);
        self.session.quiet.notify_all();
    }
}

fn busy(path: &Path) -> StoreError {
    StoreError::Busy { path: path.display().to_string() }
}

/// Takes the writer's byte; false if another process has it. On file systems without locks it
/// always succeeds.
fn take(file: &mut LockedFile) -> io::Result<bool> {
    Ok(unless_refused(file.try_lock_bytes(WRITER, Hold::Exclusive))?.unwrap_or(true))
}

/// Opens `path` with `flags` and takes its writer's byte, to write to `archive`; `None` if there is
/// no such file.
fn hold(path: &Path, flags: sys::Flags, archive: &Path) -> Result<Option<LockedFile>> {
    let failed = |source| io_error("open", path, source);
    let name = c_path(path).map_err(failed)?;
    for _ in 0..ATTEMPTS {
        let opened = LockedFile::open(|| sys::open(&name, sys::CHANGE | flags));
        let Some(mut file) = unless_absent(opened).map_err(failed)? else { return Ok(None) };
        if !take(&mut file).map_err(failed)? {
            return Err(busy(archive));
        }
        if file.file().and_then(|file| is_still(&name, file)).map_err(failed)? {
            return Ok(Some(file));
        }
    }
    Err(busy(archive))
}

/// Creates the file `partial` and takes its writer's byte, to write to `archive`.
///
/// An existing file of that name is removed and never written to: a killed writer left it, or it
/// has other links. If its writer is alive, it holds the byte, and this call fails.
fn make(partial: &Path, archive: &Path) -> Result<LockedFile> {
    let failed = |source| io_error("create", partial, source);
    let name = c_path(partial).map_err(failed)?;
    for _ in 0..ATTEMPTS {
        match LockedFile::open(|| sys::open(&name, sys::NEW)) {
            Ok(mut file) => {
                if !take(&mut file).map_err(failed)? {
                    return Err(busy(archive));
                }
                if file.file().and_then(|file| is_still(&name, file)).map_err(failed)? {
                    return Ok(file);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                // Held until the name is removed, so that no writer takes it meanwhile.
                if let Some(_left) = hold(partial, sys::NO_FOLLOW, archive)? {
                    unless_absent(sys::unlink(&name)).map_err(failed)?;
                }
            }
            Err(error) => return Err(failed(error)),
        }
    }
    Err(busy(archive))
}

impl Session {
    /// Begins a session; also returns the members as they are in the file. No other process changes
    /// them now.
    pub fn begin(path: &Path, start: Start) -> Result<(Arc<Self>, Directory)> {
        let failed = |source| io_error("create", path, source);
        let name = c_path(path).map_err(failed)?;
        if start == Start::Create && unless_absent(sys::status_at(&name)).map_err(failed)?.is_some()
        {
            return Err(failed(io::Error::from_raw_os_error(sys::code::EXISTS)));
        }
        match (hold(path, 0, path)?, start) {
            (Some(file), Start::Extend) => Self::extending(path, file),
            (existing, _) => {
                let over = existing.map_or(Over::Nothing, |held| Over::Theirs { _held: held });
                let session = Self::beside(path, over, start != Start::Extend)?;
                Ok((session, Directory::default()))
            }
        }
    }

    fn extending(path: &Path, file: LockedFile) -> Result<(Arc<Self>, Directory)> {
        let Some(source) = FileSource::open(path)? else { return Err(absent(path)) };
        let length = source.size()?;
        let mut found = Directory::default();
        let mut committed = Committed { boundary: length, ..Committed::default() };
        // A file that was never written to has no directory to preserve.
        let mut limit = u64::MAX;
        if length > 0 {
            found = directory::read(&source)?;
            let (at, bytes, count) = found.place;
            source.read(at, bytes, &mut committed.records)?;
            committed.count = count;
            committed.ending.comment.clone_from(&found.comment);
            committed.shift = found.shift;
            limit = length;
        }
        let space = Space {
            next: length,
            limit,
            length,
            writing: 0,
            closing: false,
            ended: false,
            dirty: false,
            destination: Destination::Archive,
            committed,
        };
        Ok((Self::new(path, source, file, space), found))
    }

    /// A session that writes a partial file beside `path`; `over` is the file that it replaces.
    fn beside(path: &Path, over: Over, must_write: bool) -> Result<Arc<Self>> {
        let mut partial = path.as_os_str().to_owned();
        partial.push(PARTIAL);
        let partial = PathBuf::from(partial);
        let failed = |source| io_error("create", &partial, source);
        let name = c_path(&partial).map_err(failed)?;
        paths::make_parents(&name, crate::store::Durability::Process).map_err(failed)?;
        let file = make(&partial, path)?;
        let Some(source) = FileSource::open(&partial)? else { return Err(busy(path)) };
        let space = Space {
            next: 0,
            limit: u64::MAX,
            length: 0,
            writing: 0,
            closing: false,
            ended: false,
            dirty: must_write,
            destination: Destination::Beside { partial, over, must_write },
            committed: Committed::default(),
        };
        Ok(Self::new(path, source.named(path), file, space))
    }

    fn new(path: &Path, source: FileSource, file: LockedFile, space: Space) -> Arc<Self> {
        Arc::new(Self {
            generation: fork::generation(),
            path: path.to_owned(),
            source: Arc::new(source),
            file,
            space: Mutex::new(space),
            quiet: Condvar::new(),
        })
    }

    /// Whether this process began it; a forked child leaves its parent's session alone.
    pub fn is_own(&self) -> bool {
        self.generation == fork::generation()
    }

    fn space(&self) -> MutexGuard<'_, Space> {
        self.space.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn failed(&self) -> impl Fn(io::Error) -> StoreError {
        |source| io_error("write", &self.path, source)
    }

    /// Space for `bytes` bytes; `None` if the session has ended.
    pub fn allocate(self: &Arc<Self>, bytes: u64) -> Result<Option<Slot>> {
        let mut space = self.space();
        while space.closing {
            space = self.quiet.wait(space).unwrap_or_else(PoisonError::into_inner);
        }
        if space.ended {
            return Ok(None);
        }
        self.make_room(&mut space, bytes)?;
        let at = space.next;
        space.next += bytes;
        space.writing += 1;
        Ok(Some(Slot { at, session: Arc::clone(self) }))
    }

    /// Makes sure that `bytes` bytes are free before the copy of the directory.
    fn make_room(&self, space: &mut Space, bytes: u64) -> Result<()> {
        if bytes <= space.limit.saturating_sub(space.next) {
            return Ok(());
        }
        let next = space.length;
        let written = next.saturating_sub(space.committed.boundary);
        let least = next.saturating_add(bytes.max(written.clamp(LEAST_SPACE, MOST_SPACE)));
        let (limit, copy) = lengthen::place(least, |at| space.committed.at(at));
        let file = self.file.file().map_err(self.failed())?;
        lengthen::write(file, &self.path, (limit, &copy), space.length).map_err(self.failed())?;
        space.next = next;
        space.limit = limit;
        space.length = limit + copy.len() as u64;
        Ok(())
    }

    fn write(&self, at: u64, bytes: &[u8]) -> Result<()> {
        self.file.file().and_then(|file| sys::write_all_at(file, bytes, at)).map_err(self.failed())
    }

    /// Writes the directory of `members`, and publishes it as the archive's.
    pub fn commit(&self, members: Visit<'_>, how: &Commit) -> Result<()> {
        let mut space = self.space();
        space.closing = true;
        while space.writing > 0 {
            space = self.quiet.wait(space).unwrap_or_else(PoisonError::into_inner);
        }
        let done =
            if space.ended { Ok(()) } else { self.write_directory(&mut space, members, how) };
        space.closing = false;
        space.ended |= how.end && done.is_ok();
        drop(space);
        self.quiet.notify_all();
        done
    }

    fn write_directory(&self, space: &mut Space, members: Visit<'_>, how: &Commit) -> Result<()> {
        let lengthened =
            matches!(space.destination, Destination::Archive) && space.limit < space.length;
        let renewed = how.ending.as_ref().is_some_and(|ending| *ending != space.committed.ending);
        if !space.dirty && !lengthened && !renewed {
            return self.forget_unwritten(space, how);
        }
        let mut next = Committed { shift: space.committed.shift, ..Committed::default() };
        next.ending = how.ending.clone().unwrap_or_else(|| space.committed.ending.clone());
        members(&mut |members| next.collect(&space.committed, members));
        self.make_room(space, next.records.len() as u64 + format::end_limit(&next.ending))?;
        let at = space.next;
        let records = next.at(at);
        self.write(at, &records)?;
        let length = at + records.len() as u64;
        if how.sync {
            self.file.file().and_then(std::fs::File::sync_all).map_err(self.failed())?;
        }
        // This step makes it the archive's directory; before, the archive is unchanged.
        self.put_in_place(space, length, how.sync)?;
        next.boundary = length;
        space.committed = next;
        (space.next, space.limit, space.length, space.dirty) = (length, length, length, false);
        Ok(())
    }

    fn put_in_place(&self, space: &mut Space, length: u64, sync: bool) -> Result<()> {
        let file = self.file.file().map_err(self.failed())?;
        let moved = match &space.destination {
            Destination::Archive => file.set_len(length),
            Destination::Beside { partial, over, .. } => c_path(partial).and_then(|from| {
                let to = c_path(&self.path)?;
                match over {
                    // Fails if another program has created the file without taking the lock.
                    Over::Nothing => sys::rename_new(&from, &to),
                    Over::Theirs { .. } | Over::Ours => sys::rename(&from, &to),
                }
            }),
        };
        moved.map_err(self.failed())?;
        space.destination = Destination::Archive;
        if sync {
            let synced = file.sync_all();
            let name = c_path(&self.path).and_then(|path| paths::sync_directory_of(&path));
            synced.and(name).map_err(self.failed())?;
        }
        Ok(())
    }

    /// Removes the partial file beside the archive if no member was written to it.
    fn forget_unwritten(&self, space: &mut Space, how: &Commit) -> Result<()> {
        match &space.destination {
            Destination::Beside { partial, must_write: false, .. } if how.end => c_path(partial)
                .and_then(|partial| unless_absent(sys::unlink(&partial)))
                .map(drop)
                .map_err(self.failed()),
            _ => Ok(()),
        }
    }

    /// Ends the session, and lets `work` rewrite the archive into a new session, which continues
    /// instead. Returns by how many bytes the file became shorter.
    ///
    /// The old file stays locked until the new one has replaced it.
    pub fn replace_with(&self, work: impl FnOnce(&Arc<Self>) -> Result<()>) -> Result<u64> {
        let mut space = self.space();
        space.closing = true;
        while space.writing > 0 {
            space = self.quiet.wait(space).unwrap_or_else(PoisonError::into_inner);
        }
        let done = if space.ended { Ok(0) } else { self.rewrite(&space, work) };
        space.closing = false;
        space.ended |= done.is_ok();
        drop(space);
        self.quiet.notify_all();
        done
    }

    fn rewrite(&self, space: &Space, work: impl FnOnce(&Arc<Self>) -> Result<()>) -> Result<u64> {
        let fresh = Self::beside(&self.path, Over::Ours, true)?;
        let done = work(&fresh);
        let mut new = fresh.space();
        if done.is_err() {
            new.ended = true;
            if let Destination::Beside { partial, .. } = &new.destination {
                let _ = c_path(partial).and_then(|partial| sys::unlink(&partial));
            }
        }
        done.map(|()| space.length.saturating_sub(new.length))
    }
}

impl Committed {
    /// The directory as bytes, for offset `at` of the file.
    fn at(&self, at: u64) -> Vec<u8> {
        let mut bytes = self.records.clone();
        let place = (self.count, bytes.len() as u64, at.saturating_sub(self.shift));
        format::push_end(&mut bytes, place, &self.ending);
        bytes
    }

    /// Copies the records of `previous` that are still valid, then adds those of new members.
    fn collect(&mut self, previous: &Self, members: &Members) {
        let mut rest = &previous.records[..];
        while let Ok(Some(record)) = format::record(rest) {
            let name = names::decode(record.name, record.entry.flags);
            let header = record.entry.header.saturating_add(self.shift);
            let is_meant = |name: &Cow<'_, str>| {
                members.get(name.as_ref()).is_some_and(|member| member.entry.header == header)
            };
            // A member whose name is not a key belongs to another program, and stays.
            if name.ends_with('/') || check_key(&name).is_err() || is_meant(&name) {
                self.records.extend_from_slice(&rest[..record.length]);
                self.count += 1;
            }
            rest = &rest[record.length..];
        }
        let mut fresh: Vec<(&str, Entry)> = members
            .iter()
            .filter(|(_, member)| member.entry.header >= previous.boundary)
            .map(|(name, member)| (name.as_str(), member.entry))
            .collect();
        fresh.sort_unstable_by_key(|(_, entry)| entry.header);
        for (name, entry) in fresh {
            let header = entry.header.saturating_sub(self.shift);
            format::push_record(&mut self.records, name, &Entry { header, ..entry });
            self.count += 1;
        }
    }
}
