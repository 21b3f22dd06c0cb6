//! What Linux has beyond POSIX.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::sys::{NEW, check, mix, open, rename_new_in_two_steps, status_of, unlink};

/// What users are told that this code is of.
pub(crate) const NAME: &str = "linux";

/// Fills `bytes` with random numbers from the system.
pub(crate) fn random(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        let rest = &mut bytes[filled..];
        // SAFETY: the pointer and length are those of one live slice.
        let got = unsafe { libc::getrandom(rest.as_mut_ptr().cast(), rest.len(), 0) };
        // Interrupted before any bytes were produced; no other failure is possible here.
        filled += usize::try_from(got).unwrap_or(0);
    }
}

/// A number that no other running kernel has, from its boot id, which is random; `None` if it does
/// not tell one. Containers of one kernel have the same number.
pub(crate) fn boot_number() -> Option<u64> {
    /// 0 until it was read, and [`UNKNOWN`] if it cannot be: a lock could be held across a fork.
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    const UNKNOWN: u64 = 1;
    let mut number = NUMBER.load(Ordering::Relaxed);
    if number == 0 {
        let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let step = |hash: u64, byte: &u8| mix(hash ^ u64::from(*byte));
        number = match id.is_empty() {
            true => UNKNOWN,
            false => id.iter().fold(0, step).max(UNKNOWN + 1),
        };
        NUMBER.store(number, Ordering::Relaxed);
    }
    (number != UNKNOWN).then_some(number)
}

/// Opens a file to be written past the page cache, by whole pages.
pub(crate) fn open_direct(path: &CStr) -> io::Result<File> {
    open(path, libc::O_RDWR | libc::O_DIRECT | libc::O_NONBLOCK)
}

/// Renames unless `to` already exists (`EEXIST`).
pub(crate) fn rename_new(from: &CStr, to: &CStr) -> io::Result<()> {
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end in NUL; the other arguments are plain numbers.
    let result = check(unsafe {
        libc::renameat2(here, from.as_ptr(), here, to.as_ptr(), libc::RENAME_NOREPLACE)
    });
    match result {
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EINVAL)) => {
            rename_new_in_two_steps(from, to)
        }
        result => result.map(drop),
    }
}

/// Exchanges two names in one step.
pub(crate) fn exchange(first: &CStr, second: &CStr) -> io::Result<()> {
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end in NUL; the other arguments are plain numbers.
    check(unsafe {
        libc::renameat2(here, first.as_ptr(), here, second.as_ptr(), libc::RENAME_EXCHANGE)
    })
    .map(drop)
}

/// Creates a file under a free name that shares its blocks with `from`.
pub(crate) fn clone(from: &File, to: &CStr) -> io::Result<File> {
    let new = open(to, NEW)?;
    // SAFETY: both descriptors are open, and the request takes the second one as a number.
    let cloned = check(unsafe { libc::ioctl(new.as_raw_fd(), libc::FICLONE, from.as_raw_fd()) });
    if let Err(error) = cloned {
        unlink(to)?;
        return Err(error);
    }
    Ok(new)
}

/// Makes everything below a directory durable: the file system writes all that it has.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    let directory = File::open(directory)?;
    // SAFETY: the descriptor is open.
    check(unsafe { libc::syncfs(directory.as_raw_fd()) }).map(drop)
}

/// Returns how much was copied: less if the kernel cannot copy between these files.
pub(crate) fn copy_in_kernel(from: &File, length: u64, to: &File) -> io::Result<u64> {
    let mut at: libc::loff_t = 0;
    loop {
        let left = length - at.cast_unsigned();
        if left == 0 {
            return Ok(length);
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(1 << 30);
        // SAFETY: `at` is a live offset that the call reads and advances; a null offset stands for
        // the position of the other file.
        let copied = unsafe {
            let to = to.as_raw_fd();
            libc::copy_file_range(from.as_raw_fd(), &raw mut at, to, std::ptr::null_mut(), most, 0)
        };
        if copied < 0 {
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::EIO) => return Err(error),
                _ => return Ok(at.cast_unsigned()),
            }
        } else if copied == 0 {
            return Ok(at.cast_unsigned());
        }
    }
}

pub(crate) fn clear_errno() {
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__errno_location() = 0;
    }
}

/// The process that holds a lock of a file or directory, for use in a sentence; as far as this
/// process may know.
///
/// The kernel does not tell a waiting process the holder: a lock of an open file description
/// belongs to no process. But `/proc/PID/fdinfo` lists the locks of each descriptor, for processes
/// of the same user.
pub(crate) fn holder_of(file: &File) -> Option<String> {
    let (device, inode) = status_of(file).ok()?.identity();
    let name = format!("{:02x}:{:02x}:{inode}", libc::major(device), libc::minor(device));
    find(&name)
}

/// The first other process with a lock on the file that lock lists identify by `name`.
fn find(name: &str) -> Option<String> {
    /// A machine has many descriptors, and the result is used only in a warning: half a second of
    /// processor time. A limit by the clock would depend on what else the machine does.
    const MOST: usize = 100_000;
    let mut looked = 0;
    let own = std::process::id().to_string();
    for process in std::fs::read_dir("/proc").ok()?.flatten() {
        let id = process.file_name().into_string().unwrap_or_default();
        if id == own || !id.bytes().all(|byte| byte.is_ascii_digit()) {
            continue;
        }
        let Ok(descriptors) = std::fs::read_dir(process.path().join("fdinfo")) else { continue };
        for descriptor in descriptors.flatten() {
            if std::fs::read_to_string(descriptor.path()).is_ok_and(|text| is_locked(&text, name)) {
                let command =
                    std::fs::read_to_string(process.path().join("comm")).unwrap_or_default();
                return Some(format!("process {id} ({})", command.trim()));
            }
            looked += 1;
            if looked == MOST {
                return None;
            }
        }
    }
    None
}

/// Lines such as `lock: 1: OFDLCK ADVISORY WRITE -1 fe:00:1234 0 EOF`.
fn is_locked(text: &str, name: &str) -> bool {
    let locks = text.lines().filter_map(|line| line.strip_prefix("lock:"));
    locks.into_iter().any(|lock| lock.split_whitespace().any(|word| word == name))
}
