//! Changes of an archive: members put, deleted and renamed; the directory written; the file packed.

use std::io;
use std::sync::Arc;

use zarrix_codec::member::{Method, crc32};
use zarrix_codec::{CodecError, Scratch};

use super::archive::{Archive, State};
use super::directory::{Member, Members};
use super::format::{self, Ending, Entry};
use super::names;
use super::session::{Commit, Session, Slot, Start};
use super::source::{Source, io_error};
use super::value::{Found, corrupt};
use crate::error::{Result, StoreError};
use crate::key::PARTIAL;
use crate::listing::sorted;
use crate::lock::table::KeyLock;
use crate::sys;

/// Bytes that are copied at once when an archive is packed.
const COPY_BYTES: u64 = 4 << 20;
/// Names of metadata documents, which are packed before all other members.
const DOCUMENTS: [&str; 5] = ["zarr.json", ".zgroup", ".zarray", ".zattrs", ".zmetadata"];

/// How members are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writing {
    pub method: Method,
    /// Whether the archive may use ZIP64.
    pub allows64: bool,
}

impl Archive {
    /// The session of this process; begun if there is none.
    fn session(&self) -> Result<Arc<Session>> {
        self.begin(Start::Extend)
    }

    /// Begins a session; with `Replace`, a running session continues without its members.
    pub fn begin(&self, start: Start) -> Result<Arc<Session>> {
        let path =
            self.path.as_deref().ok_or_else(|| StoreError::ReadOnly { key: String::new() })?;
        let own = || self.look(|state| state.session.clone()).filter(|session| session.is_own());
        if let (Some(session), Start::Extend) = (own(), start) {
            return Ok(session);
        }
        let _turn = KeyLock::in_process(&self.id, PARTIAL, PARTIAL)?;
        if let Some(session) = own() {
            match start {
                Start::Extend => {}
                Start::Create => {
                    let source = io::Error::from_raw_os_error(sys::code::EXISTS);
                    return Err(io_error("create", path, source));
                }
                Start::Replace => drop(self.slot(0)?.map(|slot| self.clear(slot))),
            }
            return Ok(session);
        }
        let (session, found) = Session::begin(path, start)?;
        let source: Arc<dyn Source> = Arc::clone(&session.source) as _;
        let old = self.change(|state| {
            let old = state.replace(source, None, found);
            state.session = Some(Arc::clone(&session));
            old
        });
        drop(old);
        Ok(session)
    }

    fn clear(&self, slot: Slot) {
        let old = self.change(|state| std::mem::take(&mut state.members));
        drop((old, slot));
    }

    /// Space in the current session; no commit happens while it is held.
    fn slot(&self, bytes: u64) -> Result<Option<Slot>> {
        self.session()?.allocate(bytes)
    }

    fn room(&self, bytes: u64) -> Result<Slot> {
        loop {
            if let Some(slot) = self.slot(bytes)? {
                return Ok(slot);
            }
        }
    }

    /// Stores `value` under `key`.
    pub fn put(&self, key: &str, value: &[u8], how: Writing) -> Result<()> {
        if key.len() > u16::MAX.into() {
            return Err(StoreError::InvalidKey {
                key: key.to_owned(),
                reason: "names in zip archives have at most 65535 bytes",
            });
        }
        let mut encoded = Vec::new();
        let mut entry = Entry {
            header: 0,
            stored_bytes: value.len() as u64,
            bytes: value.len() as u64,
            crc: crc32(value),
            method: how.method.number(),
            flags: names::flags_of(key),
        };
        let mut stored = value;
        if how.method != Method::Stored {
            let done = how.method.encode(value, &mut encoded, &mut Scratch::default());
            done.map_err(|error| match error {
                CodecError::Memory(refused) => StoreError::memory(key)(refused),
                error => corrupt(key, error.to_string()),
            })?;
            (stored, entry.stored_bytes) = (&encoded, encoded.len() as u64);
        }
        let header = format::local_header(key, &entry);
        let slot = self.room((header.len() + stored.len()) as u64)?;
        if !how.allows64 {
            self.check_small(&slot, &entry)?;
        }
        entry.header = slot.at;
        slot.write(0, &header)?;
        slot.write(header.len() as u64, stored)?;
        let member = Member::new(entry);
        member.set_data(slot.at + header.len() as u64);
        let old = self.change(|state| state.members.insert(key.to_owned(), member));
        drop((old, slot));
        Ok(())
    }

