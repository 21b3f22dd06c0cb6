//! Windows: files, directories and their names. Locks are in `windows_locks`, the status of files in
//! `windows_status`.
//!
//! A path is a C string in the encoding of Rust's `OsStr` (UTF-8 that may have lone surrogates), and
//! becomes a wide string for each call. Names in an open directory are resolved from the path that
//! its handle has at that moment, so that a directory that was renamed is still found; another
//! process can change the path between the two steps. A process does not fork. Directories cannot
//! be flushed: `fsync` makes the content of a file durable, and its name becomes durable with the
//! journal of the file system.

use std::ffi::{CStr, CString, OsStr, OsString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::windows::ffi::{OsStrExt, OsStringExt};
use std::os::windows::fs::{FileExt, OpenOptionsExt};
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windows_sys::Win32::Foundation as found;
use windows_sys::Win32::Security::Cryptography::{
    BCRYPT_USE_SYSTEM_PREFERRED_RNG, BCryptGenRandom,
};
use windows_sys::Win32::Storage::FileSystem as fs;

use crate::sys::{CarryRefusal, FileKind, Status, sync_each};

/// What users are told that this code is of.
pub(crate) const NAME: &str = "windows";

/// How [`open`] opens a file.
pub(crate) type Flags = i32;
pub(crate) const READ: Flags = 0;
pub(crate) const CHANGE: Flags = 1;
/// Creates the file; the name must be free.
pub(crate) const NEW: Flags = 2;
pub(crate) const DIRECTORY: Flags = 4;
/// In addition to one of the others: a link is an error.
pub(crate) const NO_FOLLOW: Flags = 8;

/// The numbers of errors that we raise ourselves, as this system would.
pub(crate) mod code {
    use windows_sys::Win32::Foundation as found;

    pub(crate) const ABSENT: i32 = found::ERROR_FILE_NOT_FOUND as i32;
    pub(crate) const EXISTS: i32 = found::ERROR_ALREADY_EXISTS as i32;
    pub(crate) const INVALID: i32 = found::ERROR_INVALID_PARAMETER as i32;
    pub(crate) const NOT_A_DIRECTORY: i32 = found::ERROR_DIRECTORY as i32;
    pub(crate) const BUSY: i32 = found::ERROR_BUSY as i32;
    pub(crate) const BAD_FILE: i32 = found::ERROR_INVALID_HANDLE as i32;
    pub(crate) const DEADLOCK: i32 = found::ERROR_POSSIBLE_DEADLOCK as i32;
    pub(crate) const TOO_MANY_FILES: i32 = found::ERROR_TOO_MANY_OPEN_FILES as i32;
    /// The errors of a lock that say that locks are not supported here, or not for this user.
    pub(crate) const LOCK_REFUSALS: &[i32] = &[
        found::ERROR_INVALID_FUNCTION as i32,
        found::ERROR_NOT_SUPPORTED as i32,
        found::ERROR_INVALID_PARAMETER as i32,
        found::ERROR_ACCESS_DENIED as i32,
        found::ERROR_WRITE_PROTECT as i32,
        found::ERROR_INVALID_HANDLE as i32,
    ];
}

/// Programs that scan files (indexers, virus scanners) open them for a moment; a rename or deletion
/// is then refused, and repeated for this long.
const LONGEST: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(2);

pub(crate) fn is_dangling(error: &io::Error) -> bool {
    let code = error.raw_os_error().and_then(|code| u32::try_from(code).ok());
    matches!(
        code,
        Some(
            found::ERROR_FILE_NOT_FOUND
                | found::ERROR_PATH_NOT_FOUND
                | found::ERROR_DIRECTORY
                | found::ERROR_CANT_RESOLVE_FILENAME
        )
    )
}

/// `name` as the functions of this module take it.
pub(crate) fn c_name(name: &OsStr) -> io::Result<CString> {
    CString::new(name.as_encoded_bytes()).map_err(|_| io::ErrorKind::InvalidInput.into())
}

pub(crate) fn os_str(name: &CStr) -> &OsStr {
    // SAFETY: all names are made by `c_name`, or of its result and UTF-8 that is added at its end.
    unsafe { OsStr::from_encoded_bytes_unchecked(name.to_bytes()) }
}

pub(crate) fn os_string(bytes: Vec<u8>) -> OsString {
    // SAFETY: as in `os_str`.
    unsafe { OsString::from_encoded_bytes_unchecked(bytes) }
}

/// The path with `\` alone, since Windows takes `/` for a part of a name after the prefix `\\?\`.
pub(super) fn native(path: &CStr) -> PathBuf {
    let bytes = path.to_bytes().iter().map(|&byte| if byte == b'/' { b'\\' } else { byte });
    os_string(bytes.collect()).into()
}

fn wide(path: &CStr) -> Vec<u16> {
    native(path).as_os_str().encode_wide().chain([0]).collect()
}

pub(super) fn check(result: i32) -> io::Result<()> {
    if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Repeats `call` while another program has the file open without sharing it.
fn unless_in_use(mut call: impl FnMut() -> io::Result<()>) -> io::Result<()> {
    let begun = std::time::Instant::now();
    loop {
        let code = match call() {
            Ok(()) => return Ok(()),
            Err(error) if begun.elapsed() > LONGEST => return Err(error),
            Err(error) => (error.raw_os_error(), error),
        };
        match code.0.and_then(|code| u32::try_from(code).ok()) {
            Some(found::ERROR_SHARING_VIOLATION | found::ERROR_ACCESS_DENIED) => {
                std::thread::sleep(PAUSE);
            }
            _ => return Err(code.1),
        }
    }
}

/// A process does not fork here.
pub(crate) fn at_fork(_: extern "C" fn(), _: extern "C" fn(), _: extern "C" fn()) {}

/// Opens a file, which other processes may rename and delete meanwhile.
pub(crate) fn open(path: &CStr, flags: Flags) -> io::Result<File> {
    open_path(&native(path), flags)
}

fn open_path(path: &Path, flags: Flags) -> io::Result<File> {
    let mut options = OpenOptions::new();
    let mut attributes = fs::FILE_FLAG_BACKUP_SEMANTICS;
    if flags & NO_FOLLOW != 0 {
        attributes |= fs::FILE_FLAG_OPEN_REPARSE_POINT;
    }
    options.read(true).custom_flags(attributes);
    if flags & (CHANGE | NEW) != 0 {
        options.write(true).create_new(flags & NEW != 0);
    }
    let file = options.open(path)?;
    let wanted = flags & (DIRECTORY | NO_FOLLOW);
    if wanted != 0 {
        let status = Status::of(&file)?;
        if status.is_link() || (flags & DIRECTORY != 0 && !status.is_dir()) {
            return Err(io::Error::from_raw_os_error(code::NOT_A_DIRECTORY));
        }
    }
    Ok(file)
}

/// Opens a file to be written past the page cache: not here, and the caller writes through it.
pub(crate) fn open_direct(_: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Appends at most `wanted` bytes of `file` to `dst`, fewer if the file ends; returns their number.
/// `at` is the offset of the first byte.
pub(crate) fn append(file: &File, at: u64, wanted: usize, dst: &mut Vec<u8>) -> io::Result<usize> {
    let begin = dst.len();
    dst.resize(begin + wanted, 0);
    let mut done = 0;
    let ended = loop {
        if done == wanted {
            break Ok(());
        }
        match file.seek_read(&mut dst[begin + done..], at + done as u64) {
            Ok(0) => break Ok(()),
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => break Err(error),
        }
    };
    dst.truncate(begin + done);
    ended.map(|()| done)
}

/// Fills `dst` with the bytes of `file` from `at` on.
pub(crate) fn read_exact_at(file: &File, dst: &mut [u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < dst.len() {
        match file.seek_read(&mut dst[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => done += read,
        }
    }
    Ok(())
}

pub(crate) fn write_all_at(file: &File, bytes: &[u8], at: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match write_at(file, &bytes[done..], at + done as u64)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => done += written,
        }
    }
    Ok(())
}

/// Writes by one call, which may write fewer bytes; returns their number.
pub(crate) fn write_at(file: &File, bytes: &[u8], at: u64) -> io::Result<usize> {
    file.seek_write(bytes, at)
}

/// Makes the names in a directory durable as far as Windows can: it flushes no directories.
pub(crate) fn sync_directory(directory: &Path) -> io::Result<()> {
    std::fs::metadata(directory).map(drop)
}

/// Closes a file after writing.
pub(crate) fn close(file: File) -> io::Result<()> {
    drop(file);
    Ok(())
}

/// No process inherits files.
pub(crate) fn number_of(file: &File) -> i32 {
    file.as_raw_handle() as usize as i32
}

pub(crate) fn forget(file: File) {
    drop(file);
}

pub(crate) fn close_inherited(_: i32) {}

/// Replaces `to`, also while readers have it open (since Windows 10, on NTFS).
pub(crate) fn rename(from: &CStr, to: &CStr) -> io::Result<()> {
    let (from, to) = (native(from), native(to));
    unless_in_use(|| std::fs::rename(&from, &to))
}

/// Renames unless `to` already exists.
pub(crate) fn rename_new(from: &CStr, to: &CStr) -> io::Result<()> {
    let (from, to) = (wide(from), wide(to));
    unless_in_use(|| {
        // SAFETY: both paths end in NUL.
        check(unsafe { fs::MoveFileExW(from.as_ptr(), to.as_ptr(), 0) })
    })
}

pub(crate) fn unlink(path: &CStr) -> io::Result<()> {
    let path = native(path);
    match std::fs::symlink_metadata(&path)?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => unless_in_use(|| std::fs::remove_file(&path)),
    }
}

/// The path of `name` in an open directory.
pub(super) fn path_in(directory: &File, name: &CStr) -> io::Result<PathBuf> {
    let handle = directory.as_raw_handle();
    let mut room = vec![0_u16; 512];
    loop {
        let size = u32::try_from(room.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        // SAFETY: the handle is open, and `size` is the length of the live array.
        let length =
            unsafe { fs::GetFinalPathNameByHandleW(handle, room.as_mut_ptr(), size, 0) } as usize;
        match length {
            0 => return Err(io::Error::last_os_error()),
            length if length < room.len() => {
                return Ok(PathBuf::from(OsString::from_wide(&room[..length])).join(os_str(name)));
            }
            length => room.resize(length + 1, 0),
        }
    }
}

/// Gives a file a second name, which must be free.
pub(crate) fn link(from: &CStr, to: &CStr) -> io::Result<()> {
    std::fs::hard_link(native(from), native(to))
}

/// [`link`] between two open directories, under the name that the file has in the first one.
pub(crate) fn link_in(from: &File, to: &File, name: &CStr) -> io::Result<()> {
    std::fs::hard_link(path_in(from, name)?, path_in(to, name)?)
}

/// The permissions stay, as in [`set_writable`].
pub(crate) fn forbid_writes_in(_: &File, _: &CStr, _: &Status) -> io::Result<()> {
    Ok(())
}

/// The permissions stay: the read-only attribute would keep a file from being replaced, too.
pub(crate) fn set_writable(_: &CStr, _: &Status, _: Option<&Status>) -> io::Result<()> {
    Ok(())
}

/// Why a clone or a link was refused; `None` for an error of another kind.
pub(crate) fn carry_refusal(error: &io::Error) -> Option<CarryRefusal> {
    let code = error.raw_os_error().and_then(|code| u32::try_from(code).ok());
    match code {
        Some(
            found::ERROR_NOT_SUPPORTED
            | found::ERROR_INVALID_FUNCTION
            | found::ERROR_NOT_SAME_DEVICE,
        ) => Some(CarryRefusal::Everywhere),
        Some(found::ERROR_TOO_MANY_LINKS) => Some(CarryRefusal::ThisFile),
        None if error.kind() == io::ErrorKind::Unsupported => Some(CarryRefusal::Everywhere),
        _ => None,
    }
}

/// [`open`] for `name` in an open directory.
pub(crate) fn open_in(directory: &File, name: &CStr, flags: Flags) -> io::Result<File> {
    if name == c"." {
        return directory.try_clone();
    }
    open_path(&path_in(directory, name)?, flags)
}

/// Removes a file or link, or an empty directory, from an open directory.
pub(crate) fn unlink_in(directory: &File, name: &CStr, is_directory: bool) -> io::Result<()> {
    let path = path_in(directory, name)?;
    let kind = std::fs::symlink_metadata(&path)?.file_type();
    unless_in_use(|| match (is_directory, kind.is_dir()) {
        (true, true) => std::fs::remove_dir(&path),
        (true, false) => Err(io::ErrorKind::NotADirectory.into()),
        // A link to a directory is a directory to Windows.
        (false, _) if kind.is_symlink() => {
            std::fs::remove_file(&path).or_else(|_| std::fs::remove_dir(&path))
        }
        (false, false) => std::fs::remove_file(&path),
        (false, true) => Err(io::ErrorKind::IsADirectory.into()),
    })
}

/// Renames within an open directory; an existing `to` is replaced.
pub(crate) fn rename_in(directory: &File, from: &CStr, to: &CStr) -> io::Result<()> {
    let (from, to) = (path_in(directory, from)?, path_in(directory, to)?);
    unless_in_use(|| std::fs::rename(&from, &to))
}

/// Creates a directory in an open one, with the permissions of that one.
pub(crate) fn make_private_in(directory: &File, name: &CStr) -> io::Result<()> {
    std::fs::create_dir(path_in(directory, name)?)
}

/// Permissions are inherited from the folder above, which is the user's own in a profile.
pub(crate) fn make_private(_: &File) -> io::Result<()> {
    Ok(())
}

/// Creates a directory and its parents; permissions are inherited.
pub(crate) fn make_private_directories(path: &Path) -> io::Result<()> {
    std::fs::create_dir_all(path)
}

/// The number that [`Status::owner`] has for files of this user.
pub(crate) fn user() -> u32 {
    0
}

/// Windows tells only when it is tried.
pub(crate) fn check_changeable(_: &File) -> io::Result<()> {
    Ok(())
}

/// The names in an open directory, with the kind of each.
pub(crate) fn names_in(directory: &File) -> io::Result<Vec<(CString, Option<FileKind>)>> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(path_in(directory, c"")?)? {
        let entry = entry?;
        let kind = entry.file_type().map(|kind| match (kind.is_symlink(), kind.is_dir()) {
            (true, _) => FileKind::Link,
            (_, true) => FileKind::Directory,
            _ => FileKind::File,
        });
        names.push((c_name(&entry.file_name())?, kind.ok()));
    }
    Ok(names)
}

/// Makes everything below a directory durable.
pub(crate) fn sync_tree(directory: &Path) -> io::Result<()> {
    sync_each(directory)
}

/// Exchanges two names in one step: not here.
pub(crate) fn exchange(_: &CStr, _: &CStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Creates a file that shares its blocks with another one: not here, and the caller copies. (ReFS has
/// `FSCTL_DUPLICATE_EXTENTS_TO_FILE`, which works by whole clusters and was not tried.)
pub(crate) fn clone(_: &File, _: &CStr) -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns how much of a file the system copied by itself: nothing, so that the caller copies it.
pub(crate) fn copy_in_kernel(_: &File, _: u64, _: &File) -> io::Result<u64> {
    Ok(0)
}

/// Fills `bytes` with random numbers from the system.
pub(crate) fn random(bytes: &mut [u8]) {
    let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
    let flags = BCRYPT_USE_SYSTEM_PREFERRED_RNG;
    // SAFETY: the pointer and length are those of one live slice. It fails only for other arguments.
    let _ = unsafe { BCryptGenRandom(std::ptr::null_mut(), bytes.as_mut_ptr(), length, flags) };
}

/// A number that no other running kernel has: unknown, so that every partial file has a random name.
pub(crate) fn boot_number() -> Option<u64> {
    None
}
