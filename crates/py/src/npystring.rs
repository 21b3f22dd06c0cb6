//! The strings of NumPy 2: packed into 16 bytes, or stored by an allocator that their dtype owns.
//!
//! NumPy exports their functions to C only, as entries of the table behind `_ARRAY_API`. The
//! entries used here have had the same positions since NumPy 2.0 (`numpy/__multiarray_api.h`), and
//! keep them as long as the version of the binary interface stays the same. Both versions are
//! checked before the first call.

use std::ffi::{c_char, c_int, c_uint, c_void};

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::numpy_table::Table;

/// Bytes of one packed string.
pub const PACKED_BYTES: usize = 16;

/// `NPY_VERSION` of all of NumPy 2.
const BINARY_INTERFACE: c_uint = 0x0200_0000;
/// `NPY_2_0_API_VERSION`: the first version with strings.
const FIRST_WITH_STRINGS: c_uint = 0x12;

const LOAD: usize = 313;
const PACK: usize = 314;
const ACQUIRE: usize = 316;
const RELEASE: usize = 318;

/// `npy_static_string`.
#[repr(C)]
struct Unpacked {
    bytes: usize,
    data: *const c_char,
}

type Load = unsafe extern "C" fn(*mut c_void, *const c_void, *mut Unpacked) -> c_int;
type Pack = unsafe extern "C" fn(*mut c_void, *mut c_void, *const c_char, usize) -> c_int;
type Acquire = unsafe extern "C" fn(*const ffi::PyObject) -> *mut c_void;
type Release = unsafe extern "C" fn(*mut c_void);

/// The string functions of NumPy.
#[derive(Clone, Copy)]
struct Api {
    load: Load,
    pack: Pack,
    acquire: Acquire,
    release: Release,
}

static API: PyOnceLock<Api> = PyOnceLock::new();

impl Api {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        API.get_or_try_init(py, || Self::find(py))
    }

    fn find(py: Python<'_>) -> PyResult<Self> {
        let table = Table::find(py)?;
        let Table { binary_interface: binary, features, .. } = table;
        if binary != BINARY_INTERFACE || features < FIRST_WITH_STRINGS {
            return Err(PyRuntimeError::new_err(format!(
                "the strings of this NumPy (interface {binary:#x}, {features:#x}) are not known to \
                 this version; read them into an array of objects"
            )));
        }
        // SAFETY: this NumPy has the entries, which are functions of these types.
        unsafe {
            Ok(Self {
                load: std::mem::transmute::<*const c_void, Load>(table.entry(LOAD)),
                pack: std::mem::transmute::<*const c_void, Pack>(table.entry(PACK)),
                acquire: std::mem::transmute::<*const c_void, Acquire>(table.entry(ACQUIRE)),
                release: std::mem::transmute::<*const c_void, Release>(table.entry(RELEASE)),
            })
        }
    }
}

/// A `StringDType`, which owns the memory of the strings of its array.
pub struct StringDType {
    api: &'static Api,
    dtype: Py<PyAny>,
}

/// A `StringDType` whose strings only this thread may access.
pub struct Strings<'a> {
    api: &'a Api,
    allocator: *mut c_void,
}

impl StringDType {
    /// # Safety
    /// `dtype` is an instance of `numpy.dtypes.StringDType`.
    pub unsafe fn new(dtype: Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self { api: Api::get(dtype.py())?, dtype: dtype.unbind() })
    }

    /// Waits for the lock of the strings; attached or not. A thread that holds it must not wait to
    /// be attached.
    pub fn lock(&self) -> Strings<'_> {
        // SAFETY: the constructor's contract; the dtype lives as long as `self`. NumPy's own loops
        // take this lock detached.
        let allocator = unsafe { (self.api.acquire)(self.dtype.as_ptr()) };
        Strings { api: self.api, allocator }
    }
}

impl Strings<'_> {
    /// Replaces the packed string at `slot`; false if there is no memory for it.
    ///
    /// # Safety
    /// `slot` is an aligned element of an array with the dtype that was locked; `text` is UTF-8.
    pub unsafe fn put(&mut self, slot: *mut u8, text: &[u8]) -> bool {
        // SAFETY: the allocator is held; the caller vouches for the slot.
        unsafe {
            (self.api.pack)(self.allocator, slot.cast(), text.as_ptr().cast(), text.len()) == 0
        }
    }

    /// The string at `slot`; `None` if it is missing, or NumPy finds it invalid.
    ///
    /// # Safety
    /// `slot` is an aligned element of an array with the dtype that was locked.
    pub unsafe fn get(&self, slot: *const u8) -> Option<&[u8]> {
        let mut found = Unpacked { bytes: 0, data: std::ptr::null() };
        // SAFETY: the allocator is held; the caller vouches for the slot.
        let status = unsafe { (self.api.load)(self.allocator, slot.cast(), &raw mut found) };
        match (status, found.bytes) {
            (0, 0) => Some(&[]),
            // SAFETY: NumPy says that the string is there, and keeps it while it is locked.
            (0, bytes) => Some(unsafe { std::slice::from_raw_parts(found.data.cast(), bytes) }),
            _ => None,
        }
    }
}

impl Drop for Strings<'_> {
    fn drop(&mut self) {
        // SAFETY: acquired by `lock`, released once.
        unsafe { (self.api.release)(self.allocator) }
    }
}
