//! `block_means`: a level of a pyramid from the one before.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_engine::Number;

use crate::buffer::{Readable, Writable};
use crate::many::number_of;
use crate::signals::Signals;

#[pyfunction]
pub fn block_means(
    py: Python<'_>,
    source: Readable,
    out: Writable,
    dtype: &str,
    factors: Vec<usize>,
) -> PyResult<()> {
    let (number, bytes) = match number_of(dtype)? {
        (number @ (Number::U8 | Number::I8), _) => (number, 1),
        (number @ (Number::U16 | Number::I16), false) => (number, 2),
        (number @ (Number::U32 | Number::I32), false) => (number, 4),
        _ => return Err(PyValueError::new_err(format!("{dtype:?} has no means of blocks"))),
    };
    let (source, target) = (source.source(bytes)?, out.target(bytes)?);
    let signals = Signals::default();
    py.detach(|| {
        zarrix_engine::block_means(source, target, number, &factors, &|| signals.interrupt())
    })
    .map_err(|error| signals.raise(py, &error, "the means of blocks"))
}
