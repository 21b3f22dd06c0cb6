//! The elements of NumPy arrays that refer to other memory: objects, and strings.
//!
//! NumPy exports the memory of such arrays like any other. It contains counted references to
//! objects, or the packed strings of a `StringDType`. Only this module reads and writes them.

use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;

use crate::buffer::Buffer;
use crate::npystring::{PACKED_BYTES, StringDType};

/// The kind of the elements.
pub enum SlotKind {
    Objects,
    Strings(StringDType),
}

/// The memory of an array of objects or strings, exported as long as this value lives.
pub struct Slots<'a> {
    base: *mut u8,
    pub kind: SlotKind,
    pub shape: &'a [usize],
    pub strides: &'a [isize],
}

// SAFETY: objects are touched attached only, and strings under the lock of their dtype.
unsafe impl Send for Slots<'_> {}
// SAFETY: as for `Send`.
unsafe impl Sync for Slots<'_> {}

impl std::fmt::Debug for Slots<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Slots({:?})", self.shape)
    }
}

impl<'a> Slots<'a> {
    /// The elements of an array; a `TypeError` if they are neither objects nor strings.
    pub fn of(py: Python<'_>, buffer: &'a Buffer) -> PyResult<Self> {
        let wrong = || PyTypeError::new_err("expected a NumPy array of objects or strings");
        let array = buffer.exporter(py).ok_or_else(wrong)?;
        // Only an array's own dtype says what its memory contains.
        if !array.is_instance(&py.import("numpy")?.getattr("ndarray")?)? {
            return Err(wrong());
        }
        let dtype = array.getattr("dtype")?;
        let code: char = dtype.getattr("char")?.extract()?;
        let (kind, item_bytes) = match code {
            'O' => (SlotKind::Objects, size_of::<*mut ffi::PyObject>()),
            // SAFETY: this code is that of StringDType alone.
            'T' => (SlotKind::Strings(unsafe { StringDType::new(dtype)? }), PACKED_BYTES),
            _ => return Err(wrong()),
        };
        buffer.check_item(item_bytes)?;
        let slots =
            Self { base: buffer.base(), kind, shape: buffer.shape(), strides: buffer.strides() };
        let pointer = align_of::<*mut ffi::PyObject>();
        let even = slots.strides.iter().all(|stride| stride.unsigned_abs().is_multiple_of(pointer));
        if !even || !slots.base.addr().is_multiple_of(pointer) {
            return Err(PyBufferError::new_err("the elements of the array are not aligned"));
        }
        Ok(slots)
    }

    /// The address of the element at `place`, an offset by the strides.
    pub fn slot(&self, place: isize) -> *mut u8 {
        self.base.wrapping_offset(place)
    }

    /// The offset of element `number` of an array with one axis.
    pub fn nth(&self, number: usize) -> isize {
        number as isize * self.strides[0]
    }

    /// Stores an object, and releases the previous one.
    ///
    /// # Safety
    /// The elements are objects, and one of them lies at `place`.
    pub unsafe fn put(&self, place: isize, object: Bound<'_, PyAny>) {
        let slot = self.slot(place).cast::<*mut ffi::PyObject>();
        // SAFETY: the caller vouches for the slot; being attached is proved by `object`. The old
        // object goes last, since its end may run anything.
        unsafe {
            let old = slot.replace(object.into_ptr());
            ffi::Py_XDECREF(old);
        }
    }

    /// The object at `place`; None for a null pointer, as NumPy reads it.
    ///
    /// # Safety
    /// The elements are objects, and one of them lies at `place`.
    pub unsafe fn get<'py>(&self, py: Python<'py>, place: isize) -> Bound<'py, PyAny> {
        // SAFETY: the caller vouches for the slot.
        let object = unsafe { *self.slot(place).cast::<*mut ffi::PyObject>() };
        // SAFETY: what is not null there is an object.
        unsafe { Bound::from_borrowed_ptr_or_opt(py, object) }
            .unwrap_or_else(|| py.None().into_bound(py))
    }

    /// Calls `visit` with the offset of every element, in C order; repeated ones (a stride of 0)
    /// once.
    pub fn each<E>(&self, mut visit: impl FnMut(isize) -> Result<(), E>) -> Result<(), E> {
        let axes: Vec<(usize, isize)> = self
            .shape
            .iter()
            .zip(self.strides)
            .map(|(count, stride)| (if *stride == 0 { (*count).min(1) } else { *count }, *stride))
            .collect();
        walk(&axes, 0, &mut visit)
    }
}

fn walk<E>(
    axes: &[(usize, isize)],
    place: isize,
    visit: &mut impl FnMut(isize) -> Result<(), E>,
) -> Result<(), E> {
    let Some(((count, stride), rest)) = axes.split_first() else {
        return visit(place);
    };
    for i in 0..*count as isize {
        walk(rest, place + i * stride, visit)?;
    }
    Ok(())
}

/// Converts UTF-8 into a `str`.
pub fn text<'py>(py: Python<'py>, utf8: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: attached; a slice is no longer than `isize::MAX`, and Python looks at the encoding.
    unsafe {
        let made = ffi::PyUnicode_FromStringAndSize(utf8.as_ptr().cast(), utf8.len() as isize);
        Bound::from_owned_ptr_or_err(py, made)
    }
}

/// Converts bytes into a `bytes`.
pub fn bytes<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: attached; a slice is no longer than `isize::MAX`.
    unsafe {
        let made = ffi::PyBytes_FromStringAndSize(bytes.as_ptr().cast(), bytes.len() as isize);
        Bound::from_owned_ptr_or_err(py, made)
    }
}
