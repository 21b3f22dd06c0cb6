//! Functions by which Python queries codecs before it makes a layout.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use zarrix_codec::{Input, from_config};

#[pyfunction]
pub fn codec_fault(name: &str, configuration: &str, item_bytes: usize) -> PyResult<Option<String>> {
    let configuration = serde_json::from_str(configuration)
        .map_err(|error| PyValueError::new_err(format!("configuration: {error}")))?;
    let made = from_config(name, &configuration, Input { item_bytes });
    Ok(made.err().map(|error| error.to_string()))
}
