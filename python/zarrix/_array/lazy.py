"""Lazy views: selections and permutations of axes that are composed first and read later, in one
call.

A `LazyArray` has, for each axis of the stored array, an index, a range or an array of indices, and
the order of the remaining axes. Indexing it composes these with another key along each axis
independently. The result is never larger than one index array per axis, and nothing is read.
``view[...]``, ``view.result()`` and ``np.asarray(view)`` read by one call of the engine, directly
into the view's order of axes. Assigning to a view is also one call.

Points (several arrays in one key) are an error, because their selection is not a product of axes.
"""

from __future__ import annotations

import itertools
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from zarrix import _engine
from zarrix._array.facts import ArrayFacts
from zarrix._array.transfer import assign, read_into
from zarrix._display.labels import byte_count
from zarrix._errors import ArrayIndexError
from zarrix._selection.basic import AxisSelection
from zarrix._selection.fancy import Indexer, Indices, resolve_orthogonal
from zarrix._selection.values import ReadLater, as_out, as_value

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["LazyArray"]

Axis = AxisSelection | Indices


class LazyArray(ReadLater):
    """A part of a stored array, with its axes in any order, that is read on demand.

    Created by ``z.lazy``; indexing it returns another view.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(24).reshape(4, 6), chunks=(2, 3))
    >>> view = z.lazy[1:, ::2].T
    >>> view.shape
    (3, 3)
    >>> view[0][...]
    array([ 6, 12, 18])
    """

    __module__ = "zarrix.core"
    __hash__ = None  # type: ignore[assignment]
    __slots__ = ("_array", "_axes", "_order")

    def __init__(self, array: ArrayFacts, axes: tuple[Axis, ...], order: tuple[int | None, ...]):
        self._array = array
        self._axes = axes
        # The axis of the array for each axis of the view; None for a new axis.
        self._order = order

    @classmethod
    def of(cls, array: ArrayFacts) -> LazyArray:
        """A view of all of ``array``, like ``array.lazy``.

        Parameters
        ----------
        array : Array

        Returns
        -------
        LazyArray

        Raises
        ------
        AttributeError
            ``array`` has no shape.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix.core import LazyArray
        >>> LazyArray.of(zarr.zeros((2, 3))).shape
        (2, 3)
        """
        axes = tuple((0, 1, size) for size in array.shape)
        return cls(array, axes, tuple(range(len(axes))))

    def __reduce__(self) -> tuple[Any, ...]:
        # Older pickle protocols need this for slots.
        return type(self), (self._array, self._axes, self._order)

    # What it is

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each axis."""
        return tuple(1 if axis is None else _count(self._axes[axis]) for axis in self._order)

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy dtype of what is read."""
        return self._array.dtype

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self._order)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the result."""
        return self.size * self.dtype.itemsize

    def __len__(self) -> int:
        if not self._order:
            raise TypeError("len() of a view without axes")
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<lazy view {self.shape} {self.dtype} of {self._array!r}>"

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.table import info_table

        return info_table(
            [
                ("Type", "lazy view: nothing is read until view[...]"),
                ("Shape", self.shape),
                ("Data type", self.dtype),
                ("No. bytes", byte_count(self.nbytes)),
                ("Of", repr(self._array)),
            ]
        )

    # Composing

    def __getitem__(self, key: Any) -> Any:
        """Another view; ``view[...]`` reads this one instead.

        Parameters
        ----------
        key : int, slice, integer or boolean array, Ellipsis, newaxis, or a tuple of these
            At most one array; use several steps, or `oindex`, for more.
        """
        return self.result() if key is Ellipsis else self._view(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        """Write the elements of ``view[key]``; ``value`` is broadcast to it. An Ellipsis means
        all of it.
        """
        (self if key is Ellipsis else self._view(key))._assign(value)

    def _view(self, key: Any) -> LazyArray:
        items = key if type(key) is tuple else (key,)
        arrays = sum(isinstance(item, list | tuple | np.ndarray) for item in items)
        if arrays > 1:
            raise ArrayIndexError(
                "two arrays in one key of a lazy view; use view.oindex[...] to select along "
                "each axis independently, or z.vindex[...] to read points by one call"
            )
        return self._compose(items)

    @property
    def lazy(self) -> LazyArray:
        """This view, so that code for an array's ``lazy`` also accepts a view."""
        return self

    @property
    def oindex(self) -> _LazyOIndex:
        """Views by arrays along several axes, each independently."""
        return _LazyOIndex(self)

    def _compose(self, items: tuple[Any, ...]) -> LazyArray:
        indexer = resolve_orthogonal(tuple(item for item in items if item is not None), self.shape)
        axes = list(self._axes)
        order: list[int | None] = []
        for shown, axis in zip(self._order, indexer.axes, strict=True):
            assert axis is not None
            if shown is not None:
                axes[shown] = _within(axes[shown], axis)
            elif not isinstance(axis, int) and _count(axis) != 1:
                raise ArrayIndexError("a new axis of a lazy view has one element, and keeps it")
            if not isinstance(axis, int):
                order.append(shown)
        return LazyArray(self._array, tuple(axes), _with_new_axes(order, items, indexer))

    @property
    def T(self) -> LazyArray:  # noqa: N802  the name that NumPy gave it
        """The axes in reverse order."""
        return self.transpose()

    def transpose(self, *axes: Any) -> LazyArray:
        """The axes in another order.

        Parameters
        ----------
        *axes : int or tuple of int
            The axis of this view that comes first, second, ...; reversed when omitted.

        Returns
        -------
        LazyArray

        Raises
        ------
        ValueError
            ``axes`` are not a permutation of the axes of the view.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros((2, 3, 5))
        >>> z.lazy.transpose(2, 0, 1).shape, z.lazy.transpose().shape
        ((5, 2, 3), (5, 3, 2))
        """
        given = axes[0] if len(axes) == 1 and isinstance(axes[0], tuple | list) else axes
        if not axes or axes == (None,):
            given = tuple(range(self.ndim))[::-1]
        numbers = [operator.index(axis) for axis in given]
        wanted = [axis + self.ndim if axis < 0 else axis for axis in numbers]
        if sorted(wanted) != list(range(self.ndim)):
            raise ValueError(
                f"axes {tuple(numbers)} are not a permutation of the {self.ndim} axes of the view"
            )
        return LazyArray(self._array, self._axes, tuple(self._order[axis] for axis in wanted))

    permute = transpose

    # Reading

    def result(self, *, out: Any = None) -> Any:
        """Read the view by one call of the engine.

        Parameters
        ----------
        out : ndarray or writable buffer, shape and dtype of the view, optional
            Filled in place, with any strides. A new array when omitted.

        Returns
        -------
        ndarray, or NumPy scalar for a view without axes

        Raises
        ------
        ValueError
            The shape or dtype of ``out`` differs, or it is read-only.
        CorruptChunkError
            A stored chunk does not decode to its declared size or checksum.

        Examples
        --------
        >>> import numpy as np, zarrix as zarr
        >>> z = zarr.array(np.arange(6).reshape(2, 3))
        >>> out = np.empty((3, 2), z.dtype)
        >>> z.lazy.T.result(out=out)
        array([[0, 3],
               [1, 4],
               [2, 5]])
        """
        buffer = _engine.empty(self.shape, self.dtype, "C") if out is None else None
        target = as_out(out, self.dtype, self.shape) if buffer is None else buffer
        read_into(self._array, self._indexer(), self._in_stored_order(target))
        if buffer is None:
            return out
        return buffer if buffer.shape else buffer[()]

    def _assign(self, value: Any) -> None:
        array = self._array
        with array._writing():
            snapshot = array._current()
            values = as_value(value, self.dtype, self.shape)
            assign(array, snapshot, self._indexer(), self._in_stored_order(values))

    def _indexer(self) -> Indexer:
        shape = tuple(_count(axis) for axis in self._axes if not isinstance(axis, int))
        return Indexer(self._axes, shape)

    def _in_stored_order(self, buffer: npt.NDArray[Any]) -> npt.NDArray[Any]:
        new = tuple(place for place, axis in enumerate(self._order) if axis is None)
        shown = [axis for axis in self._order if axis is not None]
        return np.squeeze(buffer, new).transpose(np.argsort(shown))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("a lazy view cannot become a NumPy array without a copy")
        result = np.asarray(self.result())
        return result if dtype is None else result.astype(dtype, copy=False)


