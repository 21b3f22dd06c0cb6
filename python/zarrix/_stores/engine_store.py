"""The mapping methods of stores whose values the engine gets: its own, and those it calls.

Keys are checked by the engine. Metadata documents are read up to a limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from zarrix._errors import InvalidKeyError
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import is_document, keys_of
from zarrix._stores.sync_methods import SyncMethods
from zarrix._stores.tagged import most_bytes

__all__ = ["EngineStore", "as_buffer"]


class EngineStore(SyncMethods, Store):
    """The mapping methods of a native store."""

    def __getitem__(self, key: str) -> bytes:
        value = self._engine.get(self.engine_path(_key(key)), most=most_bytes(key))
        if value is None:
            raise KeyError(key)
        return value

    def _value(self, key: str, default: Any = None) -> Any:
        try:
            value = self._engine.get(self.engine_path(_key(key)), most=most_bytes(key))
        except InvalidKeyError:
            return default
        return default if value is None else value

    def _part(self, key: str, byte_range: Any, part: slice) -> Any:
        begin = 0 if part.start is None else part.start
        is_last = hasattr(byte_range, "suffix")
        if type(self)._value is not EngineStore._value or (begin < 0 and not is_last):
            return super()._part(key, byte_range, part)
        try:
            name = self.engine_path(_key(key))
            if is_last:
                return self._engine.get_last(name, byte_range.suffix)
            return self._engine.get_slice(name, begin, part.stop)
        except InvalidKeyError:
            return None

    def _first_document(self, path: str, names: Sequence[str]) -> tuple[str, Any] | None:
        if type(self)._value is not EngineStore._value:
            return super()._first_document(path, names)
        get, most = self._engine.get, config.max_document_bytes
        try:
            for name, key in zip(names, keys_of(path, names), strict=True):
                value = get(self.engine_path(key), most=most)
                if value is not None:
                    return name, value
        except InvalidKeyError:
            pass
        return None

    def getitems(self, keys: Iterable[str], *, contexts: Any = None) -> dict[str, Any]:
        """The values of those ``keys`` that are stored, in one call of the engine.

        Parameters
        ----------
        keys : iterable of str
        contexts : optional
            Accepted for zarr 2.18; it has no effect.

        Returns
        -------
        dict of str to bytes
            Keys that are not stored are left out.

        Raises
        ------
        InvalidKeyError
            A key is not one that stores accept, such as ``"../a"``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.DirectoryStore("some.zarr")
        >>> store["a/b"] = b"1"
        >>> store.getitems(["a/b", "c"])
        {'a/b': b'1'}
        """
        names = list(keys)
        most = config.max_document_bytes if all(map(is_document, names)) else 2**64 - 1
        values = self._engine.get_many([self.engine_path(_key(n)) for n in names], most=most)
        return {name: value for name, value in zip(names, values, strict=True) if value is not None}

    def __setitem__(self, key: str, value: Any) -> None:
        self._forbid_changes()
        self._engine.put(self.engine_path(_key(key)), as_buffer(value), fsync=self.syncs)

    def __delitem__(self, key: str) -> None:
        self._forbid_changes()
        name = self.engine_path(_key(key))
        # As in 2.18, deleting a key also deletes the keys below it.
        if not self._engine.delete(name, fsync=self.syncs) and not self._engine.delete_prefix(
            name, fsync=self.syncs
        ):
            raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        if not isinstance(key, str):
            return False
        try:
            return self._engine.size(self.engine_path(key)) is not None
        except InvalidKeyError:
            return False

    def __iter__(self) -> Iterator[str]:
        return iter(self._engine.list_prefix(""))

    def __len__(self) -> int:
        return len(self._engine.list_prefix(""))

    def clear(self) -> Any:
        """Delete every key.

        Returns
        -------
        None
            A coroutine under `zarrix.as_zarr`, as in zarr-python 3.

        Raises
        ------
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"})
        >>> store.clear()
        >>> len(store)
        0
        """
        self._forbid_changes()
        return self._call(self.rmdir) if self._answers_awaited else self.rmdir()


def _key(key: Any) -> str:
    if not isinstance(key, str):
        raise InvalidKeyError(f"key {key!r} has type {type(key).__name__}; keys of a store are str")
    return key


def as_buffer(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray)):
        return value
    if isinstance(value, np.ndarray):
        # NumPy does not export buffers of times, but exports all data as bytes.
        return np.ascontiguousarray(value).reshape(-1).view("u1")
    try:
        view = memoryview(value)
    except TypeError:
        raise TypeError(f"values of a store are bytes-like, not {type(value).__name__}") from None
    return view if view.c_contiguous else view.tobytes()
