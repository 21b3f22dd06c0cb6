//! Issues the notices of stores as Python warnings of the current call.

use pyo3::prelude::*;
use zarrix_store::notice::{NoticeKind, take};

use crate::callback;

/// Warns of all queued notices; an error if warnings are errors.
pub fn warn(py: Python<'_>) -> PyResult<()> {
    for (kind, sentence) in take() {
        let category = match kind {
            NoticeKind::LostUpdate => "LostUpdateWarning",
            NoticeKind::Wait => "LockWaitWarning",
        };
        let category = py.import("zarrix._errors")?.getattr(category)?;
        callback::method(py.import("warnings")?.as_any(), "warn", (sentence, category, 2))?;
    }
    Ok(())
}
