"""Windows that cover arrays: for inference, and to put results together again.

`Grid` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix.ml._datasets.split import Divisible
from zarrix.ml._datasets.windows import check_border, frame_dims, sizes_of
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import as_fields, columns_of, required_names

__all__ = ["Grid"]


class Grid(Divisible):
    """Windows at every multiple of a stride, so that they cover each array.

    Items are numbered in Z-order (Morton order), so that neighbouring items share chunks.
    ``batch["start"]`` says where a result belongs.

    Parameters
    ----------
    fields : mapping of str to Array or Field, or a list of such mappings
        The first field is the reference.
    size : mapping of str to int, or sequence of int
        The window along each dimension that is divided; a sequence is for the last dimensions.
    dims : str, sequence of str, or mapping of field name to these, optional
        Names of the axes; the arrays' own dimension names when omitted.
    stride : mapping of str to int, optional
        The distance of windows along each dimension; their size when omitted.
    over : str or sequence of str, optional
        Dimensions each index of which is a frame of its own. When omitted, the first one, unless
        it is divided.
    border : {"pad", "inside", "edge", "reflect"}
        How the last windows are filled beyond the array; "inside" leaves out those that extend
        beyond it. ``batch["inside"]`` has the range that lies inside along each axis.
    pad_value : scalar, optional
        The fill value of each array when omitted.

    Raises
    ------
    ValueError
        A window or stride does not fit, or two fields have no whole ratio.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.ones((1, 5, 6), chunks=(1, 4, 4))
    >>> grid = ml.Grid({"x": z}, dims="tyx", size={"y": 4, "x": 4}, pad_value=0)
    >>> [grid[item]["start"].tolist() for item in range(len(grid))]
    [[0, 0, 0], [0, 0, 4], [0, 4, 0], [0, 4, 4]]
    >>> grid[3]["inside"].tolist(), float(grid[3]["x"].sum())
    ([[0, 1], [0, 1], [0, 2]], 2.0)
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        fields: Any,
        size: Any,
        *,
        dims: Any = None,
        stride: Mapping[str, int] | None = None,
        over: str | Sequence[str] | None = None,
        border: str = "pad",
        pad_value: Any = None,
    ) -> None:
        self._given = {
            "size": size,
            "dims": dims,
            "stride": stride,
            "over": over,
            "border": border,
            "pad_value": pad_value,
        }
        self._groups = as_fields(fields, "Grid")
        name, reference = next(iter(self._groups[0].items()))
        self._dims = names = required_names(name, reference, dims)
        self._size = sizes_of(size, names, f"field {name!r}")
        self._stride = {**self._size, **sizes_of(stride or {}, names, "stride=")}
        if self._stride.keys() != self._size.keys():
            raise ValueError(
                f"stride= names {sorted(self._stride)}, and size= {sorted(self._size)}"
            )
        self._over = frame_dims(over, names, self._size)
        self._border, self._pad_value = check_border(border), pad_value
        self._columns = columns_of(self._groups, dims, self._size, self._over)
        for column in self._columns:
            for axis, down in zip(column.axes, column.down, strict=True):
                if axis >= 0 and self._stride.get(names[axis], 0) % down:
                    raise ValueError(
                        f"stride {self._stride[names[axis]]} along {names[axis]!r} is not a "
                        f"multiple of {down}, by which field {column.name!r} is coarser"
                    )
        self._counts = [self._count_along(number) for number in range(len(self._groups))]
        self._orders = [_z_order(counts[len(self._over) :]) for counts in self._counts]
        self._prepare([math.prod(counts) for counts in self._counts])

    def _count_along(self, group: int) -> list[int]:
        """Frames along each dimension of `over`, then windows along each that is divided."""
        shape = next(iter(self._groups[group].values())).array.shape
        counts = [int(shape[self._dims.index(dim)]) for dim in self._over]
        for dim in self._divided:
            length, window = int(shape[self._dims.index(dim)]), self._size[dim]
            stride, reach = self._stride[dim], max(0, length - window)
            inside = self._border == "inside"
            counts.append((reach // stride if inside else -(-reach // stride)) + 1)
            if inside and window > length:
                counts[-1] = 0
        return counts

    @property
    def _divided(self) -> list[str]:
        return [dim for dim in self._dims if dim in self._size]

    def _corners(self, visits: Visits) -> tuple[Ints, Ints, dict[str, Any]]:
        items = visits.items
        groups = np.searchsorted(self._ends, items, "right") - 1
        corners = np.zeros((len(items), len(self._dims)), np.int64)
        for group in np.unique(groups):
            here = np.flatnonzero(groups == group)
            windows = len(self._orders[group])
            frames, numbers = np.divmod(items[here] - self._ends[group], windows)
            counts = self._counts[group]
            for dim, index in zip(
                self._over,
                np.unravel_index(frames, counts[: len(self._over)] or (1,)),
                strict=False,
            ):
                corners[here, self._dims.index(dim)] = index
            places = self._orders[group][numbers]
            for number, dim in enumerate(self._divided):
                corners[here, self._dims.index(dim)] = places[:, number] * self._stride[dim]
        return groups, corners, {}

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        groups = np.searchsorted(self._ends, items, "right") - 1
        # Windows of a frame, and of all frames along the first dimension of `over` together.
        each = [
            math.prod(counts[1 : len(self._over)]) * len(order) if self._over else 2**62
            for counts, order in zip(self._counts, self._orders, strict=True)
        ]
        return groups, (items - self._ends[groups]) // np.maximum(1, np.array(each))[groups]

    def _begins(self) -> Ints:
        """A block is a frame: its windows are read together, in Z-order."""
        begins = [np.zeros(1, np.int64)]
        for number, order in enumerate(self._orders):
            begins.append(np.arange(self._ends[number], self._ends[number + 1], len(order) or 1))
        return np.unique(np.concatenate([*begins, self._ends[-1:]]))

    @property
    def _axis(self) -> int | None:
        # Items are in the order of frames, whose windows are in Z-order.
        return self._dims.index(self._over[0]) if self._over else None

    def _before(self, group: int, positions: Ints) -> Ints:
        rest = math.prod(self._counts[group][1 : len(self._over)])
        return positions * rest * len(self._orders[group])

    def _spec(self) -> dict[str, Any]:
        axes = [self._dims.index(dim) for dim in self._divided]
        return {
            "windows": [[self._size[dim], self._stride[dim]] for dim in self._divided],
            "axes": [axes, [self._dims.index(dim) for dim in self._over]],
        }


def _z_order(counts: Sequence[int]) -> Ints:
    """The places of a grid by their interleaved bits."""
    places = np.stack([axis.reshape(-1) for axis in np.indices(counts)], axis=-1).astype(np.int64)
    keys = np.zeros(len(places), np.uint64)
    axes = len(counts)
    for bit in range(min(64 // max(1, axes), 21)):
        for axis in range(axes):
            bits = places[:, axis].astype(np.uint64) >> np.uint64(bit) & np.uint64(1)
            keys |= bits << np.uint64(bit * axes + axes - 1 - axis)
    return places[np.argsort(keys, kind="stable")]
