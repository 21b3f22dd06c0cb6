//! `ObjectStore`, as Python holds it.

use std::collections::BTreeMap;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_store::{Place, Service};

use crate::store::{Store, detached};

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct ObjectStore {
    url: String,
}

/// `"s3"`, `"gs"`, `"az"` or `"http"`.
pub struct ServiceArg(Service);

impl FromPyObject<'_, '_> for ServiceArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        match object.extract::<&str>()? {
            "s3" => Ok(Self(Service::S3)),
            "gs" => Ok(Self(Service::Gcs)),
            "az" => Ok(Self(Service::Azure)),
            "http" => Ok(Self(Service::Http)),
            other => Err(PyValueError::new_err(format!("there is no service {other:?}"))),
        }
    }
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
        let place = Place { service: service.0, bucket, options };
        let store = detached(py, || zarrix_store::ObjectStore::new(place, prefix))?;
        let url = store.url();
        Ok(PyClassInitializer::from(Store::new(store)).add_subclass(Self { url }))
    }

    #[getter]
    fn url(&self) -> &str {
        &self.url
    }
}
