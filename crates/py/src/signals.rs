//! The ways to stop a running call: signals, and errors of Python functions that it calls.

use std::sync::{Mutex, PoisonError};

use pyo3::prelude::*;
use zarrix_engine::EngineError;

use crate::buffer::bytes_of;
use crate::callback;
use crate::error::{from_array, from_store};
use crate::notices;

/// Runs Python's signal handlers, and stores the exception that they raise.
#[derive(Default)]
pub struct Signals(Mutex<Option<PyErr>>);

impl Signals {
    pub fn interrupt(&self) -> bool {
        self.kept(callback::attached(|py| py.check_signals().and_then(|()| notices::warn(py))))
    }

    /// Tells `watcher` how many chunks are done; returns whether it raised.
    pub fn tell(&self, watcher: &Py<PyAny>, done: usize) -> bool {
        self.kept(callback::attached(|py| callback::call(watcher.bind(py), (done,)).map(drop)))
    }

    /// Passes some bytes to `sink`; returns whether it raised, or a signal arrived.
    pub fn give(&self, sink: &Py<PyAny>, bytes: &[u8]) -> bool {
        self.kept(callback::attached(|py| {
            callback::call(sink.bind(py), (bytes_of(py, bytes)?,))?;
            py.check_signals()
        }))
    }

    /// Whether this is an error, which is then stored.
    fn kept<T>(&self, outcome: PyResult<T>) -> bool {
        match outcome {
            Ok(_) => false,
            Err(error) => {
                *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                true
            }
        }
    }

    /// The exception of a handler.
    pub fn raised(self) -> Option<PyErr> {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// The exception of a handler, or else the error of the array at `place`.
    pub fn raise(self, py: Python<'_>, error: &EngineError, place: &str) -> PyErr {
        self.raised().unwrap_or_else(|| from_array(py, error, place))
    }

    /// The error of a store, or else what [`raise`](Self::raise) gives.
    pub fn raise_store(self, py: Python<'_>, error: &EngineError) -> PyErr {
        match error {
            EngineError::Store(error) => from_store(py, error),
            error => self.raise(py, error, ""),
        }
    }
}
