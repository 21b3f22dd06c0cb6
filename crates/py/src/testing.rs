//! The conformance suite, and the stores of `zarrix_store::testing`, for tests of the Python code
//! that reads and writes metadata.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::exceptions::{PyAssertionError, PyValueError};
use pyo3::prelude::*;
use zarrix_store::testing::{self, Fault};
use zarrix_store::{Outcome, conformance, reading_conformance};

use crate::notices;
use crate::store::Store;
use crate::store_call::detached;

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct PowerLossStore(Arc<testing::PowerLossStore>);

#[pymethods]
impl PowerLossStore {
    #[new]
    fn new() -> PyClassInitializer<Self> {
        let store = Arc::new(testing::PowerLossStore::new());
        let base = Store::shared(Arc::clone(&store) as Arc<dyn zarrix_store::Store>);
        PyClassInitializer::from(base).add_subclass(Self(store))
    }

    #[getter]
    fn changes(&self) -> usize {
        self.0.changes()
    }

    fn after_loss(&self, py: Python<'_>, at: usize, seed: u64) -> PyResult<Store> {
        let left = detached(py, || self.0.after_loss(at, &mut testing::choices(seed)))?;
        Ok(Store::new(left))
    }
}

/// The kind of fault: "refused", "answer lost", "delayed" or "cut".
pub struct FaultKind(Fault);

impl<'py> FromPyObject<'_, 'py> for FaultKind {
    type Error = PyErr;

    fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<&str>()? {
            "refused" => Ok(Self(Fault::Refused)),
            "answer lost" => Ok(Self(Fault::AnswerLost)),
            "delayed" => Ok(Self(Fault::Delayed)),
            "cut" => Ok(Self(Fault::Cut)),
            other => Err(PyValueError::new_err(format!("unknown fault {other:?}"))),
        }
    }
}

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct FaultyStore(Arc<testing::FaultyStore>);

#[pymethods]
impl FaultyStore {
    #[new]
    fn new(
        inner: &Bound<'_, Store>,
        fault: FaultKind,
        at: usize,
        inline: bool,
    ) -> PyClassInitializer<Self> {
        let store = testing::FaultyStore::new(inner.get().inner(), fault.0, at, inline);
        let store = Arc::new(store);
        let base = Store::shared(Arc::clone(&store) as Arc<dyn zarrix_store::Store>);
        PyClassInitializer::from(base).add_subclass(Self(store))
    }

    #[getter]
    fn has_failed(&self) -> bool {
        self.0.has_failed()
    }
}

/// Runs a suite; its failure becomes an `AssertionError`.
fn checked(py: Python<'_>, suite: impl FnOnce() -> Outcome + Send) -> PyResult<()> {
    py.detach(suite).map_err(|fault| PyAssertionError::new_err(fault.to_string()))?;
    notices::warn(py)
}

#[pyfunction]
pub fn check_store(
    py: Python<'_>,
    store: &Bound<'_, Store>,
    twin: &Bound<'_, Store>,
) -> PyResult<()> {
    let (store, twin) = (store.get().inner(), twin.get().inner());
    checked(py, || conformance(store.as_ref(), twin.as_ref()))
}

#[pyfunction]
pub fn check_reading(
    py: Python<'_>,
    store: &Bound<'_, Store>,
    twin: &Bound<'_, Store>,
    held: BTreeMap<String, Vec<u8>>,
    lists: bool,
) -> PyResult<()> {
    let (store, twin) = (store.get().inner(), twin.get().inner());
    checked(py, || reading_conformance(store.as_ref(), twin.as_ref(), &held, lists))
}
