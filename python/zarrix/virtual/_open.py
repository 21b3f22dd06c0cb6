"""Saving the list of a virtual array or group, and opening it again."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from zarrix._array.array import Array
from zarrix._errors import CorruptStoreError, VirtualError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._runtime.config import config
from zarrix._runtime.new_files import whole_file
from zarrix._runtime.signatures import takes
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.redaction import public_url
from zarrix._stores.reference.targets import Targets
from zarrix.virtual._document import parsed, written
from zarrix.virtual._opener import Opener
from zarrix.virtual._store import VirtualStore
from zarrix.virtual._table import Source, Table
from zarrix.virtual._target import require_free

__all__ = ["of_path", "open", "save", "store_of"]


def store_of(node: Any) -> VirtualStore:
    """The store of a virtual array or group.

    Raises
    ------
    VirtualError
        It is something else.
    """
    store = getattr(node, "store", None)
    if not isinstance(node, Array | Group) or not isinstance(store, VirtualStore):
        raise VirtualError(f"{node!r} is not a virtual array or group")
    return store


@takes()
def save(
    node: Array | Group,
    path: str | os.PathLike[str],
    *,
    relative: bool = True,
    overwrite: bool = False,
) -> None:
    """Store the list of a virtual array or group as a small JSON document.

    The document is there as a whole, or not at all. `zarrix.open` opens it, and opens no piece
    before it is read.

    Parameters
    ----------
    node : Array or Group
        A virtual one, as a whole.
    path : str or Path
        A file whose name ends in ``.json``.
    relative : bool
        Whether local paths are stored relative to the folder of the document, so that both can be
        moved together.
    overwrite : bool
        Replace a list that is there.

    Raises
    ------
    VirtualError
        The node is not virtual, a piece is in the memory of this process, or ``path`` is another
        file than a list.
    OverlapError
        ``path`` is a piece, or is inside of one.
    FileExistsError
        The file exists, and ``overwrite`` is false.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> np.save("day1.npy", np.arange(3))
    >>> np.save("day2.npy", np.arange(3, 5))
    >>> virtual.save(virtual.concat("day*.npy"), "days.virtual.json")
    >>> zarr.open("days.virtual.json", mode="r")[1:4]
    array([1, 2, 3])
    """
    store, target = store_of(node), os.fspath(path)
    if node.path:
        raise VirtualError(
            f"{node!r} is part of a virtual group; save the group, or concat([array])"
        )
    if not target.endswith(".json"):
        raise VirtualError(f"{target!r} is a list of pieces, whose name ends in .json")
    folder = os.path.dirname(os.path.abspath(target))
    opener, used = store.opener, _used(store)
    sources = [_stored(opener, number, folder if relative else "") for number in used]
    numbers = {number: place for place, number in enumerate(used)}
    tables = {name: _renumbered(table, numbers) for name, table in store.tables.items()}
    if overwrite:
        require_free(store, target, "a list of pieces")
    with whole_file(target, overwrite=overwrite) as file:
        file.write(written(sources, store.stored_values, tables))


def _used(store: VirtualStore) -> list[int]:
    every = (number for table in store.tables.values() for number in table.sources)
    return [*dict.fromkeys(every)]


def _renumbered(table: Table, numbers: Mapping[int, int]) -> Table:
    columns = (table.paths, table.starts, table.shapes, table.checks, table.more)
    return Table(table.shape, ([numbers[one] for one in table.sources], *columns))


def _stored(opener: Opener, number: int, folder: str) -> Source:
    source = opener.sources[number]
    location = source.location
    if location is None:
        raise VirtualError(
            f"the piece {opener.told(number, '')} is in the memory of this process, so that no "
            "list can name it; save it first"
        )
    if is_url(location):
        if public_url(location) != location:
            raise VirtualError(
                f"{public_url(location)} has a secret in its URL, which is not stored; pass it as "
                "storage_options"
            )
        return source
    location = os.path.abspath(os.path.join(opener.home, location))
    if folder:
        location = os.path.relpath(location, folder).replace(os.sep, "/")
    return source._replace(location=location)


@takes()
def open(
    path: str | os.PathLike[str],
    *,
    storage_options: Mapping[str, Any] | None = None,
    allowed: Sequence[str] | None = None,
) -> Array | Group:
    """Open the list of a virtual array or group; no piece is opened.

    A document is not trusted: it names local files and URLs of the engine's own schemes, nothing
    in it runs, and one on a server names no local files. `zarrix.open` opens a local one alike.

    Parameters
    ----------
    path : str or Path
        May be a URL.
    storage_options : mapping, optional
        For the URL, and for pieces on the same server.
    allowed : sequence of str, optional
        Folders and URLs that may contain pieces on servers; credentials are sent there, too.

    Returns
    -------
    Array or Group

    Raises
    ------
    CorruptStoreError
        It is not a list, or says something that no list says.
    FileNotFoundError
        There is none.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import virtual
    >>> zarr.save_array("a.zarr", np.arange(3))
    >>> virtual.save(virtual.stack(["a.zarr", "a.zarr"]), "twice.virtual.json")
    >>> virtual.open("twice.virtual.json")[:, 1]
    array([1, 1])
    """
    return open_node(_opened(os.fspath(path), storage_options, allowed), mode="r")


def of_path(path: str, storage_options: Mapping[str, Any] | None = None) -> VirtualStore:
    """The store of a local document."""
    return _opened(path, None, None)


@contextmanager
def _uncollected() -> Iterator[None]:
    """No collection of garbage: a long list makes many objects, and none of them is garbage."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _opened(
    path: str, storage_options: Mapping[str, Any] | None, allowed: Sequence[str] | None
) -> VirtualStore:
    folder, slash, name = path.replace(os.sep, "/").rpartition("/")
    is_remote = is_url(path)
    root = folder if is_remote else os.path.abspath(folder + slash)
    most = config.max_document_bytes
    value = as_store(root, storage_options if is_remote else None)._engine.get(name, most=most)
    shown = public_url(path)
    if value is None:
        raise FileNotFoundError(f"there is no document at {shown}")
    if len(value) > most:
        raise CorruptStoreError(
            f"{shown} has more than {most} bytes, which is config.max_document_bytes; raise it if "
            "this is intended"
        )
    with _uncollected():
        listed, values, tables = parsed(value, shown)
    sources: Sequence[Source] = listed
    if is_remote:
        for source in sources:
            location = source.location or ""
            if not is_url(location) and (location.startswith("/") or ".." in location.split("/")):
                raise CorruptStoreError(
                    f"{shown} is on a server and names {location!r}, which is not below its folder"
                )
        sources = [
            one if is_url(one.location or "") else one._replace(location=f"{root}/{one.location}")
            for one in sources
        ]
    targets = Targets(shown, path if is_remote else "", dict(storage_options or {}), allowed, {})
    opener = Opener(sources, targets, "" if is_remote else root)
    return VirtualStore(values, tables, opener, "" if is_remote else os.path.abspath(path))
