//! Facts that the user should know although nothing has failed.
//!
//! A store detects them in the middle of a call, far below the layer that can print. So they are
//! queued here until the outermost layer takes them: at the end of a call, and during a wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::process::fork::PerProcess;

static KEPT: PerProcess<Mutex<Vec<(NoticeKind, String)>>> = PerProcess::new(Mutex::default);
static ANY: AtomicBool = AtomicBool::new(false);

/// The subject of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// One of two concurrent changes can be lost here.
    LostUpdate,
    /// A wait for a lock has taken a long time.
    Wait,
}

/// Queues a sentence for the next call of [`take`].
pub fn keep(kind: NoticeKind, sentence: String) {
    KEPT.get().lock().unwrap_or_else(PoisonError::into_inner).push((kind, sentence));
    ANY.store(true, Ordering::Release);
}

/// The queued sentences; almost always there are none, and then it costs nothing.
#[must_use]
pub fn take() -> Vec<(NoticeKind, String)> {
    if !ANY.swap(false, Ordering::Acquire) {
        return Vec::new();
    }
    std::mem::take(&mut *KEPT.get().lock().unwrap_or_else(PoisonError::into_inner))
}
