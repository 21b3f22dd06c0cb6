//! A walk through the files of a folder in the order of their keys' bytes, which follows no link.
//!
//! At each level, the names of one directory are in memory. What a document says of chunks is listed
//! after it, since it was stored after them: documents are looked at before the names that are
//! listed. A link ends a page, and its caller says where the walk goes on.

use std::collections::HashMap;
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::{Result, StoreError};
use crate::files::directory::Directory;
use crate::local::pages::tag;
use crate::sys::{FileKind, Status};
use crate::tagged::order_of;

/// A file that was changed less long before it was listed can be changed again without another time:
/// file systems have clocks that tick each 10 ms, or each two seconds.
const TICK: Duration = Duration::from_secs(3);

/// A file, as it is listed.
#[derive(Clone, Debug)]
pub struct WalkedFile {
    /// Below the folder of the walk.
    pub key: String,
    /// Its length in bytes.
    pub size: u64,
    /// Tells it from the files that replace it.
    pub tag: String,
    /// Whether its next change has another tag for certain.
    pub is_settled: bool,
    /// Whether it is a document that had this tag before its directory was listed.
    pub is_before: bool,
}

/// A link that a walk has met.
#[derive(Clone, Debug)]
pub struct MetLink {
    /// Below the folder of the walk.
    pub key: String,
    /// Where it is.
    pub path: PathBuf,
    /// Whether it leads to a directory.
    pub is_folder: bool,
    /// Whether it is behind another link.
    pub is_nested: bool,
}

/// Where a walk is: in a directory, and in each of those above it.
#[derive(Debug)]
pub struct FolderWalk {
    levels: Vec<OpenLevel>,
    documents: Vec<String>,
}

/// A directory of which some names are not listed yet, the next one last.
#[derive(Debug)]
struct OpenLevel {
    directory: Directory,
    path: PathBuf,
    prefix: String,
    names: Vec<Name>,
    documents: HashMap<String, WalkedFile>,
    is_linked: bool,
}

#[derive(Debug)]
struct Name {
    text: String,
    is_folder: bool,
    is_link: bool,
}

impl Name {
    fn order(&self) -> impl Iterator<Item = u8> + '_ {
        order_of(&self.text, self.is_folder)
    }
}

impl FolderWalk {
    /// A walk that begins at a folder; links in its path are followed.
    pub fn begin(folder: &Path, documents: Vec<String>) -> Result<Self> {
        let mut walk = Self { levels: Vec::new(), documents };
        walk.enter(folder, "", false)?;
        Ok(walk)
    }

    /// Goes on in a directory, whose keys begin with a prefix.
    pub fn enter(&mut self, folder: &Path, prefix: &str, is_linked: bool) -> Result<()> {
        let failed = |source| failed(folder, source);
        let Some(directory) = Directory::open(folder).map_err(failed)? else { return Ok(()) };
        self.add(directory, folder.to_owned(), prefix.to_owned(), is_linked).map_err(failed)
    }

    fn add(
        &mut self,
        directory: Directory,
        path: PathBuf,
        prefix: String,
        is_linked: bool,
    ) -> io::Result<()> {
        let mut names = names_in(&directory)?;
        let mut documents = HashMap::new();
        for name in &names {
            if self.documents.contains(&name.text) {
                let key = format!("{prefix}{}", name.text);
                if let Some((status, now)) = status_in(&directory, &name.text)?
                    && status.is_file()
                {
                    documents.insert(name.text.clone(), walked(key, &status, now, true));
                }
            }
        }
        if !documents.is_empty() {
            names = names_in(&directory)?;
        }
        names.sort_unstable_by(|one, other| other.order().cmp(one.order()));
        self.levels.push(OpenLevel { directory, path, prefix, names, documents, is_linked });
        Ok(())
    }

    /// The next files, at most so many, and the link that they end at; none of both at the end.
    pub fn page(&mut self, most: usize) -> Result<(Vec<WalkedFile>, Option<MetLink>)> {
        let mut files = Vec::new();
        while files.len() < most
            && let Some(level) = self.levels.last_mut()
        {
            let Some(name) = level.names.pop() else {
                self.levels.pop();
                continue;
            };
            let (key, path) =
                (format!("{}{}", level.prefix, name.text), level.path.join(&name.text));
            let link = |key, path, is_nested| {
                Some(MetLink { key, path, is_folder: name.is_folder, is_nested })
            };
            if name.is_link {
                return Ok((files, link(key, path, level.is_linked)));
            }
            if name.is_folder {
                let inside =
                    c_name(&name.text).and_then(|name| level.directory.inside(&name, false));
                // It was deleted, or a link has taken its place, since the names were read.
                let Some(inside) = inside.map_err(|error| failed(&path, error))? else { continue };
                let is_linked = level.is_linked;
                let added = self.add(inside, path.clone(), key + "/", is_linked);
                added.map_err(|error| failed(&path, error))?;
            } else if let Some(document) = level.documents.remove(&name.text) {
                files.push(document);
            } else {
                let found = status_in(&level.directory, &name.text);
                match found.map_err(|error| failed(&path, error))? {
                    Some((status, now)) if status.is_file() => {
                        files.push(walked(key, &status, now, false));
                    }
                    Some((status, _)) if status.is_link() => {
                        return Ok((files, link(key, path, level.is_linked)));
                    }
                    _ => {}
                }
            }
        }
        Ok((files, None))
    }

    /// The directories that the walk is in.
    #[must_use]
    pub fn folders(&self) -> Vec<PathBuf> {
        self.levels.iter().map(|level| level.path.clone()).collect()
    }
}

/// The names in a directory that may be of keys.
fn names_in(directory: &Directory) -> io::Result<Vec<Name>> {
    let mut names = Vec::new();
    for entry in directory.entries()? {
        let is_link = entry.kind == FileKind::Link;
        let is_folder = entry.kind == FileKind::Directory
            || is_link && directory.leads_to_directory(&entry.name);
        let Ok(text) = entry.name.into_string() else { continue };
        if !text.ends_with(".partial") && !text.contains('\\') {
            names.push(Name { text, is_folder, is_link });
        }
    }
    Ok(names)
}

fn status_in(directory: &Directory, name: &str) -> io::Result<Option<(Status, SystemTime)>> {
    let now = SystemTime::now();
    Ok(directory.status(&c_name(name)?)?.map(|status| (status, now)))
}

fn walked(key: String, status: &Status, now: SystemTime, is_before: bool) -> WalkedFile {
    let age = now.duration_since(status.modified());
    let is_settled = age.is_ok_and(|age| age > TICK);
    WalkedFile { key, size: status.len(), tag: tag(status), is_settled, is_before }
}

fn c_name(name: &str) -> io::Result<CString> {
    CString::new(name).map_err(|_| io::ErrorKind::InvalidInput.into())
}

fn failed(path: &Path, source: io::Error) -> StoreError {
    StoreError::Io { operation: "list", path: path.display().to_string(), source }
}
