//! What a store found out that a person should know becomes a warning of the call at hand.

use pyo3::prelude::*;

/// Warns of what was kept; an error where warnings are errors.
pub fn warn(py: Python<'_>) -> PyResult<()> {
    for sentence in zarrix_store::notice::take() {
        let category = py.import("zarrix._store")?.getattr("LostUpdateWarning")?;
        py.import("warnings")?.call_method1("warn", (sentence, category, 2))?;
    }
    Ok(())
}
