"""`Engine`: the engine under the protocol that zarr-python plans for array engines.

zarr-python 3.4 does not have it yet: it is the pull request zarr-python#4064 (``zarr.abc.engine``),
whose classes are not imported here. A request has the attributes ``kind``, ``selection``,
``shape``, ``chunk_grid`` and ``indexer``; in earlier states of the branch it is a ``Region``, which
has only ``start`` and ``end_exclusive``. `accelerate` makes the same calls without the protocol.
"""

from __future__ import annotations

import importlib
from typing import Any

from zarrix._runtime.threads import in_pool
from zarrix.interop._calls import DECLINED
from zarrix.interop._pool import threads
from zarrix.interop._selections import plain_buffers, read_key, write_key

__all__ = ["Engine"]


class Engine:
    """The engine of zarrix for the arrays of one store of zarr-python 3.

    It follows the protocol of zarr-python#4064: ``array_engine`` gives what reads and writes one
    array. What the engine does not serve is done by zarr-python, as with `accelerate`.

    Parameters
    ----------
    store : zarr.abc.store.Store
    asynchronous : bool
        Whether the methods of the array engines are coroutines (``AsyncHierarchyEngine``).

    Raises
    ------
    ImportError
        zarr-python 3 is not installed.

    Examples
    --------
    With zarr-python 3 installed::

        z = zarr.open_array(store, path="a")
        engine = Engine(store).array_engine("a", z.metadata, z.config)
        zarr.open_array(store, path="a", engine=engine)      # as zarr-python#4064 has it

    >>> from zarrix.interop import Engine
    >>> Engine.__name__
    'Engine'
    """

    def __init__(self, store: Any, *, asynchronous: bool = False) -> None:
        try:
            importlib.import_module("zarr.core.array")
        except ImportError:
            raise ImportError(
                "zarrix.interop.Engine is for zarr-python 3, which is not installed: "
                "pip install 'zarr>=3'"
            ) from None
        self._store = store
        self._asynchronous = asynchronous

    def array_engine(self, path: str, metadata: Any, config: Any = None) -> Any:
        """What reads and writes the array at ``path``.

        Parameters
        ----------
        path : str
        metadata : ArrayV2Metadata or ArrayV3Metadata
            Of zarr-python. Nothing is read from the store for it.
        config : ArrayConfig, optional

        Returns
        -------
        object
            It has ``read_selection``, ``write_selection`` and ``with_metadata``.

        Raises
        ------
        TypeError
            ``metadata`` is not that of an array.

        Examples
        --------
        With zarr-python 3 installed::

            engine = Engine(store).array_engine("a", z.metadata, z.config)

        >>> from zarrix.interop import Engine
        >>> callable(Engine.array_engine)
        True
        """
        store_path = importlib.import_module("zarr.storage").StorePath(self._store, path)
        array = importlib.import_module("zarr.core.array").AsyncArray(metadata, store_path, config)
        return (_AsyncArrayEngine if self._asynchronous else _ArrayEngine)(array)


class _Box:
    """A ``Region`` as a request: a slice for each axis, so that no axis is dropped."""

    kind = "basic"

    def __init__(self, region: Any, array: Any) -> None:
        self.selection = tuple(map(slice, region.start, region.end_exclusive))
        self._array = array

    @property
    def indexer(self) -> Any:
        """What zarr-python reads and writes by."""
        indexing, array = importlib.import_module("zarr.core.indexing"), self._array
        return indexing.BasicIndexer(self.selection, array.shape, array._chunk_grid)


class _Bound:
    """What both kinds of array engines do."""

    def __init__(self, array: Any) -> None:
        self._array = array
        self._is_plain = plain_buffers()

    def with_metadata(self, metadata: Any) -> Any:
        """The engine of the same array with other metadata, after a resize."""
        array = self._array
        return type(self)(type(array)(metadata, array.store_path, array.config))

    def _request(self, request: Any) -> Any:
        return _Box(request, self._array) if hasattr(request, "end_exclusive") else request

    def _read(self, request: Any, prototype: Any, out: Any, fields: Any) -> Any:
        plain = self._is_plain(prototype)
        found = read_key(self._array, request.kind, request.selection, out, fields, plain)
        # The caller gives the elements of points their shape.
        is_flat = found is not DECLINED and request.kind in ("coordinate", "mask")
        return found.reshape(-1) if is_flat else found

    def _write(self, request: Any, value: Any, prototype: Any, fields: Any) -> Any:
        plain = self._is_plain(prototype)
        return write_key(self._array, request.kind, request.selection, value, fields, plain)

    async def _read_theirs(self, request: Any, **options: Any) -> Any:
        array = self._array
        if hasattr(array, "engine"):
            return await array.engine.read_selection(request, **options)
        return await array._get_selection(request.indexer, **options)

    async def _write_theirs(self, request: Any, value: Any, **options: Any) -> None:
        array = self._array
        if hasattr(array, "engine"):
            await array.engine.write_selection(request, value, **options)
        else:
            await array._set_selection(request.indexer, value, **options)


class _ArrayEngine(_Bound):
    """``zarr.abc.engine.ArrayEngine``."""

    def read_selection(
        self, request: Any, *, prototype: Any, out: Any = None, fields: Any = None
    ) -> Any:
        """The elements of a request; points as a list of elements."""
        request = self._request(request)
        found = self._read(request, prototype, out, fields)
        if found is not DECLINED:
            return found
        theirs = self._read_theirs(request, prototype=prototype, out=out, fields=fields)
        return _sync(theirs)

    def write_selection(
        self, request: Any, value: Any, *, prototype: Any, fields: Any = None
    ) -> None:
        """Store the elements of a request."""
        request, value = self._request(request), _array_of(value)
        if self._write(request, value, prototype, fields) is DECLINED:
            _sync(self._write_theirs(request, value, prototype=prototype, fields=fields))


class _AsyncArrayEngine(_Bound):
    """``zarr.abc.engine.AsyncArrayEngine``."""

    async def read_selection(
        self, request: Any, *, prototype: Any, out: Any = None, fields: Any = None
    ) -> Any:
        """The elements of a request; points as a list of elements."""
        request = self._request(request)
        found = await in_pool(threads(), self._read, request, prototype, out, fields)
        if found is not DECLINED:
            return found
        return await self._read_theirs(request, prototype=prototype, out=out, fields=fields)

    async def write_selection(
        self, request: Any, value: Any, *, prototype: Any, fields: Any = None
    ) -> None:
        """Store the elements of a request."""
        request, value = self._request(request), _array_of(value)
        found = await in_pool(threads(), self._write, request, value, prototype, fields)
        if found is DECLINED:
            await self._write_theirs(request, value, prototype=prototype, fields=fields)


def _array_of(value: Any) -> Any:
    """The elements of an ``NDBuffer``, which earlier states of the branch pass; else the value."""
    as_array = getattr(value, "as_numpy_array", None)
    return value if as_array is None else as_array()


def _sync(work: Any) -> Any:
    return importlib.import_module("zarr.core.sync").sync(work)


Engine.__module__ = "zarrix.interop"
