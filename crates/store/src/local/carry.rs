//! One file carried to another name: a clone, else a hard link, else a copy.
//!
//! A link is the same file under two names, so that a program which writes in place would change
//! both. The guard takes the write permission from linked files: such a program is refused then,
//! while writers that replace files are not affected. The guard is of no use against the superuser.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io;
use std::path::Path;

use crate::carrier::{Carried, Carrier, Carry};
use crate::files::partial;
use crate::files::paths::directory_of;
use crate::store::Durability;
use crate::sys::{self, CarryRefusal, Status, c_name, unless_absent};

/// Carries the file at `from` to the free name `to`; `None` if it does not exist.
pub(crate) fn place(
    from: &CStr,
    to: &CStr,
    carrier: &Carrier,
    durability: Durability,
) -> io::Result<Option<Carried>> {
    place_by(from, to, carrier, (carrier.links(), durability))
}

/// [`place`] for a file that must not have two names.
pub(crate) fn place_alone(
    from: &CStr,
    to: &CStr,
    carrier: &Carrier,
    durability: Durability,
) -> io::Result<Option<Carried>> {
    place_by(from, to, carrier, (false, durability))
}

fn place_by(
    from: &CStr,
    to: &CStr,
    carrier: &Carrier,
    (links, durability): (bool, Durability),
) -> io::Result<Option<Carried>> {
    if carrier.clones() {
        match clone(from, to, durability) {
            Err(error) => match sys::carry_refusal(&error) {
                Some(CarryRefusal::ThisFile) => {}
                Some(CarryRefusal::Everywhere) if carrier.without_clones() => {}
                _ => return Err(error),
            },
            cloned => return cloned,
        }
    }
    if links {
        match link(from, to, carrier.guards, durability) {
            Ok(None) => {}
            Err(error) => match sys::carry_refusal(&error) {
                Some(CarryRefusal::ThisFile) => {}
                Some(CarryRefusal::Everywhere) if carrier.without_links() => {}
                // A file that was replaced between the look at its name and the link has none.
                _ if error.kind() == io::ErrorKind::NotFound && has_directory(to)? => {}
                _ => return Err(error),
            },
            linked => return linked,
        }
    }
    copy(from, to, durability)
}

/// [`place`] for a name that may be taken: its file is replaced atomically.
pub(crate) fn replace(
    from: &CStr,
    to: &CStr,
    carrier: &Carrier,
    durability: Durability,
) -> io::Result<Option<Carried>> {
    // A link is complete at once.
    if carrier.links()
        && !carrier.clones()
        && let Ok(Some(linked)) = link(from, to, carrier.guards, durability)
    {
        return Ok(Some(linked));
    }
    let partial = CString::new(partial::unique(to.to_bytes()))
        .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    let Some(carried) = place(from, &partial, carrier, durability)? else { return Ok(None) };
    let renamed = sys::rename(&partial, to);
    if renamed.is_err() || carried.by == Carry::Link {
        // A rename between two names of one file does nothing.
        unless_absent(sys::unlink(&partial))?;
    }
    renamed.map(|()| Some(carried))
}

/// Whether the directory of a destination is there.
fn has_directory(to: &CStr) -> io::Result<bool> {
    let directory = c_name(directory_of(to).as_os_str())?;
    Ok(unless_absent(sys::status_at(&directory))?.is_some())
}

fn opened(from: &CStr) -> io::Result<Option<(File, Status)>> {
    let Some(file) = unless_absent(sys::open(from, sys::READ))? else { return Ok(None) };
    let status = sys::status_of(&file)?;
    Ok(status.is_file().then_some((file, status)))
}

fn clone(from: &CStr, to: &CStr, durability: Durability) -> io::Result<Option<Carried>> {
    let Some((file, status)) = opened(from)? else { return Ok(None) };
    let new = sys::clone(&file, to)?;
    finish(&new, to, &status, durability)?;
    sys::close(new)?;
    Ok(Some(carried(Carry::Clone, &status)))
}

fn copy(from: &CStr, to: &CStr, durability: Durability) -> io::Result<Option<Carried>> {
    let Some((file, status)) = opened(from)? else { return Ok(None) };
    let new = sys::open(to, sys::NEW)?;
    let copied = sys::copy(&file, status.len(), &new);
    let finished = copied.and_then(|()| finish(&new, to, &status, durability));
    finished.and_then(|()| sys::close(new)).inspect_err(|_| {
        let _ = sys::unlink(to);
    })?;
    Ok(Some(carried(Carry::Copy, &status)))
}

