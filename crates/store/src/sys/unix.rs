//! What Linux, macOS and other Unix systems share: calls of POSIX, each wrapped in a safe function.

use std::ffi::{CStr, CString, OsStr, OsString, c_int};
use std::fs::{DirBuilder, File};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, RawFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::Path;

use crate::sys::{CarryRefusal, FileKind, clear_errno};

/// How [`open`] opens a file. Opening a pipe does not wait for its other end.
pub(crate) type Flags = c_int;
pub(crate) const READ: Flags = libc::O_RDONLY | libc::O_NONBLOCK;
pub(crate) const CHANGE: Flags = libc::O_RDWR | libc::O_NONBLOCK;
/// Creates the file; the name must be free.
pub(crate) const NEW: Flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL;
pub(crate) const DIRECTORY: Flags = libc::O_RDONLY | libc::O_DIRECTORY;
/// In addition to one of the others: a link is an error.
pub(crate) const NO_FOLLOW: Flags = libc::O_NOFOLLOW;

/// The numbers of errors that we raise ourselves, as this system would.
pub(crate) mod code {
    pub(crate) const ABSENT: i32 = libc::ENOENT;
    pub(crate) const EXISTS: i32 = libc::EEXIST;
    pub(crate) const INVALID: i32 = libc::EINVAL;
    pub(crate) const NOT_A_DIRECTORY: i32 = libc::ENOTDIR;
    pub(crate) const BUSY: i32 = libc::EBUSY;
    pub(crate) const BAD_FILE: i32 = libc::EBADF;
    pub(crate) const DEADLOCK: i32 = libc::EDEADLK;
    pub(crate) const TOO_MANY_FILES: i32 = libc::EMFILE;
    /// The errors of a lock that say that locks are not supported here, or not for this user.
    pub(crate) const LOCK_REFUSALS: &[i32] = &[
        libc::ENOLCK,
        libc::ENOSYS,
        libc::EOPNOTSUPP,
        libc::ENOTSUP,
        libc::EINVAL,
        libc::EACCES,
        libc::EPERM,
        libc::EROFS,
        libc::EISDIR,
        libc::ETXTBSY,
        libc::EBADF,
    ];
}

/// Whether a link leads nowhere: its target is missing, or it leads to itself.
pub(crate) fn is_dangling(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ENOTDIR | libc::ELOOP))
}

/// `name` as the system takes it.
pub(crate) fn c_name(name: &OsStr) -> io::Result<CString> {
    CString::new(name.as_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

pub(crate) fn os_str(name: &CStr) -> &OsStr {
    OsStr::from_bytes(name.to_bytes())
}

pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    OsString::from_vec(bytes)
}

/// Registers functions that run around every later fork of this process.
pub(crate) fn at_fork(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the three are `extern "C"` functions without arguments that live as long as the code.
    // Failure (out of memory) cannot be repaired; forks then behave as in any other library.
    let _ = unsafe { libc::pthread_atfork(Some(before), Some(parent), Some(child)) };
}

/// Makes the number `descriptor` refer to the same file as `other`; its previous file is closed.
pub fn replace(other: RawFd, descriptor: RawFd) -> io::Result<()> {
    // SAFETY: no memory is involved; whose descriptor it was, the caller knows.
    match unsafe { libc::dup2(other, descriptor) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

/// The write permissions of the owner, the group and all others.
const WRITES: libc::mode_t = libc::S_IWUSR | libc::S_IWGRP | libc::S_IWOTH;

/// The result of `fstat` and `stat`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    raw: libc::stat,
}

impl Status {
    pub(crate) fn len(&self) -> u64 {
        u64::try_from(self.raw.st_size).unwrap_or(0)
    }

    pub(crate) fn kind(&self) -> FileKind {
        match self.raw.st_mode & libc::S_IFMT {
            libc::S_IFREG => FileKind::File,
            libc::S_IFDIR => FileKind::Directory,
            libc::S_IFLNK => FileKind::Link,
            _ => FileKind::Other,
        }
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
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "`mode_t` has 16 bits on macOS")
    )]
    pub(crate) fn owner(&self) -> (u32, u32) {
        (self.raw.st_uid, u32::from(self.raw.st_mode) & 0o077)
    }

    /// Whether the permissions of the file allow anyone to change it in place.
    pub(crate) fn is_writable(&self) -> bool {
        self.raw.st_mode & WRITES != 0
    }

    /// How many names the file has.
    #[cfg_attr(
        target_os = "linux",
        expect(clippy::useless_conversion, reason = "`nlink_t` has 16 bits on macOS")
    )]
    pub(crate) fn links(&self) -> u64 {
        u64::from(self.raw.st_nlink)
    }

    /// Seconds and nanoseconds of the last modification since 1970.
    pub(crate) fn modified_at(&self) -> (i64, i64) {
        (self.raw.st_mtime, self.raw.st_mtime_nsec)
    }

    /// The same for the last change of content or status.
    pub(crate) fn changed_at(&self) -> (i64, i64) {
        (self.raw.st_ctime, self.raw.st_ctime_nsec)
    }

    /// Device and inode, which identify a file.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (device_number(self.raw.st_dev), self.raw.st_ino)
    }

    /// The device on which the file is.
    pub(crate) fn device(&self) -> u64 {
        device_number(self.raw.st_dev)
    }
}

