//! How fast a server answers, as its last answers show.
//!
//! Requests near each other are made as one where reading over the gap takes no longer than
//! another round trip. Both figures are kept per connection, because that is what one request has.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Before the first answer: a region's own object store as seen from a machine inside it.
const LATENCY_US: u64 = 30_000;
const BYTES_PER_MS: u64 = 50_000;
/// A gap is never worth more than this, however far the server is: memory is finite.
const MOST_GAP: u64 = 2 << 20;
const LEAST_GAP: u64 = 4 << 10;
/// Bodies up to this long mostly arrive with their header, and say nothing of the line.
const TELLING_BYTES: u64 = 256 << 10;

/// Latency and speed of one server.
#[derive(Debug)]
pub(super) struct Pace {
    latency_us: AtomicU64,
    bytes_per_ms: AtomicU64,
}

impl Default for Pace {
    fn default() -> Self {
        Self { latency_us: AtomicU64::new(LATENCY_US), bytes_per_ms: AtomicU64::new(BYTES_PER_MS) }
    }
}

impl Pace {
    /// The header of an answer came after `waited`.
    ///
    /// Falls at once and rises slowly: what exceeds the best is mostly our own crowd.
    pub(super) fn answered(&self, waited: Duration) {
        let sample = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX).max(1);
        let known = self.latency_us.load(Ordering::Relaxed);
        let next = if sample < known { sample } else { known + (sample - known) / 16 };
        self.latency_us.store(next, Ordering::Relaxed);
    }

    /// A body of `bytes` took `taken` after its header.
    pub(super) fn received(&self, bytes: u64, taken: Duration) {
        if bytes < TELLING_BYTES {
            return;
        }
        let taken_us = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX).max(1);
        let sample = (bytes.saturating_mul(1000) / taken_us).max(1);
        let known = self.bytes_per_ms.load(Ordering::Relaxed);
        self.bytes_per_ms.store((known * 7 + sample) / 8, Ordering::Relaxed);
    }

    /// Bytes between two wanted ranges that are cheaper read over than asked for apart.
    pub(super) fn gap(&self) -> u64 {
        let latency_us = self.latency_us.load(Ordering::Relaxed);
        let bytes_per_ms = self.bytes_per_ms.load(Ordering::Relaxed);
        (latency_us.saturating_mul(bytes_per_ms) / 1000).clamp(LEAST_GAP, MOST_GAP)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gap_follows_what_a_round_trip_is_worth() {
        let pace = Pace::default();
        for _ in 0..100 {
            pace.answered(Duration::from_micros(200));
            pace.received(1 << 20, Duration::from_millis(1));
        }
        let near = pace.gap();
        assert!((150_000..250_000).contains(&near), "{near}");
        for _ in 0..200 {
            pace.answered(Duration::from_millis(100));
        }
        assert_eq!(pace.gap(), MOST_GAP);
        for _ in 0..100 {
            pace.answered(Duration::from_nanos(1));
        }
        assert_eq!(pace.gap(), LEAST_GAP);
    }
}