/// Gives a new file the time of its source, so that a later change in place shows.
fn finish(new: &File, to: &CStr, status: &Status, durability: Durability) -> io::Result<()> {
    let length = sys::status_of(new)?.len();
    if length != status.len() {
        let problem = format!("{length} of {} bytes were written", status.len());
        return Err(io::Error::new(io::ErrorKind::WriteZero, problem));
    }
    let finished = new.set_modified(status.modified()).and_then(|()| match durability {
        Durability::Process => Ok(()),
        Durability::Fsync => new.sync_all(),
    });
    finished.inspect_err(|_| {
        let _ = sys::unlink(to);
    })
}

/// `None` if the file has to be copied: it is a symbolic link, or cannot be guarded.
fn link(
    from: &CStr,
    to: &CStr,
    guards: bool,
    durability: Durability,
) -> io::Result<Option<Carried>> {
    sys::link(from, to)?;
    let status = sys::link_status_at(to)?;
    if !is_guarded(&status, guards, |status| sys::set_writable(to, status, None)) {
        sys::unlink(to)?;
        return Ok(None);
    }
    if durability == Durability::Fsync {
        sys::open(to, sys::READ)?.sync_all()?;
    }
    Ok(Some(carried(Carry::Link, &status)))
}

/// Whether a link is to a file, and guarded, if it is to be.
fn is_guarded(
    status: &Status,
    guards: bool,
    forbid: impl FnOnce(&Status) -> io::Result<()>,
) -> bool {
    match status.is_file() {
        true if guards && status.is_writable() => forbid(status).is_ok(),
        is_file => is_file,
    }
}

/// An open directory, and the one in which its files get a second name: where a directory has many,
/// this costs less than the paths.
pub(crate) struct Folders {
    from: File,
    to: File,
}

impl Folders {
    pub(crate) fn open(from: &Path, to: &Path) -> io::Result<Self> {
        let open = |path: &Path| sys::open(&c_name(path.as_os_str())?, sys::DIRECTORY);
        Ok(Self { from: open(from)?, to: open(to)? })
    }

    /// Links the file of this name if [`place`] would; `None` if [`place`] has to do it, or to tell
    /// why it cannot be done.
    pub(crate) fn link(&self, name: &CStr, carrier: &Carrier) -> Option<Carried> {
        if carrier.clones() || !carrier.links() {
            return None;
        }
        sys::link_in(&self.from, &self.to, name).ok()?;
        let forbid = |status: &Status| sys::forbid_writes_in(&self.to, name, status);
        match sys::status_in(&self.to, name, false) {
            Ok(status) if is_guarded(&status, carrier.guards, forbid) => {
                Some(carried(Carry::Link, &status))
            }
            _ => {
                // If the name stays, `place` finds it, and says so.
                let _ = sys::unlink_in(&self.to, name, false);
                None
            }
        }
    }
}

fn carried(by: Carry, status: &Status) -> Carried {
    Carried { by, size: status.len(), tag: tag(status) }
}

/// When a file was modified, in nanoseconds, and its number.
pub(crate) fn tag(status: &Status) -> (u64, u64) {
    let (seconds, nanos) = status.modified_at();
    let nanos = seconds.wrapping_mul(1_000_000_000).wrapping_add(nanos);
    (nanos.cast_unsigned(), status.identity().1)
}

/// Gives the file at `path` its write permission back if it has no other name; returns whether it
/// did.
pub(crate) fn release(path: &CStr) -> io::Result<bool> {
    let Some(status) = unless_absent(sys::link_status_at(path))? else { return Ok(false) };
    if !status.is_file() || status.is_writable() || status.links() != 1 {
        return Ok(false);
    }
    make_writable(path, &status)
}

/// [`release`] for a file whose other name is `link`.
pub(crate) fn release_pair(path: &Path, link: &Path) -> io::Result<bool> {
    let (path, link) = (c_name(path.as_os_str())?, c_name(link.as_os_str())?);
    let Some(linked) = unless_absent(sys::link_status_at(&link))? else { return Ok(false) };
    if linked.is_writable() || linked.links() != 2 {
        return Ok(false);
    }
    let Some(status) = unless_absent(sys::link_status_at(&path))? else { return Ok(false) };
    if status.identity() != linked.identity() {
        return Ok(false);
    }
    make_writable(&path, &status)
}

/// The owner may do that, and nobody else: to others the file stays as it is.
fn make_writable(path: &CStr, status: &Status) -> io::Result<bool> {
    let directory = sys::status_at(&c_name(directory_of(path).as_os_str())?)?;
    match sys::set_writable(path, status, Some(&directory)) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(false),
        done => done.map(|()| true),
    }
}
