//! Every call into the C library, each wrapped in a safe function.

use std::ffi::{CStr, CString, c_int};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::generation::Generation;

/// File systems take the time of a change from a clock that ticks every 4 to 10 ms: two changes
/// within a tick have the same time.
const SETTLED: Duration = Duration::from_millis(20);

/// What is copied at once through memory.
const COPY_BYTES: usize = 1 << 20;

/// Registers functions that run around every later fork of this process.
pub(crate) fn at_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the three are `extern "C"` functions without arguments that live as long as the code.
    // Failure (out of memory) cannot be repaired; forks then behave as in any other library.
    let _ = unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
}

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

/// `None` if the name does not exist, or if its directory is a file.
pub(crate) fn unless_absent<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR)) => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Makes the number `descriptor` refer to the same file as `other`; its previous file is closed.
pub fn replace(other: RawFd, descriptor: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved; whose descriptor it was, the caller knows.
    match unsafe { libc::dup2(other, descriptor) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The result of `fstat` and `stat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    raw: libc::stat,
}

impl Status {
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.raw.st_size).unwrap_or(0)
    }

    pub(crate) fn is_file(&self) -> bool {
        self.raw.st_mode & libc::S_IFMT == libc::S_IFREG
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.raw.st_mode & libc::S_IFMT == libc::S_IFDIR
    }

    pub(crate) fn is_link(&self) -> bool {
        self.raw.st_mode & libc::S_IFMT == libc::S_IFLNK
    }

    /// The owner, and the permissions of all other users.
    pub(crate) fn owner(&self) -> (libc::uid_t, libc::mode_t) {
        (self.raw.st_uid, self.raw.st_mode & 0o077)
    }

    pub(crate) fn modified(&self) -> SystemTime {
        let seconds = Duration::from_secs(u64::try_from(self.raw.st_mtime).unwrap_or(0));
        let part = Duration::from_nanos(u64::try_from(self.raw.st_mtime_nsec).unwrap_or(0));
        UNIX_EPOCH + seconds + part
    }

    /// Device and inode, which identify a file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.raw.st_dev, self.raw.st_ino)
    }

    /// The device on which the file is.
    pub(crate) fn device(&self) -> u64 {
        self.raw.st_dev
    }

    /// The identifier of the file in the lock lists of `/proc`.
    pub(crate) fn name_in_proc(&self) -> String {
        let device = self.raw.st_dev;
        format!("{:02x}:{:02x}:{}", libc::major(device), libc::minor(device), self.raw.st_ino)
    }

    /// Tells this version of a file, whose status was read after `now`, from all others, once it is
    /// old enough.
    ///
    /// The time of the last change (ctime) counts, too: unlike that of the last modification,
    /// programs cannot set it.
    pub(crate) fn version(&self, now: SystemTime) -> Option<Generation> {
        let changed = Duration::new(
            u64::try_from(self.raw.st_ctime).ok()?,
            u32::try_from(self.raw.st_ctime_nsec).ok()?,
        );
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
        let modified = self.raw.st_mtime as u64 ^ (self.raw.st_mtime_nsec as u64).rotate_left(34);
        let place = mix(mix(self.raw.st_dev) ^ self.raw.st_ino);
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

fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Repeats `call` if a signal interrupts it.
fn uninterrupted(mut call: impl FnMut() -> c_int) -> io::Result<c_int> {
    loop {
        match check(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens with `O_CLOEXEC`; new files get mode 0o666, reduced by the umask.
pub(crate) fn open(path: &CStr, flags: c_int) -> io::Result<File> {
    let mode: libc::c_uint = 0o666;
    // SAFETY: `path` ends in NUL, and the mode is passed as the unsigned int that `open` expects.
    let descriptor =
        uninterrupted(|| unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
    // SAFETY: `open` has just made this descriptor, which has no other owner.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// Opens a file to be written past the page cache, by whole pages.
#[cfg(target_os = "linux")]
pub(crate) fn open_direct(path: &CStr) -> io::Result<File> {
    open(path, libc::O_RDWR | libc::O_DIRECT | libc::O_NONBLOCK)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_direct(_: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn status_of(file: &File) -> io::Result<Status> {
    status_with(|raw| {
        // SAFETY: `raw` points to room for one `stat`.
        unsafe { libc::fstat(file.as_raw_fd(), raw) }
    })
}

/// The status of the file at `path`, following links.
pub(crate) fn status_at(path: &CStr) -> io::Result<Status> {
    status_with(|raw| {
        // SAFETY: `path` ends in NUL, and `raw` points to room for one `stat`.
        unsafe { libc::stat(path.as_ptr(), raw) }
    })
}

/// The status of the file at `path`; of a link, its own.
pub(crate) fn link_status_at(path: &CStr) -> io::Result<Status> {
    status_with(|raw| {
        // SAFETY: `path` ends in NUL, and `raw` points to room for one `stat`.
        unsafe { libc::lstat(path.as_ptr(), raw) }
    })
}

fn status_with(call: impl Fn(*mut libc::stat) -> c_int) -> io::Result<Status> {
    let mut raw = std::mem::MaybeUninit::<libc::stat>::uninit();
    check(call(raw.as_mut_ptr()))?;
    // SAFETY: the call succeeded and so has filled the structure.
    Ok(Status { raw: unsafe { raw.assume_init() } })
}

/// Appends at most `wanted` bytes of `file` to `dst`, fewer if the file ends; returns their number.
///
/// Reads into the spare capacity, which is not cleared first: for a 16 KiB chunk, clearing would
/// cost about as much as the copy out of the page cache. `at` is the offset of the first byte.
pub(crate) fn append(file: &File, at: u64, wanted: usize, dst: &mut Vec<u8>) -> io::Result<usize> {
    let mut done = 0;
    while done < wanted {
        let spare = dst.spare_capacity_mut();
        let room = spare.len().min(wanted - done);
        let offset = i64::try_from(at + done as u64).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: `room` bytes from the start of the spare capacity belong to `dst`; `pread` writes
        // at most that many and reads none.
        let read =
            unsafe { libc::pread(file.as_raw_fd(), spare.as_mut_ptr().cast(), room, offset) };
        match usize::try_from(read) {
            Ok(0) => break,
            Ok(read) => {
                // SAFETY: `pread` has written `read` bytes behind the current length.
                unsafe { dst.set_len(dst.len() + read) };
                done += read;
            }
            Err(_) => {
                let error = io::Error::last_os_error();
                if error.kind() != io::ErrorKind::Interrupted {
                    return Err(error);
                }
            }
        }
    }
    Ok(done)
}

/// Copies the first `length` bytes of a file to the position of another one, inside the kernel; a
/// file system that can makes them share their blocks.
pub(crate) fn copy(from: &File, length: u64, to: &File) -> io::Result<()> {
    let mut done = copy_in_kernel(from, length, to)?;
    let mut buffer = Vec::new();
    while done < length {
        // Other file systems, or a file that shrank: an error then.
        let wanted = usize::try_from(length - done).unwrap_or(COPY_BYTES).min(COPY_BYTES);
        buffer.clear();
        buffer.try_reserve(wanted).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let read = append(from, done, wanted, &mut buffer)?;
        if read == 0 {
            let problem = format!("the file ended at byte {done} of {length} while it was copied");
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, problem));
        }
        io::Write::write_all(&mut &*to, &buffer)?;
        done += read as u64;
    }
    Ok(())
}

/// Returns how much was copied: less if the kernel cannot copy between these files.
#[cfg(target_os = "linux")]
fn copy_in_kernel(from: &File, length: u64, to: &File) -> io::Result<u64> {
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

#[cfg(not(target_os = "linux"))]
fn copy_in_kernel(_: &File, _: u64, _: &File) -> io::Result<u64> {
    Ok(0)
}

/// Closes a file after writing; some file systems report a failed write only here.
pub(crate) fn close(file: File) -> io::Result<()> {
    use std::os::fd::IntoRawFd;
    // SAFETY: the descriptor was owned by `file`, which has just given it up.
    match check(unsafe { libc::close(file.into_raw_fd()) }) {
        // Linux has closed the descriptor even if a signal interrupted the call.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        result => result.map(drop),
    }
}

/// Closes a descriptor that a forked child inherited and that nothing in the child owns.
pub(crate) fn close_inherited(descriptor: RawFd) {
    // SAFETY: the caller has taken the number out of the table of held descriptors, whose entries
    // are owned by guards that do nothing in a forked child.
    let _ = unsafe { libc::close(descriptor) };
}

pub(crate) fn rename(from: &CStr, to: &CStr) -> io::Result<()> {
    // SAFETY: both paths end in NUL.
    check(unsafe { libc::rename(from.as_ptr(), to.as_ptr()) }).map(drop)
}

/// Renames unless `to` already exists (`EEXIST`).
#[cfg(target_os = "linux")]
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

#[cfg(not(target_os = "linux"))]
pub(crate) fn rename_new(from: &CStr, to: &CStr) -> io::Result<()> {
    rename_new_in_two_steps(from, to)
}

/// For file systems without the flag; another process may act between the steps.
fn rename_new_in_two_steps(from: &CStr, to: &CStr) -> io::Result<()> {
    match status_at(to) {
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => rename(from, to),
        Err(error) => Err(error),
    }
}

pub(crate) fn unlink(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends in NUL.
    check(unsafe { libc::unlink(path.as_ptr()) }).map(drop)
}

/// [`open`] for `name` in an open directory; `mode` is that of a new file.
pub(crate) fn open_in(
    directory: &File,
    name: &CStr,
    flags: c_int,
    mode: libc::c_uint,
) -> io::Result<File> {
    let (directory, flags) = (directory.as_raw_fd(), flags | libc::O_CLOEXEC);
    let descriptor = uninterrupted(|| {
        // SAFETY: `name` ends in NUL, and the mode is passed as the unsigned int that is expected.
        unsafe { libc::openat(directory, name.as_ptr(), flags, mode) }
    })?;
    // SAFETY: `openat` has just made this descriptor, which has no other owner.
    Ok(unsafe { File::from_raw_fd(descriptor) })
}

/// The status of `name` in an open directory; of a link, its own, unless `follows` is set.
pub(crate) fn status_in(directory: &File, name: &CStr, follows: bool) -> io::Result<Status> {
    status_with(|raw| {
        let flags = if follows { 0 } else { libc::AT_SYMLINK_NOFOLLOW };
        let directory = directory.as_raw_fd();
        // SAFETY: `name` ends in NUL, and `raw` points to room for one `stat`.
        unsafe { libc::fstatat(directory, name.as_ptr(), raw, flags) }
    })
}

/// Removes a file or link, or an empty directory, from an open directory.
pub(crate) fn unlink_in(directory: &File, name: &CStr, is_directory: bool) -> io::Result<()> {
    let flags = if is_directory { libc::AT_REMOVEDIR } else { 0 };
    // SAFETY: `name` ends in NUL.
    check(unsafe { libc::unlinkat(directory.as_raw_fd(), name.as_ptr(), flags) }).map(drop)
}

/// Renames within an open directory; an existing `to` is replaced.
pub(crate) fn rename_in(directory: &File, from: &CStr, to: &CStr) -> io::Result<()> {
    let directory = directory.as_raw_fd();
    // SAFETY: both names end in NUL.
    check(unsafe { libc::renameat(directory, from.as_ptr(), directory, to.as_ptr()) }).map(drop)
}

/// Creates a directory in an open one, for this user only.
pub(crate) fn make_private_in(directory: &File, name: &CStr) -> io::Result<()> {
    // SAFETY: the name ends in NUL.
    check(unsafe { libc::mkdirat(directory.as_raw_fd(), name.as_ptr(), 0o700) }).map(drop)
}

/// Removes the permissions of all other users from a directory.
pub(crate) fn make_private(directory: &File) -> io::Result<()> {
    // SAFETY: plain numbers.
    check(unsafe { libc::fchmod(directory.as_raw_fd(), 0o700) }).map(drop)
}

/// The effective user of this process for file access.
pub(crate) fn user() -> libc::uid_t {
    // SAFETY: it takes nothing and cannot fail.
    unsafe { libc::geteuid() }
}

/// An error if this process may not add or remove names in an open directory.
pub(crate) fn check_changeable(directory: &File) -> io::Result<()> {
    let wanted = libc::W_OK | libc::X_OK;
    // SAFETY: the name ends in NUL.
    check(unsafe {
        libc::faccessat(directory.as_raw_fd(), c".".as_ptr(), wanted, libc::AT_EACCESS)
    })
    .map(drop)
}

/// The names in an open directory, with the kind of each if the file system reports it.
pub(crate) fn names_in(directory: &File) -> io::Result<Vec<(CString, u8)>> {
    use std::os::fd::IntoRawFd;
    // A description of its own, because the read position belongs to it.
    let listed = open_in(directory, c".", libc::O_RDONLY | libc::O_DIRECTORY, 0)?.into_raw_fd();
    // SAFETY: the descriptor is open, and belongs to the stream from here on if there is one.
    let stream = unsafe { libc::fdopendir(listed) };
    if stream.is_null() {
        let error = io::Error::last_os_error();
        close_inherited(listed);
        return Err(error);
    }
    let mut names = Vec::new();
    let ended = loop {
        set_errno(0);
        // SAFETY: the stream is open, and no other thread knows it.
        let entry = unsafe { libc::readdir(stream) };
        if entry.is_null() {
            break io::Error::last_os_error();
        }
        // SAFETY: the name ends in NUL, and stays until the next call on the stream. No reference to
        // the whole entry is made: it may be shorter than its type.
        let (name, kind) =
            unsafe { (CStr::from_ptr((&raw const (*entry).d_name).cast()), (*entry).d_type) };
        if name != c"." && name != c".." {
            names.push((name.to_owned(), kind));
        }
    };
    // SAFETY: the stream is open, and not used again.
    unsafe { libc::closedir(stream) };
    if ended.raw_os_error() == Some(0) { Ok(names) } else { Err(ended) }
}

fn set_errno(value: c_int) {
    #[cfg(target_os = "linux")]
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__errno_location() = value;
    }
    #[cfg(not(target_os = "linux"))]
    // SAFETY: the pointer is this thread's own variable.
    unsafe {
        *libc::__error() = value;
    }
}

/// The kind of a byte-range lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hold {
    Shared,
    Exclusive,
    Free,
}

/// Locks or frees bytes of an open file description; false if another one has locked any of them.
///
/// An empty range locks everything from its start to the highest offset.
#[cfg(target_os = "linux")]
pub(crate) fn lock_bytes(descriptor: RawFd, bytes: &Range<i64>, hold: Hold) -> io::Result<bool> {
    // SAFETY: `flock` is plain numbers, for which zero is a value.
    let mut wanted: libc::flock = unsafe { std::mem::zeroed() };
    wanted.l_type = match hold {
        Hold::Shared => libc::F_RDLCK,
        Hold::Exclusive => libc::F_WRLCK,
        Hold::Free => libc::F_UNLCK,
    } as libc::c_short;
    wanted.l_whence = libc::SEEK_SET as libc::c_short;
    wanted.l_start = bytes.start;
    wanted.l_len = bytes.end - bytes.start;
    let command = libc::F_OFD_SETLK;
    // SAFETY: `wanted` is a `flock` that outlives the call, as the command expects.
    match uninterrupted(|| unsafe { libc::fcntl(descriptor, command, &raw const wanted) }) {
        Err(error) if error.raw_os_error() == Some(libc::EAGAIN) => Ok(false),
        result => result.map(|_| true),
    }
}

/// Whether no other description has locked any of the bytes at this moment.
#[cfg(target_os = "linux")]
pub(crate) fn is_free(descriptor: RawFd, bytes: &Range<i64>) -> io::Result<bool> {
    // SAFETY: `flock` is plain numbers, for which zero is a value.
    let mut wanted: libc::flock = unsafe { std::mem::zeroed() };
    wanted.l_type = libc::F_WRLCK as libc::c_short;
    wanted.l_whence = libc::SEEK_SET as libc::c_short;
    wanted.l_start = bytes.start;
    wanted.l_len = bytes.end - bytes.start;
    // SAFETY: `wanted` is a `flock` that outlives the call, which answers in it.
    check(unsafe { libc::fcntl(descriptor, libc::F_OFD_GETLK, &raw mut wanted) })?;
    Ok(wanted.l_type == libc::F_UNLCK as libc::c_short)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn is_free(_: RawFd, _: &Range<i64>) -> io::Result<bool> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

/// Locks that belong to the process instead would be dropped by any close of the file.
#[cfg(not(target_os = "linux"))]
pub(crate) fn lock_bytes(_: RawFd, _: &Range<i64>, _: Hold) -> io::Result<bool> {
    Err(io::Error::from_raw_os_error(libc::ENOSYS))
}

/// Locks a whole file or directory for this description only; false if another one has locked it.
pub(crate) fn lock_whole(descriptor: RawFd) -> io::Result<bool> {
    // SAFETY: plain numbers.
    match uninterrupted(|| unsafe { libc::flock(descriptor, libc::LOCK_EX | libc::LOCK_NB) }) {
        Err(error) if error.raw_os_error() == Some(libc::EWOULDBLOCK) => Ok(false),
        result => result.map(|_| true),
    }
}

/// Undoes [`lock_whole`], even if other processes have the description open.
pub(crate) fn unlock_whole(descriptor: RawFd) {
    // SAFETY: plain numbers. It fails only for a descriptor that is not open.
    let _ = unsafe { libc::flock(descriptor, libc::LOCK_UN) };
}
