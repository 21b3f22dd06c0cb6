//! Files of others, many in one call.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};
use zarrix_store::FileVersion;

use crate::buffer::bytes_of;
use crate::signals::Signals;

/// Size, times of the last modification and change, and whether it is a regular file.
type VersionRow<'py> = (u64, Bound<'py, PyInt>, Bound<'py, PyInt>, bool);

#[pyfunction]
#[pyo3(signature = (paths, most, known = Vec::new()))]
pub fn heads_of<'py>(
    py: Python<'py>,
    paths: Vec<PathBuf>,
    most: usize,
    known: Vec<u8>,
) -> PyResult<Vec<Option<Bound<'py, PyBytes>>>> {
    let signals = Signals::default();
    let heads = py
        .detach(|| zarrix_engine::heads_of(&paths, most, &known, &|| signals.interrupt()))
        .map_err(|error| signals.raise_store(py, &error))?;
    heads.iter().map(|head| head.as_ref().map(|head| bytes_of(py, head)).transpose()).collect()
}

#[pyfunction]
#[pyo3(signature = (paths, *, follows = true))]
pub fn versions_of(
    py: Python<'_>,
    paths: Vec<PathBuf>,
    follows: bool,
) -> PyResult<Vec<Option<VersionRow<'_>>>> {
    let signals = Signals::default();
    let versions = py
        .detach(|| zarrix_engine::versions_of(&paths, follows, &|| signals.interrupt()))
        .map_err(|error| signals.raise_store(py, &error))?;
    let row = |version: FileVersion| {
        let FileVersion { size, modified, changed, is_file } = version;
        Ok((size, number(py, modified)?, number(py, changed)?, is_file))
    };
    versions.into_iter().map(|version| version.map(row).transpose()).collect()
}

/// Times of this millennium have 64 bits, whose conversion is faster.
fn number(py: Python<'_>, time: i128) -> PyResult<Bound<'_, PyInt>> {
    Ok(match i64::try_from(time) {
        Ok(short) => short.into_pyobject(py)?,
        Err(_) => time.into_pyobject(py)?,
    })
}
