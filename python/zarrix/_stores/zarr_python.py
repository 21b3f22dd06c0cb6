"""Stores whose methods are coroutines, as zarr-python 3 defines them: ``zarr.abc.store.Store``.

They are recognised by that class or by their methods; zarr-python is not imported for this. Its
stores of local files and of fsspec become ours, which the engine serves. All others are called, for
many values at once.

Their values have no versions. A shard is identified by its index: the parts are read first and then
the index again, and the parts are used only if the index has not changed.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import importlib
import inspect
import io
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from zarrix._runtime import buffers, event_loop
from zarrix._runtime.buffers import as_bytes
from zarrix._stores.awaited import Answer, AwaitedStore, Part, gather
from zarrix._stores.awaited_methods import defines_awaited
from zarrix._stores.base import Store
from zarrix._stores.coalesce import GAP_BYTES, coalesce_ranges, slice_ranges
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.fsspec import FsspecStore
from zarrix._stores.keys import NODE_DOCUMENTS, is_document, key_of
from zarrix._stores.local import LocalStore
from zarrix._stores.obstore import ObjectStore
from zarrix._stores.sites import Site
from zarrix._stores.wrapper import WrapperStore

__all__ = ["AsyncStore", "of_zarr_python"]

# For more names than this, one listing of all keys below shows which names have keys below them.
_FEW_NAMES = 256
# The number of shard indexes that are cached.
_REMEMBERED = 4096
# The maximum length of a value whose length is not known.
_UNKNOWN_LENGTH = 2**63


def of_zarr_python(store: Any, options: object = None) -> Store | None:
    """Our store for a store of zarr-python 3, or one with its methods; otherwise None."""
    if type(store).__module__.partition(".")[0] == "icechunk" and hasattr(store, "store"):
        # An Icechunk session, which has the store.
        store = store.store
    if not _is_async(type(store)):
        return None
    native = _native(store)
    if native is not None:
        return native
    return AsyncStore(store)


def _is_async(kind: type) -> bool:
    if _base(kind) is not None or (issubclass(kind, Store) and defines_awaited(kind)):
        return True
    coroutines = ("get", "set", "delete", "exists")
    return all(hasattr(kind, name) for name in ("list", "list_prefix", "list_dir")) and all(
        inspect.iscoroutinefunction(getattr(kind, name, None)) for name in coroutines
    )


def _base(kind: type) -> type | None:
    names = ((one.__module__, one.__name__, one) for one in kind.__mro__)
    return next(
        (one for module, name, one in names if (module, name) == ("zarr.abc.store", "Store")), None
    )


def _native(store: Any) -> Store | None:
    kind = type(store)
    if kind.__module__ == "zarrix.interop":
        inner: Store = store.store
        if store.read_only and not inner.read_only:
            inner = WrapperStore(inner)
            inner._writeable = False
        return inner
    if kind.__module__.rpartition(".")[0] != "zarr.storage":
        return None
    if kind.__name__ == "LocalStore":
        return LocalStore(store.root, read_only=store.read_only)
    if kind.__name__ == "FsspecStore":
        return FsspecStore(store.fs, store.read_only, store.path, store.allowed_exceptions)
    if kind.__name__ == "ObjectStore":
        return ObjectStore(store.store, read_only=store.read_only)
    return None


class AsyncStore(AwaitedStore):
    """Our store over a store of zarr-python 3: of Icechunk, of VirtualiZarr, or a user's own.

    Threads of this process that write parts of one chunk lose no update; among several processes
    the last one wins, unless the store has transactions. A shard is read in parts, and read again
    if its index changed meanwhile.

    Parameters
    ----------
    store : zarr.abc.store.Store
        Or any object with the same coroutines. It is referenced, not copied, and called from one
        thread of this package. If it is read-only, so is this store.

    Raises
    ------
    AttributeError
        On access, if ``store`` lacks one of the coroutines.

    Examples
    --------
    This object has the one coroutine that is needed to read a value.

    >>> from zarrix.storage import AsyncStore
    >>> class Squares:
    ...     read_only = True
    ...
    ...     async def get(self, key, prototype, byte_range=None):
    ...         return prototype.buffer.from_bytes(b"%d" % int(key) ** 2)
    >>> store = AsyncStore(Squares())
    >>> store["12"], store.read_only
    (b'144', True)
    """

    # As zarr-python does, for which these stores are made: one request less for the attributes.
    _reads_attributes = True

    def __init__(self, store: Any) -> None:
        self._store = store
        self._prepare()

    def _prepare(self) -> None:
        store = self._store
        self._writeable = not getattr(store, "read_only", False) and getattr(
            store, "supports_writes", True
        )
        self._erasable = self._writeable and getattr(store, "supports_deletes", True)
        self._listable = getattr(store, "supports_listing", True)
        if _base(type(store)) is None:
            self._buffers: Any = buffers.default_buffer_prototype()
            self._requests: Any = buffers
        else:
            # Already imported, because the store's class is a subclass.
            self._buffers = importlib.import_module("zarr.core.buffer.cpu").buffer_prototype
            self._requests = importlib.import_module("zarr.abc.store")
        if type(store).__module__.partition(".")[0] == "icechunk":
            # It refuses documents of v2.
            self._only_format = 3
            self._own_commits = "session.commit(message)"
        # The inherited one reads the whole value.
        inherited = (None, Store.getsize, getattr(_base(type(store)), "getsize", None))
        self._tells_sizes = getattr(type(store), "getsize", None) not in inherited
        # By key: the location of the shard index in the last request.
        self._edges: OrderedDict[str, int] = OrderedDict()
        self._mutex = threading.Lock()
        if hasattr(store, "_ensure_open"):
            event_loop.run(store._ensure_open())

    @property
    def _user_store(self) -> Store:
        return self._store if isinstance(self._store, Store) else self

    def _sites(self, path: str) -> list[Site]:
        inner = self._store
        if isinstance(inner, Store):
            return inner._sites(path)
        # The wrappers of zarr-python, and its stores in memory, which may share a mapping.
        while hasattr(inner, "_store"):
            inner = inner._store
        return of_object(getattr(inner, "_store_dict", inner), path)

    def _identity(self) -> str:
        # Two handles on one object share one set of locks.
        return f"{id(self._store):#x}"

    def __getstate__(self) -> Any:
        state = super().__getstate__()
        return {name: state[name] for name in state.keys() & {"_store", "_durability"}}

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._prepare()

    def close(self) -> None:
        if hasattr(self._store, "close"):
            self._store.close()

    async def exists(self, key: str) -> bool:
        """Whether ``key`` is stored, by the store's own method, which may read nothing.

        Parameters
        ----------
        key : str

        Returns
        -------
        bool

        Raises
        ------
        Exception
            Any error that the store raises.

        Examples
        --------
        >>> import asyncio
        >>> from zarrix.storage import AsyncStore
        >>> class Nothing:
        ...     async def exists(self, key):
        ...         return False
        >>> asyncio.run(AsyncStore(Nothing()).exists("zarr.json"))
        False
        """
        return bool(await self._call(self._run, self._store.exists(key)))

    async def _get(self, key: str, part: Any = None) -> Any:
        found = await self._store.get(key, self._buffers, part)
        if found is None:
            return None
        try:
            own = getattr(found, "to_bytes", None)
            # Numbers have a method of this name, and are not values.
            if own is not None and not hasattr(found, "as_numpy_array") and type(found) is not int:
                found = own()
            value = memoryview(as_bytes(found))
            if value.format == "O":
                raise TypeError("its elements are objects")
            return value.cast("B")
        except (TypeError, ValueError, AttributeError) as error:
            kind, place = type(found).__name__, type(self._store).__name__
            raise TypeError(
                f"{place}.get({key!r}) gave {kind!r}, which is not a Buffer of bytes: {error}"
            ) from error

    async def _ask(self, key: str, part: Part) -> Answer:
        if part is None or is_document(key):
            # Icechunk and VirtualiZarr give whole documents, even if a part is asked for.
            value = await self._get(key)
            return None if value is None else (_parts_of(value, part), 0, len(value))
        if isinstance(part, int):
            return await self._edge(key, part)
        return await self._ranges(key, part)

    async def _edge(self, key: str, length: int) -> Answer:
        """The first bytes of a value, or the last for a negative ``length``."""
        with self._mutex:
            self._edges[key] = length
            self._edges.move_to_end(key)
            while len(self._edges) > _REMEMBERED:
                self._edges.popitem(last=False)
        requests = self._requests
        is_last = length < 0
        request = (
            requests.SuffixByteRequest(-length) if is_last else requests.RangeByteRequest(0, length)
        )
        try:
            found = await self._get(key, request)
        except NotImplementedError:
            # tifffile's store of many files gives whole values only.
            found = await self._get(key)
            found = found if found is None else found[length:] if is_last else found[:length]
        if found is None:
            return None
        total = len(found) if len(found) < abs(length) else _UNKNOWN_LENGTH
        return [found], _version(found), total

    async def _ranges(self, key: str, ranges: Sequence[tuple[int, int]]) -> Answer:
        with self._mutex:
            length = self._edges.get(key)
        # Reading the whole value shows whether it is gone, shorter or not permitted.
        with contextlib.suppress(Exception):
            if length is not None:
                found = await self._coalesced(key, ranges, GAP_BYTES)
                index = await self._edge(key, length)
                if found is not None and index is not None:
                    return found, *index[1:]
            elif self._tells_sizes:
                # Versions cannot be identified, so that one request must return everything.
                work = self._coalesced(key, ranges, _UNKNOWN_LENGTH), self._length(key)
                found, total = await asyncio.gather(*work)
                if found is not None and total is not None:
                    return found, 0, total
        value = await self._get(key)
        if value is None:
            return None
        end = value[:length] if length is None or length >= 0 else value[length:]
        return slice_ranges(ranges, [(0, len(value))], [value]), _version(end), len(value)

    async def _coalesced(
        self, key: str, ranges: Sequence[tuple[int, int]], gap: int
    ) -> list[Any] | None:
        runs = coalesce_ranges(ranges, gap)
        requests = [self._requests.RangeByteRequest(start, end) for start, end in runs]
        parts = await asyncio.gather(*(self._get(key, request) for request in requests))
        return None if any(part is None for part in parts) else slice_ranges(ranges, runs, parts)

    async def _length(self, key: str) -> int | None:
        if not self._tells_sizes:
            value = await self._get(key)
            return None if value is None else len(value)
        try:
            return int(await self._store.getsize(key))
        except (FileNotFoundError, KeyError):
            return None

    async def _set(self, key: str, value: bytes) -> None:
        await self._store.set(key, self._buffers.buffer.from_bytes(value))

    async def _remove(self, key: str) -> bool:
        try:
            is_there = await self._store.exists(key)
        except Exception:
            # Icechunk raises an error for the keys of v2, and says that they have no values.
            is_there = await self._get(key) is not None
        if not is_there:
            return False
        self._require("supports_deletes", "deleted from")
        await self._store.delete(key)
        return True

    def _list(self, prefix: str) -> list[str]:
        self._require("supports_listing", "listed")
        if not prefix:
            return self._run(_all(self._store.list))
        try:
            return self._run(_all(self._store.list_prefix, f"{prefix}/"))
        except Exception:
            # Icechunk lists below nodes only, and raises an error where there is none.
            documents = [self._get(key_of(prefix, name)) for name in NODE_DOCUMENTS]
            if any(one is not None for one in self._run(gather(documents))):
                raise
            return []

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        self._require("supports_listing", "listed")
        names = self._run(_all(self._store.list_dir, prefix))
        names = sorted({name.strip("/").rpartition("/")[2] for name in names} - {""})
        if len(names) > _FEW_NAMES:
            return super()._list_dir(prefix)
        kinds = self._run(gather([self._kind(prefix, name) for name in names]))
        both = list(zip(names, kinds, strict=True))
        return (
            [name for name, (is_key, _) in both if is_key],
            [name for name, (_, is_prefix) in both if is_prefix],
        )

    async def _kind(self, prefix: str, name: str) -> tuple[bool, bool]:
        """Whether a listed name has a value, and whether there are keys below it."""
        if is_document(name):
            return True, False
        path = key_of(prefix, name)
        if not await self._is_continued(path):
            return True, False
        has_value = False
        # In some stores, a prefix of other keys also exists, and some raise an error for such a
        # key.
        with contextlib.suppress(Exception):
            has_value = await self._store.exists(path) and await self._get(path) is not None
        return has_value, True

    async def _is_continued(self, path: str) -> bool:
        for method, prefix in ((self._store.list_prefix, f"{path}/"), (self._store.list_dir, path)):
            try:
                async for _ in method(prefix):
                    return True
            except NotImplementedError:
                # VirtualiZarr's error for a listing below an array, which it does not support.
                continue
            return False
        return True

    def _require(self, ability: str, what: str) -> None:
        if not getattr(self._store, ability, True):
            kind = type(self._store).__name__
            raise io.UnsupportedOperation(f"a {kind} cannot be {what}: its {ability} is False")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AsyncStore):
            return NotImplemented
        return bool(self._store == other._store)

    def _label(self) -> str:
        # Its repr is not ours, and might contain a password.
        return f"of {type(self._store).__name__} at {id(self._store):#x}"


async def _all(method: Callable[..., AsyncIterator[str]], *arguments: str) -> list[str]:
    # Called here, because some stores send requests before the first iteration.
    return [name async for name in method(*arguments)]


def _parts_of(value: Any, part: Part) -> Sequence[Any]:
    if part is None:
        return [value]
    if isinstance(part, int):
        return [value[:part] if part >= 0 else value[part:]]
    return slice_ranges(part, [(0, len(value))], [value])


def _version(edge: Any) -> int:
    return int.from_bytes(hashlib.blake2b(edge, digest_size=8).digest(), "little")


AsyncStore.__module__ = "zarrix.storage"
