//! The state of one archive in a process: the source of its bytes, and its members by key.
//!
//! All handles on one file share one `Archive`, so that all of them see each write at once. It
//! checks the file again whenever a handle is opened. In between, readers see the members of one
//! moment, even if the file is replaced or extended: bytes of a member are never overwritten.
//!
//! Its lock is held only for look-ups, in sections that a fork waits for, and never while bytes are
//! read. A forked child continues to read from the inherited description, at explicit offsets.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use super::directory::{self, Directory, Members};
use super::session::Session;
use super::source::{FileSource, Source, ValueSource};
use super::value::Found;
use crate::error::Result;
use crate::process::fork::{self, PerProcess};
use crate::store::Store;

static OPEN: PerProcess<Mutex<HashMap<String, Weak<Archive>>>> = PerProcess::new(Mutex::default);

/// An archive, shared by the handles on it.
#[derive(Debug)]
pub(super) struct Archive {
    pub id: String,
    /// The path of its file, unless it is a value of another store.
    pub path: Option<PathBuf>,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub members: Members,
    /// `None` as long as the file does not exist.
    pub source: Option<Arc<dyn Source>>,
    /// The file as it was when the members were read.
    version: Option<Version>,
    pub notes: Notes,
    /// Created by this process, or inherited in a fork.
    pub session: Option<Arc<Session>>,
}

/// Device and inode; length; and a generation that differs after every change.
type Version = ((u64, u64), u64, crate::generation::Generation);

/// Facts that a user should know about an archive that was opened successfully.
#[derive(Clone, Debug, Default)]
pub struct Notes {
    /// Whether unfinished data follows the directory that is used.
    pub recovered: bool,
    /// How many names are not valid keys, and the first of them.
    pub refused: (u64, Vec<String>),
}

impl Archive {
    /// The archive in the file `path`, as it is now; without members if the file does not exist.
    pub fn in_file(path: &Path) -> Result<Arc<Self>> {
        let shared = Self::unread(path);
        shared.refresh()?;
        Ok(shared)
    }

    /// The state of the archive in the file `path` in this process; nothing is read.
    pub fn unread(path: &Path) -> Arc<Self> {
        let path = crate::files::paths::resolve(path);
        let id = format!("zip:{}", crate::files::paths::id_of(&path));
        let mut open = OPEN.get().lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|_, archive| archive.strong_count() > 0);
        let found = open.get(&id).and_then(Weak::upgrade);
        found.unwrap_or_else(|| {
            let state = RwLock::default();
            let fresh = Arc::new(Self { id: id.clone(), path: Some(path), state });
            open.insert(id, Arc::downgrade(&fresh));
            fresh
        })
    }

    /// The archive in the value of `key`; `None` if there is no such value.
    pub fn in_store(store: Arc<dyn Store>, key: &str) -> Result<Option<Arc<Self>>> {
        let id = format!("zip:{}/{key}", store.id());
        let Some(source) = ValueSource::open(store, key, directory::TAIL_BYTES)? else {
            return Ok(None);
        };
        let mut state = State::default();
        let found = directory::read(&source)?;
        state.replace(Arc::new(source), None, found);
        Ok(Some(Arc::new(Self { id, path: None, state: RwLock::new(state) })))
    }

    pub fn look<R>(&self, section: impl FnOnce(&State) -> R) -> R {
        fork::unforked(|| section(&self.state.read().unwrap_or_else(PoisonError::into_inner)))
    }

    pub fn change<R>(&self, section: impl FnOnce(&mut State) -> R) -> R {
        fork::unforked(|| section(&mut self.state.write().unwrap_or_else(PoisonError::into_inner)))
    }

    /// Reads the directory again if the file has changed.
    pub fn refresh(&self) -> Result<()> {
        let Some(path) = &self.path else { return Ok(()) };
        // No other process writes then, and the members in memory are newer than those in the file.
        if self.is_being_written() {
            return Ok(());
        }
        let Some(source) = FileSource::open(path)? else {
            drop(self.change(std::mem::take));
            return Ok(());
        };
        let version = version(&source);
        if self.look(|state| state.version.as_ref() == Some(&version)) {
            return Ok(());
        }
        let found = directory::read(&source)?;
        let old = self.change(|state| state.replace(Arc::new(source), Some(version), found));
        drop(old);
        Ok(())
    }

    /// The member with this key, and the source of its bytes.
    pub fn find(&self, key: &str) -> Option<(Arc<dyn Source>, Found)> {
        self.look(|state| {
            let member = state.members.get(key)?;
            Some((Arc::clone(state.source.as_ref()?), Found::of(member)))
        })
    }

    /// Caches where the bytes of a member begin.
    pub fn remember(&self, key: &str, found: &Found, data: u64) {
        if found.data.is_none() {
            self.look(|state| {
                let member = state.members.get(key);
                if let Some(member) = member
                    && member.entry.header == found.entry.header
                {
                    member.set_data(data);
                }
            });
        }
    }
}

fn version(source: &FileSource) -> Version {
    let status = source.status();
    (status.identity(), status.len(), status.generation())
}

impl State {
    /// Replaces the state by what was read; the caller drops the previous members.
    pub fn replace(
        &mut self,
        source: Arc<dyn Source>,
        version: Option<Version>,
        found: Directory,
    ) -> Self {
        let notes =
            Notes { recovered: found.recovered, refused: (found.refused_count, found.refused) };
        let (members, source) = (found.members, Some(source));
        let fresh = Self { members, source, version, notes, session: None };
        std::mem::replace(self, fresh)
    }
}
