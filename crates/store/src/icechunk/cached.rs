//! The manifests in memory: the last ones that were used, up to a number of bytes.
//!
//! Threads that need one manifest at once wait for the first of them to read it, so that a large
//! one is not decoded by each. They poll: a forked child, in which the reading thread does not
//! exist, sees that the mark is that of another process, and reads the manifest itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::file::damaged;
use super::ids::Id;
use super::manifest::{Manifest, key_of};
use crate::error::{Result, StoreError};
use crate::process::{fork, interrupt};
use crate::store::{Fetched, Part, Request, Store};

const PAUSE: Duration = Duration::from_micros(200);
/// Several arrays may be read in turn.
const KEPT: usize = 4;

/// The manifests of one repository.
#[derive(Debug)]
pub(super) struct Manifests {
    store: Arc<dyn Store>,
    /// A longer file is an error.
    most: u64,
    state: Mutex<KeptManifests>,
}

#[derive(Debug, Default)]
struct KeptManifests {
    kept: HashMap<Id, Kept>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
enum Kept {
    /// A thread of the process with this generation reads it.
    Reading(u64),
    /// With the number of its last use.
    Ready(Arc<Manifest>, u64),
}

enum Turn {
    Have(Arc<Manifest>),
    /// The caller reads it.
    Read,
    Wait,
}

impl Manifests {
    pub fn new(store: Arc<dyn Store>, most: u64) -> Self {
        Self { store, most, state: Mutex::default() }
    }

    fn change<R>(&self, section: impl FnOnce(&mut KeptManifests) -> R) -> R {
        fork::unforked(|| section(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    fn turn(&self, id: Id) -> Turn {
        let generation = fork::generation();
        self.change(|state| {
            state.uses += 1;
            match state.kept.get_mut(&id) {
                Some(Kept::Ready(manifest, used)) => {
                    *used = state.uses;
                    Turn::Have(Arc::clone(manifest))
                }
                Some(Kept::Reading(by)) if *by == generation => Turn::Wait,
                _ => {
                    state.kept.insert(id, Kept::Reading(generation));
                    Turn::Read
                }
            }
        })
    }

    /// The manifest `id`.
    pub fn get(&self, id: Id) -> Result<Arc<Manifest>> {
        loop {
            match self.turn(id) {
                Turn::Have(manifest) => return Ok(manifest),
                Turn::Wait if interrupt::is_raised() => return Err(StoreError::Interrupted),
                Turn::Wait => std::thread::sleep(PAUSE),
                Turn::Read => {
                    let mark = Mark { manifests: self, id, is_kept: false };
                    let mut file = Vec::new();
                    let found = self.store.get_at_most_into(&key_of(id), self.most, &mut file)?;
                    return mark.keep(found.map(|_| file));
                }
            }
        }
    }

    /// Passes each of the manifests `ids` to `sink`, with its position. Those that are not in memory
    /// are requested at once.
    pub fn get_many(&self, ids: &[Id], sink: &mut dyn FnMut(usize, Result<Arc<Manifest>>)) {
        let (mut marks, mut others) = (Vec::new(), Vec::new());
        for (position, id) in ids.iter().copied().enumerate() {
            match self.turn(id) {
                Turn::Have(manifest) => sink(position, Ok(manifest)),
                Turn::Read => {
                    let mark = Mark { manifests: self, id, is_kept: false };
                    marks.push(Some((position, mark, key_of(id))));
                }
                Turn::Wait => others.push((position, id)),
            }
        }
        let keys: Vec<_> = marks.iter().flatten().map(|(_, _, key)| key.clone()).collect();
        let request = |key| Request { key, part: Part::AtMost(self.most) };
        let requests: Vec<_> = keys.iter().map(String::as_str).map(request).collect();
        self.store.fetch(&requests, &mut |index, found| {
            let Some((position, mark, _)) = marks.get_mut(index).and_then(Option::take) else {
                return;
            };
            let file = found.map(|found| match found {
                Fetched::Bytes(file, ..) => Some(file),
                Fetched::Absent => None,
            });
            sink(position, file.and_then(|file| mark.keep(file)));
        });
        // After an error that concerns all, a store may leave the rest out.
        others.extend(marks.into_iter().flatten().map(|(position, mark, _)| (position, mark.id)));
        for (position, id) in others {
            sink(position, self.get(id));
        }
    }
}

/// Says that this thread reads a manifest, until it is dropped.
struct Mark<'a> {
    manifests: &'a Manifests,
    id: Id,
    is_kept: bool,
}

impl Mark<'_> {
    /// Parses the manifest, and keeps it in memory.
    fn keep(mut self, file: Option<Vec<u8>>) -> Result<Arc<Manifest>> {
        let Manifests { store, most, .. } = self.manifests;
        let file = file.ok_or_else(|| {
            damaged(&**store, &key_of(self.id), "the file is missing, which a snapshot names")
        })?;
        let manifest = Arc::new(Manifest::parse(&**store, self.id, file, *most)?);
        let room = usize::try_from(*most).unwrap_or(usize::MAX).saturating_mul(KEPT);
        let shared = Arc::clone(&manifest);
        let dropped = self.manifests.change(|state| state.keep(shared, room));
        self.is_kept = true;
        drop(dropped);
        Ok(manifest)
    }
}

impl Drop for Mark<'_> {
    fn drop(&mut self) {
        if !self.is_kept {
            self.manifests.change(|state| state.kept.remove(&self.id));
        }
    }
}

impl KeptManifests {
    /// Keeps a manifest; returns those that have to make room for it.
    fn keep(&mut self, manifest: Arc<Manifest>, room: usize) -> Vec<Kept> {
        self.uses += 1;
        self.bytes = self.bytes.saturating_add(manifest.bytes());
        let id = manifest.id;
        let mut dropped: Vec<_> =
            self.kept.insert(id, Kept::Ready(manifest, self.uses)).into_iter().collect();
        while self.bytes > room {
            let ready = self.kept.iter().filter_map(|(one, kept)| match kept {
                Kept::Ready(manifest, used) if *one != id => Some((*used, *one, manifest.bytes())),
                _ => None,
            });
            let Some((_, oldest, bytes)) = ready.min() else { break };
            self.bytes -= bytes;
            dropped.extend(self.kept.remove(&oldest));
        }
        dropped
    }
}
