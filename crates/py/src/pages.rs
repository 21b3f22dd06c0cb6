//! Listings in pages, as a Python iterator.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use zarrix_store::{Cursor, FolderWalk, ListedValue, MetLink, Store, WalkedFile};

use crate::store_call::detached;

/// The pages of a listing: lists of `(key, size, tag)`.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct Pages {
    store: Arc<dyn Store>,
    cursor: Mutex<Cursor>,
}

impl Pages {
    pub fn new(store: Arc<dyn Store>, prefix: &str, after: &str) -> Self {
        Self { store, cursor: Mutex::new(Cursor::new(prefix, after)) }
    }
}

#[pymethods]
impl Pages {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<(String, u64, String)>>> {
        let page = detached(py, || {
            let mut cursor = self.cursor.lock().unwrap_or_else(PoisonError::into_inner);
            // Values that were deleted meanwhile may leave a page empty.
            while !cursor.is_done {
                let page = self.store.list_page(&mut cursor)?;
                if !page.is_empty() {
                    return Ok(Some(page));
                }
            }
            Ok(None)
        })?;
        let row = |entry: ListedValue| (entry.key, entry.size, entry.tag);
        Ok(page.map(|page| page.into_iter().map(row).collect()))
    }
}

/// A walk through the files of a folder, which follows no link by itself.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct FileWalk(Mutex<FolderWalk>);

/// A key, a length, a tag, and whether the file is settled, and was looked at before its directory.
type FileRow = (String, u64, String, bool, bool);

/// The key of a link, its path, whether it leads to a directory, and whether it is behind another.
type LinkRow = (String, PathBuf, bool, bool);

#[pymethods]
impl FileWalk {
    #[new]
    fn new(py: Python<'_>, folder: PathBuf, documents: Vec<String>) -> PyResult<Self> {
        let walk = detached(py, || FolderWalk::begin(&folder, documents))?;
        Ok(Self(Mutex::new(walk)))
    }

    fn page(&self, py: Python<'_>, most: usize) -> PyResult<(Vec<FileRow>, Option<LinkRow>)> {
        let (files, link) = detached(py, || self.walk().page(most))?;
        let row =
            |file: WalkedFile| (file.key, file.size, file.tag, file.is_settled, file.is_before);
        let met = |link: MetLink| (link.key, link.path, link.is_folder, link.is_nested);
        Ok((files.into_iter().map(row).collect(), link.map(met)))
    }

    fn follow(&self, py: Python<'_>, folder: PathBuf, prefix: &str) -> PyResult<()> {
        detached(py, || self.walk().enter(&folder, prefix, true))
    }

    fn folders(&self) -> Vec<PathBuf> {
        self.walk().folders()
    }
}

impl FileWalk {
    fn walk(&self) -> std::sync::MutexGuard<'_, FolderWalk> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
