//! The chunks of an array carried to another spelling of their keys, in its folder or in another.
//!
//! Chunks alone are carried. Others may go on writing to the source: what they have changed is
//! carried again, unless the carried chunk was changed, too.

use std::collections::HashMap;
use std::ffi::CString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use crate::carrier::{Carrier, Carry};
use crate::error::{Result, StoreError};
use crate::files::paths::{directory_of, make_parents, resolve};
use crate::generation::Generation;
use crate::key_space::KeySpace;
use crate::local::carry;
use crate::store::{Durability, below};
use crate::sys::{self, c_name, unless_absent};

/// What tells one content of a file from the next: its length, when it was modified, its number.
type Mark = (u64, (u64, u64));

/// Chunks that are carried from one key space to another.
#[derive(Debug)]
pub struct CarriedSpace {
    source: PathBuf,
    dest: PathBuf,
    from: KeySpace,
    to: KeySpace,
    carrier: Carrier,
    durability: Durability,
    /// By the numbers of a chunk, such as `0/1`: the file that was carried, and the one it became.
    marks: Mutex<HashMap<String, (Mark, Mark)>>,
    /// By directory: its version when it was listed, and the directories that were in it. One that
    /// still has this version has the same names.
    listed: Mutex<HashMap<String, (Generation, Vec<String>)>>,
}

impl CarriedSpace {
    /// Nothing is carried yet. Both spaces have a spelling and the same number of axes.
    #[must_use]
    pub fn new(
        source: (&Path, KeySpace),
        dest: (&Path, KeySpace),
        carrier: Carrier,
        durability: Durability,
    ) -> Self {
        let ((source, from), (dest, to)) = (source, dest);
        let (source, dest) = (resolve(source), resolve(dest));
        let (marks, listed) = Default::default();
        Self { source, dest, from, to, carrier, durability, marks, listed }
    }

    /// The directory that a listing begins with, relative to the source, and how many levels of
    /// numbers are in it.
    #[must_use]
    pub fn first(&self) -> (String, usize) {
        self.from.top()
    }

    /// The names in a directory: directories of chunks above the last level, and in that the
    /// numbers of chunks. If names in a directory of the last level have not changed since it was
    /// listed before, it has none: [`others`](Self::others) has them.
    pub fn enter(&self, directory: &str, levels: usize) -> Result<Vec<String>> {
        let path = self.source.join(directory);
        let failed = |source| failed("list", &path, source);
        let now = SystemTime::now();
        let status = c_name(path.as_os_str()).and_then(|path| unless_absent(sys::status_at(&path)));
        let Some(status) = status.map_err(failed)? else { return Ok(Vec::new()) };
        // None if a change could still come in the same tick of the clock.
        let version = status.version(now);
        if let Some(version) = version
            && let Some((_, inside)) = self.listed().get(directory).filter(|old| old.0 == version)
        {
            return Ok(inside.clone());
        }
        let (found, has_links) = self.list(directory, &path, levels).map_err(failed)?;
        // What a link leads to changes without its directory.
        if let Some(version) = version.filter(|_| !has_links) {
            let inside = if levels > 1 { found.clone() } else { Vec::new() };
            self.listed().insert(directory.to_owned(), (version, inside));
        }
        Ok(found)
    }

    fn listed(&self) -> MutexGuard<'_, HashMap<String, (Generation, Vec<String>)>> {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is in a directory, and whether symbolic links are.
    fn list(&self, directory: &str, path: &Path, levels: usize) -> io::Result<(Vec<String>, bool)> {
        let (mut found, mut has_links) = (Vec::new(), false);
        let listed = match unless_absent(fs::read_dir(path)) {
            // A file has the name of the directory.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => None,
            listed => listed?,
        };
        let Some(listed) = listed else { return Ok((found, has_links)) };
        for entry in listed {
            let entry = entry?;
            let Some(name) = entry.file_name().into_string().ok() else { continue };
            let key = below(directory, &name);
            let numbers = self.from.numbers(&key);
            if levels > 1 && !name.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            if levels <= 1 && numbers.is_none() {
                continue;
            }
            let Some(mut kind) = unless_absent(entry.file_type())? else { continue };
            if kind.is_symlink() {
                has_links = true;
                let Some(status) = unless_absent(fs::metadata(entry.path()))? else { continue };
                kind = status.file_type();
            }
            match numbers {
                Some(numbers) if levels <= 1 && kind.is_file() => found.push(numbers),
                _ if levels > 1 && kind.is_dir() => found.push(key),
                _ => {}
            }
        }
        Ok((found, has_links))
    }

