"""The state of an array: its metadata, its location, and how much of it is stored.

`ArrayState` loads the stored metadata, binds the engine to it, and has its properties;
`zarrix._array.array.Array` adds reading and writing. A change of metadata always starts from the
stored document, under the store's lock, and never from cached metadata. Therefore several processes
can append to one array.
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from types import GenericAlias
from typing import Any, ClassVar, Self, cast

import numpy as np

from zarrix import _engine
from zarrix._dtypes.v2 import normalize_fill_value
from zarrix._errors import ArrayNotFoundError, ReadOnlyError
from zarrix._metadata import v2, v3
from zarrix._metadata.arguments import normalize_order
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.checksum import with_frame_checksum
from zarrix._metadata.literals import Order
from zarrix._metadata.replaced import judge_of
from zarrix._nodes import nodes
from zarrix._nodes.attributes import Attributes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.engine_array import OpenedDocument, engine_array
from zarrix._nodes.existing import not_found
from zarrix._nodes.location import Location
from zarrix._nodes.member import Member
from zarrix._runtime.config import config
from zarrix._runtime.signatures import completable
from zarrix._runtime.system import on_fork
from zarrix._stores.base import Store
from zarrix._stores.keys import ARRAY_DOCUMENT, ZARRAY, ZATTRS, key_of

__all__ = ["ArrayState"]


# Parsing and binding are most of the cost of opening, and members of a group often have equal
# documents. Therefore the results for the last documents of moderate length are cached.
_MAX_CACHED_BYTES = 2**14
_MAX_CACHED = 256
_cached: dict[tuple[bytes, bool, str | None], ArrayMetadata] = {}


def _parse(document: bytes, where: str, separator: str | None) -> ArrayMetadata:
    """Parse a document; its name determines the format, and ``separator`` is that of its store."""
    is_v2 = where.endswith(ZARRAY)
    question = (document, is_v2, separator)
    found = _cached.get(question)
    if found is not None:
        return found.at(where)
    if is_v2:
        found = v2.parse_array(document, where, default_separator=separator)
    else:
        found = v3.parse_array(document, where)
    if len(document) <= _MAX_CACHED_BYTES:
        if len(_cached) >= _MAX_CACHED:
            _cached.clear()
        _cached[question] = found
    return found


# Threads that share an array adopt their changes in the order in which they were stored. No I/O
# happens under the lock, and a forked child gets a free lock.
_change_numbers = itertools.count(1)
_adopting = threading.Lock()


def _free_lock() -> None:
    global _adopting
    _adopting = threading.Lock()


on_fork(after_in_child=_free_lock)


class StoredBytes(int):
    """Stored bytes of an array: a number, as in zarr 2, that can be called, as in zarr 3."""

    __slots__ = ()

    def __call__(self) -> int:
        return int(self)


@completable
class ArrayState(Member):
    """Everything about an array except its elements; users see `Array`."""

    __slots__ = (
        "__weakref__",
        "_adopted",
        "_allow_pickle",
        "_attrs",
        "_cache_metadata",
        "_cast_to",
        "_checksum",
        "_chunk_store",
        "_document",
        "_durable",
        "_io",
        "_is_detached",
        "_is_view",
        "_large_result",
        "_meta_array",
        "_metadata",
        "_name",
        "_path",
        "_plain_read",
        "_plain_write",
        "_read_missing",
        "_read_only",
        "_result_order",
        "_store",
        "_synchronizer",
        "_write_empty_chunks",
    )

    __class_getitem__: ClassVar[Any] = classmethod(GenericAlias)

    _metadata: ArrayMetadata
    _io: _engine.ArrayIO
    _document: bytes | None
    _name: str

    def __init__(
        self,
        store: Any,
        path: str | None = None,
        read_only: bool = False,
        chunk_store: Any = None,
        synchronizer: Any = None,
        cache_metadata: bool = True,
        cache_attrs: bool = True,
        partial_decompress: bool | None = None,
        write_empty_chunks: bool | None = None,
        zarr_version: int | None = None,
        meta_array: Any = None,
        allow_pickle: bool = False,
        checksum: bool = False,
        *,
        read_missing_chunks: bool | None = None,
        order: Order = "C",
    ) -> None:
        counterpart = getattr(store, "_sync", None)
        if isinstance(counterpart, ArrayState):
            self._become(counterpart)
            return
        location = Location.of(store, path, zarr_version, chunk_store=chunk_store)
        node = location.find()
        if node is None or node.kind != "array":
            raise _array_missing(location)
        self._open(
            location,
            node,
            read_only=read_only,
            synchronizer=synchronizer,
            cache_metadata=cache_metadata,
            cache_attrs=cache_attrs,
            write_empty_chunks=write_empty_chunks,
            meta_array=meta_array,
            allow_pickle=allow_pickle,
            checksum=checksum,
            read_missing_chunks=read_missing_chunks,
            order=order,
        )

    def _become(self, other: ArrayState) -> None:
        """Take the state of ``other``: `Array` of an `AsyncArray` is a handle of the same array."""
        for name in ArrayState.__slots__:
            if name != "__weakref__":
                setattr(self, name, getattr(other, name))

    @classmethod
    def _at(cls, location: Location, node: nodes.Node, **options: Any) -> Self:
        """The array of ``node``; ``options`` are those of the class."""
        new = cls.__new__(cls)
        new._open(location, node, **options)
        return new

    def _open(
        self,
        location: Location,
        node: nodes.Node,
        *,
        read_only: bool = False,
        synchronizer: Any = None,
        cache_metadata: bool = True,
        cache_attrs: bool = True,
        write_empty_chunks: bool | None = None,
        meta_array: Any = None,
        allow_pickle: bool = False,
        checksum: bool = False,
        read_missing_chunks: bool | None = None,
        order: Order = "C",
        is_detached: bool = False,
    ) -> None:
        """Initialise from ``node`` without another lookup."""
        store, path, _, chunk_store = location
        self._store: Store = store
        self._chunk_store: Store | None = chunk_store
        self._path: str = path
        self._read_only = bool(read_only) or store.read_only
        self._synchronizer = synchronizer
        self._cache_metadata = bool(cache_metadata)
        self._meta_array = meta_array
        self._durable = None if store._durability is None else store.syncs
        self._checksum = bool(checksum)
        self._is_view = False
        self._is_detached = is_detached
        self._cast_to: np.dtype[Any] | None = None
        self._document = None
        self._adopted = 0
        self._allow_pickle = bool(allow_pickle) or config.allow_pickle
        if read_missing_chunks is None:
            read_missing_chunks = config.read_missing_chunks
        self._read_missing = bool(read_missing_chunks)
        self._result_order: Order = "C" if order == "C" else normalize_order(order)
        is_v2 = node.zarr_format == 2
        self._name = ARRAY_DOCUMENT[node.zarr_format]
        # The default of each generation of zarr.
        if write_empty_chunks is None:
            write_empty_chunks = config.write_empty_chunks
        self._write_empty_chunks = is_v2 if write_empty_chunks is None else bool(write_empty_chunks)
        self._adopt(self._parse(node.document), node.document)
        self._attrs = Attributes._of_node(
            store,
            path,
            node.zarr_format,
            read_only=self._read_only,
            cache=cache_attrs,
            synchronizer=synchronizer,
            stored=node.attributes,
        )

    def __getstate__(self) -> dict[str, Any]:
        state = {
            "store": self._store,
            "path": self._path,
            "read_only": self._read_only,
            "chunk_store": self._chunk_store,
            "synchronizer": self._synchronizer,
            "cache_metadata": self._cache_metadata,
            "cache_attrs": self._attrs.cache,
            "write_empty_chunks": self._write_empty_chunks,
            "meta_array": self._meta_array,
            "allow_pickle": self._allow_pickle,
            "checksum": self._checksum,
            "read_missing_chunks": self._read_missing,
            "order": self._result_order,
        }
        if self._is_view:
            state["view"] = (replace(self._metadata), self._cast_to)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        view = state.pop("view", None)
        self.__init__(**state)  # type: ignore[misc]
        if view is not None:
            metadata, self._cast_to = view
            self._is_view = True
            self._adopt(metadata, self._document)

    def _key(self, name: str) -> str:
        return key_of(self._path, name)

    def _load(self) -> ArrayMetadata:
        """Load the stored metadata, and adopt it if it has changed."""
        document = self._store._value(self._key(self._name))
        if document is None:
            raise _array_missing(Location(self._store, self._path))
        if document != self._document:
            self._adopt(self._parse(document), document)
        return self._metadata

    def _parse(self, document: Any) -> ArrayMetadata:
        where = nodes.place(self._store, self._key(self._name))
        metadata = _parse(bytes(document), where, self._store._dimension_separator)
        return with_frame_checksum(metadata) if self._checksum else metadata

    def _adopt(self, metadata: ArrayMetadata, document: bytes | None) -> None:
        # The engine's array is set first, so that a concurrent reader may see it with the old
        # shape.
        self._io = self._engine_array(metadata, document, self._write_empty_chunks)
        self._metadata = metadata
        self._document = document
        if metadata.zarr_format == 2:
            self._result_order = metadata.order
        self._set_paths()

    def _engine_array(
        self, metadata: ArrayMetadata, document: bytes | None, write_empty_chunks: bool
    ) -> _engine.ArrayIO:
        """The engine's handle of this array with ``metadata``."""
        return engine_array(
            self.chunk_store,
            self._path,
            metadata,
            write_empty_chunks=write_empty_chunks,
            allow_pickle=self._allow_pickle,
            read_missing_chunks=self._read_missing,
            document=self._opened(document),
        )

    def _opened(self, document: bytes | None) -> OpenedDocument | None:
        """The document that the engine compares with the stored one; None if it is in another
        store.
        """
        if document is None or self._chunk_store is not None or self._is_detached:
            return None
        key = self._key(self._name)
        judge = judge_of(document, nodes.place(self._store, key), self._store._dimension_separator)
        return document, self._store.vouching_for(key), judge

    @property
    def _fsync(self) -> bool:
        """Whether writes are synced, as set for the store or in the current config."""
        return config.syncs if self._durable is None else self._durable

    def _set_paths(self) -> None:
        """Decide once which reads and writes may take the fast path, and from how many elements on
        a result may take the memory of another.
        """
        is_plain = self._cache_metadata and self._cast_to is None
        self._plain_read = is_plain
        self._plain_write = is_plain and not self._read_only and self._synchronizer is None
        self._large_result = _engine.LARGE_RESULT_BYTES // max(1, self._metadata.dtype.itemsize)

    def _refresh(self) -> None:
        if not self._cache_metadata and not self._is_view:
            self._load()

    def _forbid_on_view(self) -> None:
        if self._is_view:
            raise PermissionError(
                "a view cannot change the shape or fill value of its array; "
                "operation not permitted for views"
            )

    def _rewrite(self, change: Callable[[ArrayMetadata], ArrayMetadata]) -> ArrayMetadata:
        """Replace the stored metadata by the result of ``change``, under its lock. Returns the
        stored metadata; a later change by another thread may be adopted already.
        """
        self._forbid_on_view()
        number = 0

        def rewrite(document: bytes | None) -> bytes:
            nonlocal number
            if document is None:
                raise _array_missing(Location(self._store, self._path))
            number = next(_change_numbers)
            changed = nodes.array_document(change(self._parse(document)))
            # Nothing is stored that could not be opened again.
            self._parse(changed)
            return changed

        stored = self._store.update_value(self._key(self._name), rewrite)
        update_consolidated(self._store, self._path, 2 if self._name == ZARRAY else 3)
        metadata = self._parse(stored)
        with _adopting:
            if number > self._adopted:
                self._adopted = number
                self._adopt(metadata, stored)
        return metadata

    def _writing(self) -> AbstractContextManager[Any]:
        """Raise an error if the array is read-only; otherwise return the lock for the write."""
        if self._cast_to is not None:
            raise ReadOnlyError("a view made by astype() converts on reading; it cannot be written")
        if self._read_only:
            raise ReadOnlyError(
                f"{self._title()} is read-only; open it with mode='r+' to change it"
            )
        if self._synchronizer is None:
            return nullcontext()
        return cast("AbstractContextManager[Any]", self._synchronizer[self._key(self._name)])

    def _title(self) -> str:
        return f"array {self.name!r}" if self._path else "the array"

    # What it is

    @property
    def name(self) -> str | None:
        """Path with a leading slash, as in h5py; None at the root of a store."""
        return f"/{self._path}" if self._path else None

    @property
    def basename(self) -> str | None:
        """Last part of the name."""
        return self._path.split("/")[-1] if self._path else None

    @property
    def read_only(self) -> bool:
        """Whether the array is read-only."""
        return self._read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._read_only = bool(value)
        self._set_paths()

    @property
    def write_empty_chunks(self) -> bool:
        """Whether chunks that hold only the fill value are stored."""
        return self._write_empty_chunks

    @property
    def is_view(self) -> bool:
        """Whether this is a view made by `view` or `astype`."""
        return self._is_view

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis. Assigning to it resizes."""
        self._refresh()
        return self._metadata.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        # Import time: few programs resize.
        from zarrix._array import resize

        with self._writing():
            resize.resize(self, (value,))

    @property
    def chunks(self) -> tuple[int, ...]:
        """Length of a chunk, or of an inner chunk of a shard, along each axis.

        Raises
        ------
        NotImplementedError
            Chunks have different lengths along an axis, as in zarr-python; `read_chunk_sizes` has
            them.
        """
        metadata = self._metadata
        if metadata.rectilinear is not None and metadata.shard_codec is None:
            raise NotImplementedError(
                f"{self._title()} has chunks of several shapes; read_chunk_sizes has their lengths"
            )
        return metadata.inner_chunk_shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of what is read."""
        return self._metadata.dtype if self._cast_to is None else self._cast_to

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written; None if it is undefined (zeros)."""
        return self._metadata.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        with self._writing():
            fill = normalize_fill_value(value, self._metadata.dtype)
            self._rewrite(lambda metadata: replace(metadata, fill_value=fill))

    @property
    def order(self) -> Order:
        """``'C'`` or ``'F'``: the order of elements within a chunk, or of what is read."""
        return "F" if self._result_order == "F" else self._metadata.order

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._metadata.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Total size of all elements in bytes, uncompressed."""
        return self.size * self.itemsize

    @property
    def nbytes_stored(self) -> StoredBytes:
        """Stored bytes of chunks, metadata and attributes; an int that can also be called."""
        return StoredBytes(
            sum(s._engine.size_prefix(s.engine_path(self._path)) for s in self._stores())
        )

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis; ``(1,)`` for an array without axes."""
        shape = self.shape
        if not shape:
            return (1,)
        grid = self._metadata.inner_grid
        return tuple(axis.count(n) for n, axis in zip(shape, grid, strict=True))

    @property
    def nchunks(self) -> int:
        """Number of chunks, including missing ones."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """Number of stored chunks; all inner chunks of a stored shard count as stored."""
        self._refresh()
        return min(self._io.initialized(), self.nchunks)

    initialized = nchunks_initialized

    def digest(self, hashname: str = "sha1") -> bytes:
        """Hash of the stored bytes: chunks in C order, then metadata, then attributes.

        Parameters
        ----------
        hashname : str
            A name that ``hashlib.new`` takes.

        Returns
        -------
        bytes

        Raises
        ------
        ValueError
            ``hashlib`` does not have the hash.

        Examples
        --------
        >>> import zarrix as zarr
        >>> len(zarr.zeros(10).digest("sha256"))
        32
        """
        self._refresh()
        # Imported when called: few programs hash arrays, and it loads OpenSSL.
        import hashlib

        digest = hashlib.new(hashname)
        self._io.each_stored(digest.update)
        for name in (self._name, ZATTRS):
            digest.update(self._store._value(self._key(name), b""))
        return digest.digest()

    def hexdigest(self, hashname: str = "sha1") -> str:
        """`digest` as hexadecimal text.

        Parameters
        ----------
        hashname : str
            A name that ``hashlib.new`` takes.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            ``hashlib`` does not have the hash.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(10).hexdigest() == zarr.zeros(10).hexdigest()
        True
        """
        return self.digest(hashname).hex()


def _array_missing(location: Location) -> Exception:
    if nodes.has_group(location.store, location.path):
        return ArrayNotFoundError(f"{location.describe()} is a group, not an array")
    return not_found(location, "array")
