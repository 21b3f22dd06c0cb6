//! `ObjectStore` as a Python class.

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_store::{Bucket, CredentialSource, Fresh, Service};

use crate::callback;
use crate::store::{Store, told};
use crate::store_call::detached;
use crate::versions::{self, SpaceRow, VersionPages};
use crate::workers;

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

/// An object whose `fetch()` returns a dict of values, and the end of their life in Unix seconds or
/// None; its `label` is its name in messages.
pub struct SourceArg(CredentialSource);

impl FromPyObject<'_, '_> for SourceArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let name: String = object.getattr("label")?.extract()?;
        // The source holds the object, so that no other one gets this address.
        let (id, object) = (object.as_ptr() as usize, object.to_owned().unbind());
        Ok(Self(CredentialSource::new(id, name, move || fetch(&object))))
    }
}

fn fetch(source: &Py<PyAny>) -> Result<Fresh, String> {
    workers::adopt_once();
    let fetched = callback::attached(|py| {
        let answer = callback::method(source.bind(py), "fetch", ())?;
        let problem: Option<String> = answer.extract().ok();
        if let Some(problem) = problem {
            return Ok(Err(problem));
        }
        let (values, expires): (BTreeMap<String, String>, Option<f64>) = answer.extract()?;
        Ok(Ok((values, expires)))
    });
    // Which values it was about is not told.
    let (values, expires) = fetched.map_err(|_| "returned no credentials".to_owned())??;
    // What no clock can show does not expire.
    let expires = expires.and_then(|seconds| {
        let since = Duration::try_from_secs_f64(seconds.max(0.0)).ok()?;
        UNIX_EPOCH.checked_add(since)
    });
    Ok(Fresh { values, expires })
}

#[pymethods]
impl ObjectStore {
    #[new]
    #[pyo3(signature = (service, bucket, prefix, options, credentials = None))]
    fn new(
        py: Python<'_>,
        service: ServiceArg,
        bucket: String,
        prefix: &str,
        options: BTreeMap<String, String>,
        credentials: Option<SourceArg>,
    ) -> PyResult<PyClassInitializer<Self>> {
        let credentials = credentials.map(|credentials| credentials.0);
        let bucket = Bucket { service: service.0, name: bucket, options, credentials };
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

    fn keeps_versions(&self, py: Python<'_>) -> PyResult<bool> {
        detached(py, || self.store.keeps_versions())
    }

    fn lifecycle(&self, py: Python<'_>) -> PyResult<Option<String>> {
        detached(py, || self.store.lifecycle())
    }

    #[pyo3(signature = (prefix, spaces, *, earlier = false))]
    fn list_versions(
        &self,
        prefix: &str,
        spaces: Vec<SpaceRow>,
        earlier: bool,
    ) -> PyResult<VersionPages> {
        VersionPages::new(&self.store, prefix, versions::spaces(spaces), earlier)
    }

    fn at_version(
        &self,
        py: Python<'_>,
        name: &str,
        firsts: Vec<String>,
        spaces: Vec<SpaceRow>,
        load: Py<PyAny>,
    ) -> PyResult<Py<Store>> {
        let store = versions::pinned(&self.store, name, (firsts, spaces), load);
        Py::new(py, Store::new(store))
    }

    fn keeps_copies(&self, py: Python<'_>, key: &str) -> PyResult<bool> {
        detached(py, || self.store.keeps_copies(key))
    }

    #[pyo3(signature = (source, target, *, tag = None, version = None, replaces = false))]
    fn copy_if(
        &self,
        py: Python<'_>,
        source: &str,
        target: &str,
        tag: Option<String>,
        version: Option<String>,
        replaces: bool,
    ) -> PyResult<(&'static str, String)> {
        let outcome = detached(py, || self.store.copy_if(source, target, (tag, version, replaces)));
        Ok(told(outcome?))
    }
}