    fn names(&self, numbers: &str) -> io::Result<(CString, CString)> {
        let from = self.source.join(self.from.key(numbers));
        let to = self.dest.join(self.to.key(numbers));
        Ok((c_name(from.as_os_str())?, c_name(to.as_os_str())?))
    }

    /// Carries some chunks, by their numbers.
    pub fn carry(&self, chunks: &[String]) -> Result<()> {
        let mut marks = Vec::with_capacity(chunks.len());
        let mut made = PathBuf::new();
        for numbers in chunks {
            let mark = self.names(numbers).and_then(|(from, to)| {
                // Runs of chunks are in one directory. That it is missing would else be found by a
                // link, which costs as much as a look.
                let directory = directory_of(&to);
                if directory != made {
                    made = directory.to_owned();
                    make_parents(&to, self.durability)?;
                }
                self.place(&from, &to)
            });
            let mark = mark.map_err(|error| self.failed("carry", numbers, error))?;
            marks.extend(mark.map(|mark| (numbers.clone(), mark)));
        }
        self.marks.lock().unwrap_or_else(PoisonError::into_inner).extend(marks);
        Ok(())
    }

    fn place(&self, from: &CString, to: &CString) -> io::Result<Option<(Mark, Mark)>> {
        let place = || carry::place(from, to, &self.carrier, self.durability);
        let mut placed = place();
        if placed.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            make_parents(to, self.durability)?;
            placed = place();
        }
        let placed = match placed {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                carry::replace(from, to, &self.carrier, self.durability)
            }
            placed => placed,
        };
        let Some(carried) = placed? else { return Ok(None) };
        let mark = (carried.size, carried.tag);
        let own = if carried.by == Carry::Link { Some(mark) } else { mark_of(to)? };
        Ok(own.map(|own| (mark, own)))
    }

    /// The first chunk of these, and of those that were carried, that was changed both in the
    /// source and after it was carried; the others that were changed in the source are carried
    /// again, and removed if they are gone there.
    pub fn carry_late(&self, chunks: &[String]) -> Result<Option<String>> {
        for numbers in chunks {
            let late = self.again(numbers);
            if late.map_err(|error| self.failed("carry", numbers, error))? {
                return Ok(Some(self.from.key(numbers)));
            }
        }
        Ok(None)
    }

    /// Whether a chunk was changed in both places; if in the source alone, it is carried again.
    fn again(&self, numbers: &str) -> io::Result<bool> {
        let (from, to) = self.names(numbers)?;
        let known = self.marks.lock().unwrap_or_else(PoisonError::into_inner).get(numbers).copied();
        let stored = mark_of(&from)?;
        if stored == known.map(|known| known.0) {
            return Ok(false);
        }
        if mark_of(&to)? != known.map(|known| known.1) {
            return Ok(true);
        }
        unless_absent(sys::unlink(&to))?;
        let mark = self.place(&from, &to)?;
        let mut marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        match mark {
            Some(mark) => marks.insert(numbers.to_owned(), mark),
            None => marks.remove(numbers),
        };
        Ok(false)
    }

    /// The numbers of the chunks that were carried and are not among these.
    #[must_use]
    pub fn others(&self, chunks: &[String]) -> Vec<String> {
        let known: std::collections::HashSet<&str> = chunks.iter().map(String::as_str).collect();
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        marks.keys().filter(|numbers| !known.contains(numbers.as_str())).cloned().collect()
    }

    /// Makes the names of chunks survive a loss of power, if their bytes do.
    pub fn sync(&self) -> Result<()> {
        if self.durability != Durability::Fsync {
            return Ok(());
        }
        let marks = self.marks.lock().unwrap_or_else(PoisonError::into_inner);
        let mut directories: Vec<PathBuf> = marks
            .keys()
            .filter_map(|numbers| Some(self.dest.join(self.to.key(numbers)).parent()?.to_owned()))
            .collect();
        directories.sort_unstable();
        directories.dedup();
        directories.iter().try_for_each(|directory| {
            sys::sync_directory(directory).map_err(|source| failed("sync", directory, source))
        })
    }

    fn failed(&self, operation: &'static str, numbers: &str, source: io::Error) -> StoreError {
        failed(operation, &self.source.join(self.from.key(numbers)), source)
    }
}

fn failed(operation: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation, path: path.display().to_string(), source }
}

fn mark_of(path: &CString) -> io::Result<Option<Mark>> {
    let status = unless_absent(sys::status_at(path))?;
    Ok(status.map(|status| (status.len(), carry::tag(&status))))
}
