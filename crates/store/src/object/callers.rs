//! Threads that call functions of the program for the runtime's tasks.
//!
//! Such a function may take any time and any lock of its own, so that it must not run on a thread of
//! the runtime. A thread that is done waits for the next call: a program may be able to keep what
//! it needs of a thread (an interpreter, its state), but not to drop it safely.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{SendError, Sender, channel};
use std::sync::{Mutex, PoisonError};

use crate::process::fork::PerProcess;

type Work = Box<dyn FnOnce() + Send>;

static IDLE: PerProcess<Mutex<Vec<Sender<Work>>>> = PerProcess::new(Mutex::default);

fn next_idle() -> Option<Sender<Work>> {
    IDLE.get().lock().unwrap_or_else(PoisonError::into_inner).pop()
}

/// Runs `work` on a thread of its own, and returns at once.
///
/// # Errors
/// The system starts no further thread.
pub(super) fn run(work: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut work: Work = Box::new(work);
    while let Some(thread) = next_idle() {
        match thread.send(work) {
            Ok(()) => return Ok(()),
            Err(SendError(back)) => work = back,
        }
    }
    let (send, further) = channel::<Work>();
    let body = move || {
        let mut next = Some(work);
        while let Some(work) = next {
            // The caller waits for a result within a limit; a panic gives none.
            let _ = catch_unwind(AssertUnwindSafe(work));
            let mut idle = IDLE.get().lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(send.clone());
            drop(idle);
            next = further.recv().ok();
        }
    };
    std::thread::Builder::new().name("zarrix-credentials".to_owned()).spawn(body).map(drop)
}
