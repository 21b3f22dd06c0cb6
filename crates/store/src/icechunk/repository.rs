//! The file `repo` of version 2: branches and tags, and the snapshots that they name.
//!
//! Version 1 has a small JSON document for each of them instead, which Python reads.

use super::file::{self, Kind, damaged};
use super::flat::{FlatTable, FlatVector, Read, required};
use super::ids::Id;
use crate::error::Result;
use crate::store::Store;

/// The key of the file.
const KEY: &str = "repo";
/// The features with smaller numbers concern writers only: commits, moves and tags.
const MOST_FEATURE: u16 = 5;
const OFFLINE: u8 = 2;

/// What a repository consists of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repository {
    /// Names of branches, each with the name of its newest snapshot.
    pub branches: Vec<(String, String)>,
    /// Names of tags, each with the name of its snapshot.
    pub tags: Vec<(String, String)>,
}

impl Repository {
    /// Reads the file of the repository in `store`, of at most `most` bytes; `None` if there is no
    /// such file, because the repository is of version 1, or because there is none.
    pub fn read(store: &dyn Store, most: u64) -> Result<Option<Self>> {
        let Some(buffer) = file::read(store, KEY, Kind::Repository, most)? else {
            return Ok(None);
        };
        parse(&buffer).map(Some).map_err(|flaw| damaged(store, KEY, flaw))
    }
}

fn parse(buffer: &[u8]) -> std::result::Result<Repository, String> {
    let root = FlatTable::root(buffer)?;
    let status = required(root.table(5)?)?;
    if status.u8(0, 0)? >= OFFLINE {
        let reason = status.text(2)?.unwrap_or("no reason is given");
        return Err(format!("the repository was taken offline: {reason}"));
    }
    for list in [10, 11] {
        let features = root.vector(list, 2)?;
        let unknown = features.and_then(|all| {
            let (numbers, _) = all.elements.as_chunks::<2>();
            numbers.iter().map(|one| u16::from_le_bytes(*one)).find(|one| *one > MOST_FEATURE)
        });
        if let Some(number) = unknown {
            return Err(format!("the repository has the unknown feature {number}"));
        }
    }
    let snapshots = required(root.vector(4, 4)?)?;
    Ok(Repository {
        branches: references(required(root.vector(2, 4)?)?, snapshots, buffer.len())?,
        tags: references(required(root.vector(1, 4)?)?, snapshots, buffer.len())?,
    })
}

fn references(
    names: FlatVector<'_>,
    snapshots: FlatVector<'_>,
    buffer_length: usize,
) -> Read<Vec<(String, String)>> {
    let mut found = Vec::new();
    let mut left = buffer_length;
    for reference in names.tables() {
        let reference = reference?;
        let name = required(reference.bytes(0)?)?;
        // Names that overlap could take any amount of memory.
        left = left.checked_sub(name.len()).ok_or("its names overlap")?;
        let name = std::str::from_utf8(name).map_err(|_| "a name is not UTF-8")?;
        let snapshot = snapshots.table(reference.u32(1)? as usize)?;
        let id = Id(required(snapshot.fixed(0)?)?);
        found.push((name.to_owned(), id.name()));
    }
    Ok(found)
}