/// `dev_t` has another type on each system.
#[cfg_attr(
    target_os = "linux",
    expect(clippy::unnecessary_cast, reason = "`dev_t` has 32 bits and a sign on macOS")
)]
fn device_number(device: libc::dev_t) -> u64 {
    device as u64
}

pub(crate) fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// Repeats `call` if a signal interrupts it.
pub(crate) fn uninterrupted(mut call: impl FnMut() -> c_int) -> io::Result<c_int> {
    loop {
        match check(call()) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

/// Opens with `O_CLOEXEC`; new files get mode 0o666, reduced by the umask.
pub(crate) fn open(path: &CStr, flags: Flags) -> io::Result<File> {
    let mode: libc::c_uint = 0o666;
    // SAFETY: `path` ends in NUL, and the mode is passed as the unsigned int that `open` expects.
    let descriptor =
        uninterrupted(|| unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC, mode) })?;
    // SAFETY: `open` has just made this descriptor, which has no other owner.
    Ok(unsafe { File::from_raw_fd(descriptor) })
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

/// Fills `dst` with the bytes of `file` from `at` on.
pub(crate) fn read_exact_at(file: &File, dst: &mut [u8], at: u64) -> io::Result<()> {
    file.read_exact_at(dst, at)
}

pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    file.write_all_at(bytes, at)
}

/// Writes by one call, which may write fewer bytes; returns their number.
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.write_at(bytes, at)
}

/// Makes the names in a directory durable.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Closes a file after writing; some file systems report a failed write only here.
pub(crate) fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor was owned by `file`, which has just given it up.
    match check(unsafe { libc::close(file.into_raw_fd()) }) {
        // Linux has closed the descriptor even if a signal interrupted the call.
        Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
        result => result.map(drop),
    }
}

/// The number by which a forked child can close the file.
pub(crate) fn number_of(file: &File) -> i32 {
    file.as_raw_fd()
}

/// Gives up a file that is closed already.
pub(crate) fn forget(file: File) {
    let _ = file.into_raw_fd();
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

/// Renames unless `to` already exists, for systems and file systems that cannot do it in one step.
///
/// A file first gets its new name as a second one, which never replaces a file. For a directory, and
/// where files have one name only, another process may act between the look and the rename.
pub(crate) fn rename_new_in_two_steps(from: &CStr, to: &CStr) -> io::Result<()> {
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end in NUL; the other arguments are plain numbers.
    match check(unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), 0) }) {
        Ok(_) => {
            return unlink(from).inspect_err(|_| {
                // One name has to go: the old one is still what the caller has.
                let _ = unlink(to);
            });
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        Err(_) => {}
    }
    match link_status_at(to) {
        Ok(_) => Err(io::Error::from_raw_os_error(libc::EEXIST)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => rename(from, to),
        Err(error) => Err(error),
    }
}

pub(crate) fn unlink(path: &CStr) -> io::Result<()> {
    // SAFETY: the path ends in NUL.
    check(unsafe { libc::unlink(path.as_ptr()) }).map(drop)
}

/// Gives a file a second name, which must be free; a symbolic link gets one itself.
pub(crate) fn link(from: &CStr, to: &CStr) -> io::Result<()> {
    let here = libc::AT_FDCWD;
    // SAFETY: both paths end in NUL.
    check(unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), 0) }).map(drop)
}

/// [`link`] between two open directories, under the name that the file has in the first one.
pub(crate) fn link_in(from: &File, to: &File, name: &CStr) -> io::Result<()> {
    let (from, to) = (from.as_raw_fd(), to.as_raw_fd());
    // SAFETY: the name ends in NUL, and both descriptors are open.
    check(unsafe { libc::linkat(from, name.as_ptr(), to, name.as_ptr(), 0) }).map(drop)
}

/// Takes all write permissions from a file with this status; or, with the status of its directory,
/// gives them to those who may read the file and write to the directory, as the umask that both
/// were made under did.
pub(crate) fn set_writable(
    path: &CStr,
    status: &Status,
    directory: Option<&Status>,
) -> io::Result<()> {
    let mode = status.raw.st_mode & 0o7777;
    let given = directory.map_or(0, |directory| directory.raw.st_mode & (mode >> 1) & WRITES);
    // SAFETY: the path ends in NUL.
    check(unsafe { libc::chmod(path.as_ptr(), (mode & !WRITES) | given) }).map(drop)
}

/// Takes all write permissions from a file with this status in an open directory.
pub(crate) fn forbid_writes_in(directory: &File, name: &CStr, status: &Status) -> io::Result<()> {
    let mode = status.raw.st_mode & 0o7777 & !WRITES;
    // SAFETY: the name ends in NUL, and the descriptor is open.
    check(unsafe { libc::fchmodat(directory.as_raw_fd(), name.as_ptr(), mode, 0) }).map(drop)
}

