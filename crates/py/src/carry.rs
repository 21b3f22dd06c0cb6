//! Values that get another key without a copy of their bytes.

use std::ffi::OsStr;
use std::path::PathBuf;

use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use zarrix_store::{Carried, Carry};

/// A way to carry a value: "auto", "clone", "link" or "copy".
pub struct Way(pub Carry);

impl<'py> FromPyObject<'_, 'py> for Way {
    type Error = PyErr;

    fn extract(word: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match word.extract::<&str>()? {
            "auto" => Ok(Self(Carry::Auto)),
            "clone" => Ok(Self(Carry::Clone)),
            "link" => Ok(Self(Carry::Link)),
            "copy" => Ok(Self(Carry::Copy)),
            other => Err(PyValueError::new_err(format!("unknown way {other:?}"))),
        }
    }
}

/// The word of a way.
pub const fn word(way: Carry) -> &'static str {
    match way {
        Carry::Auto => "auto",
        Carry::Clone => "clone",
        Carry::Link => "link",
        Carry::Copy => "copy",
    }
}

/// The way, the length and the tag of a value: when its file was modified, and the file's number.
pub fn row(carried: Carried) -> (&'static str, u64, String) {
    let (modified, number) = carried.tag;
    (word(carried.by), carried.size, format!("{modified:x}-{number:x}"))
}

#[pyfunction]
pub fn exchange(py: Python<'_>, first: PathBuf, second: PathBuf) -> PyResult<()> {
    py.detach(|| zarrix_store::exchange(&first, &second)).map_err(|error| {
        let name = |path: &PathBuf| path.as_os_str().to_owned();
        match error.raw_os_error() {
            Some(errno) => {
                let reason = error.to_string();
                let reason = reason.split(" (os error").next().unwrap_or(&reason).to_string();
                let none = None::<&OsStr>;
                PyOSError::new_err((errno, reason, name(&first), none, name(&second)))
            }
            None => PyOSError::new_err(format!("exchange {first:?} and {second:?}: {error}")),
        }
    })
}
