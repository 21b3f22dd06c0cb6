"""Where the values are that objects of other packages have: file systems, mappings and stores.

The second half of `zarrix._stores.sites`, for classes that do not tell it themselves.
"""

from __future__ import annotations

import os
from typing import Any

from zarrix._stores.keys import key_of
from zarrix._stores.remote import store as _remote
from zarrix._stores.sites import Site, names_of, of_file

__all__ = ["of_filesystem", "of_object"]

# The options of file systems that say where the values are.
_ADDRESSES = ("endpoint_url", "account_name", "account_host", "connection_string", "host", "port")


def of_filesystem(fs: Any, path: str, inside: str = "") -> list[Site]:
    """The sites of a path of one of fsspec's file systems; those of caches, folders and archives
    are where the file systems that they are made of have them.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
    path : str
    inside : str
        The path in an archive at ``path``.
    """
    kind = type(fs).__name__
    if kind == "LocalFileSystem":
        return of_file(os.path.abspath(path), inside)
    within = getattr(fs, "sync_fs", None) or getattr(fs, "fs", None)
    if hasattr(within, "_strip_protocol"):
        above = fs.path if kind == "DirFileSystem" else ""
        return of_filesystem(within, key_of(above, path), inside)
    archive: Any = getattr(fs, "of", None)
    if hasattr(getattr(archive, "fs", None), "_strip_protocol"):
        return of_filesystem(archive.fs, archive.path, path or inside)
    server = _of_server(fs, path, inside)
    if server is not None:
        return [server]
    if kind == "MemoryFileSystem":
        # All of its instances have the same values.
        system: tuple[str, ...] = ("fsspec", kind)
    else:
        system = ("fsspec", kind, str(getattr(fs, "host", "") or getattr(fs, "_fs_token", "")))
    return [Site(system, (*names_of(path), *names_of(inside)))]


def _of_server(fs: Any, path: str, inside: str) -> Site | None:
    scheme = _remote.scheme_of(fs)
    if scheme is None:
        return None
    options = {**(getattr(fs, "storage_options", None) or {})}
    options |= options.get("client_kwargs") or {}
    known = {name: options[name] for name in _ADDRESSES if name in options}
    try:
        url = path if "://" in path else f"{scheme}://{path.lstrip('/')}"
        return _remote.site_of(_remote.RemoteStore(url, known).address, "", inside)
    except (_remote.NeedsFsspec, ValueError, PermissionError):
        return None


def of_object(values: Any, path: str) -> list[Site]:
    """The sites of a path in an object that has values, such as a mapping.

    Two objects are two systems, since a mapping does not tell where its values are. If it has a
    file system, or a path, a root or a directory on this machine, they are there, too.
    """
    found = [Site(("object", f"{id(values):#x}"), names_of(path))]
    told = [getattr(values, name, None) for name in ("path", "root", "directory")]
    folders = [os.fsdecode(one) for one in told if isinstance(one, str | os.PathLike)]
    filesystem = getattr(values, "fs", None)
    if hasattr(filesystem, "_strip_protocol"):
        for folder in folders:
            found += of_filesystem(filesystem, key_of(folder.rstrip("/"), path))
        return found
    for folder in folders:
        folder = folder.removeprefix("file://")
        if os.path.isabs(folder) and os.path.isdir(folder):
            found += of_file(os.path.join(folder, path))
        elif os.path.isfile(folder):
            found += of_file(folder, path)
    return found
