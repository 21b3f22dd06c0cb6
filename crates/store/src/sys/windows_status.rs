//! The status of a file on Windows.

use std::ffi::CStr;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::windows::io::AsRawHandle;

use windows_sys::Win32::Storage::FileSystem as fs;

use super::windows::{READ, check, native, path_in};
use crate::sys::FileKind;

/// 100 ns between 1601, when the times of Windows begin, and 1970.
const EPOCH: i64 = 116_444_736_000_000_000;

/// What `GetFileInformationByHandleEx` tells of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Status {
    length: u64,
    kind: FileKind,
    modified: i64,
    changed: i64,
    device: u64,
    inode: u64,
    links: u64,
}

impl Status {
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let basic: fs::FILE_BASIC_INFO = ask(file, fs::FileBasicInfo)?;
        let standard: fs::FILE_STANDARD_INFO = ask(file, fs::FileStandardInfo)?;
        let id: fs::FILE_ID_INFO = ask(file, fs::FileIdInfo)?;
        let number = u128::from_le_bytes(id.FileId.Identifier);
        let has = |attribute: u32| basic.FileAttributes & attribute != 0;
        let kind = if has(fs::FILE_ATTRIBUTE_REPARSE_POINT) {
            FileKind::Link
        } else if has(fs::FILE_ATTRIBUTE_DIRECTORY) {
            FileKind::Directory
        } else if has(fs::FILE_ATTRIBUTE_DEVICE) {
            FileKind::Other
        } else {
            FileKind::File
        };
        Ok(Self {
            length: u64::try_from(standard.EndOfFile).unwrap_or(0),
            kind,
            modified: basic.LastWriteTime,
            changed: basic.ChangeTime,
            device: id.VolumeSerialNumber,
            // NTFS uses 64 bits, ReFS 128.
            inode: (number as u64) ^ (number >> 64) as u64,
            links: u64::from(standard.NumberOfLinks),
        })
    }

    pub(crate) fn len(&self) -> u64 {
        self.length
    }

    pub(crate) fn kind(&self) -> FileKind {
        self.kind
    }

    pub(crate) fn is_file(&self) -> bool {
        self.kind == FileKind::File
    }

    pub(crate) fn is_dir(&self) -> bool {
        self.kind == FileKind::Directory
    }

    pub(crate) fn is_link(&self) -> bool {
        self.kind == FileKind::Link
    }

    /// Owners and permissions of others are not looked at: they are lists of rules here.
    pub(crate) fn owner(&self) -> (u32, u32) {
        (0, 0)
    }

    /// Whether anyone may change the file in place: lists of rules decide, which are not looked at.
    pub(crate) fn is_writable(&self) -> bool {
        true
    }

    /// How many names the file has.
    pub(crate) fn links(&self) -> u64 {
        self.links
    }

    /// Seconds and nanoseconds of the last modification since 1970.
    pub(crate) fn modified_at(&self) -> (i64, i64) {
        since_1970(self.modified)
    }

    /// The same for the last change of content or status.
    pub(crate) fn changed_at(&self) -> (i64, i64) {
        since_1970(self.changed)
    }

    /// Device and number of the file, which identify it.
    pub(crate) fn identity(&self) -> (u64, u64) {
        (self.device, self.inode)
    }

    /// The device on which the file is.
    pub(crate) fn device(&self) -> u64 {
        self.device
    }
}

fn since_1970(time: i64) -> (i64, i64) {
    let time = time.saturating_sub(EPOCH);
    (time.div_euclid(10_000_000), time.rem_euclid(10_000_000) * 100)
}

fn ask<T>(file: &File, class: fs::FILE_INFO_BY_HANDLE_CLASS) -> io::Result<T> {
    let mut answer = MaybeUninit::<T>::zeroed();
    let size = size_of::<T>() as u32;
    // SAFETY: the handle is open, and the class is that of `T`, whose size is passed.
    let result = unsafe {
        let room = answer.as_mut_ptr().cast();
        fs::GetFileInformationByHandleEx(file.as_raw_handle(), class, room, size)
    };
    check(result)?;
    // SAFETY: the call succeeded, and `T` is a structure of numbers.
    Ok(unsafe { answer.assume_init() })
}

pub(crate) fn status_of(file: &File) -> io::Result<Status> {
    Status::of(file)
}

/// The status of the file at `path`, following links.
pub(crate) fn status_at(path: &CStr) -> io::Result<Status> {
    Status::of(&super::windows::open(path, READ)?)
}

/// The status of the file at `path`; of a link, its own.
pub(crate) fn link_status_at(path: &CStr) -> io::Result<Status> {
    link_status(&native(path))
}

fn link_status(path: &std::path::Path) -> io::Result<Status> {
    use std::os::windows::fs::OpenOptionsExt;
    let flags = fs::FILE_FLAG_BACKUP_SEMANTICS | fs::FILE_FLAG_OPEN_REPARSE_POINT;
    let file = std::fs::OpenOptions::new().access_mode(0).custom_flags(flags).open(path)?;
    Status::of(&file)
}

/// The status of `name` in an open directory; of a link, its own, unless `follows` is set.
pub(crate) fn status_in(directory: &File, name: &CStr, follows: bool) -> io::Result<Status> {
    match follows {
        true => Status::of(&super::windows::open_in(directory, name, READ)?),
        false => link_status(&path_in(directory, name)?),
    }
}
