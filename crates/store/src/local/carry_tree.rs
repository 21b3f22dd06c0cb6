//! A hierarchy that is carried into another folder, directory by directory, and its rows.
//!
//! Chunks are carried as [`carry`] does; everything else, documents above all, is never linked: the
//! locks of an array are on the file of its document, and files that are not Zarr's are changed in
//! place by their programs. Symbolic links are followed inside the hierarchy, and their targets
//! copied; a link that leads out of it is an error, since a version without its target would lack
//! values, and one with the link would change with them.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{self, DirEntry};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::carrier::{Carrier, Carry};
use crate::error::{Result, StoreError};
use crate::files::partial::DOCUMENTS;
use crate::files::paths::resolve;
use crate::key::check_key;
use crate::key_space::{KeyRole, KeySpace};
use crate::local::carry::{self, Folders};
use crate::local::rows::{Page, Row, Tag, pages};
use crate::store::{Durability, below};
use crate::sys::{self, c_name, is_dangling, unless_absent};

/// Most symbolic links to directories in a walk; links to directories with links multiply.
const MOST_LINKED: u32 = 10_000;

/// With so many files, a directory is opened, instead of naming it for each of them.
const MANY_FILES: usize = 16;

/// What a tree is carried with.
#[derive(Debug)]
pub struct TreeTerms {
    /// How chunks are carried.
    pub carrier: Carrier,
    /// The names that are left out, at any depth.
    pub skipped: Vec<String>,
    /// Whether rows have digests of the values, which are read for that.
    pub digests: bool,
}

/// A hierarchy that is being carried to a folder, or only looked at.
#[derive(Debug)]
pub struct CarriedTree {
    source: PathBuf,
    dest: Option<PathBuf>,
    terms: TreeTerms,
    rows: Mutex<Vec<Row>>,
    /// How many files were cloned, linked and copied, and how many directories made.
    counts: [AtomicU64; 4],
    linked: AtomicU32,
}

/// A directory that is still to be walked.
#[derive(Clone, Debug)]
pub struct Visit {
    key: String,
    path: PathBuf,
    /// Without links.
    real: PathBuf,
    /// The array that it belongs to, and where its keys begin in keys of this directory.
    array: Option<(KeySpace, usize)>,
}

/// A name in a directory, and the open directories, if many files are in it.
#[derive(Clone, Copy)]
struct ListedFile<'a> {
    entry: &'a DirEntry,
    name: &'a str,
    folders: Option<&'a Folders>,
}

/// One walk: which arrays there are, and the rows that an earlier walk has found.
#[derive(Debug, Default)]
pub struct TreeWalk {
    /// The key spaces of arrays, by path.
    pub spaces: HashMap<String, KeySpace>,
    earlier: HashMap<String, Row>,
}

impl CarriedTree {
    /// Nothing is carried yet; without `dest`, nothing will be.
    #[must_use]
    pub fn new(source: &Path, dest: Option<&Path>, terms: TreeTerms) -> Self {
        let (rows, counts, linked) = Default::default();
        let (source, dest) = (resolve(source), dest.map(resolve));
        Self { source, dest, terms, rows, counts, linked }
    }

    /// Begins a walk at `prefix`. The rows below it are taken out; a value that still has the row
    /// of before is not carried again.
    #[must_use]
    pub fn begin(&self, prefix: &str, spaces: HashMap<String, KeySpace>) -> (TreeWalk, Visit) {
        let mut walk = TreeWalk { spaces, earlier: HashMap::new() };
        for row in self.forget(prefix) {
            walk.earlier.insert(row.stored().to_owned(), row);
        }
        let path = if prefix.is_empty() { self.source.clone() } else { self.source.join(prefix) };
        let real = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let array = walk.spaces.get(prefix).map(|space| (*space, start_of(prefix)));
        (walk, Visit { key: prefix.to_owned(), path, real, array })
    }

