"""Where the values of a store are: a system, and the names that lead there.

Each store class tells the sites of a path by its method `_sites`; `zarrix._stores.overlap` compares
them. A site is a path of names in one system: the files of this machine, a server, a mapping. A
file that holds values, such as an archive, is continued by the names inside it. Nothing is opened
and nothing is requested to make a site; only directories above a local file are looked at.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Site", "folder_of", "names_of", "of_engine", "of_file", "of_server"]

_INSIDE = "//"
"""Stands between the names of a file and the names in it; no file has this name."""

_THIS_MACHINE = frozenset(("localhost", "127.0.0.1", "::1", "[::1]", "0.0.0.0"))
# Hosts that are one service, and that may have the bucket before them.
_SERVICES = (
    (
        re.compile(r"(?:(.+?)\.)?s3(?:[.-][a-z0-9-]+)*\.amazonaws\.com(?:\.cn)?"),
        "s3.amazonaws.com",
    ),
    (re.compile(r"(?:(.+?)\.)?storage\.googleapis\.com"), "storage.googleapis.com"),
)


@dataclass(frozen=True)
class Site:
    """One way to the values at and below a path.

    Attributes
    ----------
    system : tuple of str
        Different systems have no value in common.
    names : tuple of str
        The names that lead to the values, from the root of the system.
    known : tuple
        What identifies the root and each directory on the way, as far as they exist: another
        path to one of them, such as a mount, has the same.
    is_link : bool
        Whether it is a symbolic link that leads to the values, without which they stay and the
        path does not.
    """

    system: tuple[str, ...]
    names: tuple[str, ...]
    known: tuple[tuple[int, int] | None, ...] = ()
    is_link: bool = False

    def is_in(self, other: Site) -> bool:
        """Whether this is ``other``, or below it."""
        if self.system != other.system:
            return False
        if self.names[: len(other.names)] == other.names:
            return True
        depth = next((at for at in reversed(range(len(other.known))) if other.known[at]), None)
        if depth is None:
            return False
        rest = other.names[depth:]
        return any(
            one == other.known[depth] and self.names[at : at + len(rest)] == rest
            for at, one in enumerate(self.known)
        )


def names_of(*paths: str) -> tuple[str, ...]:
    """The names in paths, one after the other."""
    return tuple(name for path in paths for name in path.split("/") if name)


def of_file(path: str, inside: str = "") -> list[Site]:
    """The sites of a file or directory of this machine, which need not exist.

    The first has no links; the others are the links on the way, also one that leads to nothing.

    Parameters
    ----------
    path : str
    inside : str
        The path in a file that holds values; empty for all of it.
    """
    real = os.path.realpath(path)
    more = (_INSIDE, *names_of(inside)) if inside else ()
    drive, below = os.path.splitdrive(real)
    names = names_of(below.replace(os.sep, "/"))
    found = [Site(("files", drive), (*names, *more), tuple(_identities(drive + os.sep, names)))]
    for link in _links(os.path.abspath(path)):
        folder = of_file(os.path.dirname(link))[0]
        leaf = os.path.basename(link)
        found.append(Site(folder.system, (*folder.names, leaf), folder.known, is_link=True))
    return found


def _identities(root: str, names: tuple[str, ...]) -> Iterator[tuple[int, int] | None]:
    """Device and inode of the root and of each directory on the way, as far as they exist."""
    for count in range(len(names) + 1):
        try:
            status = os.stat(os.path.join(root, *names[:count]))
        except OSError:
            return
        # Some file systems number nothing.
        yield (status.st_dev, status.st_ino) if status.st_ino else None


def _links(path: str, seen: set[str] | None = None) -> Iterator[str]:
    """Every symbolic link on the way to ``path``, once: also those in the targets of links."""
    seen = set() if seen is None else seen
    drive, below = os.path.splitdrive(path)
    at = drive + os.sep
    for name in below.split(os.sep):
        at = os.path.join(at, name)
        if not os.path.islink(at):
            continue
        if at not in seen:
            seen.add(at)
            yield at
            target = os.path.join(os.path.dirname(at), os.readlink(at))
            yield from _links(os.path.abspath(target), seen)
        at = os.path.realpath(at)


def of_server(host: str, path: str, inside: str = "") -> Site:
    """The site of a path on a server, whose first name is the bucket.

    Host and port are compared as text: two names of one server are two servers, except for those
    of this machine and for the endpoints of AWS and of Google. Resolving names would be a request,
    and a mirror of a bucket on another server has to stay a destination.

    Parameters
    ----------
    host : str
        With the port, and with or without a scheme.
    path : str
    inside : str
        The path in an archive on the server.
    """
    scheme, found, rest = host.lower().rstrip("/").rpartition("://")
    host, _, above = rest.partition("/")
    name, colon, port = host.rpartition(":")
    if not colon or not port.isdecimal():
        name, port = host, ""
    port = port or ("80" if found and scheme == "http" else "443")
    name = "localhost" if name in _THIS_MACHINE else name
    more = (_INSIDE, *names_of(inside)) if inside else ()
    for pattern, service in _SERVICES:
        matched = pattern.fullmatch(name)
        if matched:
            bucket = matched[1] or ""
            return Site(("server", service), (*names_of(bucket, above, path), *more))
    return Site(("server", f"{name}:{port}"), (*names_of(above, path), *more))


def of_engine(name: str, path: str) -> list[Site]:
    """The site of a path in values of this process, of which an engine store has the id."""
    return [Site(("engine", name), names_of(path))]


def folder_of(sites: list[Site]) -> str | None:
    """The path of a folder or file of this machine that has the values; None without one."""
    for site in sites:
        if site.system[0] == "files" and not site.is_link:
            names = site.names
            names = names[: names.index(_INSIDE)] if _INSIDE in names else names
            return site.system[1] + os.sep + os.path.join("", *names)
    return None
