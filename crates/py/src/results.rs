//! Empty NumPy arrays, the large ones with memory that the engine keeps for the next.
//!
//! NumPy takes memory from the allocator that is set in the current context, and each array gives
//! its memory back to the allocator that it came from (NEP 49). Ours is set only while one array is
//! made. In all else the result is like others: it owns its data, and can be resized.

use std::ffi::{CStr, c_char, c_uint, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyTuple;
use zarrix_engine::{
    KEEPS_RESULTS, LARGE_RESULT_BYTES, allocate_result, allocate_zeros, release_result,
    resize_result, result_cache_bytes,
};

use crate::numpy_table::Table;

/// `NPY_VERSION` of NumPy 1 and of NumPy 2, whose allocators are the same.
const BINARY_INTERFACES: [c_uint; 2] = [0x0100_0009, 0x0200_0000];
/// `NPY_1_22_API_VERSION`: the first version with allocators.
const FIRST_WITH_ALLOCATORS: c_uint = 0xf;
const SET_HANDLER: usize = 304;
const CAPSULE: &CStr = c"mem_handler";
const NAME: &[u8] = b"zarrix";

/// Takes the new allocator, and returns the one before it.
type SetHandler = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;

/// `PyDataMem_Handler`.
#[repr(C)]
struct Handler {
    name: [c_char; 127],
    version: u8,
    context: *mut c_void,
    malloc: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    calloc: unsafe extern "C" fn(*mut c_void, usize, usize) -> *mut c_void,
    realloc: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void, *mut c_void, usize),
}

// SAFETY: constants; the context is null and unused.
unsafe impl Sync for Handler {}

static HANDLER: Handler =
    Handler { name: name(), version: 1, context: null_mut(), malloc, calloc, realloc, free };

/// Whether NumPy's variable `NUMPY_MADVISE_HUGEPAGE` lets arrays have huge pages.
static HUGE: AtomicBool = AtomicBool::new(true);

const fn name() -> [c_char; 127] {
    let mut name = [0; 127];
    let mut at = 0;
    while at < NAME.len() {
        name[at] = NAME[at] as c_char;
        at += 1;
    }
    name
}

fn pointer(found: Option<NonNull<u8>>) -> *mut c_void {
    found.map_or(null_mut(), |found| found.as_ptr().cast())
}

fn huge() -> bool {
    HUGE.load(Ordering::Relaxed)
}

unsafe extern "C" fn malloc(_: *mut c_void, bytes: usize) -> *mut c_void {
    pointer(allocate_result(bytes, huge()))
}

unsafe extern "C" fn calloc(_: *mut c_void, count: usize, item_bytes: usize) -> *mut c_void {
    pointer(count.checked_mul(item_bytes).and_then(|bytes| allocate_zeros(bytes, huge())))
}

unsafe extern "C" fn realloc(_: *mut c_void, old: *mut c_void, bytes: usize) -> *mut c_void {
    let Some(old) = NonNull::new(old.cast()) else {
        return pointer(allocate_result(bytes, huge()));
    };
    // SAFETY: NumPy passes what this allocator gave it, once.
    pointer(unsafe { resize_result(old, bytes, huge()) })
}

unsafe extern "C" fn free(_: *mut c_void, old: *mut c_void, _: usize) {
    if let Some(old) = NonNull::new(old.cast()) {
        // SAFETY: NumPy passes what this allocator gave it, once.
        unsafe { release_result(old) };
    }
}

/// What the first large result finds out about NumPy.
struct Numpy {
    empty: Py<PyAny>,
    /// `None` where this system keeps no memory, or this NumPy is not known. NumPy's own memory
    /// serves then.
    allocator: Option<Allocator>,
}

struct Allocator {
    capsule: Py<PyAny>,
    set: SetHandler,
}

impl Numpy {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static FOUND: PyOnceLock<Numpy> = PyOnceLock::new();
        FOUND.get_or_try_init(py, || {
            let empty = py.import("numpy")?.getattr("empty")?.unbind();
            // A NumPy that keeps its table elsewhere is one that is not known.
            Ok(Self { empty, allocator: Allocator::find(py).ok().flatten() })
        })
    }
}

impl Allocator {
    fn find(py: Python<'_>) -> PyResult<Option<Self>> {
        let table = Table::find(py)?;
        if !KEEPS_RESULTS
            || !BINARY_INTERFACES.contains(&table.binary_interface)
            || table.features < FIRST_WITH_ALLOCATORS
        {
            return Ok(None);
        }
        let environment = py.import("os")?.getattr("environ")?;
        let advised = environment.call_method1("get", ("NUMPY_MADVISE_HUGEPAGE", "1"))?;
        HUGE.store(advised.extract::<String>()?.trim() != "0", Ordering::Relaxed);
        // SAFETY: attached; the handler and the name are constants of this library, which is never
        // unloaded. This NumPy has the entry, which is a function of this type.
        unsafe {
            let handler = (&raw const HANDLER).cast_mut().cast();
            let capsule = ffi::PyCapsule_New(handler, CAPSULE.as_ptr(), None);
            let capsule = Bound::from_owned_ptr_or_err(py, capsule)?.unbind();
            let set = std::mem::transmute::<*const c_void, SetHandler>(table.entry(SET_HANDLER));
            Ok(Some(Self { capsule, set }))
        }
    }

    /// Calls `make` with this allocator in the current context.
    fn during<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let before = self.replaced(py, self.capsule.bind(py))?;
        let made = make();
        self.replaced(py, &before)?;
        made
    }

    /// Sets an allocator; returns the one before it.
    fn replaced<'py>(
        &self,
        py: Python<'py>,
        capsule: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: attached; NumPy takes a reference of its own, and returns one or an exception.
        unsafe { Bound::from_owned_ptr_or_err(py, (self.set)(capsule.as_ptr())) }
    }
}

/// See `_engine.pyi`.
#[pyfunction]
pub fn empty<'py>(
    shape: &Bound<'py, PyTuple>,
    dtype: &Bound<'py, PyAny>,
    order: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = shape.py();
    let numpy = Numpy::get(py)?;
    let make = || numpy.empty.bind(py).call1((shape, dtype, order));
    match &numpy.allocator {
        Some(ours) if result_cache_bytes() > 0 && is_large(shape, dtype) => ours.during(py, make),
        _ => make(),
    }
}

/// Whether the array is worth memory of the engine. What is not a shape is for NumPy to refuse.
fn is_large(shape: &Bound<'_, PyTuple>, dtype: &Bound<'_, PyAny>) -> bool {
    let number = |value: PyResult<Bound<'_, PyAny>>| value.ok()?.extract::<usize>().ok();
    let mut bytes = number(dtype.getattr(intern!(dtype.py(), "itemsize")));
    for length in shape.iter_borrowed() {
        bytes = bytes.zip(length.extract().ok()).and_then(|(all, one)| all.checked_mul(one));
    }
    bytes.is_some_and(|bytes| bytes >= LARGE_RESULT_BYTES)
}
