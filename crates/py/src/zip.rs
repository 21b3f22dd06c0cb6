//! `ZipStore` as a Python class.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_store::ZipMethod;

use crate::buffer::Bytes;
use crate::store::Store;
use crate::store_call::{detached, durability};

/// What to do with an existing archive: "extend", "replace" or "create".
pub struct ZipStart(zarrix_store::ZipStart);

impl<'py> FromPyObject<'_, 'py> for ZipStart {
    type Error = PyErr;

    fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<&str>()? {
            "extend" => Ok(Self(zarrix_store::ZipStart::Extend)),
            "replace" => Ok(Self(zarrix_store::ZipStart::Replace)),
            "create" => Ok(Self(zarrix_store::ZipStart::Create)),
            other => Err(PyValueError::new_err(format!("unknown start {other:?}"))),
        }
    }
}

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct ZipStore(Arc<zarrix_store::ZipStore>);

impl ZipStore {
    fn initializer(store: zarrix_store::ZipStore) -> PyClassInitializer<Self> {
        let store = Arc::new(store);
        let base = Store::shared(Arc::clone(&store) as Arc<dyn zarrix_store::Store>);
        PyClassInitializer::from(base).add_subclass(Self(store))
    }
}

#[pymethods]
impl ZipStore {
    #[new]
    #[pyo3(signature = (path, start = None, *, method = 0, allows_zip64 = true))]
    fn new(
        py: Python<'_>,
        path: PathBuf,
        start: Option<ZipStart>,
        method: u16,
        allows_zip64: bool,
    ) -> PyResult<PyClassInitializer<Self>> {
        let method = ZipMethod::of(method).ok_or_else(|| {
            PyValueError::new_err(format!("no compression {method} in zip files"))
        })?;
        let opened = detached(py, || match start {
            None => zarrix_store::ZipStore::open(&path),
            Some(ZipStart(start)) => {
                zarrix_store::ZipStore::open_for_writing(&path, start, method, allows_zip64)
            }
        });
        opened.map(Self::initializer)
    }

    #[pyo3(signature = (*, fsync = false))]
    fn flush(&self, py: Python<'_>, fsync: bool) -> PyResult<()> {
        detached(py, || self.0.flush(durability(fsync)))
    }

    #[pyo3(signature = (*, fsync = false))]
    fn close(&self, py: Python<'_>, fsync: bool) -> PyResult<()> {
        detached(py, || self.0.close(durability(fsync)))
    }

    #[pyo3(signature = (*, fsync = false))]
    fn pack(&self, py: Python<'_>, fsync: bool) -> PyResult<u64> {
        detached(py, || self.0.pack(durability(fsync)))
    }

    #[pyo3(signature = (comment, *, fsync = false))]
    fn finish(&self, py: Python<'_>, comment: Bytes, fsync: bool) -> PyResult<()> {
        detached(py, || self.0.finish(comment.as_slice(), durability(fsync)))
    }

    #[staticmethod]
    fn in_store(py: Python<'_>, store: &Bound<'_, Store>, key: &str) -> PyResult<Option<Py<Self>>> {
        let outer = store.get().inner();
        let opened = detached(py, || zarrix_store::ZipStore::in_store(outer, key))?;
        opened.map(|store| Py::new(py, Self::initializer(store))).transpose()
    }

    #[getter]
    fn recovered(&self) -> bool {
        self.0.notes().recovered
    }

    #[getter]
    fn refused(&self) -> (u64, Vec<String>) {
        self.0.notes().refused
    }
}
