//! Listings of a directory in the order of the keys' bytes, page by page: at each level, the names
//! of one directory are in memory.

use std::io;
use std::path::Path;

use super::tree::{Descent, EntryKind, Named, failed, named_entries};
use crate::error::Result;
use crate::store::below;
use crate::sys::{Status, c_name, status_at, unless_absent};
use crate::tagged::{Cursor, ListedValue, PAGE_ROWS, may_follow, order_of};

/// Tells this version of a file from those that replace it: modification time and inode.
pub(crate) fn tag(status: &Status) -> String {
    let (seconds, nanos) = status.modified_at();
    let modified = i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    format!("{modified:x}-{:x}", status.identity().1)
}

/// The status of a value, links followed.
pub(super) fn status_of_value(path: &Path) -> io::Result<Option<Status>> {
    let status = c_name(path.as_os_str()).and_then(|name| status_at(&name));
    Ok(unless_absent(status)?.filter(Status::is_file))
}

/// The next page below `directory`, whose keys begin with the prefix of `cursor`.
pub(super) fn list_page(directory: &Path, cursor: &mut Cursor) -> Result<Vec<ListedValue>> {
    let list = |cursor: &mut Cursor| -> io::Result<Vec<ListedValue>> {
        let state = cursor.state.take().and_then(|state| state.downcast::<Position>().ok());
        let mut position = match state {
            Some(position) => position,
            None => {
                let mut position = Box::new(Position::default());
                position.enter(directory, &cursor.prefix, &cursor.after, 0)?;
                position
            }
        };
        let mut page = Vec::new();
        while page.len() < PAGE_ROWS
            && let Some(entry) = position.next(&cursor.after)?
        {
            page.push(entry);
        }
        cursor.is_done = page.len() < PAGE_ROWS;
        if let Some(last) = page.last() {
            cursor.after.clone_from(&last.key);
        }
        cursor.state = Some(position);
        Ok(page)
    };
    list(cursor).map_err(|source| failed("list", directory, source))
}

/// Where a listing is: in a directory, and in each of those above it.
#[derive(Default)]
struct Position {
    levels: Vec<Level>,
    inside: Descent,
}

/// A directory of which some entries are not listed yet, the next one last.
struct Level {
    prefix: String,
    links: u32,
    entries: Vec<Named>,
}

impl Position {
    /// Goes into a directory, of whose keys only those behind `after` are listed.
    fn enter(&mut self, directory: &Path, prefix: &str, after: &str, links: u32) -> io::Result<()> {
        if !self.inside.enter(directory, links)? {
            return Ok(());
        }
        let mut entries = named_entries(directory)?;
        entries.retain(|entry| may_follow(after, &below(prefix, &entry.name), is_folder(entry)));
        entries.sort_unstable_by(|one, other| order(other).cmp(order(one)));
        self.levels.push(Level { prefix: prefix.to_owned(), links, entries });
        Ok(())
    }

    fn next(&mut self, after: &str) -> io::Result<Option<ListedValue>> {
        while let Some(level) = self.levels.last_mut() {
            let Some(entry) = level.entries.pop() else {
                self.levels.pop();
                self.inside.leave();
                continue;
            };
            let key = below(&level.prefix, &entry.name);
            if is_folder(&entry) {
                let links = level.links + u32::from(entry.is_link);
                self.enter(&entry.path, &key, after, links)?;
            } else if let Some(status) = status_of_value(&entry.path)? {
                // A file that was deleted since its directory was read is not listed.
                return Ok(Some(ListedValue { key, size: status.len(), tag: tag(&status) }));
            }
        }
        Ok(None)
    }
}

fn order(entry: &Named) -> impl Iterator<Item = u8> + '_ {
    order_of(&entry.name, is_folder(entry))
}

fn is_folder(entry: &Named) -> bool {
    entry.kind == EntryKind::Directory
}
