"""Files below a folder, opened without following a link out of it.

Each folder on the way is opened from the one above it, and a link is never followed by the system:
its target is read, and the walk begins again with that instead. So a link that another process puts
in between is not followed either.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence

__all__ = ["open_beneath"]

_MOST_LINKS = 40
# Without the right to read a folder, one may still go through it.
_FOLDER = (
    getattr(os, "O_PATH", os.O_RDONLY)
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
)
# Opening a pipe does not wait for its other end.
_FILE = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
# What a link is to `open` with O_NOFOLLOW; the last is that of BSD.
_IS_LINK = frozenset({errno.ELOOP, errno.ENOTDIR, getattr(errno, "EMLINK", errno.ELOOP)})
_ABSENT = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ENXIO, errno.EINVAL})
_HAS_FOLDERS = os.open in os.supports_dir_fd and os.readlink in os.supports_dir_fd


def open_beneath(root: str, key: str) -> int | None:
    """A descriptor of the file at ``key`` below ``root``; None if there is none.

    A file behind a link that leads out of ``root`` is none, and so are folders, pipes and devices.

    Parameters
    ----------
    root : str
        An absolute path without links.
    key : str
        Names joined by ``/``; the caller has checked that none is empty, ``.`` or ``..``.

    Raises
    ------
    OSError
        The file is there, and cannot be opened.
    """
    try:
        found = _walked(root, key.split("/")) if _HAS_FOLDERS else _compared(root, key)
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise
    except ValueError:
        # The file system has no such name.
        return None
    if found is not None and not stat.S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        return None
    return found


def _walked(root: str, names: list[str]) -> int | None:
    for _ in range(_MOST_LINKS):
        found = _without_links(root, names)
        if isinstance(found, int):
            return found
        number, target = found
        beyond = _behind_link(names[:number], target)
        if beyond is None:
            return None
        names = [*beyond, *names[number + 1 :]]
        if not names:
            return None
    return None


def _without_links(root: str, names: Sequence[str]) -> int | tuple[int, str]:
    """The descriptor, or the number of the first name that is a link, and its target."""
    above = os.open(root, _FOLDER)
    try:
        for number, name in enumerate(names):
            is_last = number + 1 == len(names)
            try:
                found = os.open(name, _FILE if is_last else _FOLDER, dir_fd=above)
            except OSError as error:
                target = _target(name, above) if error.errno in _IS_LINK else None
                if target is None:
                    raise
                return number, target
            if is_last:
                return found
            os.close(above)
            above = found
    finally:
        os.close(above)
    raise FileNotFoundError(errno.ENOENT, "no names")


def _target(name: str, above: int) -> str | None:
    """The target of a link; None if it is not a link."""
    try:
        return os.readlink(name, dir_fd=above)
    except OSError:
        return None


def _behind_link(above: Sequence[str], target: str) -> list[str] | None:
    """The names from the root to the target of a link in ``above``; None if it leads out.

    Examples
    --------
    >>> _behind_link(["a", "b"], "../c"), _behind_link(["a"], "../.."), _behind_link([], "/etc")
    (['a', 'c'], None, None)
    """
    if target.startswith("/"):
        return None
    names = list(above)
    for name in target.split("/"):
        if name == "..":
            if not names:
                return None
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return names


def _compared(root: str, key: str) -> int | None:
    """The descriptor where the system cannot open from a folder: it is compared afterwards."""
    path = os.path.join(root, *key.split("/"))
    found = os.open(path, _FILE)
    try:
        real = os.path.realpath(path)
        top = os.path.realpath(root)
        inside = os.path.commonpath([real, top]) == top
        if inside and os.path.samestat(os.lstat(real), os.fstat(found)):
            return found
    except BaseException:
        os.close(found)
        raise
    os.close(found)
    return None
