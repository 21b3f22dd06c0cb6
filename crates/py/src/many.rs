//! `read_many`: windows of several arrays in one call, and the token that cancels it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use zarrix_engine::{EngineError, Entry, Outside, Target};
use zarrix_store::StoreError;
use zarrix_store::interrupt as waits;

use crate::array::ArrayIO;
use crate::buffer::{Indices, Writable};
use crate::error::{from_array, named};
use crate::objects::Sink;
use crate::signals::Signals;

/// Array, starts, buffer, border, and the element that pads.
type EntryArg = (Py<ArrayIO>, Indices, Writable, String, Option<Vec<u8>>);

/// Entry, window, key of the chunk, and exception.
type FailureTuple = (usize, usize, Option<String>, Py<PyAny>);

/// Ends the calls that got it, from any thread; a forked child has a copy of its state.
///
/// Examples
/// --------
/// >>> import zarrix as zarr
/// >>> token = zarr.CancelToken()
/// >>> token.cancel()
/// >>> token.is_cancelled
/// True
#[pyclass(frozen, module = "zarrix._engine")]
pub struct CancelToken {
    raised: Arc<AtomicBool>,
}

#[pymethods]
impl CancelToken {
    #[new]
    fn new() -> Self {
        Self { raised: Arc::default() }
    }

    /// End the calls within 100 ms with `CallCancelledError`, and all later ones at once.
    fn cancel(&self) {
        self.raised.store(true, Ordering::Relaxed);
    }

    /// Whether `cancel` was called.
    #[getter]
    fn is_cancelled(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }
}

fn outside_of(border: &str) -> PyResult<Outside> {
    Ok(match border {
        "inside" => Outside::Refuse,
        "pad" => Outside::Skip,
        "edge" => Outside::Edge,
        "reflect" => Outside::Reflect,
        _ => return Err(PyValueError::new_err(format!("unknown border: {border:?}"))),
    })
}

#[pyfunction]
#[pyo3(signature = (entries, *, tolerate = false, cancel = None))]
pub fn read_many(
    py: Python<'_>,
    entries: Vec<EntryArg>,
    tolerate: bool,
    cancel: Option<Py<CancelToken>>,
) -> PyResult<Vec<FailureTuple>> {
    let mut sinks: Vec<Option<Sink<'_>>> = Vec::with_capacity(entries.len());
    for (array, _, out, ..) in &entries {
        sinks.push(array.get().sink(py, out)?);
    }
    let mut windows = Vec::with_capacity(entries.len());
    for ((array, starts, out, border, pad), sink) in entries.iter().zip(&sinks) {
        let array = array.get();
        let target: Target<'_> = match sink {
            Some(sink) => sink.target(),
            None => out.target(array.item_bytes())?,
        };
        let (starts, outside) = (starts.as_slice(), outside_of(border)?);
        windows.push(Entry { array: array.engine(), starts, outside, pad: pad.as_deref(), target });
    }
    let raised = cancel.map_or_else(Arc::default, |token| Arc::clone(&token.get().raised));
    let signals = Signals::default();
    let interrupt = || raised.load(Ordering::Relaxed) || signals.interrupt();
    let done = py.detach(|| {
        if raised.load(Ordering::Relaxed) {
            return Err((0, EngineError::Interrupted));
        }
        waits::beside(&raised, || zarrix_engine::read_many(&windows, tolerate, &interrupt))
    });
    let label = |entry: usize| entries.get(entry).map_or("", |entry| entry.0.get().label());
    let failures = match done {
        Ok(failures) => failures,
        Err((_, EngineError::Interrupted | EngineError::Store(StoreError::Interrupted)))
            if raised.load(Ordering::Relaxed) =>
        {
            let cancelled = || named(py, "CallCancelledError", "the call was cancelled");
            return Err(signals.raised().unwrap_or_else(cancelled));
        }
        Err((entry, error)) => return Err(signals.raise(py, &error, label(entry))),
    };
    let mut tuples = Vec::with_capacity(failures.len());
    for failure in failures {
        let error = from_array(py, &failure.error, label(failure.entry));
        // An exit that a codec in Python raised is not damage.
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let key = failure.error.key().map(ToOwned::to_owned);
        tuples.push((failure.entry, failure.window, key, error.into_value(py).into_any()));
    }
    Ok(tuples)
}
