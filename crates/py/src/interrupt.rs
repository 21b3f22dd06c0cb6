//! The interrupt hook of threads that wait for a remote store: it runs Python's signal handlers.

use std::cell::RefCell;

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;

use crate::callback;
use crate::notices;

thread_local! {
    /// The exception that a signal handler raised while this thread was waiting.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

pub fn install() {
    zarrix_store::interrupt::install(|| {
        match callback::attached(|py| py.check_signals().and_then(|()| notices::warn(py))) {
            Ok(()) => false,
            Err(error) => {
                RAISED.set(Some(error));
                true
            }
        }
    });
}

/// The exception that ended this thread's wait.
pub fn raised() -> PyErr {
    RAISED.take().unwrap_or_else(|| PyKeyboardInterrupt::new_err(()))
}
