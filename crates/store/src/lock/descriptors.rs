//! Descriptors through which locks are held, so that a forked child can close them.
//!
//! A child inherits its parent's open file descriptions, and a lock lives as long as any process
//! has the description open: if the child did not close it, the locks of a killed parent would
//! stay. The table has a fixed size and consists of atomics, because the child must not lock or
//! allocate when it walks the table.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicI32, Ordering};

use crate::process::fork::{self, ForkHooks};
use crate::process::wait::Wait;
use crate::sys::{self, Hold};

/// Many more than the threads that could each hold a lock.
const SLOTS: usize = 4096;
const FREE: i32 = -1;

/// A child closes the descriptors that it inherits; before a fork there is nothing to do.
static HOOKS: ForkHooks = ForkHooks { before: || (), parent: || (), child: close_inherited };

static TABLE: [AtomicI32; SLOTS] = [const { AtomicI32::new(FREE) }; SLOTS];

/// The holder of the lock of a file or directory, for use in a sentence.
pub(crate) fn holder_of(file: &File) -> String {
    sys::holder_of(file).unwrap_or_else(|| "another process".to_owned())
}

/// An open file with a lock; unlocked and closed on drop, and closed in every forked child.
#[derive(Debug)]
pub(crate) struct LockedFile {
    /// `None` only during drop.
    file: Option<File>,
    slot: usize,
    generation: u64,
    /// The ranges that are locked, and whether the file is locked by `flock`, a separate kind of
    /// lock.
    bytes: [Option<Range<i64>>; 2],
    whole: bool,
}

impl LockedFile {
    /// Opens a file and registers it; no fork happens in between.
    pub(crate) fn open(open: impl FnOnce() -> io::Result<File>) -> io::Result<Self> {
        fork::on_fork(&HOOKS)?;
        fork::unforked(|| {
            let file = open()?;
            let descriptor = sys::number_of(&file);
            let first = usize::try_from(descriptor).unwrap_or(0);
            let claims = |slot: &usize| {
                let order = Ordering::SeqCst;
                TABLE[*slot].compare_exchange(FREE, descriptor, order, order).is_ok()
            };
            let slot = (first..first + SLOTS).map(|probe| probe % SLOTS).find(claims);
            let slot =
                slot.ok_or_else(|| io::Error::from_raw_os_error(sys::code::TOO_MANY_FILES))?;
            let generation = fork::generation();
            Ok(Self { file: Some(file), slot, generation, bytes: [None, None], whole: false })
        })
    }

    pub(crate) fn file(&self) -> io::Result<&File> {
        self.file.as_ref().ok_or_else(|| io::Error::from_raw_os_error(sys::code::BAD_FILE))
    }

    /// Locks `bytes`, and waits for other holders.
    pub(crate) fn lock_bytes(
        &mut self,
        bytes: Range<i64>,
        hold: Hold,
        wait: &mut Wait<'_>,
    ) -> io::Result<()> {
        while !self.try_lock_bytes(bytes.clone(), hold)? {
            let file = self.file()?;
            wait.pause(|| holder_of(file))?;
        }
        Ok(())
    }

    /// Locks `bytes`; false if others hold them.
    pub(crate) fn try_lock_bytes(&mut self, bytes: Range<i64>, hold: Hold) -> io::Result<bool> {
        let done = sys::lock_bytes(self.file()?, &bytes, hold)?;
        if done {
            let free = self.bytes.iter_mut().find(|locked| locked.is_none());
            free.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?.replace(bytes);
        }
        Ok(done)
    }

    /// Locks the whole file or directory by `flock`, and waits for other holders.
    pub(crate) fn lock_whole(&mut self, wait: &mut Wait<'_>) -> io::Result<()> {
        while !self.try_lock_whole()? {
            let file = self.file()?;
            wait.pause(|| holder_of(file))?;
        }
        Ok(())
    }

    /// Locks the whole file or directory by `flock`; false if others hold it.
    pub(crate) fn try_lock_whole(&mut self) -> io::Result<bool> {
        self.whole = sys::lock_whole(self.file()?)?;
        Ok(self.whole)
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        let Some(file) = self.file.take() else { return };
        if self.generation != fork::generation() {
            // In a forked child, the fork handler has closed this descriptor; another file may have
            // its number now.
            sys::forget(file);
            return;
        }
        fork::unforked(|| {
            // Unlocked before it is closed: a forked child that has not run yet has it open, too.
            for bytes in self.bytes.iter().flatten() {
                let _ = sys::lock_bytes(&file, bytes, Hold::Free);
            }
            if self.whole {
                sys::unlock_whole(&file);
            }
            TABLE[self.slot].store(FREE, Ordering::SeqCst);
            drop(file);
        });
    }
}

/// Closes everything in the table; runs in the child.
fn close_inherited() {
    for slot in &TABLE {
        let descriptor = slot.swap(FREE, Ordering::SeqCst);
        if descriptor != FREE {
            sys::close_inherited(descriptor);
        }
    }
}
