//! What a person should be told though nothing has failed.
//!
//! A store finds out in the middle of a call, far below what can print; so it is kept here until the
//! outermost layer asks: when the call ends, and while one waits.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::process::fork::PerProcess;

static KEPT: PerProcess<Mutex<Vec<(Kind, String)>>> = PerProcess::new(Mutex::default);
static ANY: AtomicBool = AtomicBool::new(false);

/// What a notice is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// One of two concurrent changes can be lost here.
    LostUpdate,
    /// A lock has been waited for a long time.
    Wait,
}

/// Keeps a sentence for the next one who asks.
pub fn keep(kind: Kind, sentence: String) {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner).push((kind, sentence));
    ANY.store(true, Ordering::Release);
}

/// What was kept since the last time; almost always nothing, and then at no cost.
#[must_use]
pub fn take() -> Vec<(Kind, String)> {
    if !ANY.swap(false, Ordering::Acquire) {
        return Vec::new();
    }
    std::mem::take(&mut *KEPT.get().lock().unwrap_or_else(PoisonError::into_inner))
}
