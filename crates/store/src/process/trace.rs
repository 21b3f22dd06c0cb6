//! The spans of calls, with their times, while someone traces them.
//!
//! A span asks one relaxed atomic whether any trace is open, and does nothing more if none is. A
//! trace is of the process: it has the spans of all threads, and each of several open traces has
//! all of them. A trace keeps so many spans and counts the rest; its totals are exact. A forked
//! child is in no trace.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use zarrix_codec::memory::push;

use crate::process::fork::PerProcess;

/// Longer keys are cut.
const KEY_BYTES: usize = 200;

/// How many traces are open; also in a forked child, until its first span.
static OPEN: AtomicUsize = AtomicUsize::new(0);
static TRACES: PerProcess<Mutex<Vec<Trace>>> = PerProcess::new(Mutex::default);
static IDS: AtomicU64 = AtomicU64::new(1);
static LANES: AtomicU64 = AtomicU64::new(1);

thread_local! {
    /// The number of this thread; 0 until it has one.
    static LANE: Cell<u64> = const { Cell::new(0) };
}

/// What a span does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doing {
    /// A call of the caller's, which has the other spans.
    Call,
    /// A thread waits for the answers of a server.
    Wait,
    /// A request to a store.
    Request,
    /// Bytes are decoded.
    Decode,
    /// Elements are encoded.
    Encode,
    /// Elements are copied, or filled.
    Copy,
    /// A lock is taken.
    Lock,
    /// The thread of the call waits for other threads.
    Join,
}

impl Doing {
    /// Its name for users.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Wait => "wait",
            Self::Request => "request",
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Copy => "copy",
            Self::Lock => "lock",
            Self::Join => "join",
        }
    }
}

/// A span that has ended; its times are nanoseconds since the trace began.
#[derive(Clone, Debug)]
pub struct Ended {
    /// What it did.
    pub doing: Doing,
    /// Its name among those that do the same: `get`, `PUT`.
    pub name: &'static str,
    /// The key, or the label of an array.
    pub key: String,
    /// The number of the thread; 0 for a request that no thread waits for alone.
    pub lane: u64,
    /// When it began.
    pub begin: u64,
    /// When a server began to answer; as `begin` for all else.
    pub answered: u64,
    /// When it ended.
    pub end: u64,
    /// The bytes of a request.
    pub bytes: u64,
}

/// All spans of one name.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    /// What they did.
    pub doing: Doing,
    /// Their name.
    pub name: &'static str,
    /// How many ended.
    pub count: u64,
    /// Their times, added.
    pub nanoseconds: u64,
    /// Their bytes, added.
    pub bytes: u64,
}

/// What a trace has recorded.
#[derive(Debug)]
pub struct Recorded {
    /// The spans that were kept, by their ends.
    pub spans: Vec<Ended>,
    /// All spans, also those that were left out.
    pub totals: Vec<Total>,
    /// How many spans were left out.
    pub left_out: u64,
    /// Nanoseconds from the begin of the trace to its end.
    pub elapsed: u64,
}

#[derive(Debug)]
struct Trace {
    id: u64,
    begun: Instant,
    most: usize,
    spans: Vec<Ended>,
    totals: Vec<Total>,
    left_out: u64,
}

fn traces() -> MutexGuard<'static, Vec<Trace>> {
    TRACES.get().lock().unwrap_or_else(PoisonError::into_inner)
}

/// Opens a trace that keeps `most` spans; returns its number.
#[must_use]
pub fn begin(most: usize) -> u64 {
    let id = IDS.fetch_add(1, Ordering::Relaxed);
    let mut open = traces();
    let (begun, spans, totals) = (Instant::now(), Vec::new(), Vec::new());
    open.push(Trace { id, begun, most, spans, totals, left_out: 0 });
    OPEN.store(open.len(), Ordering::Relaxed);
    id
}

/// Ends a trace; `None` if this process has no such trace.
#[must_use]
pub fn end(id: u64) -> Option<Recorded> {
    let now = Instant::now();
    let mut open = traces();
    let index = open.iter().position(|trace| trace.id == id);
    let trace = index.map(|index| open.remove(index));
    OPEN.store(open.len(), Ordering::Relaxed);
    drop(open);
    let Trace { begun, spans, totals, left_out, .. } = trace?;
    Some(Recorded { spans, totals, left_out, elapsed: nanoseconds(now - begun) })
}

/// The number of this thread in traces.
#[must_use]
pub fn lane() -> u64 {
    match LANE.get() {
        0 => {
            let lane = LANES.fetch_add(1, Ordering::Relaxed);
            LANE.set(lane);
            lane
        }
        lane => lane,
    }
}

/// Now, if any trace is open.
#[inline]
#[must_use]
pub fn now() -> Option<Instant> {
    (OPEN.load(Ordering::Relaxed) != 0).then(Instant::now)
}

/// A span of this thread, if any trace is open; it ends when it is dropped.
#[must_use = "the span ends when this is dropped"]
#[derive(Debug)]
pub struct OpenSpan<'a>(Option<TracedSpan<'a>>);

/// A span that has begun. Where there is none, nothing of it is written.
#[derive(Debug)]
struct TracedSpan<'a> {
    at: Instant,
    doing: Doing,
    name: &'static str,
    key: &'a str,
    bytes: u64,
}

/// A span of this thread from here on.
#[inline]
pub fn span<'a>(doing: Doing, name: &'static str, key: &'a str) -> OpenSpan<'a> {
    if OPEN.load(Ordering::Relaxed) == 0 { OpenSpan(None) } else { begun(doing, name, key) }
}

