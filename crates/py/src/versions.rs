//! Versions of objects in buckets that keep them.

use pyo3::prelude::*;
use zarrix_store::{KeySpace, KeySpaces, ListedVersion, ObjectStore, PinnedRow, PinnedStore};

use crate::callback;
use crate::error::from_store;
use crate::python_answers::foreign;
use crate::store_call::detached;
use crate::workers;

/// The key, the size, the tag and the version of a stored version of an object.
type VersionRow = (String, u64, String, String);

/// The path of an array, its number of axes, and the name of its key space.
pub type SpaceRow = (String, usize, String);

pub fn spaces(rows: Vec<SpaceRow>) -> KeySpaces {
    rows.into_iter().map(|(path, axes, name)| (path, KeySpace::of(axes, &name))).collect()
}

/// The pages of a listing of versions: lists of `(key, size, tag, version)`.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct VersionPages {
    pages: zarrix_store::VersionPages,
    spaces: KeySpaces,
}

impl VersionPages {
    pub fn new(
        store: &ObjectStore,
        prefix: &str,
        spaces: KeySpaces,
        earlier: bool,
    ) -> PyResult<Self> {
        let pages = store.version_pages(prefix, earlier);
        let pages = pages.map_err(|error| Python::attach(|py| from_store(py, &error)))?;
        Ok(Self { pages, spaces })
    }
}

#[pymethods]
impl VersionPages {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<VersionRow>>> {
        let page = detached(py, || self.pages.next_page())?;
        let row = |row: ListedVersion| {
            let ListedVersion { entry, version } = row;
            let key = self.spaces.canonical(&entry.key)?.into_owned();
            Some((key, entry.size, entry.tag, version))
        };
        Ok(page.map(|page| page.into_iter().filter_map(row).collect()))
    }
}

/// The version whose pages `load` returns by their numbers, as rows like those of a listing.
pub fn pinned(
    live: &ObjectStore,
    name: &str,
    (firsts, given): (Vec<String>, Vec<SpaceRow>),
    load: Py<PyAny>,
) -> PinnedStore {
    let page = move |number: usize| {
        workers::adopt_once();
        let rows: PyResult<Vec<VersionRow>> =
            callback::attached(|py| callback::call(load.bind(py), (number,))?.extract());
        let rows = rows.map_err(|error| foreign("a page of a version", error))?;
        let row = |(key, size, tag, version)| PinnedRow { key, size, tag, version };
        Ok(rows.into_iter().map(row).collect())
    };
    PinnedStore::new(live.clone(), name, firsts, spaces(given), page)
}
