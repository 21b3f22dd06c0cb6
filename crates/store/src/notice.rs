//! What a person should be told though nothing has failed.
//!
//! A store finds out in the middle of a call, far below whoever can print; so it is kept here until
//! the outermost layer asks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::process::PerProcess;

static KEPT: PerProcess<Mutex<Vec<String>>> = PerProcess::new(Mutex::default);
static ANY: AtomicBool = AtomicBool::new(false);

/// Keeps a sentence for whoever asks next.
pub fn keep(sentence: String) {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    ANY.store(true, Ordering::Release);
}

/// What was kept since the last time; almost always nothing, and then at no cost.
#[must_use]
pub fn take() -> Vec<String> {
    if !ANY.swap(false, Ordering::Acquire) {
        return Vec::new();
    }
    std::mem::take(&mut *KEPT.get().lock().unwrap_or_else(PoisonError::into_inner))
}
