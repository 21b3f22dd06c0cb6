//! `Layout` as a Python class: parsed and bound once for all arrays that it describes.

use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use zarrix_engine::ChainOf;

use crate::error::from_engine;
use crate::foreign::{ForeignChain, codecs_of};
use crate::objects::ObjectCodec;

#[pyclass(frozen, module = "zarrix._engine")]
pub struct Layout {
    pub inner: Arc<zarrix_engine::Layout>,
    /// The codec of the elements, if they are variable-length.
    pub objects: Option<Arc<ObjectCodec>>,
}

#[pymethods]
impl Layout {
    #[new]
    #[pyo3(signature = (document, foreign = Vec::new(), chain_of = None))]
    fn new(
        py: Python<'_>,
        document: &str,
        foreign: Vec<Bound<'_, PyAny>>,
        chain_of: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let chain_of = chain_of.map(|call| Arc::new(ForeignChain(call)) as Arc<dyn ChainOf>);
        let inner = zarrix_engine::Layout::parse(document, &codecs_of(&foreign)?, chain_of)
            .map_err(|error| from_engine(py, &error))?;
        let objects = inner.objects().map(|slot| {
            let none = || PyIndexError::new_err(format!("no foreign slot {slot} for objects"));
            ObjectCodec::new(foreign.get(slot).ok_or_else(none)?).map(Arc::new)
        });
        Ok(Self { inner: Arc::new(inner), objects: objects.transpose()? })
    }
}
