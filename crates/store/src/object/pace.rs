//! Latency and speed of a server, measured from its last responses.
//!
//! Two ranges are coalesced if reading over the gap takes no longer than another round trip. The
//! higher the latency, the more requests of one call are in flight: a server with low latency would
//! only be overloaded by many. Both figures are per connection, because a request uses one
//! connection.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

/// Before the first response: the latency of a region's own object store from a machine inside it.
const LATENCY_US: u64 = 30_000;
const BYTES_PER_MS: u64 = 50_000;
/// No gap is worth more than this, regardless of the latency: memory is finite.
const MOST_GAP: u64 = 2 << 20;
const LEAST_GAP: u64 = 4 << 10;
/// Bodies up to this length mostly arrive with their header, and say nothing about the bandwidth.
const TELLING_BYTES: u64 = 256 << 10;
/// With more requests in flight than this, a response waits for others of this process.
const CROWD: usize = 4;
/// Requests of one call in flight to a server with zero latency, and per millisecond of latency.
const LEAST_WIDTH: u64 = 48;
const WIDTH_PER_MS: u64 = 8;
/// Bytes of responses of one call in flight or in memory; a few large responses may exceed it.
const ANSWER_BYTES: u64 = 256 << 20;
const LEAST_ANSWERS: u64 = 16;

/// Latency and speed of one server.
#[derive(Debug)]
pub struct Pace {
    latency_us: AtomicU64,
    bytes_per_ms: AtomicU64,
    under_way: AtomicUsize,
    /// Mean length of the last responses.
    body_bytes: AtomicU64,
}

/// A request in flight.
pub struct UnderWay<'a> {
    pace: &'a Pace,
    in_a_crowd: bool,
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.pace.under_way.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            latency_us: AtomicU64::new(LATENCY_US),
            bytes_per_ms: AtomicU64::new(BYTES_PER_MS),
            under_way: AtomicUsize::new(0),
            body_bytes: AtomicU64::new(0),
        }
    }
}

impl Pace {
    /// Marks a request as in flight until the returned value is dropped.
    pub fn begin(&self) -> UnderWay<'_> {
        let before = self.under_way.fetch_add(1, Ordering::Relaxed);
        UnderWay { pace: self, in_a_crowd: before >= CROWD }
    }

    /// The header of a response came after `waited`.
    ///
    /// With many requests in flight, a response gives only an upper bound of the latency.
    pub fn answered(&self, request: &UnderWay<'_>, waited: Duration) {
        let sample = u64::try_from(waited.as_micros()).unwrap_or(u64::MAX).max(1);
        let known = self.latency_us.load(Ordering::Relaxed);
        let next = match sample < known {
            true => sample,
            false if request.in_a_crowd => return,
            false => known + (sample - known).div_ceil(4),
        };
        self.latency_us.store(next, Ordering::Relaxed);
    }

    /// The useful number of requests of one call in flight.
    pub(super) fn width(&self) -> usize {
        let latency_us = self.latency_us.load(Ordering::Relaxed);
        let worth = LEAST_WIDTH + latency_us.saturating_mul(WIDTH_PER_MS) / 1000;
        let held = ANSWER_BYTES / self.body_bytes.load(Ordering::Relaxed).max(1);
        usize::try_from(worth.min(held.max(LEAST_ANSWERS))).unwrap_or(usize::MAX)
    }

    /// A body of `bytes` took `taken` after its header.
    pub fn received(&self, bytes: u64, taken: Duration) {
        let mean = self.body_bytes.load(Ordering::Relaxed);
        self.body_bytes.store(mean - mean / 8 + bytes / 8, Ordering::Relaxed);
        if bytes < TELLING_BYTES {
            return;
        }
        let taken_us = u64::try_from(taken.as_micros()).unwrap_or(u64::MAX).max(1);
        let sample = (bytes.saturating_mul(1000) / taken_us).max(1);
        let known = self.bytes_per_ms.load(Ordering::Relaxed);
        self.bytes_per_ms.store((known * 7 + sample) / 8, Ordering::Relaxed);
    }

    /// Ranges with at most this gap in bytes between them are coalesced.
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
        let answered = |us| pace.answered(&pace.begin(), Duration::from_micros(us));
        for _ in 0..100 {
            answered(200);
            pace.received(1 << 20, Duration::from_millis(1));
        }
        let near = pace.gap();
        assert!((150_000..250_000).contains(&near), "{near}");
        for _ in 0..200 {
            answered(100_000);
        }
        assert_eq!(pace.gap(), MOST_GAP);
        for _ in 0..100 {
            answered(0);
        }
        assert_eq!(pace.gap(), LEAST_GAP);
    }

    #[test]
    fn a_crowd_of_our_own_does_not_make_a_server_far() {
        let pace = Pace::default();
        pace.answered(&pace.begin(), Duration::from_micros(500));
        let near = pace.width();
        let crowd: Vec<_> = (0..50).map(|_| pace.begin()).collect();
        for request in &crowd[CROWD..] {
            pace.answered(request, Duration::from_millis(80));
        }
        assert_eq!(pace.width(), near);
        drop(crowd);
        for _ in 0..40 {
            pace.answered(&pace.begin(), Duration::from_millis(80));
        }
        assert!(pace.width() > 10 * near, "{}", pace.width());
        for _ in 0..60 {
            pace.received(32 << 20, Duration::from_secs(1));
        }
        assert!(pace.width() < near, "{}", pace.width());
    }
}
