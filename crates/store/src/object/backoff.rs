//! The pause before a request is retried.

use std::time::Duration;

use super::names::random;

/// The pause after `times` lost races: exponential backoff with jitter, at most half a second.
pub fn pause(times: u32) -> Duration {
    let most_us = 4_000_u64 << times.min(7);
    Duration::from_micros(random() % most_us)
}
