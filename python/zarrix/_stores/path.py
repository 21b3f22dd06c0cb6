"""Paths inside a store, and a store together with one of them."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from zarrix._errors import InvalidKeyError

__all__ = [
    "StorePath",
    "is_url",
    "normalize_dimension_separator",
    "normalize_storage_path",
    "utf8_path",
]


def is_url(path: str) -> bool:
    """Whether a text names a store by a URL, such as ``s3://bucket/x``, and not by a file."""
    return "://" in path or "::" in path


def normalize_storage_path(path: Any) -> str:
    """Return a path inside a store as names joined by single slashes; ``""`` is the root.

    Parameters
    ----------
    path : str, bytes, Path or None
        Backslashes are treated as slashes.

    Returns
    -------
    str

    Raises
    ------
    InvalidKeyError
        A name is ``.`` or ``..``, contains NUL, or ends in ``.partial``, which is reserved for
        partial files (also a ``ValueError``).

    Examples
    --------
    >>> from zarrix.util import normalize_storage_path
    >>> normalize_storage_path("/foo//bar/"), normalize_storage_path(None)
    ('foo/bar', '')
    """
    if path is None:
        return ""
    text = path.decode("ascii") if isinstance(path, bytes) else str(path)
    names = [name for name in text.replace("\\", "/").split("/") if name]
    for name in names:
        if name in (".", "..") or "\0" in name:
            raise InvalidKeyError(
                f"path {text!r} has the segment {name!r}; '.', '..' and NUL are not allowed"
            )
        if name.endswith(".partial"):
            raise InvalidKeyError(
                f"path {text!r} has the segment {name!r}; names that end in '.partial' are "
                "reserved for partial files"
            )
    return "/".join(names)


def utf8_path(path: str) -> str:
    """A path of the file system in UTF-8, which the engine takes with any encoding of Python's.

    Raises
    ------
    InvalidKeyError
        It is not UTF-8.
    """
    try:
        return os.fsencode(path).decode()
    except UnicodeError:
        raise InvalidKeyError(
            f"the path {path!r} is not UTF-8; rename the file or folder"
        ) from None


def normalize_dimension_separator(separator: str | None) -> str | None:
    """Return ``separator`` unchanged if it is valid.

    Parameters
    ----------
    separator : str or None
        "." or "/".

    Returns
    -------
    str or None

    Raises
    ------
    ValueError
        It is something else.

    Examples
    --------
    >>> from zarrix.util import normalize_dimension_separator
    >>> normalize_dimension_separator("/")
    '/'
    """
    if separator in (".", "/", None):
        return separator
    raise ValueError(f"dimension_separator must be either '.' or '/', not {separator!r}")


