//! What a store found out that a person should know becomes a warning of the call at hand.

use pyo3::prelude::*;
use zarrix_store::notice::{Kind, take};

use crate::callback;

/// Warns of what was kept; an error where warnings are errors.
pub fn warn(py: Python<'_>) -> PyResult<()> {
    for (kind, sentence) in take() {
        let category = match kind {
            Kind::LostUpdate => "LostUpdateWarning",
            Kind::Wait => "LockWaitWarning",
        };
        let category = py.import("zarrix._errors")?.getattr(category)?;
        callback::method(py.import("warnings")?.as_any(), "warn", (sentence, category, 2))?;
    }
    Ok(())
}
