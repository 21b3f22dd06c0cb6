"""What an array tells of itself in every generation of zarr: name, shape, dtype, sizes, digests."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from zarrix._array.handle import ArrayHandle
from zarrix._dtypes.v2 import normalize_fill_value
from zarrix._metadata.literals import Order
from zarrix._runtime.dialect import DIALECT
from zarrix._runtime.signatures import completable
from zarrix._stores.keys import ZATTRS, key_of

__all__ = ["ArrayFacts"]


class StoredBytes(int):
    """Stored bytes of an array: a number, as in zarr 2, that can be called, as in zarr 3."""

    __slots__ = ()

    def __call__(self) -> int:
        return int(self)


@completable
class ArrayFacts(ArrayHandle):
    """The properties of every generation of zarr; a base of every array."""

    __slots__ = ()

    @property
    def name(self) -> str | None:
        """Path with a leading slash, as in h5py; None at the root of a store.

        Under `zarrix.as_zarr`, "/" at the root of a store, as in zarr-python 3.
        """
        path = self._location.path
        return f"/{path}" if path or DIALECT.is_zarr3 else None

    @property
    def basename(self) -> str | None:
        """Last part of the name."""
        path = self._location.path
        return path.split("/")[-1] if path or DIALECT.is_zarr3 else None

    @property
    def read_only(self) -> bool:
        """Whether the array is read-only."""
        return self._options.read_only

    @read_only.setter
    def read_only(self, value: bool) -> None:
        self._set_read_only(bool(value))

    @property
    def write_empty_chunks(self) -> bool:
        """Whether chunks that hold only the fill value are stored."""
        return bool(self._options.write_empty_chunks)

    @property
    def is_view(self) -> bool:
        """Whether this is a view made by `view` or `astype`."""
        return self._options.is_view

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis. Assigning to it resizes."""
        return self._current().metadata.shape

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
        metadata = self._snapshot.metadata
        if metadata.rectilinear is not None and metadata.shard_codec is None:
            raise NotImplementedError(
                f"{self._title()} has chunks of several shapes; read_chunk_sizes has their lengths"
            )
        return metadata.inner_chunk_shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of what is read."""
        cast_to = self._options.cast_to
        return self._snapshot.metadata.dtype if cast_to is None else cast_to

    @property
    def fill_value(self) -> Any:
        """The value of elements that were never written; None if it is undefined (zeros)."""
        return self._snapshot.metadata.fill_value

    @fill_value.setter
    def fill_value(self, value: Any) -> None:
        with self._writing():
            fill = normalize_fill_value(value, self._snapshot.metadata.dtype)
            self._rewrite(lambda metadata: replace(metadata, fill_value=fill))

    @property
    def order(self) -> Order:
        """``'C'`` or ``'F'``: the order of elements within a chunk, or of what is read."""
        snapshot = self._snapshot
        return "F" if snapshot.order == "F" else snapshot.metadata.order

    def __len__(self) -> int:
        shape = self.shape
        if not shape:
            raise TypeError("len() of unsized object")
        return shape[0]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._snapshot.metadata.shape)

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
            sum(s._engine.size_prefix(s.engine_path(self._location.path)) for s in self._stores())
        )

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Number of chunks along each axis.

        For an array without axes it is ``(1,)``, and under `zarrix.as_zarr` ``()``.
        """
        metadata = self._current().metadata
        if not metadata.shape:
            return () if DIALECT.is_zarr3 else (1,)
        grid = metadata.inner_grid
        return tuple(axis.count(n) for n, axis in zip(metadata.shape, grid, strict=True))

    @property
    def nchunks(self) -> int:
        """Number of chunks, including missing ones."""
        return math.prod(self.cdata_shape)

    @property
    def nchunks_initialized(self) -> int:
        """Number of stored chunks; all inner chunks of a stored shard count as stored."""
        return min(self._current().io.initialized(), self.nchunks)

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
        snapshot = self._current()
        # Imported when called: few programs hash arrays, and it loads OpenSSL.
        import hashlib

        digest = hashlib.new(hashname)
        snapshot.io.each_stored(digest.update)
        store, path, _, _ = self._location
        for name in (snapshot.metadata.document_name, ZATTRS):
            digest.update(store._value(key_of(path, name), b""))
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
