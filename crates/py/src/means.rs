//! What is computed of blocks: a level of a pyramid from the one before, and statistics.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use zarrix_engine::{Extreme, Float, LeadingBits, Number, SummaryRequest};

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

#[pyfunction]
#[pyo3(signature = (source, dtype, *, fill, skip, moments, leading, edges))]
#[expect(clippy::too_many_arguments, reason = "each is a part of the request, by name")]
pub fn summarize<'py>(
    py: Python<'py>,
    source: Readable,
    dtype: &str,
    fill: Option<Vec<u8>>,
    skip: &str,
    moments: bool,
    leading: Option<&str>,
    edges: Vec<f64>,
) -> PyResult<Bound<'py, PyTuple>> {
    let refused = || PyValueError::new_err(format!("{dtype:?} is not summarized"));
    let (number, swapped) = number_of(dtype)?;
    let bytes = match number {
        Number::Bool | Number::U8 | Number::I8 => 1,
        Number::U16 | Number::I16 => 2,
        Number::U32 | Number::I32 | Number::Float(Float::F32) => 4,
        Number::U64 | Number::I64 | Number::Float(Float::F64) => 8,
        Number::Float(_) => return Err(refused()),
    };
    if swapped && bytes > 1 {
        return Err(refused());
    }
    let request = SummaryRequest {
        fill: fill.as_deref(),
        skip_fill: skip == "fill",
        skip_nan: skip != "none",
        moments,
        leading: match leading {
            None => None,
            Some("f4") => Some(LeadingBits::Float32),
            Some(_) => Some(LeadingBits::Own),
        },
        edges: &edges,
    };
    let source = source.source(bytes)?;
    let signals = Signals::default();
    let found = py
        .detach(|| zarrix_engine::summarize(source, number, request, &|| signals.interrupt()))
        .map_err(|error| signals.raise(py, &error, "a summary"))?;
    let own = &found.moments;
    let (least, largest) = match own.extremes {
        None => (py.None().into_bound(py), py.None().into_bound(py)),
        Some((least, largest)) => (number_in(py, least)?, number_in(py, largest)?),
    };
    let counted = |counts: &[u64]| {
        PyBytes::new_with(py, size_of_val(counts), |bytes| {
            let to = bytes.as_chunks_mut::<8>().0;
            to.iter_mut().zip(counts).for_each(|(to, count)| *to = count.to_ne_bytes());
            Ok(())
        })
    };
    let moments = (own.count, own.total, own.mean, own.squares, least, largest);
    (found.fills, found.nans, moments, counted(&found.leading)?, counted(&found.bins)?)
        .into_pyobject(py)
}

fn number_in(py: Python<'_>, one: Extreme) -> PyResult<Bound<'_, PyAny>> {
    Ok(match one {
        Extreme::Whole(one) => one.into_pyobject(py)?.into_any(),
        Extreme::Real(one) => one.into_pyobject(py)?.into_any(),
    })
}
