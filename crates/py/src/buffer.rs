//! Buffers that Python lends us: shape and strides, without the element format.
//!
//! NumPy does not export the format of datetime64, StringDType and the ML dtypes, but it exports
//! the memory of all of them; the engine needs only the item size.

use std::borrow::Cow;
use std::ffi::c_int;
use std::ptr;

use pyo3::exceptions::{PyBufferError, PyMemoryError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zarrix_codec::memory::{Refused, copied, with_room};
use zarrix_engine::{Source, Target};

use crate::workers::is_late;

/// An exported buffer, released on drop. Boxed, since exporters may point into the struct itself.
pub struct Buffer(Box<ffi::Py_buffer>);

// SAFETY: the memory stays lent until `PyBuffer_Release`, which `Drop` calls attached; the fields
// are read only.
unsafe impl Send for Buffer {}
// SAFETY: as for `Send`.
unsafe impl Sync for Buffer {}

/// A readable buffer with any strides.
pub struct Readable(Buffer);

/// A writable buffer with any strides.
pub struct Writable(Buffer);

/// The contiguous bytes of an object.
pub struct Bytes(Buffer);

/// A contiguous array of non-negative 64-bit integers. It is a copy, so that indices that were
/// checked against the array cannot change afterwards.
pub struct Indices(Vec<u64>);

impl Buffer {
    fn lend(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = Box::new(ffi::Py_buffer::new());
        // SAFETY: we are attached, and the struct outlives the call.
        let status = unsafe { ffi::PyObject_GetBuffer(object.as_ptr(), &raw mut *view, flags) };
        if status == -1 {
            return Err(PyErr::fetch(object.py()));
        }
        Ok(Self(view))
    }

    /// The address of the element whose indices are all zero.
    pub fn base(&self) -> *mut u8 {
        self.0.buf.cast()
    }

    /// The object that owns this memory.
    pub fn exporter<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        // SAFETY: the exporter put itself there, and stays until the buffer is given back.
        unsafe { Bound::from_borrowed_ptr_or_opt(py, self.0.obj) }
    }

    fn axes(&self) -> usize {
        usize::try_from(self.0.ndim).unwrap_or(0)
    }

    pub fn shape(&self) -> &[usize] {
        // SAFETY: the exporter filled `ndim` lengths, none of them negative.
        unsafe { slice_of(self.0.shape.cast::<usize>(), self.axes()) }
    }

    pub fn strides(&self) -> &[isize] {
        // SAFETY: the exporter filled `ndim` strides.
        unsafe { slice_of(self.0.strides, self.axes()) }
    }

    pub fn check_item(&self, item_bytes: usize) -> PyResult<()> {
        if usize::try_from(self.0.itemsize) == Ok(item_bytes) {
            return Ok(());
        }
        Err(PyBufferError::new_err(format!(
            "the buffer has elements of {} bytes, the array of {item_bytes}",
            self.0.itemsize
        )))
    }
}

/// The exception for refused memory.
pub fn no_memory(refused: Refused) -> PyErr {
    PyMemoryError::new_err(refused.to_string())
}

/// A `bytes` object of `value`; `PyBytes::new` would panic if there is no memory for one.
pub fn bytes_of<'py>(py: Python<'py>, value: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    PyBytes::new_with(py, value.len(), |bytes| {
        bytes.copy_from_slice(value);
        Ok(())
    })
}

/// # Safety
/// `from` is null or valid for `length` elements.
unsafe fn slice_of<'a, T>(from: *const T, length: usize) -> &'a [T] {
    if from.is_null() || length == 0 {
        return &[];
    }
    // SAFETY: not null, and the caller vouches for the length.
    unsafe { std::slice::from_raw_parts(from, length) }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // When the interpreter exits, the buffer can no longer be released.
        if is_late() {
            return;
        }
        // SAFETY: the buffer was lent by `lend` and is released once, attached.
        Python::try_attach(|_| unsafe { ffi::PyBuffer_Release(&raw mut *self.0) });
    }
}

impl<'py> FromPyObject<'_, 'py> for Readable {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Buffer::lend(&object, ffi::PyBUF_STRIDES).map(Self)
    }
}

impl<'py> FromPyObject<'_, 'py> for Writable {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Buffer::lend(&object, ffi::PyBUF_STRIDES | ffi::PyBUF_WRITABLE).map(Self)
    }
}

impl<'py> FromPyObject<'_, 'py> for Bytes {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Buffer::lend(&object, ffi::PyBUF_SIMPLE).map(Self)
    }
}

impl<'py> FromPyObject<'_, 'py> for Indices {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let buffer = Buffer::lend(&object, ffi::PyBUF_ND)?;
        buffer.check_item(size_of::<u64>())?;
        let bytes = Bytes(buffer);
        let given = bytes.as_slice().as_chunks().0;
        let mut indices = with_room(given.len()).map_err(no_memory)?;
        indices.extend(given.iter().map(|bytes| u64::from_ne_bytes(*bytes)));
        Ok(Self(indices))
    }
}

impl Indices {
    /// The integers, in C order.
    pub fn as_slice(&self) -> &[u64] {
        &self.0
    }
}

impl Indices {
    /// The integers themselves.
    pub fn into_vec(self) -> Vec<u64> {
        self.0
    }
}

impl Readable {
    pub fn buffer(&self) -> &Buffer {
        &self.0
    }

    /// The elements, as a source of the engine.
    pub fn source(&self, item_bytes: usize) -> PyResult<Source<'_>> {
        self.0.check_item(item_bytes)?;
        // SAFETY: the memory is lent until this value is dropped.
        Ok(unsafe { Source::new(self.0.0.buf.cast(), self.0.shape(), self.0.strides()) })
    }
}

impl Writable {
    pub fn buffer(&self) -> &Buffer {
        &self.0
    }

    /// The elements, as a target of the engine.
    pub fn target(&self, item_bytes: usize) -> PyResult<Target<'_>> {
        self.0.check_item(item_bytes)?;
        // NumPy gives empty arrays strides of 0, and nothing is ever written to them.
        let empty = self.0.shape().contains(&0);
        let repeats =
            self.0.shape().iter().zip(self.0.strides()).any(|(n, step)| *n > 1 && *step == 0);
        if repeats && !empty {
            return Err(PyBufferError::new_err("the buffer repeats elements (a stride of 0)"));
        }
        // SAFETY: the memory is lent for writing until this value is dropped.
        Ok(unsafe { Target::new(self.0.0.buf.cast(), self.0.shape(), self.0.strides()) })
    }
}

impl Bytes {
    /// The bytes, unaffected by later changes: a copy, unless the object is a `bytes`.
    ///
    /// Other threads may change a bytearray or an array while its bytes are stored, and a store
    /// that adds a checksum reads them twice.
    pub fn settled(&self, py: Python<'_>) -> PyResult<Cow<'_, [u8]>> {
        let fixed =
            self.0.exporter(py).is_some_and(|object| object.is_exact_instance_of::<PyBytes>());
        Ok(if fixed {
            self.as_slice().into()
        } else {
            copied(self.as_slice()).map_err(no_memory)?.into()
        })
    }

    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        let length = usize::try_from(self.0.0.len).unwrap_or(0);
        if length == 0 || ptr::eq(self.0.0.buf, ptr::null()) {
            return &[];
        }
        // SAFETY: a simple buffer is `len` contiguous bytes, lent until this value is dropped.
        unsafe { std::slice::from_raw_parts(self.0.0.buf.cast(), length) }
    }
}