#[cold]
#[inline(never)]
fn begun<'a>(doing: Doing, name: &'static str, key: &'a str) -> OpenSpan<'a> {
    OpenSpan(Some(TracedSpan { at: Instant::now(), doing, name, key, bytes: 0 }))
}

/// A request to a store from here on, during which this thread waits.
#[inline]
pub fn request<'a>(name: &'static str, key: &'a str) -> OpenSpan<'a> {
    span(Doing::Request, name, key)
}

impl OpenSpan<'_> {
    /// Says how many bytes the request has moved.
    #[inline]
    pub fn moved(&mut self, bytes: usize) {
        if let Some(begun) = &mut self.0 {
            begun.bytes = bytes as u64;
        }
    }
}

impl Drop for OpenSpan<'_> {
    #[inline]
    fn drop(&mut self) {
        if let Some(begun) = &self.0 {
            begun.end();
        }
    }
}

impl TracedSpan<'_> {
    #[cold]
    #[inline(never)]
    fn end(&self) {
        let times = (self.at, self.at, Instant::now());
        record((self.doing, self.name, self.key), times, lane(), self.bytes);
    }
}

/// Records a request of no thread of its own: when it was made, and when the server began to
/// answer.
pub fn exchanged(name: &'static str, key: &str, times: (Instant, Instant), bytes: u64) {
    let (begun, answered) = times;
    record((Doing::Request, name, key), (begun, answered, Instant::now()), 0, bytes);
}

/// Two kinds of work that alternate, too finely for a span each: blocks are decoded, and each is
/// copied while it is in cache. They are recorded one after the other.
#[must_use = "the spans end when this is dropped"]
#[derive(Debug)]
pub struct Alternation {
    begun: Option<Instant>,
    first: Duration,
    doing: (Doing, Doing),
}

/// An alternation of this thread from here on.
#[inline]
pub fn alternation(first: Doing, second: Doing) -> Alternation {
    Alternation { begun: now(), first: Duration::ZERO, doing: (first, second) }
}

impl Alternation {
    /// Does work of the first kind; all else is of the second.
    #[inline]
    pub fn first<T>(&mut self, work: impl FnOnce() -> T) -> T {
        if self.begun.is_none() {
            return work();
        }
        let begun = Instant::now();
        let done = work();
        self.first += begun.elapsed();
        done
    }
}

impl Drop for Alternation {
    fn drop(&mut self) {
        if let Some(begun) = self.begun {
            let (middle, end) = (begun + self.first, Instant::now());
            record((self.doing.0, "", ""), (begun, begun, middle), lane(), 0);
            record((self.doing.1, "", ""), (middle, middle, end), lane(), 0);
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cold]
fn record(
    (doing, name, key): (Doing, &'static str, &str),
    (begun, answered, ended): (Instant, Instant, Instant),
    lane: u64,
    bytes: u64,
) {
    let mut cut = KEY_BYTES.min(key.len());
    while !key.is_char_boundary(cut) {
        cut -= 1;
    }
    let key = &key[..cut];
    let mut open = traces();
    for trace in open.iter_mut() {
        let since = |time: Instant| nanoseconds(time.saturating_duration_since(trace.begun));
        let (begin, answered, end) = (since(begun), since(answered), since(ended));
        let same = |total: &&mut Total| total.doing == doing && total.name == name;
        match trace.totals.iter_mut().find(same) {
            Some(total) => {
                total.count += 1;
                total.nanoseconds += end - begin;
                total.bytes += bytes;
            }
            None => {
                trace.totals.push(Total { doing, name, count: 1, nanoseconds: end - begin, bytes })
            }
        }
        let span = || Ended { doing, name, key: key.to_owned(), lane, begin, answered, end, bytes };
        if trace.spans.len() >= trace.most || push(&mut trace.spans, span()).is_err() {
            trace.left_out += 1;
        }
    }
    if open.is_empty() {
        // The trace has ended meanwhile, or this is a forked child.
        OPEN.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recorded(work: impl FnOnce()) -> Recorded {
        let id = begin(3);
        work();
        let found = end(id);
        assert!(end(id).is_none(), "it has ended");
        found.unwrap_or_else(|| Recorded {
            spans: Vec::new(),
            totals: Vec::new(),
            left_out: 0,
            elapsed: 0,
        })
    }

    #[test]
    fn a_trace_keeps_so_many_spans_and_counts_all() {
        // Other tests of this process may record spans, too: only those of one name are looked at.
        let found = recorded(|| {
            for _ in 0..9 {
                request("nine", "a/c/0").moved(5);
            }
        });
        assert!(found.spans.len() <= 3);
        let total = found.totals.iter().find(|total| total.name == "nine");
        assert_eq!(total.map(|total| (total.count, total.bytes)), Some((9, 45)));
        assert!(found.left_out >= 6);
        assert!(found.spans.iter().all(|span| span.end <= found.elapsed));
    }

    #[test]
    fn an_alternation_is_two_spans_that_fill_its_time() {
        let found = recorded(|| {
            let mut both = alternation(Doing::Decode, Doing::Copy);
            both.first(|| std::thread::sleep(Duration::from_millis(2)));
        });
        let own: Vec<_> = found.spans.iter().filter(|span| span.name.is_empty()).collect();
        if let [first, second] = own.as_slice() {
            assert!(first.end - first.begin >= 2_000_000);
            assert_eq!(first.end, second.begin);
        }
    }
}
