//! What the status of a file tells, on every system.

use std::io;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::generation::Generation;
use crate::sys::Status;

/// File systems take the time of a change from a clock that ticks every 4 to 10 ms, 16 ms on
/// Windows: two changes within a tick have the same time.
const SETTLED: Duration = Duration::from_millis(20);

/// The kind of a file; links are not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileKind {
    File,
    Directory,
    Link,
    /// A pipe, a socket or a device.
    Other,
}

/// What a clone or a link is refused for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CarryRefusal {
    /// The file system has none, or not between these folders.
    Everywhere,
    /// This file may not have another name, or no more of them.
    ThisFile,
}

/// The kind of a byte-range lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Exclusive,
    Free,
}

impl Status {
    pub(crate) fn modified(&self) -> SystemTime {
        let (seconds, nanos) = self.modified_at();
        let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(0));
        UNIX_EPOCH + seconds + Duration::from_nanos(u64::try_from(nanos).unwrap_or(0))
    }

    /// Tells this version of a file, whose status was read after `now`, from all others, once it is
    /// old enough.
    ///
    /// The time of the last change (ctime) counts, too: unlike that of the last modification,
    /// programs cannot set it.
    pub(crate) fn version(&self, now: SystemTime) -> Option<Generation> {
        let (seconds, nanos) = self.changed_at();
        let changed = Duration::new(u64::try_from(seconds).ok()?, u32::try_from(nanos).ok()?);
        // A time in the future only shows that clocks differ.
        let age = now.duration_since(UNIX_EPOCH + changed).ok()?;
        let changed = changed.as_nanos();
        (age >= SETTLED).then(|| {
            let Generation(hash) = self.generation();
            Generation::exact(hash ^ u128::from(mix(changed as u64)) << 1)
        })
    }

    /// Device and inode in one half, size and modification time in the other, each mixed.
    pub(crate) fn generation(&self) -> Generation {
        let (seconds, nanos) = self.modified_at();
        let modified = seconds as u64 ^ (nanos as u64).rotate_left(34);
        let (device, inode) = self.identity();
        let place = mix(mix(device) ^ inode);
        let version = mix(mix(modified) ^ self.len());
        Generation(u128::from(place) << 64 | u128::from(version))
    }
}

/// Spreads every bit over all bits (a bijection, so that unequal inputs stay unequal).
pub(crate) fn mix(value: u64) -> u64 {
    let value = (value ^ (value >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    let value = (value ^ (value >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    value ^ (value >> 33)
}

/// `None` if the name does not exist, or if its directory is a file.
pub(crate) fn unless_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error)
            if error.raw_os_error().is_some()
                && matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}
