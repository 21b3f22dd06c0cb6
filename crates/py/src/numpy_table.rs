//! The table of C functions that NumPy exports to other extensions.

use std::ffi::{c_uint, c_void};

use pyo3::ffi;
use pyo3::prelude::*;

const GET_BINARY_INTERFACE: usize = 0;
const GET_FEATURE_VERSION: usize = 211;

type Version = unsafe extern "C" fn() -> c_uint;

/// `_ARRAY_API`, with the two versions that say what its entries are.
pub struct Table {
    entries: *const *const c_void,
    /// `NPY_VERSION`: what NumPy's structures and functions look like.
    pub binary_interface: c_uint,
    /// `NPY_FEATURE_VERSION`: how many functions there are.
    pub features: c_uint,
}

impl Table {
    /// The table of the NumPy that Python imports.
    pub fn find(py: Python<'_>) -> PyResult<Self> {
        let module = py
            .import("numpy._core._multiarray_umath")
            .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let capsule = module.getattr("_ARRAY_API")?;
        // SAFETY: attached; a capsule that is none, or has a name, gives null and an exception.
        let entries = unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), std::ptr::null()) };
        if entries.is_null() {
            return Err(PyErr::fetch(py));
        }
        let mut table = Self { entries: entries.cast(), binary_interface: 0, features: 0 };
        // SAFETY: both are in every table, and functions of this type.
        unsafe {
            let version = |number| std::mem::transmute::<*const c_void, Version>(number);
            table.binary_interface = version(table.entry(GET_BINARY_INTERFACE))();
            table.features = version(table.entry(GET_FEATURE_VERSION))();
        }
        Ok(table)
    }

    /// # Safety
    /// The versions say that the table has this entry.
    pub unsafe fn entry(&self, number: usize) -> *const c_void {
        // SAFETY: as the caller says.
        unsafe { *self.entries.add(number) }
    }
}
