//! Versions of objects in buckets that keep them.

use std::ops::Range;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrix_store::{Edge, Fetched, ListedVersion, ObjectStore, Part, StoreError, VersionRequest};

use crate::buffer::bytes_of;
use crate::error::from_store;
use crate::store_call::detached;

/// The key, the size, the tag and the version of a stored version of an object.
type VersionRow = (String, u64, String, String);

/// The pages of a listing of versions: lists of `(key, size, tag, version)`.
#[pyclass(frozen, module = "zarrix._engine")]
pub struct VersionPages(zarrix_store::VersionPages);

impl VersionPages {
    pub fn new(store: &ObjectStore, prefix: &str) -> PyResult<Self> {
        let pages = store.version_pages(prefix);
        pages.map(Self).map_err(|error| Python::attach(|py| from_store(py, &error)))
    }
}

#[pymethods]
impl VersionPages {
    fn __iter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Vec<VersionRow>>> {
        let page = detached(py, || self.0.next_page())?;
        let row = |row: ListedVersion| {
            let ListedVersion { entry, version } = row;
            (entry.key, entry.size, entry.tag, version)
        };
        Ok(page.map(|page| page.into_iter().map(row).collect()))
    }
}

/// The wanted part of a version: all of it, ranges, or one end.
enum PartArg {
    Whole,
    Ranges(Vec<Range<u64>>),
    Edge(Edge),
}

/// `(key, version, part)`; the part is None, a list of `(start, end)`, or a number of bytes from the
/// beginning or, if it is negative, up to the end.
pub struct VersionRequestArg {
    key: String,
    version: String,
    part: PartArg,
}

impl FromPyObject<'_, '_> for VersionRequestArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let (key, version, part): (String, String, Bound<'_, PyAny>) = object.extract()?;
        let part = if part.is_none() {
            PartArg::Whole
        } else if let Ok(bytes) = part.extract::<i64>() {
            let length = bytes.unsigned_abs();
            PartArg::Edge(if bytes < 0 { Edge::Last(length) } else { Edge::First(length) })
        } else {
            let ends: Vec<(u64, u64)> = part.extract()?;
            PartArg::Ranges(ends.into_iter().map(|(start, end)| start..end).collect())
        };
        Ok(Self { key, version, part })
    }
}

impl VersionRequestArg {
    fn borrowed(&self) -> VersionRequest<'_> {
        let part = match &self.part {
            PartArg::Whole => Part::WHOLE,
            PartArg::Ranges(ranges) => Part::Ranges(ranges),
            PartArg::Edge(edge) => Part::Edge(*edge),
        };
        VersionRequest { key: &self.key, version: &self.version, part }
    }
}

/// The bytes of a part, and the length of the whole value; None for a version that is gone.
pub type VersionPart<'py> = Option<(Bound<'py, PyBytes>, u64)>;

/// The wanted part of each version, in the order of the requests.
pub fn fetch<'py>(
    py: Python<'py>,
    store: &ObjectStore,
    requests: &[VersionRequestArg],
) -> PyResult<Vec<VersionPart<'py>>> {
    let borrowed: Vec<_> = requests.iter().map(VersionRequestArg::borrowed).collect();
    let found = detached(py, || {
        let mut found = Vec::new();
        found.resize_with(borrowed.len(), || None);
        let mut failed = None;
        store.fetch_versions(&borrowed, &mut |position, answer| match answer {
            Ok(Fetched::Bytes(bytes, _, total)) => found[position] = Some((bytes, total)),
            Ok(Fetched::Absent) => {}
            Err(error) => failed = failed.take().or(Some(error)),
        });
        failed.map_or(Ok(found), Err::<_, StoreError>)
    })?;
    let part = |(bytes, total): (Vec<u8>, u64)| Ok((bytes_of(py, &bytes)?, total));
    found.into_iter().map(|one| one.map(part).transpose()).collect()
}
