//! Waiting for a lock that another thread or process holds.
//!
//! A wait inside the kernel (`F_OFD_SETLKW`, a blocking `flock`) ends with its holder and with nothing
//! else: a holder that was stopped, or that waits for a server, would take Ctrl-C away from everyone
//! behind it. So a lock is tried, and tried again after a pause. Pauses grow with the time waited: a
//! lock held for as long as a write takes is found free soon, and a long wait costs next to nothing.
//! Letting a signal interrupt the kernel's wait was the option that lost: the signal may arrive just
//! before the wait begins, and on another thread than the one that waits.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::process::{interrupt, notice};

/// How often it is asked whether to go on waiting.
pub(crate) const POLL: Duration = Duration::from_millis(20);
/// Pauses between two tries, each up to a time waited. About equal for all whose holder is writing a
/// chunk: where those who came last pause shortest, they pass the others again and again.
const PAUSES: [(Duration, Duration); 3] = [
    (Duration::from_millis(20), Duration::from_micros(250)),
    (Duration::from_secs(1), Duration::from_micros(500)),
    (Duration::from_secs(5), Duration::from_millis(5)),
];

static WARN_AFTER_MS: AtomicU64 = AtomicU64::new(10_000);

/// Changes after how long a wait for a lock is told of; 10 seconds unless changed.
pub fn warn_after(waited: Duration) {
    WARN_AFTER_MS.store(waited.as_millis() as u64, Ordering::Relaxed);
}

/// One wait, which may be for one lock after the other.
pub(crate) struct Wait<'a> {
    /// What the lock is of, for the warning.
    what: &'a dyn Fn() -> String,
    begun: Option<Instant>,
    asked: Option<Instant>,
    has_warned: bool,
}

impl<'a> Wait<'a> {
    pub fn new(what: &'a dyn Fn() -> String) -> Self {
        Self { what, begun: None, asked: None, has_warned: false }
    }

    /// Pauses before the next try, unless the wait is over; `holder` finds out who is waited for.
    pub fn pause(&mut self, holder: impl FnOnce() -> String) -> io::Result<()> {
        let waited = self.look(holder)?;
        let pause = PAUSES.iter().find(|(until, _)| waited < *until);
        std::thread::sleep(pause.map_or(POLL, |(_, pause)| *pause));
        Ok(())
    }

    /// How long it has been; an error of kind `Interrupted` where it is to end.
    pub fn look(&mut self, holder: impl FnOnce() -> String) -> io::Result<Duration> {
        let now = Instant::now();
        let waited = now - *self.begun.get_or_insert(now);
        if waited >= Duration::from_millis(WARN_AFTER_MS.load(Ordering::Relaxed))
            && !self.has_warned
        {
            self.has_warned = true;
            notice::keep(
                notice::Kind::Wait,
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
