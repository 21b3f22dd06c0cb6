//! Waiting for a lock that another thread or process holds.
//!
//! A wait inside the kernel (`F_OFD_SETLKW`, a blocking `flock`) ends only when the holder releases
//! the lock. If the holder was stopped, or waits for a server, Ctrl-C would not work in any process
//! that waits for it. So a lock is polled, with pauses that grow with the time waited: a lock held
//! for the duration of a write is soon found free, and a long wait costs almost nothing. We
//! rejected interrupting the kernel's wait by a signal: the signal may arrive just before the wait
//! begins, or on another thread than the waiting one.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::process::{interrupt, notice};

/// How often a wait checks whether to continue.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// Pauses between two tries, each up to a time waited. They are about equal for all waits that are
/// as long as the write of a chunk: if the newest waiters paused shortest, they would overtake the
/// others again and again.
const PAUSES: [(Duration, Duration); 3] = [
    (Duration::from_millis(20), Duration::from_micros(250)),
    (Duration::from_secs(1), Duration::from_micros(500)),
    (Duration::from_secs(5), Duration::from_millis(5)),
];

static WARN_AFTER_MS: AtomicU64 = AtomicU64::new(10_000);

/// Sets after how long a wait for a lock gives a warning; the default is 10 seconds.
pub fn warn_after(waited: Duration) {
    WARN_AFTER_MS.store(waited.as_millis() as u64, Ordering::Relaxed);
}

/// One wait, which may cover several locks in turn.
pub(crate) struct Wait<'a> {
    /// The name of the locked key, for the warning.
    what: &'a dyn Fn() -> String,
    begun: Option<Instant>,
    asked: Option<Instant>,
    has_warned: bool,
}

impl<'a> Wait<'a> {
    pub fn new(what: &'a dyn Fn() -> String) -> Self {
        Self { what, begun: None, asked: None, has_warned: false }
    }

    /// Pauses before the next try, unless the wait should end; `holder` finds the holder of the
    /// lock.
    pub fn pause(&mut self, holder: impl FnOnce() -> String) -> io::Result<()> {
        let waited = self.look(holder)?;
        let pause = PAUSES.iter().find(|(until, _)| waited < *until);
        std::thread::sleep(pause.map_or(POLL, |(_, pause)| *pause));
        Ok(())
    }

    /// The time waited so far; an error of kind `Interrupted` if the wait should end.
    pub fn look(&mut self, holder: impl FnOnce() -> String) -> io::Result<Duration> {
        let now = Instant::now();
        let waited = now - *self.begun.get_or_insert(now);
        if waited >= Duration::from_millis(WARN_AFTER_MS.load(Ordering::Relaxed))
            && !self.has_warned
        {
            self.has_warned = true;
            notice::keep(
                notice::NoticeKind::Wait,
                format!(
                    "waiting for the lock of {} for {:.0} s, which {} holds; the wait goes on until it \
                     is released, or Ctrl-C",
                    (self.what)(),
                    waited.as_secs_f64().max(1.0),
                    holder()
                ),
            );
        }
        if now - *self.asked.get_or_insert(now) >= POLL {
            self.asked = Some(now);
            if interrupt::is_raised() {
                return Err(io::ErrorKind::Interrupted.into());
            }
        }
        Ok(waited)
    }
}
