//! Many files of others in one call, on all threads: what an import of a folder looks at first.

use std::path::PathBuf;
use std::sync::OnceLock;

use zarrix_store::{FileVersion, head_of, version_of};

use crate::error::Result;
use crate::threads::cancel::Interrupt;
use crate::threads::pool;

/// The files that a thread looks at for each task that it takes.
const MANY: usize = 64;

/// The first bytes of each file, at most `most`, and `None` for files that begin with those that
/// are `known`; the first failure is returned.
pub fn heads_of(
    paths: &[PathBuf],
    most: usize,
    known: &[u8],
    interrupt: Interrupt<'_>,
) -> Result<Vec<Option<Vec<u8>>>> {
    let heads = each(paths, interrupt, |path| Ok(head_of(path, most, known)?))?;
    Ok(heads.into_iter().map(Option::flatten).collect())
}

/// The version of each file, or of a link itself unless it `follows`; `None` for missing ones.
pub fn versions_of(
    paths: &[PathBuf],
    follows: bool,
    interrupt: Interrupt<'_>,
) -> Result<Vec<Option<FileVersion>>> {
    let versions = each(paths, interrupt, |path| Ok(version_of(path, follows)?))?;
    Ok(versions.into_iter().map(Option::flatten).collect())
}

fn each<T: Send + Sync>(
    paths: &[PathBuf],
    interrupt: Interrupt<'_>,
    look: impl Fn(&PathBuf) -> Result<T> + Sync,
) -> Result<Vec<Option<T>>> {
    let found: Vec<OnceLock<T>> = paths.iter().map(|_| OnceLock::new()).collect();
    pool::run(paths.len().div_ceil(MANY), interrupt, &|run| {
        for index in run * MANY..((run + 1) * MANY).min(paths.len()) {
            let value = look(&paths[index])?;
            found[index].get_or_init(|| value);
        }
        Ok(())
    })?;
    Ok(found.into_iter().map(OnceLock::into_inner).collect())
}
