//! Limits that all remote stores of a process share: requests in flight, and bytes of a response.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::process::fork::PerProcess;

/// Requests of this process in flight at one time, unless the program sets another number.
const REQUESTS: usize = 256;

static WANTED: AtomicUsize = AtomicUsize::new(REQUESTS);
static MOST_ANSWER_BYTES: AtomicU64 = AtomicU64::new(u64::MAX);
static PERMITS: PerProcess<Mutex<Permits>> =
    PerProcess::new(|| Mutex::new(Permits::new(concurrent_requests())));

struct Permits {
    total: usize,
    free: Arc<Semaphore>,
}

impl Permits {
    fn new(total: usize) -> Self {
        Self { total, free: Arc::new(Semaphore::new(total)) }
    }
}

/// Changes how many requests of this process may be in flight at one time, from the next request
/// on.
pub fn set_concurrent_requests(count: usize) {
    WANTED.store(count.max(1), Ordering::Relaxed);
}

/// How many requests of this process may be in flight at one time.
pub fn concurrent_requests() -> usize {
    WANTED.load(Ordering::Relaxed)
}

/// Waits until one more request of this process may be in flight. The request counts until the
/// permit is dropped.
pub async fn permit() -> Option<OwnedSemaphorePermit> {
    let free = {
        let mut permits = PERMITS.get().lock().unwrap_or_else(PoisonError::into_inner);
        let wanted = concurrent_requests();
        if permits.total != wanted {
            *permits = Permits::new(wanted);
        }
        Arc::clone(&permits.free)
    };
    // The semaphore is never closed. If it were, the request would be sent without a permit.
    free.acquire_owned().await.ok()
}

/// Sets how many bytes of a value are read if the reader does not say, from the next request on.
pub fn set_most_answer_bytes(bytes: u64) {
    MOST_ANSWER_BYTES.store(bytes, Ordering::Relaxed);
}

/// How many bytes of a value are read if the reader does not say.
pub(super) fn most_answer_bytes() -> u64 {
    MOST_ANSWER_BYTES.load(Ordering::Relaxed)
}