    fn check_small(&self, slot: &Slot, entry: &Entry) -> Result<()> {
        let most = u64::from(u32::MAX);
        let sizes = [entry.bytes, entry.stored_bytes, slot.at + entry.stored_bytes];
        let count = self.look(|state| state.members.len());
        if sizes.iter().all(|&size| size < most) && count < usize::from(u16::MAX) - 1 {
            return Ok(());
        }
        let problem = "the archive would need ZIP64 extensions, which allowZip64=False forbids";
        let source = io::Error::new(io::ErrorKind::FileTooLarge, problem);
        Err(StoreError::Io { operation: "write", path: self.id.clone(), source })
    }

    /// Removes the members of `keys` that exist; returns their number.
    pub fn remove(&self, keys: &[String]) -> Result<u64> {
        if self.look(|state| keys.iter().all(|key| !state.members.contains_key(key))) {
            return Ok(0);
        }
        let slot = self.room(0)?;
        let gone: Vec<_> =
            self.change(|state| keys.iter().filter_map(|key| state.members.remove(key)).collect());
        drop(slot);
        Ok(gone.len() as u64)
    }

    /// Removes all members; the next commit replaces the archive by a new one.
    pub fn remove_all(&self) -> Result<u64> {
        let count = self.look(|state| state.members.len() as u64);
        if count > 0 {
            self.begin(Start::Replace)?;
        }
        Ok(count)
    }

    /// Renames everything at and below `from` to `to`, by copies of the members.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let moves = self.look(|state| sorted::moves(&state.members, from, to))?;
        let mut made = Vec::new();
        for (old, new) in &moves {
            if let Some((source, found)) = self.find(old) {
                made.push((new.clone(), self.copy(&*source, old, &found, new)?));
            }
        }
        let slot = self.room(0)?;
        let gone = self.change(|state| {
            state.members.extend(made);
            moves.iter().map(|(old, _)| state.members.remove(old)).collect::<Vec<_>>()
        });
        drop((gone, slot));
        Ok(())
    }

    fn copy(&self, source: &dyn Source, old: &str, found: &Found, new: &str) -> Result<Member> {
        let entry = renamed(&found.entry, new);
        let slot =
            self.room(format::local_header(new, &entry).len() as u64 + entry.stored_bytes)?;
        copy_member(source, old, found, new, &slot)
    }

    /// Whether this process is writing to it.
    pub fn is_being_written(&self) -> bool {
        self.look(|state| state.session.as_ref().is_some_and(|session| session.is_own()))
    }

    /// Writes the directory, if anything changed; `end` lets other processes write.
    pub fn commit(&self, how: &Commit) -> Result<()> {
        let own = self.look(|state| state.session.clone()).filter(|session| session.is_own());
        let Some(session) = own else { return Ok(()) };
        session.commit(&|visit| self.look(|state| visit(&state.members)), how)?;
        if how.end {
            let ended = |state: &mut State| state.session.take_if(|s| Arc::ptr_eq(s, &session));
            drop(self.change(ended));
        }
        Ok(())
    }

    /// Whether documents come first, those of the root before those below.
    pub fn is_packed(&self) -> bool {
        self.look(|state| {
            let mut places: Vec<_> = state
                .members
                .iter()
                .map(|(key, member)| (rank(key), member.entry.header))
                .collect();
            places.sort_unstable_by_key(|(_, header)| *header);
            let documents = places.iter().take_while(|(rank, _)| rank.0 == 0).count();
            places[documents..].iter().all(|(rank, _)| rank.0 == 1)
                && places[..documents].is_sorted_by_key(|(rank, _)| *rank)
        })
    }

    /// Rewrites the archive without unreferenced members, documents first; returns the bytes saved.
    pub fn pack(&self, how: &Commit) -> Result<u64> {
        let session = self.session()?;
        // This makes the written bytes the archive: the partial file of the new one needs the same
        // name.
        session.commit(&|visit| self.look(|state| visit(&state.members)), &Commit::default())?;
        let _turn = KeyLock::in_process(&self.id, PARTIAL, PARTIAL)?;
        session.replace_with(|fresh| {
            let order = self.look(|state| packing_order(&state.members));
            let mut members = Members::new();
            for (key, found) in order {
                let bytes = format::local_header(&key, &renamed(&found.entry, &key)).len() as u64;
                let Some(slot) = fresh.allocate(bytes + found.entry.stored_bytes)? else { break };
                let member = copy_member(&*session.source, &key, &found, &key, &slot)?;
                members.insert(key, member);
            }
            fresh.commit(&|visit| visit(&members), &Commit { end: false, ..how.clone() })?;
            let source: Arc<dyn Source> = Arc::clone(&fresh.source) as _;
            let old = self.change(|state| {
                state.source = Some(source);
                state.session = Some(Arc::clone(fresh));
                std::mem::replace(&mut state.members, members)
            });
            drop(old);
            Ok(())
        })
    }
}

