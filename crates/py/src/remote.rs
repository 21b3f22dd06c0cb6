//! `ObjectStore` as a Python class.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_store::{Bucket, Service};

use crate::store::{Store, detached};

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct ObjectStore {
    store: zarrix_store::ObjectStore,
}

/// `"s3"`, `"gs"`, `"az"`, `"http"` or `"hdfs"`.
pub struct ServiceArg(Service);

impl FromPyObject<'_, '_> for ServiceArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<&str>()? {
            "s3" => Ok(Self(Service::S3)),
            "gs" => Ok(Self(Service::Gcs)),
            "az" => Ok(Self(Service::Azure)),
            "http" => Ok(Self(Service::Http)),
            "hdfs" => hdfs().map(Self),
            other => Err(PyValueError::new_err(format!("there is no service {other:?}"))),
        }
    }
}

#[cfg(feature = "hdfs")]
fn hdfs() -> PyResult<Service> {
    Ok(Service::Other(&zarrix_hdfs::HDFS))
}

#[cfg(not(feature = "hdfs"))]
fn hdfs() -> PyResult<Service> {
    Err(pyo3::exceptions::PyNotImplementedError::new_err(
        "this build of zarrix has no native HDFS (the cargo feature \"hdfs\" of zarrix-py is off); \
         open the path with fsspec, as zarrix.storage.FSStore(\"hdfs://...\"), which needs \
         pyarrow and libhdfs, or install zarrix with that feature, which is on by default",
    ))
}

#[pymethods]
impl ObjectStore {
    #[new]
    fn new(
        py: Python<'_>,
        service: ServiceArg,
        bucket: String,
        prefix: &str,
        options: BTreeMap<String, String>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let bucket = Bucket { service: service.0, name: bucket, options };
        let store = detached(py, || zarrix_store::ObjectStore::new(bucket, prefix))?;
        let shared = Store::new(store.clone());
        Ok(PyClassInitializer::from(shared).add_subclass(Self { store }))
    }

    #[getter]
    fn url(&self) -> String {
        self.store.url()
    }

    #[getter]
    fn cache_counts(&self, py: Python<'_>) -> PyResult<Option<BTreeMap<&'static str, u64>>> {
        let counts = detached(py, || self.store.cache_counts())?;
        Ok(counts.map(|counts| {
            BTreeMap::from([
                ("hits", counts.hits),
                ("misses", counts.misses),
                ("changed", counts.changed),
                ("damaged", counts.damaged),
                ("evicted", counts.evicted),
                ("saved_bytes", counts.saved_bytes),
            ])
        }))
    }
}
