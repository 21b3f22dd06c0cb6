//! Calls out of the engine into Python, each of which may be the last of its thread.
//!
//! While the interpreter exits, Python up to 3.13 ends a thread that wants the GIL back by
//! `pthread_exit`, which unwinds its stack. A store that waits for a server lets go of the GIL: the
//! unwinding then begins below our frames, runs their destructors without the GIL, and ends the
//! process with SIGABRT before what follows in the exit is done. So such a thread stops for good
//! where its stack reaches us, as Python 3.14 stops it, and PyO3 where it takes the GIL itself.

use std::ffi::c_int;
use std::ptr::null_mut;

use pyo3::exceptions::PyRuntimeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

/// Stops the thread whose stack is unwound through here.
struct Stop;

impl Drop for Stop {
    fn drop(&mut self) {
        loop {
            std::thread::park();
        }
    }
}

/// Calls a function of the interpreter, and never returns where the interpreter ends the thread.
///
/// The address is read so that the compiler cannot tell whose it is: it takes a C function that it
/// knows not to unwind, and would leave out what stops the thread.
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

/// What becomes the positional arguments of a call.
pub trait PyArguments<'py>:
    IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

impl<'py, T> PyArguments<'py> for T where
    T: IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error: Into<PyErr>>
{
}

/// Attaches for a call into Python; an error once the interpreter exits.
pub fn attached<T>(call: impl FnOnce(Python<'_>) -> PyResult<T>) -> PyResult<T> {
    Python::try_attach(call)
        .unwrap_or_else(|| Err(PyRuntimeError::new_err("the Python interpreter is exiting")))
}

/// What a function of the interpreter gave, or what it raised.
fn given<'py>(py: Python<'py>, answer: Object) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: a new reference, or null where an error is set.
    unsafe { Bound::from_owned_ptr_or_err(py, answer) }
}

/// Whether it was true; below zero an error is set.
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
