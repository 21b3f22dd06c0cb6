//! Calls out of the engine into Python, from which a thread may not return.
//!
//! While the interpreter exits, Python up to 3.13 ends a thread that wants the GIL back by
//! `pthread_exit`, which unwinds its stack. A store that waits for a server releases the GIL. The
//! unwinding then begins below our frames, runs their destructors without the GIL, and aborts the
//! process with SIGABRT before it has exited. So such a thread is blocked forever where the
//! unwinding reaches our frames. Python 3.14 does the same, and so does PyO3 when it takes the GIL
//! itself.

use std::ffi::c_int;
use std::ptr::null_mut;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Blocks the thread whose stack is unwound through here.
struct Stop;

impl Drop for Stop {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Calls a function of the interpreter, and never returns if the interpreter ends the thread.
///
/// The address is read at run time so that the compiler does not recognize the function: it assumes
/// that known C functions do not unwind, and would remove the code that blocks the thread.
macro_rules! ask {
    ($function:ident($($value:expr => $kind:ty),*) -> $answer:ty) => {{
        let function: unsafe extern "C" fn($($kind),*) -> $answer = ffi::$function;
        // SAFETY: the same function, declared as what it is; we are attached, and every pointer is
        // that of an object that is borrowed meanwhile.
        unsafe {
            let function = std::ptr::read_volatile(&raw const function);
            let function: unsafe extern "C-unwind" fn($($kind),*) -> $answer =
                std::mem::transmute(function);
            let stop = Stop;
            let answer = function($($value),*);
            std::mem::forget(stop);
            answer
        }
    }};
}

type Object = *mut ffi::PyObject;

/// Types that become the positional arguments of a call.
pub trait PyArguments<'py>:
    IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py, T> PyArguments<'py> for T where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

/// Attaches for a call into Python; an error if the interpreter is exiting.
pub fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    Python::try_attach(call)
        .unwrap_or_else(|| Err(PyRuntimeError::new_err("the Python interpreter is exiting")))
}

/// The object that a function of the interpreter returned, or the exception that it raised.
fn given<'py>(py: Python<'py>, answer: Object) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a new reference, or null where an error is set.
    unsafe { Bound::from_owned_ptr_or_err(py, answer) }
}

/// The truth value that it returned; below zero, an exception is set.
fn judged(py: Python<'_>, answer: c_int) -> PyResult<bool> {
    if answer < 0 { Err(PyErr::fetch(py)) } else { Ok(answer > 0) }
}

/// `callable(*arguments)`.
pub fn call<'py>(
    callable: &Bound<'py, PyAny>,
    arguments: impl PyArguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = callable.py();
    let (arguments, no_options) = (arguments.into_pyobject(py).map_err(Into::into)?, null_mut());
    let answer = ask!(PyObject_Call(
        callable.as_ptr() => Object, arguments.as_ptr() => Object, no_options => Object
    ) -> Object);
    given(py, answer)
}

/// `object.name(*arguments)`.
pub fn method<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    arguments: impl PyArguments<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    let name = PyString::new(object.py(), name);
    let answer =
        ask!(PyObject_GetAttr(object.as_ptr() => Object, name.as_ptr() => Object) -> Object);
    call(&given(object.py(), answer)?, arguments)
}

/// `object[key]`.
pub fn get_item<'py>(object: &Bound<'py, PyAny>, key: &str) -> PyResult<Bound<'py, PyAny>> {
    let key = PyString::new(object.py(), key);
    let answer =
        ask!(PyObject_GetItem(object.as_ptr() => Object, key.as_ptr() => Object) -> Object);
    given(object.py(), answer)
}

/// `object[key] = value`.
pub fn set_item(object: &Bound<'_, PyAny>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    let key = PyString::new(object.py(), key);
    let answer = ask!(PyObject_SetItem(
        object.as_ptr() => Object, key.as_ptr() => Object, value.as_ptr() => Object
    ) -> c_int);
    judged(object.py(), answer).map(drop)
}
