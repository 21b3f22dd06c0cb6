//! Listings in pages, as a Python iterator.

use std::sync::{Arc, Mutex, PoisonError};

use pyo3::prelude::*;
use zarrix_store::{Cursor, ListedValue, Store};

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
