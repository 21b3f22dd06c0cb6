"""Files and folders that zarrix makes beside those of a user.

Everything is written first under a name of its own with random bits, which is made only if
nothing has it (``O_EXCL``) and never through a link. It gets its name by a rename when it is
complete, so that an error, a full disk or a kill leaves what was there before.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from zarrix._runtime.config import config
from zarrix._runtime.system import NOT_INHERITED

__all__ = [
    "exchange",
    "give_name",
    "has_name",
    "make_file",
    "require_folder",
    "swap_folders",
    "whole_file",
]

_ONLY_NEW = os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
_AS_BYTES = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# renameat2: relative to the working directory, and exchange.
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES)


def make_file(path: str | os.PathLike[str]) -> int:
    """A descriptor, for reading and writing, of a file that this call makes.

    Raises
    ------
    FileExistsError
        Something has that name, be it a link that leads nowhere.
    """
    return os.open(path, _ONLY_NEW | _AS_BYTES | os.O_RDWR, 0o666)


def has_name(path: str | os.PathLike[str]) -> bool:
    """Whether anything has that name, be it a link that leads nowhere."""
    return os.path.lexists(path)


def require_folder(path: Path) -> None:
    """Raise an error that names the folder of a new file, if it is not there."""
    folder = path.parent
    if not folder.is_dir():
        number = errno.ENOTDIR if folder.exists() else errno.ENOENT
        raise OSError(number, f"{os.strerror(number)}; {path.name} needs this folder", str(folder))


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """A file to write; it gets its name, and replaces what has it, at the end of the context.

    An error leaves what was there before. A device or a pipe is written to as it is.

    Parameters
    ----------
    path : str or Path
    overwrite : bool
        Whether a file of that name is replaced; a link is, and not the file that it leads to.

    Raises
    ------
    FileExistsError
        The file exists, and ``overwrite`` is false.
    """
    target = Path(path)
    require_folder(target)
    if _is_stream(target):
        with open(target, "wb") as file:
            yield file
        return
    if target.is_dir() and not target.is_symlink():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(target))
    if not overwrite and has_name(target):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(target))
    # The name of the file may be as long as the system allows.
    partial = target.with_name(f".{os.urandom(8).hex()}.partial")
    try:
        with os.fdopen(make_file(partial), "w+b") as file:
            yield file
            file.flush()
            if config.durability == "fsync":
                os.fsync(file.fileno())
        give_name(partial, target, overwrite=overwrite)
    finally:
        with contextlib.suppress(FileNotFoundError):
            partial.unlink()


def _is_stream(path: Path) -> bool:
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def give_name(partial: Path, target: Path, *, overwrite: bool) -> None:
    """Rename a file; without ``overwrite`` only if nothing has the name at that moment.

    Raises
    ------
    FileExistsError
        Something has the name, and ``overwrite`` is false.
    """
    if overwrite:
        partial.replace(target)
    else:
        try:
            os.link(partial, target, follow_symlinks=False)
        except (OSError, NotImplementedError) as error:
            if isinstance(error, OSError) and error.errno not in _NO_LINKS:
                raise
            # A file system without hard links: the name is asked for, and then taken.
            if has_name(target):
                raise FileExistsError(
                    errno.EEXIST, os.strerror(errno.EEXIST), str(target)
                ) from None
            partial.rename(target)
        else:
            # The caller removes what is partial, also after an error.
            with contextlib.suppress(OSError):
                partial.unlink()
    sync_folder(target.parent)


def sync_folder(folder: Path | str, *, fsync: bool | None = None) -> None:
    """Make renames in a folder durable, if ``fsync``, or else the setting, asks for that."""
    wanted = config.durability == "fsync" if fsync is None else fsync
    if not wanted or not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | NOT_INHERITED)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def swap_folders(new: Path, old: Path, aside: Path) -> None:
    """Give ``new`` the name of ``old``, and ``old`` the name ``aside``.

    On Linux both happen at one moment; elsewhere a kill between two renames leaves ``old`` complete
    under the name ``aside``.
    """
    if exchange(new, old):
        new.rename(aside)
    else:
        old.rename(aside)
        try:
            new.rename(old)
        except BaseException:
            aside.rename(old)
            raise
    sync_folder(old.parent)


def exchange(one: Path, other: Path) -> bool:
    """Exchange two names at one moment; False where the system cannot."""
    # Import time: only folders that are replaced need it.
    import ctypes

    call = (
        getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
        if os.name == "posix"
        else None
    )
    if call is None:
        return False
    names = os.fsencode(one), os.fsencode(other)
    if call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP):
        return False
    raise OSError(number, os.strerror(number), str(other))