    /// Takes the rows at and below `prefix` out, and returns them.
    pub fn forget(&self, prefix: &str) -> Vec<Row> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        if prefix.is_empty() {
            return std::mem::take(&mut rows);
        }
        let (out, left) = std::mem::take(&mut *rows).into_iter().partition(|row| {
            row.key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with('/'))
        });
        *rows = left;
        out
    }

    /// Walks one directory, and returns those in it.
    pub fn enter(&self, walk: &TreeWalk, visit: &Visit) -> Result<Vec<Visit>> {
        let failed = |source| StoreError::Io {
            operation: "carry",
            path: visit.path.display().to_string(),
            source,
        };
        let (mut inside, mut rows, mut folders) = (Vec::new(), Vec::new(), None);
        let Some(listed) = unless_absent(fs::read_dir(&visit.path)).map_err(failed)? else {
            return Ok(inside);
        };
        for entry in listed {
            let entry = entry.map_err(failed)?;
            let Some(name) = entry.file_name().into_string().ok() else { continue };
            if check_key(&name).is_err() || self.terms.skipped.contains(&name) {
                continue;
            }
            if rows.len() == MANY_FILES
                && folders.is_none()
                && let Some(dest) = &self.dest
            {
                // Without them, each file goes by its paths.
                folders = Folders::open(&visit.path, &dest.join(&visit.key)).ok();
            }
            let found = ListedFile { entry: &entry, name: &name, folders: folders.as_ref() };
            self.take(walk, visit, &found, &mut inside, &mut rows).map_err(|source| {
                let path = entry.path().display().to_string();
                StoreError::Io { operation: "carry", path, source }
            })?;
        }
        self.rows.lock().unwrap_or_else(PoisonError::into_inner).append(&mut rows);
        Ok(inside)
    }

    fn take(
        &self,
        walk: &TreeWalk,
        visit: &Visit,
        found: &ListedFile<'_>,
        inside: &mut Vec<Visit>,
        rows: &mut Vec<Row>,
    ) -> io::Result<()> {
        let ListedFile { entry, name, .. } = *found;
        let Some(mut kind) = unless_absent(entry.file_type())? else { return Ok(()) };
        let mut real = None;
        let is_link = kind.is_symlink();
        if is_link {
            let Some(target) = self.followed(&entry.path())? else { return Ok(()) };
            let Some(status) = unless_absent(fs::metadata(&target))? else { return Ok(()) };
            kind = status.file_type();
            real = Some(target);
        }
        let key = below(&visit.key, name);
        if kind.is_dir() {
            let real = real.unwrap_or_else(|| visit.real.join(name));
            if is_link && visit.real.starts_with(&real) {
                // It is inside itself.
                return Ok(());
            }
            let array = match walk.spaces.get(&key) {
                Some(space) => Some((*space, start_of(&key))),
                None => visit.array,
            };
            inside.push(Visit { key, path: entry.path(), real, array });
        } else if kind.is_file()
            && let Some(row) = self.value(walk, visit, key, found, is_link)?
        {
            rows.push(row);
        }
        Ok(())
    }

    /// The target of a link; `None` if it leads nowhere.
    fn followed(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let target = match fs::canonicalize(path) {
            Ok(target) => target,
            Err(error) if is_dangling(&error) => return Ok(None),
            Err(error) => return Err(error),
        };
        if !target.starts_with(&self.source) {
            return Err(io::Error::other(format!(
                "a symbolic link leads out of the hierarchy, to {}; a version cannot keep what is \
                 there: put it into the place of the link",
                target.display()
            )));
        }
        if self.linked.fetch_add(1, Ordering::Relaxed) >= MOST_LINKED {
            return Err(io::Error::other(format!("more than {MOST_LINKED} symbolic links")));
        }
        Ok(Some(target))
    }

    fn value(
        &self,
        walk: &TreeWalk,
        visit: &Visit,
        key: String,
        found: &ListedFile<'_>,
        is_link: bool,
    ) -> io::Result<Option<Row>> {
        let name = found.name.as_bytes();
        let member = match visit.array {
            Some((space, start)) if !DOCUMENTS.contains(&name) => space.member(&key[start..]),
            _ => KeyRole::Other,
        };
        let canonical = match (&member, visit.array) {
            (KeyRole::Unnamed, _) => return Ok(None),
            (KeyRole::Chunk(Some(chunk)), Some((_, start))) => {
                Some(format!("{}{chunk}", &key[..start]))
            }
            _ => None,
        };
        let may_link = !is_link && matches!(member, KeyRole::Chunk(_));
        let Some((size, tag)) = self.carried(walk, visit, &key, found, may_link)? else {
            return Ok(None);
        };
        Ok(Some(match canonical {
            Some(canonical) => Row { key: canonical, stored: Some(key), size, tag },
            None => Row { key, stored: None, size, tag },
        }))
    }

    /// Carries a value unless it is there already; returns its length and its tag.
    fn carried(
        &self,
        walk: &TreeWalk,
        visit: &Visit,
        key: &str,
        found: &ListedFile<'_>,
        may_link: bool,
    ) -> io::Result<Option<(u64, Tag)>> {
        let earlier = walk.earlier.get(key);
        if may_link
            && earlier.is_none()
            && !self.terms.digests
            && let Some(folders) = found.folders
            && let Some(linked) = folders.link(&c_name(found.name.as_ref())?, &self.terms.carrier)
        {
            self.counts[1].fetch_add(1, Ordering::Relaxed);
            return Ok(Some((linked.size, Tag::file(linked.tag))));
        }
        let from = c_name(found.entry.path().as_os_str())?;
        if self.dest.is_none() || earlier.is_some() {
            let Some(status) = unless_absent(sys::status_at(&from))? else { return Ok(None) };
            let (size, tag) = (status.len(), Tag::file(carry::tag(&status)));
            if self.dest.is_none() {
                let tag = if self.terms.digests { Tag::of_file(&from)? } else { tag };
                return Ok(Some((size, tag)));
            }
            if earlier.is_some_and(|row| row.size == size && row.tag == tag) {
                return Ok(Some((size, tag)));
            }
        }
        let Some(dest) = &self.dest else { return Ok(None) };
        let to = c_name(dest.join(key).as_os_str())?;
        if earlier.is_some() {
            unless_absent(sys::unlink(&to))?;
        }
        let Some(carried) = self.placed(dest, visit, &from, &to, may_link)? else {
            return Ok(None);
        };
        let count = match carried.by {
            Carry::Clone => 0,
            Carry::Link => 1,
            Carry::Auto | Carry::Copy => 2,
        };
        self.counts[count].fetch_add(1, Ordering::Relaxed);
        let tag = match self.terms.digests {
            true => Tag::of_file(&to)?,
            false => Tag::file(carried.tag),
        };
        Ok(Some((carried.size, tag)))
    }

    fn placed(
        &self,
        dest: &Path,
        visit: &Visit,
        from: &CString,
        to: &CString,
        may_link: bool,
    ) -> io::Result<Option<crate::carrier::Carried>> {
        let place = || match may_link {
            true => carry::place(from, to, &self.terms.carrier, Durability::Process),
            false => carry::place_alone(from, to, &self.terms.carrier, Durability::Process),
        };
        match place() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make(&dest.join(&visit.key))?;
                place()
            }
            placed => placed,
        }
    }

    /// Makes a directory and those above it.
    fn make(&self, directory: &Path) -> io::Result<()> {
        match fs::create_dir(directory) {
            Ok(()) => {
                self.counts[3].fetch_add(1, Ordering::Relaxed);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.make(directory.parent().ok_or(error)?)?;
                self.make(directory)
            }
            Err(error) => Err(error),
        }
    }

    /// Ends a walk: what an earlier one has carried and this one has not found is removed.
    pub fn end(&self, walk: &TreeWalk) -> Result<()> {
        let Some(dest) = self.dest.as_ref().filter(|_| !walk.earlier.is_empty()) else {
            return Ok(());
        };
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let found: std::collections::HashSet<&str> = rows.iter().map(Row::stored).collect();
        for key in walk.earlier.keys().filter(|key| !found.contains(key.as_str())) {
            let path = dest.join(key);
            let removed = c_name(path.as_os_str()).and_then(|name| sys::unlink(&name));
            unless_absent(removed).map_err(|source| StoreError::Io {
                operation: "delete",
                path: path.display().to_string(),
                source,
            })?;
        }
        Ok(())
    }

    /// Pages of the rows so far, sorted by key; a key has one row.
    #[must_use]
    pub fn pages(&self) -> Vec<Page> {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        rows.sort_unstable_by(|first, second| first.key.cmp(&second.key));
        rows.dedup_by(|second, first| second.key == first.key);
        pages(&rows)
    }

    /// How many files were cloned, linked and copied, and how many directories were made.
    #[must_use]
    pub fn counts(&self) -> [u64; 4] {
        [0, 1, 2, 3].map(|index| self.counts[index].load(Ordering::Relaxed))
    }

    /// Makes what was carried survive a loss of power.
    pub fn sync(&self) -> Result<()> {
        let Some(dest) = &self.dest else { return Ok(()) };
        sys::sync_tree(dest).map_err(|source| StoreError::Io {
            operation: "sync",
            path: dest.display().to_string(),
            source,
        })
    }
}

/// Gives files of `live` their write permission back that a guarded link below `version` took, and
/// whose only other name is that link, which is going to be deleted; returns their number.
pub fn release_tree(live: &Path, version: &Path) -> Result<u64> {
    let failed = |source| StoreError::Io {
        operation: "release",
        path: version.display().to_string(),
        source,
    };
    let mut released = 0;
    let Some(entries) = unless_absent(fs::read_dir(version)).map_err(failed)? else {
        return Ok(0);
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let Some(kind) = unless_absent(entry.file_type()).map_err(failed)? else { continue };
        let path = live.join(entry.file_name());
        if kind.is_dir() {
            released += release_tree(&path, &entry.path())?;
        } else if kind.is_file() {
            released += u64::from(carry::release_pair(&path, &entry.path()).map_err(failed)?);
        }
    }
    Ok(released)
}

/// Where keys relative to an array begin in complete ones.
fn start_of(path: &str) -> usize {
    if path.is_empty() { 0 } else { path.len() + 1 }
}
