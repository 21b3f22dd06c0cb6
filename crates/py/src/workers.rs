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

use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyDict};
use zarrix_store::process::Gate;

static GATE: Gate = Gate::new();
static INTERPRETER: AtomicPtr<ffi::PyInterpreterState> = AtomicPtr::new(std::ptr::null_mut());

/// Gives every worker a thread state of this interpreter, from now on.
pub fn adopt_all(py: Python<'_>) -> PyResult<()> {
    // SAFETY: we are attached.
    INTERPRETER.store(unsafe { ffi::PyInterpreterState_Get() }, Ordering::Release);
    zarrix_engine::on_worker_start(adopt);
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

fn adopt() {
    let interpreter = INTERPRETER.load(Ordering::Acquire);
    // SAFETY: the main interpreter, which outlives every worker; this thread has no state yet, and
    // attaching it finds the one that it gets.
    GATE.pass(|| unsafe { ffi::PyThreadState_New(interpreter) });
}
