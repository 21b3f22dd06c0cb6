//! The thread states of the engine's threads in the interpreter.
//!
//! A thread that calls into Python needs a thread state. Attaching creates one and detaching drops
//! it again, both under a lock of the interpreter that a thread takes without the GIL. Python 3.11
//! waits for that lock in a forked child before it reinitializes it, so a fork at the wrong moment
//! left a child that hung before its first line. So each worker gets one permanent state, and a
//! fork waits until no worker is creating its state.
//!
//! The handlers are Python's and not the system's: since 3.13 Python itself holds that lock when
//! the system's handlers run, and if they waited there for a thread that waits for the lock, that
//! would be a deadlock.
//!
//! A thread may be scheduled for the first time when the interpreter has already ended: its call
//! was done without it. A state of an interpreter that is gone would take locks that are gone. So
//! the exit closes a gate, before the interpreter begins to end, and a thread that comes later is
//! parked.

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use zarrix_store::process::Gate;

/// The number of the main interpreter.
const MAIN: i64 = 0;

static GATE: Gate = Gate::new();
/// The state of the thread in which the interpreter exits, once it does; null until then.
static ENDING: AtomicPtr<ffi::PyThreadState> = AtomicPtr::new(std::ptr::null_mut());
static INTERPRETER: AtomicPtr<ffi::PyInterpreterState> = AtomicPtr::new(std::ptr::null_mut());

/// Gives every worker a thread state of this interpreter, from now on.
pub fn adopt_all(py: Python<'_>) -> PyResult<()> {
    // SAFETY: we are attached.
    let interpreter = unsafe { ffi::PyInterpreterState_Get() };
    // SAFETY: as above.
    if unsafe { ffi::PyInterpreterState_GetID(interpreter) } != MAIN {
        return Err(PyImportError::new_err(
            "zarrix cannot be imported in a subinterpreter: its threads call Python in the main \
             interpreter, and NumPy is loaded once for each process",
        ));
    }
    INTERPRETER.store(interpreter, Ordering::Release);
    zarrix_engine::on_worker_start(adopt);
    py.import("atexit")?.call_method1("register", (handler(py, close)?,))?;
    let os = py.import("os")?;
    // Windows has no forks.
    if !os.hasattr("register_at_fork")? {
        return Ok(());
    }
    let handlers = PyDict::new(py);
    // Detached during the wait: a thread inside the gate may need what this thread holds.
    handlers.set_item("before", handler(py, |py| py.detach(|| GATE.hold()))?)?;
    handlers.set_item("after_in_parent", handler(py, |_| GATE.release())?)?;
    handlers.set_item("after_in_child", handler(py, |_| GATE.reset())?)?;
    os.call_method("register_at_fork", (), Some(&handlers))?;
    Ok(())
}

fn handler<'py>(py: Python<'py>, work: fn(Python<'_>)) -> PyResult<Bound<'py, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, move |arguments, _| work(arguments.py()))
}

/// Before the interpreter ends: no thread gets a state any more. Calls that are made from here on
/// work on their own thread, because the interpreter would end workers that it finds in itself.
fn close(py: Python<'_>) {
    zarrix_engine::work_alone();
    // SAFETY: we are attached.
    ENDING.store(unsafe { ffi::PyThreadState_Get() }, Ordering::SeqCst);
    // Those who saw the gate open are waited for.
    py.detach(|| GATE.hold());
    GATE.release();
}

/// Whether another thread ends the interpreter, so that a thread that is not attached may be too
/// late to attach.
pub fn is_late() -> bool {
    let ending = ENDING.load(Ordering::SeqCst);
    // SAFETY: always allowed; null where this thread has no state.
    !ending.is_null() && unsafe { ffi::PyGILState_GetThisThreadState() } != ending
}

/// Gives this thread, which is not a worker of the pool, a state like theirs if it has none.
pub fn adopt_once() {
    // SAFETY: always allowed; null where this thread has no state.
    if unsafe { ffi::PyGILState_GetThisThreadState() }.is_null() {
        adopt();
    }
}

fn adopt() {
    let interpreter = INTERPRETER.load(Ordering::Acquire);
    GATE.pass(|| {
        if ENDING.load(Ordering::SeqCst).is_null() {
            // SAFETY: the main interpreter is there, as its exit waits for this section; this
            // thread has no state yet, and attaching it finds the one that it gets.
            unsafe { ffi::PyThreadState_New(interpreter) };
        }
    });
    while is_late() {
        std::thread::park();
    }
}