class _LazyOIndex:
    __slots__ = ("_view",)

    def __init__(self, view: LazyArray) -> None:
        self._view = view

    def __getitem__(self, key: Any) -> LazyArray:
        return self._view._compose(key if type(key) is tuple else (key,))

    def __setitem__(self, key: Any, value: Any) -> None:
        self[key]._assign(value)


def _count(axis: Axis) -> int:
    return 1 if isinstance(axis, int) else axis[2] if isinstance(axis, tuple) else len(axis)


def _within(outer: Axis, inner: Axis) -> Axis:
    """Compose the selection ``outer`` with ``inner``, which selects from its result.

    Examples
    --------
    >>> _within((10, 2, 5), (4, -1, 3))
    (18, -2, 3)
    >>> _within((10, 2, 5), 1)
    12
    """
    assert not isinstance(outer, int)
    if isinstance(outer, np.ndarray):
        if isinstance(inner, tuple):
            start, step, count = inner
            return outer[start + step * np.arange(count)]
        return int(outer[inner]) if isinstance(inner, int) else outer[inner]
    start, step, _ = outer
    if isinstance(inner, tuple):
        first, stride, count = inner
        return (start + step * first, step * stride, count) if count else (0, 1, 0)
    return start + step * inner


def _with_new_axes(
    order: list[int | None], items: tuple[Any, ...], indexer: Indexer
) -> tuple[int | None, ...]:
    """``order`` with None for each newaxis in ``items``."""
    if not any(item is None for item in items):
        return tuple(order)
    given = sum(item is not None and item is not Ellipsis for item in items)
    new: list[int | None] = []
    left = iter(order)
    left_axes = iter(indexer.axes)
    for item in items if any(item is Ellipsis for item in items) else (*items, Ellipsis):
        if item is None:
            new.append(None)
            continue
        count = len(indexer.axes) - given if item is Ellipsis else 1
        shown = sum(not isinstance(axis, int) for axis in itertools.islice(left_axes, count))
        new.extend(itertools.islice(left, shown))
    return tuple(new)
