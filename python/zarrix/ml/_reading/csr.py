"""Sparse matrices in CSR layout, as anndata stores them: their rows become dense samples."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._errors import MetadataError
from zarrix._hierarchy.group import Group
from zarrix.ml._order.random import Ints
from zarrix.ml._reading.chunks import ends_along

__all__ = ["CSR"]

_MEMBERS = ("data", "indices", "indptr")
# Beyond two for each column: elements may be stored twice, but a length that a file claims must not
# take memory without end.
_MOST_OF_A_ROW = 2**10


class CSR:
    """A stored sparse matrix whose rows a loader delivers as dense vectors.

    A sample equals the row of the matrix in ``scipy.sparse``: what is not stored is 0, and
    elements that are stored twice are added. Only the rows of a batch are read. Row pointers
    (``indptr``) are read once in each process, and kept: 8 bytes a row.

    Parameters
    ----------
    group : Group
        Has one-dimensional arrays ``data``, ``indices`` and ``indptr``, and the shape of the matrix
        in its attribute ``shape``, as anndata writes ``X`` and ``layers``.
    columns : sequence of int or of bool, optional
        Only these columns, in this order, such as the highly variable genes; or a mask of all
        columns. All when omitted.
    shape : (int, int), optional
        The shape of the matrix, if the group has no such attribute.

    Attributes
    ----------
    shape : (int, int)
        Rows, and elements of a sample.
    dtype : dtype
        That of ``data``.

    Raises
    ------
    TypeError
        ``group`` is not a group.
    ValueError
        The matrix is stored by columns, or ``columns`` names one that it does not have.
    MetadataError
        Members are missing, or do not fit each other.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> cells = zarr.group()
    >>> _ = cells.array("data", np.array([5.0, 7.0, 2.0], "f4"))
    >>> _ = cells.array("indices", np.array([0, 3, 1]))
    >>> _ = cells.array("indptr", np.array([0, 2, 2, 3]))
    >>> cells.attrs["shape"] = [3, 4]
    >>> rows = ml.Rows({"x": ml.CSR(cells)})
    >>> rows[0]["x"], rows[2]["x"]
    (array([5., 0., 0., 7.], dtype=float32), array([0., 2., 0., 0.], dtype=float32))
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        group: Group,
        *,
        columns: Sequence[int] | Sequence[bool] | np.ndarray[Any, Any] | None = None,
        shape: tuple[int, int] | None = None,
    ) -> None:
        if not isinstance(group, Group):
            raise TypeError(f"CSR takes a group of zarrix, not {type(group).__name__}")
        self._where = group.name
        encoding = group.attrs.get("encoding-type", "csr_matrix")
        if encoding != "csr_matrix":
            raise ValueError(
                f"the group {self._where!r} stores a {encoding}; rows can be read of a csr_matrix"
            )
        self._data, self._indices, self._indptr = (self._member(group, n) for n in _MEMBERS)
        lengths = group.attrs.get("shape") if shape is None else shape
        if lengths is None:
            raise MetadataError(
                f"the group {self._where!r} has no attribute 'shape': pass shape=(rows, columns)"
            )
        rows, width = (int(length) for length in lengths)
        if self._indptr.shape != (rows + 1,) or self._data.shape != self._indices.shape:
            raise MetadataError(
                f"the sparse matrix {self._where!r} of {rows} rows has {self._indptr.shape[0]} row "
                f"pointers, {self._data.shape[0]} values and {self._indices.shape[0]} column "
                f"indices; it needs {rows + 1} row pointers, and as many indices as values"
            )
        self._width = width
        self._columns = None if columns is None else self._checked(columns)
        self.dtype = self._data.dtype
        self.shape = rows, width if self._columns is None else len(self._columns)
        self._kept_bounds: Ints | None = None
        self._kept_places: Ints | None = None

    def _member(self, group: Group, name: str) -> Array:
        array = group.get(name)
        kinds = "iufbc" if name == "data" else "iu"
        if not isinstance(array, Array) or array.ndim != 1 or array.dtype.kind not in kinds:
            raise MetadataError(
                f"the group {self._where!r} is not a sparse matrix: its {name!r} is "
                f"{array!r}, and not a one-dimensional array of "
                f"{'numbers' if name == 'data' else 'integers'}"
            )
        return array

    def _checked(self, columns: Any) -> Ints:
        numbers = np.asarray(columns)
        if numbers.dtype == np.bool_ and numbers.shape == (self._width,):
            numbers = np.flatnonzero(numbers)
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
            raise ValueError(
                f"columns= is a sequence of column numbers, or a mask of {self._width} columns"
            )
        numbers = numbers.astype(np.int64)
        if numbers.min() < 0 or numbers.max() >= self._width:
            raise ValueError(
                f"columns= has {numbers.min()} to {numbers.max()}; the matrix {self._where!r} has "
                f"the columns 0 to {self._width - 1}"
            )
        if len(np.unique(numbers)) != len(numbers):
            raise ValueError("columns= names a column twice")
        return numbers

    def __repr__(self) -> str:
        return f"CSR({self.shape} {self.dtype}, {self._data.shape[0]} stored)"

    def __getstate__(self) -> dict[str, Any]:
        # What was read is read again: a dataset that goes to worker processes stays small.
        return {**self.__dict__, "_kept_bounds": None, "_kept_places": None}

    @property
    def nbytes(self) -> int:
        """The bytes of all values and column indices, decoded."""
        return int(self._data.nbytes + self._indices.nbytes)

    @property
    def _members(self) -> tuple[Array, Array]:
        """The arrays of values and of column indices."""
        return self._data, self._indices

    @property
    def _element_bytes(self) -> int:
        """The bytes that a stored element takes in memory: its value, and its column."""
        return int(self._data.dtype.itemsize + self._indices.dtype.itemsize)

    @property
    def _bounds(self) -> Ints:
        """Where each row begins in ``data``, and the end; read once, and checked."""
        if self._kept_bounds is None:
            bounds: Ints = np.asarray(self._indptr[:]).astype(np.int64)
            if bounds[0] != 0 or bounds[-1] > self._data.shape[0] or (np.diff(bounds) < 0).any():
                raise MetadataError(
                    f"the row pointers of the sparse matrix {self._where!r} go from {bounds[0]} to "
                    f"{bounds[-1]} for {self._data.shape[0]} values, or decrease"
                )
            longest = int(np.diff(bounds).max(initial=0))
            if longest > _MOST_OF_A_ROW + 2 * self._width:
                raise MetadataError(
                    f"a row of the sparse matrix {self._where!r} has {longest} elements, and the "
                    f"matrix {self._width} columns"
                )
            self._kept_bounds = bounds
        return self._kept_bounds

    @property
    def _row_ends(self) -> Ints:
        """The rows at which chunks of ``data`` end: those of one chunk are read together."""
        bounds, ends = self._bounds, ends_along(self._data, 0)
        rows = np.searchsorted(bounds[1:], ends, "left") + 1
        found: Ints = np.unique(np.append(np.minimum(rows, self.shape[0]), self.shape[0]))
        return found

    def _places(self, columns: Ints) -> tuple[Ints, Any]:
        """The element of a sample for each stored column, and which of these columns it has."""
        if len(columns) and (columns.min() < 0 or columns.max() >= self._width):
            raise MetadataError(
                f"the sparse matrix {self._where!r} has the column indices {columns.min()} to "
                f"{columns.max()}, and {self._width} columns"
            )
        if self._columns is None:
            return columns, None
        if self._kept_places is None:
            places = np.full(self._width, -1, np.int64)
            places[self._columns] = np.arange(len(self._columns))
            self._kept_places = places
        elements = self._kept_places[columns]
        return elements, elements >= 0

    def _spans(self, rows: Ints) -> tuple[Ints, Ints]:
        """Where each row begins and ends in ``data`` and ``indices``, of shape (rows, 1)."""
        bounds = self._bounds
        return bounds[rows, None], bounds[rows + 1, None]

    def _digest(self) -> str | None:
        """What distinguishes this choice of columns from another one of as many."""
        if self._columns is None:
            return None
        return hashlib.sha256(self._columns.astype("<i8").tobytes()).hexdigest()[:16]

    def _with_members(self, data: Array, indices: Array) -> CSR:
        """The same matrix, which reads its elements from these arrays."""
        other = object.__new__(CSR)
        other.__dict__.update(self.__dict__, _data=data, _indices=indices)
        return other