/// The order of members: documents first, by depth and then by name; all others are equal.
fn rank(key: &str) -> (u8, usize, &str) {
    let name = key.rsplit('/').next().unwrap_or(key);
    match DOCUMENTS.contains(&name) {
        true => (0, key.matches('/').count(), key),
        false => (1, 0, ""),
    }
}

fn packing_order(members: &Members) -> Vec<(String, Found)> {
    let mut order: Vec<_> = members.iter().map(|(key, m)| (key.clone(), Found::of(m))).collect();
    order.sort_by(|(a, x), (b, y)| rank(a).cmp(&rank(b)).then(x.entry.header.cmp(&y.entry.header)));
    order
}

/// An entry as we write it: lengths and checksum before the bytes, the name as text.
fn renamed(entry: &Entry, name: &str) -> Entry {
    Entry { flags: names::flags_of(name), ..*entry }
}

/// Copies the stored bytes of a member unchanged into `slot`, under the name `new`.
fn copy_member(
    source: &dyn Source,
    old: &str,
    found: &Found,
    new: &str,
    slot: &Slot,
) -> Result<Member> {
    if found.entry.flags & format::ENCRYPTED != 0 {
        found.method(old)?;
    }
    let entry = Entry { header: slot.at, ..renamed(&found.entry, new) };
    let header = format::local_header(new, &entry);
    slot.write(0, &header)?;
    let from = found.locate(old, source)?;
    let mut bytes = Vec::new();
    let mut done = 0;
    while done < entry.stored_bytes {
        let more = COPY_BYTES.min(entry.stored_bytes - done);
        source.read(from + done, more, &mut bytes)?;
        slot.write(header.len() as u64 + done, &bytes)?;
        done += more;
    }
    let member = Member::new(entry);
    member.set_data(slot.at + header.len() as u64);
    Ok(member)
}

impl Drop for Archive {
    /// The last handle is gone: the written members become the archive.
    fn drop(&mut self) {
        let how = Commit { end: true, ..Commit::default() };
        if let Err(error) = self.commit(&how) {
            // No caller is left to raise an error to.
            eprintln!("zarrix: {}: the last writes are lost: {error}", self.id);
        }
    }
}

/// The end record of an archive with a comment; always with ZIP64 records.
pub(super) fn ending(comment: &[u8]) -> Ending {
    Ending { comment: comment.to_vec(), always64: true }
}
