//! `IcechunkStore` as a Python class.

use pyo3::prelude::*;

use crate::store::Store;
use crate::store_call::detached;

#[pyclass(frozen, extends = Store, module = "zarrix._engine")]
pub struct IcechunkStore {
    refused: (u64, String),
}

/// Names of references, each with the name of its snapshot.
type References = Vec<(String, String)>;

#[pymethods]
impl IcechunkStore {
    #[staticmethod]
    fn of(
        py: Python<'_>,
        repository: &Bound<'_, Store>,
        snapshot: &str,
        most: u64,
        outside: Vec<(String, Bound<'_, Store>)>,
    ) -> PyResult<Option<Py<Self>>> {
        let repository = repository.get().inner();
        let outside = outside.into_iter().map(|(place, store)| (place, store.get().inner()));
        let outside = outside.collect();
        let opened = detached(py, || {
            zarrix_store::IcechunkStore::open(repository, snapshot, most, outside)
        })?;
        let initializer = |store: zarrix_store::IcechunkStore| {
            let refused = store.refused();
            PyClassInitializer::from(Store::new(store)).add_subclass(Self { refused })
        };
        opened.map(|store| Py::new(py, initializer(store))).transpose()
    }

    #[staticmethod]
    fn references(
        py: Python<'_>,
        repository: &Bound<'_, Store>,
        most: u64,
    ) -> PyResult<Option<(References, References)>> {
        let repository = repository.get().inner();
        let found = detached(py, || zarrix_store::IcechunkRepository::read(&*repository, most))?;
        Ok(found.map(|found| (found.branches, found.tags)))
    }

    #[getter]
    fn refused(&self) -> (u64, String) {
        self.refused.clone()
    }
}