@dataclass(frozen=True)
class StorePath:
    """A store and a path in it, as in zarr-python 3.

    Parameters
    ----------
    store : Store
    path : str
        Empty for the root.

    Raises
    ------
    TypeError
        On division, if the other side is not a str.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros(3, store=zarr.DirectoryStore("data.zarr"), path="a/b")
    >>> z.store_path.path, str(z.store_path / "c").endswith("data.zarr/a/b/c")
    ('a/b', True)
    """

    store: Any
    path: str = ""

    @classmethod
    def of(cls, value: Any) -> StorePath:
        """Return ``value`` if it is a `StorePath`; otherwise the root of the store ``value``.

        Parameters
        ----------
        value : StorePath or Store

        Returns
        -------
        StorePath

        Examples
        --------
        >>> from zarrix.storage import StorePath
        >>> StorePath.of({}).path
        ''
        """
        return value if isinstance(value, cls) else cls(value)

    @classmethod
    async def open(cls, store: Any, path: str, mode: str | None = None) -> StorePath:
        """The path in a store, opened for a mode of zarr-python 3. No mode changes the store.

        Parameters
        ----------
        store : Store
        path : str
        mode : {"r", "r+", "a", "w", "w-"}, optional
            With "r", the store is a read-only one.

        Returns
        -------
        StorePath

        Raises
        ------
        ValueError
            The mode is none of these, or it writes and the store is read-only.
        FileExistsError
            The mode is "w-", and something is stored below the path.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> asyncio.run(StorePath.open(zarr.MemoryStore(), "a", mode="r")).read_only
        True
        """
        modes = ("r", "r+", "a", "w", "w-")
        if mode is not None and mode not in modes:
            raise ValueError(f"Invalid mode: {mode!r}; it is one of {', '.join(modes)}")
        if mode == "r" and not store.read_only:
            store = store.with_read_only(True)
        elif mode not in ("r", None) and store.read_only:
            raise ValueError(f"the store {store!r} is read-only, which mode {mode!r} is not")
        await store._ensure_open()
        opened = cls(store, normalize_storage_path(path))
        if mode == "w-" and not await opened.is_empty():
            raise FileExistsError(f"{opened} has values, which mode 'w-' does not replace")
        return opened

    def __str__(self) -> str:
        root = getattr(self.store, "path", None)
        start = f"file://{root}" if isinstance(root, str) else f"memory://{id(self.store)}"
        return f"{start}/{self.path}".rstrip("/")

    @property
    def read_only(self) -> bool:
        """Whether the store is read-only."""
        return bool(getattr(self.store, "read_only", False))

    def __truediv__(self, other: str) -> StorePath:
        return StorePath(self.store, f"{self.path}/{other}".strip("/"))

    async def get(self, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value at the path, as a buffer; None if nothing is stored.

        Parameters
        ----------
        prototype : BufferPrototype, optional
        byte_range : ByteRequest, optional

        Returns
        -------
        Buffer or None

        Raises
        ------
        OSError
            The value cannot be read.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> path = StorePath(zarr.MemoryStore({"a/b": b"1"})) / "a/b"
        >>> asyncio.run(path.get()).to_bytes()
        b'1'
        """
        # Import time: paths are everywhere, and buffers load NumPy.
        from zarrix._runtime.buffers import default_buffer_prototype

        prototype = prototype or default_buffer_prototype()
        return await self.store.get(self.path, prototype=prototype, byte_range=byte_range)

    async def set(self, value: Any) -> None:
        """Store the bytes of a buffer at the path.

        Parameters
        ----------
        value : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore()
        >>> asyncio.run(StorePath(store, "a").set(b"1"))
        >>> store["a"]
        b'1'
        """
        await self.store.set(self.path, value)

    async def delete(self) -> None:
        """Delete the value at the path; nothing happens if it is not stored.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> asyncio.run(StorePath(store, "a").delete())
        >>> len(store)
        0
        """
        await self.store.delete(self.path)

    async def exists(self) -> bool:
        """Whether a value is stored at the path.

        Returns
        -------
        bool

        Raises
        ------
        OSError
            The store cannot be asked.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> asyncio.run(StorePath(zarr.MemoryStore({"a": b"1"}), "a").exists())
        True
        """
        found: bool = await self.store.exists(self.path)
        return found

    async def get_json(self, *, byte_range: Any = None) -> Any:
        """The JSON document at the path; None if nothing is stored.

        Parameters
        ----------
        byte_range : ByteRequest, optional
            The part of the value that is the document.

        Returns
        -------
        object

        Raises
        ------
        ValueError
            The value is not JSON.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore({"a": b"[1, 2]"})
        >>> asyncio.run(StorePath(store, "a").get_json())
        [1, 2]
        """
        value = await self.get(byte_range=byte_range)
        return None if value is None else json.loads(value.to_bytes())

    async def set_if_not_exists(self, default: Any) -> None:
        """Store the bytes of a buffer at the path, unless a value is stored there.

        Parameters
        ----------
        default : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> asyncio.run(StorePath(store, "a").set_if_not_exists(b"2"))
        >>> store["a"]
        b'1'
        """
        await self.store.set_if_not_exists(self.path, default)

    async def delete_dir(self) -> None:
        """Delete every key below the path.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore({"a/b": b"1", "c": b"2"})
        >>> asyncio.run(StorePath(store, "a").delete_dir())
        >>> list(store)
        ['c']
        """
        await self.store.delete_dir(self.path)

    async def is_empty(self) -> bool:
        """Whether no key is stored below the path.

        Returns
        -------
        bool

        Raises
        ------
        OSError
            The store cannot be listed.

        Examples
        --------
        >>> import asyncio, zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> asyncio.run(StorePath(zarr.MemoryStore({"a/b": b"1"}), "a").is_empty())
        False
        """
        empty: bool = await self.store.is_empty(self.path)
        return empty

    def get_sync(self, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value at the path, as a buffer, without an event loop; None if nothing is stored.

        Parameters
        ----------
        prototype : BufferPrototype, optional
        byte_range : ByteRequest, optional

        Returns
        -------
        Buffer or None

        Raises
        ------
        OSError
            The value cannot be read.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> StorePath(zarr.MemoryStore({"a": b"1"}), "a").get_sync().to_bytes()
        b'1'
        """
        return self.store.get_sync(self.path, prototype=prototype, byte_range=byte_range)

    def set_sync(self, value: Any) -> None:
        """Store the bytes of a buffer at the path, without an event loop.

        Parameters
        ----------
        value : Buffer or bytes-like

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore()
        >>> StorePath(store, "a").set_sync(b"1")
        >>> store["a"]
        b'1'
        """
        self.store.set_sync(self.path, value)

    def delete_sync(self) -> None:
        """Delete the value at the path, without an event loop, if it is stored.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.storage import StorePath
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> StorePath(store, "a").delete_sync()
        >>> len(store)
        0
        """
        self.store.delete_sync(self.path)


StorePath.__module__ = "zarrix.storage"