/// Why a clone or a link was refused; `None` for an error of another kind.
pub(crate) fn carry_refusal(error: &io::Error) -> Option<CarryRefusal> {
    match error.raw_os_error() {
        Some(libc::EOPNOTSUPP | libc::EXDEV | libc::EINVAL | libc::ENOTTY | libc::ENOSYS) => {
            Some(CarryRefusal::Everywhere)
        }
        Some(libc::EPERM | libc::EMLINK | libc::ETXTBSY) => Some(CarryRefusal::ThisFile),
        None if error.kind() == io::ErrorKind::Unsupported => Some(CarryRefusal::Everywhere),
        _ => None,
    }
}

/// [`open`] for `name` in an open directory; a new file is for this user only.
pub(crate) fn open_in(directory: &File, name: &CStr, flags: Flags) -> io::Result<File> {
    let (directory, flags) = (directory.as_raw_fd(), flags | libc::O_CLOEXEC);
    let mode: libc::c_uint = 0o600;
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

/// Creates a directory and its parents; new ones are for this user only.
pub(crate) fn make_private_directories(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// The effective user of this process for file access.
pub(crate) fn user() -> u32 {
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
pub(crate) fn names_in(directory: &File) -> io::Result<Vec<(CString, Option<FileKind>)>> {
    // A description of its own, because the read position belongs to it.
    let listed = open_in(directory, c".", DIRECTORY)?.into_raw_fd();
    // SAFETY: the descriptor is open, and belongs to the stream from here on if there is one.
    let stream = unsafe { libc::fdopendir(listed) };
    if stream.is_null() {
        let error = io::Error::last_os_error();
        close_inherited(listed);
        return Err(error);
    }
    let mut names = Vec::new();
    let ended = loop {
        clear_errno();
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
            let kind = match kind {
                libc::DT_REG => Some(FileKind::File),
                libc::DT_DIR => Some(FileKind::Directory),
                libc::DT_LNK => Some(FileKind::Link),
                libc::DT_UNKNOWN => None,
                _ => Some(FileKind::Other),
            };
            names.push((name.to_owned(), kind));
        }
    };
    // SAFETY: the stream is open, and not used again.
    unsafe { libc::closedir(stream) };
    if ended.raw_os_error() == Some(0) { Ok(names) } else { Err(ended) }
}

/// Locks a whole file or directory for this description only; false if another one has locked it.
pub(crate) fn lock_whole(file: &File) -> io::Result<bool> {
    let descriptor = file.as_raw_fd();
    // SAFETY: plain numbers.
    match uninterrupted(|| unsafe { libc::flock(descriptor, libc::LOCK_EX | libc::LOCK_NB) }) {
        Err(error) if error.raw_os_error() == Some(libc::EWOULDBLOCK) => Ok(false),
        result => result.map(|_| true),
    }
}

/// Undoes [`lock_whole`], even if other processes have the description open.
pub(crate) fn unlock_whole(file: &File) {
    let descriptor = file.as_raw_fd();
    // SAFETY: plain numbers. It fails only for a descriptor that is not open.
    let _ = unsafe { libc::flock(descriptor, libc::LOCK_UN) };
}

/// What is locked while the file at `path` is created: its directory.
pub(crate) fn creation_lock(path: &CStr) -> io::Result<CString> {
    let bytes = path.to_bytes();
    let length = bytes.iter().rposition(|&byte| byte == b'/').unwrap_or(0).max(1);
    CString::new(&bytes[..length]).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Opens the result of [`creation_lock`].
pub(crate) fn open_creation_lock(lock: &CStr) -> io::Result<File> {
    open(lock, DIRECTORY)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that fails may panic")]
mod tests {
    use std::ffi::CString;
    use std::fs;

    use super::*;

    #[test]
    fn a_rename_to_a_free_name_replaces_no_file_directory_or_link() {
        let folder = std::env::temp_dir().join(format!("zarrix-rename-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let name = |name: &str| CString::new(folder.join(name).to_str().unwrap()).unwrap();
        let rename = |from: &str, to: &str| rename_new_in_two_steps(&name(from), &name(to));
        fs::write(folder.join("file"), b"1").unwrap();
        fs::write(folder.join("taken"), b"2").unwrap();
        std::os::unix::fs::symlink("nothing", folder.join("dangling")).unwrap();
        fs::create_dir(folder.join("directory")).unwrap();
        for from in ["file", "directory"] {
            for to in ["taken", "dangling", "directory"].into_iter().filter(|to| *to != from) {
                let kind = rename(from, to).unwrap_err().kind();
                assert_eq!(kind, io::ErrorKind::AlreadyExists, "{from} to {to}");
                assert!(folder.join(from).exists());
            }
            let new = format!("new {from}");
            rename(from, &new).unwrap();
            assert!(folder.join(new).exists() && !folder.join(from).exists());
        }
        assert_eq!(fs::read(folder.join("taken")).unwrap(), b"2");
        assert_eq!(rename("missing", "new").unwrap_err().kind(), io::ErrorKind::NotFound);
        fs::remove_dir_all(&folder).unwrap();
    }
}
