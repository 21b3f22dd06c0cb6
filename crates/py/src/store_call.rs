//! What every call of a store from Python does.

use pyo3::prelude::*;
use zarrix_store::{Durability, StoreError};

use crate::error::from_store;
use crate::notices;

/// Runs a store call detached.
pub fn detached<T: Send>(
    py: Python<'_>,
    call: impl FnOnce() -> Result<T, StoreError> + Send,
) -> PyResult<T> {
    let done = py.detach(call).map_err(|error| from_store(py, &error))?;
    notices::warn(py)?;
    Ok(done)
}

/// The durability of a write, from the argument in Python.
pub fn durability(fsync: bool) -> Durability {
    if fsync { Durability::Fsync } else { Durability::Process }
}
