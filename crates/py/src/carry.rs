//! Values that get another key without a copy of their bytes.

use std::ffi::OsStr;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrix_engine::{carry_late, carry_space, carry_tree};
use zarrix_store::{Carried, Carrier, Carry, KeySpace, Page, Row, Tag, TreeTerms, pages};

use crate::buffer::bytes_of;
use crate::signals::Signals;
use crate::store_call::{detached, durability};

/// A way to carry a value: "auto", "clone", "link" or "copy".
pub struct Way(pub Carry);

impl<'py> FromPyObject<'_, 'py> for Way {
    type Error = PyErr;

    fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<&str>()? {
            "auto" => Ok(Self(Carry::Auto)),
            "clone" => Ok(Self(Carry::Clone)),
            "link" => Ok(Self(Carry::Link)),
            "copy" => Ok(Self(Carry::Copy)),
            other => Err(PyValueError::new_err(format!("unknown way {other:?}"))),
        }
    }
}

/// The word of a way.
pub const fn word(way: Carry) -> &'static str {
    match way {
        Carry::Auto => "auto",
        Carry::Clone => "clone",
        Carry::Link => "link",
        Carry::Copy => "copy",
    }
}

/// The way, the length and the tag of a value: when its file was modified, and the file's number.
pub fn row(carried: Carried) -> (&'static str, u64, String) {
    let (modified, number) = carried.tag;
    (word(carried.by), carried.size, format!("{modified:x}-{number:x}"))
}

#[pyfunction]
pub fn exchange(py: Python<'_>, first: PathBuf, second: PathBuf) -> PyResult<()> {
    py.detach(|| zarrix_store::exchange(&first, &second)).map_err(|error| {
        let name = |path: &PathBuf| path.as_os_str().to_owned();
        match error.raw_os_error() {
            Some(errno) => {
                let reason = error.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_string();
                let none = None::<&OsStr>;
                PyOSError::new_err((errno, reason, name(&first), none, name(&second)))
            }
            None => PyOSError::new_err(format!("exchange {first:?} and {second:?}: {error}")),
        }
    })
}

/// A page: its first key, its number of rows, the bytes of their values, and its lines.
type PageRow<'py> = (String, u64, u64, Bound<'py, PyBytes>);

fn page_rows(py: Python<'_>, pages: Vec<Page>) -> PyResult<Vec<PageRow<'_>>> {
    let row = |page: Page| Ok((page.first, page.rows, page.bytes, bytes_of(py, &page.lines)?));
    pages.into_iter().map(row).collect()
}

/// A key, a length, a tag, and the version of an object.
type GivenRow = (String, u64, String, Option<String>);

#[pyfunction]
pub fn pages_of(py: Python<'_>, rows: Vec<GivenRow>) -> PyResult<Vec<PageRow<'_>>> {
    let row =
        |(key, size, tag, version)| Row { key, stored: None, size, tag: Tag::Text(tag, version) };
    let mut rows: Vec<Row> = rows.into_iter().map(row).collect();
    rows.sort_unstable_by(|first, second| first.key.cmp(&second.key));
    let pages = py.detach(|| pages(&rows));
    page_rows(py, pages)
}

/// A hierarchy that is carried into another folder.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct CarriedTree(zarrix_store::CarriedTree);

#[pymethods]
impl CarriedTree {
    #[new]
    #[pyo3(signature = (source, dest, how, *, guard = true, skipped = Vec::new(), digests = false))]
    fn new(
        source: PathBuf,
        dest: Option<PathBuf>,
        how: Way,
        guard: bool,
        skipped: Vec<String>,
        digests: bool,
    ) -> Self {
        let terms = TreeTerms { carrier: Carrier::new(how.0, guard), skipped, digests };
        Self(zarrix_store::CarriedTree::new(&source, dest.as_deref(), terms))
    }

    fn take(
        &self,
        py: Python<'_>,
        prefix: &str,
        spaces: Vec<(String, usize, String)>,
    ) -> PyResult<()> {
        let signals = Signals::default();
        let space = |(path, axes, name): (String, usize, String)| (path, KeySpace::of(axes, &name));
        let spaces = spaces.into_iter().map(space).collect();
        py.detach(|| carry_tree(&self.0, prefix, spaces, &|| signals.interrupt()))
            .map_err(|error| signals.raise_store(py, &error))
    }

    fn forget(&self, prefix: &str) {
        self.0.forget(prefix);
    }

    fn pages<'py>(&self, py: Python<'py>) -> PyResult<Vec<PageRow<'py>>> {
        let pages = py.detach(|| self.0.pages());
        page_rows(py, pages)
    }

    #[getter]
    fn counts(&self) -> [u64; 4] {
        self.0.counts()
    }

    fn sync(&self, py: Python<'_>) -> PyResult<()> {
        detached(py, || self.0.sync())
    }
}

/// Chunks that are carried to another spelling of their keys.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct CarriedSpace(zarrix_store::CarriedSpace);

#[pymethods]
impl CarriedSpace {
    #[new]
    #[pyo3(signature = (source, dest, axes, *, guard = true, fsync = false))]
    fn new(
        source: (PathBuf, String),
        dest: (PathBuf, String),
        axes: usize,
        guard: bool,
        fsync: bool,
    ) -> PyResult<Self> {
        let spaces = [&source.1, &dest.1].map(|name| KeySpace::of(axes, name));
        if spaces.iter().any(|space| space.spelling.is_none()) {
            return Err(PyValueError::new_err(format!("{:?} or {:?}", source.1, dest.1)));
        }
        let (source, dest) = ((&*source.0, spaces[0]), (&*dest.0, spaces[1]));
        let carrier = Carrier::new(Carry::Auto, guard);
        Ok(Self(zarrix_store::CarriedSpace::new(source, dest, carrier, durability(fsync))))
    }

    fn carry(&self, py: Python<'_>, most: usize) -> PyResult<usize> {
        let signals = Signals::default();
        let carried = py.detach(|| carry_space(&self.0, most, &|| signals.interrupt()));
        carried.map_err(|error| signals.raise_store(py, &error))
    }

    fn carry_late(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let signals = Signals::default();
        let conflict = py.detach(|| carry_late(&self.0, &|| signals.interrupt()));
        conflict.map_err(|error| signals.raise_store(py, &error))
    }
}

#[pyfunction]
pub fn release_tree(py: Python<'_>, live: PathBuf, version: PathBuf) -> PyResult<u64> {
    detached(py, || zarrix_store::release_tree(&live, &version))
}
