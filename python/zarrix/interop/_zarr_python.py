"""`ZarrStore`: a store of ours as one of zarr-python 3. Importing this imports zarr-python.

Its coroutines call the engine in threads, so that the caller's event loop is not blocked. The
methods that zarr-python calls without a loop make the same calls.
"""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from zarrix._errors import ReadOnlyError
from zarrix._runtime.threads import in_pool
from zarrix._stores.base import Store
from zarrix._stores.engine_store import as_buffer
from zarrix._stores.open import as_store
from zarrix._stores.zarr_python import AsyncStore
from zarrix.interop._pool import threads

__all__ = ["ZarrStore"]

P = ParamSpec("P")
T = TypeVar("T")

if TYPE_CHECKING:

    class Base:
        """The used part of ``zarr.abc.store.Store``, which the type checker does not see."""

        _is_open: bool

        def __init__(self, *, read_only: bool = False) -> None: ...
        @property
        def read_only(self) -> bool: ...
        def close(self) -> None: ...
        def _check_writable(self) -> None: ...
        async def _ensure_open(self) -> None: ...
else:
    from zarr.abc.store import Store as Base

# Inside the class, `list` is a method.
_Values = list[Any]


class ZarrStore(Base):
    """A store of zarr-python 3 over any store of zarrix: ``zarr.open(ZarrStore(...))``.

    The guarantees of the wrapped store for single values hold: they are replaced atomically, and
    `set_if_not_exists` is atomic. zarr-python itself takes no locks: two of its writers of parts of
    one chunk lose updates through this store, too.

    Parameters
    ----------
    store : Store, mapping, str or Path
        Anything that zarrix accepts as a store.
    read_only : bool
        Make the store read-only; a wrapped store that is read-only is so in any case.
    storage_options : mapping, optional
        Only with a URL; fsspec's names of the options.

    Raises
    ------
    ImportError
        On import: zarr-python 3 is not installed.

    References
    ----------
    zarr-python 3, ``zarr.abc.store.Store``.
    """

    store: Store

    def __init__(
        self,
        store: Any,
        *,
        read_only: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.store = as_store(store, storage_options)
        super().__init__(read_only=read_only or self.store.read_only)

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        """The same place with another setting.

        Raises
        ------
        ReadOnlyError
            The store inside refuses changes.
        """
        if not read_only and self.store.read_only:
            raise ReadOnlyError(f"{self.store!r} refuses changes, however it is opened")
        return type(self)(self.store, read_only=read_only)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and bool(self.store == other.store)

    def __repr__(self) -> str:
        return f"<zarrix.interop.ZarrStore of {self.store!r}>"

    __str__ = __repr__

    def close(self) -> None:
        """Close the store inside, too; the next call opens it again where it can."""
        self.store.close()
        super().close()

    @property
    def supports_writes(self) -> bool:
        """Whether values can be stored."""
        return self.store.is_writeable()

    @property
    def supports_deletes(self) -> bool:
        """Whether values can be deleted."""
        return self.store.is_erasable()

    @property
    def supports_listing(self) -> bool:
        """Whether keys can be listed."""
        return self.store.is_listable()

    async def _call(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        await self._ensure_open()
        return await in_pool(threads(), method, *args, **kwargs)

    def get_sync(self, key: str, *, prototype: Any = None, byte_range: Any = None) -> Any:
        """`get`, waiting for it."""
        if prototype is None:
            prototype = importlib.import_module("zarr.core.buffer").default_buffer_prototype()
        value = self._part(key, byte_range)
        return None if value is None else prototype.buffer.from_bytes(value)

    def _part(self, key: str, byte_range: Any) -> bytes | None:
        engine, path = self.store._engine, self.store.engine_path(key)
        if byte_range is None:
            return engine.get(path)
        if hasattr(byte_range, "suffix"):
            return engine.get_last(path, byte_range.suffix)
        if hasattr(byte_range, "offset"):
            return engine.get_slice(path, byte_range.offset)
        if hasattr(byte_range, "end"):
            return engine.get_slice(path, byte_range.start, byte_range.end)
        raise TypeError(f"Unexpected byte_range, got {byte_range!r}, which is not a ByteRequest")

    def set_sync(self, key: str, value: Any) -> None:
        """`set`, waiting for it."""
        self._check_writable()
        path, syncs = self.store.engine_path(key), self.store.syncs
        self.store._engine.put(path, _bytes(value), fsync=syncs)

    def delete_sync(self, key: str) -> None:
        """`delete`, waiting for it."""
        self._check_writable()
        if not key:
            # Nothing is stored there, which is not an error in zarr-python's stores.
            return
        self.store._engine.delete(self.store.engine_path(key), fsync=self.store.syncs)

    def _add(self, key: str, value: Any) -> None:
        engine, path = self.store._engine, self.store.engine_path(key)
        if engine.size(path) is None:
            new = bytes(_bytes(value))
            engine.update(path, lambda old: new if old is None else old, fsync=self.store.syncs)

    async def get(self, key: str, prototype: Any = None, byte_range: Any = None) -> Any:
        """The value of ``key``, or of it the bytes that are asked for; None if it is not stored."""
        return await self._call(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self, prototype: Any, key_ranges: Iterable[tuple[str, Any]]
    ) -> _Values:
        """`get` of many, at once."""
        return await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges))

    async def exists(self, key: str) -> bool:
        """Whether ``key`` has a value."""
        if isinstance(self.store, AsyncStore):
            # Its size may be that of the whole value, which would be read.
            return await self.store.exists(key)
        path = self.store.engine_path(key)
        return await self._call(self.store._engine.size, path) is not None

    async def set(self, key: str, value: Any) -> None:
        """Replace the value of ``key`` atomically."""
        await self._call(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Any) -> None:
        """Store a value if the key does not exist, atomically."""
        self._check_writable()
        await self._call(self._add, key, value)

    async def delete(self, key: str) -> None:
        """Remove ``key``, if it is there."""
        await self._call(self.delete_sync, key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove every key below ``prefix``."""
        self._check_writable()
        await self._call(self.store.rmdir, prefix)

    async def list(self) -> AsyncIterator[str]:
        """Every key."""
        for key in await self._call(self.store._engine.list_prefix, ""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Every key that begins with ``prefix``."""
        path = self.store.engine_path(prefix)
        for key in await self._call(self.store._engine.list_prefix, path.rpartition("/")[0]):
            if key.startswith(path):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """The names directly below ``prefix``."""
        for name in await self._call(self.store.listdir, prefix):
            yield name

    async def getsize(self, key: str) -> int:
        """Length of the value of ``key`` in bytes."""
        size = await self._call(self.store._engine.size, self.store.engine_path(key))
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def getsize_prefix(self, prefix: str) -> int:
        """Sum of the lengths of all values below ``prefix``, in bytes."""
        path = self.store.engine_path(prefix.rstrip("/"))
        return await self._call(self.store._engine.size_prefix, path)


def _bytes(value: Any) -> Any:
    if not hasattr(value, "as_numpy_array"):
        raise TypeError(f"values are buffers of zarr-python, not {type(value).__name__}")
    return as_buffer(value.as_numpy_array())


ZarrStore.__module__ = "zarrix.interop"
