//! Pointers that are published once and never freed, which a forked child can read without a lock.

/// The value behind a pointer that is either null or valid for the rest of the process: a `'static`
/// reference, or a box from `Box::into_raw`.
pub(crate) fn leaked<T>(pointer: *mut T) -> Option<&'static T> {
    // SAFETY: private to the fork handling, which publishes pointers with release order, reads them
    // with acquire order and never frees what it has published.
    unsafe { pointer.as_ref() }
}

/// Frees a box that was never published.
pub(crate) fn drop_leaked<T>(pointer: *mut T) {
    // SAFETY: `PerProcess` passes the pointer it got from `Box::into_raw` and has not shared.
    drop(unsafe { Box::from_raw(pointer) });
}
