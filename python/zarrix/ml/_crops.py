"""Random crops of frames, volumes or images, at the same place in every field."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zarrix.ml._dataset import Dataset, check_border, sizes_of
from zarrix.ml._fields import as_fields, columns_of, names_of_axes
from zarrix.ml._random import Ints, draw

__all__ = ["Crops"]


class Crops(Dataset):
    """Random windows of arrays, aligned over fields of different resolution.

    An item is a crop number of a frame: an epoch visits each frame ``per_item`` times, at places
    that are a function of seed, epoch and item. All fields of a sample show the same place; a field
    with half the resolution gives a window of half the size.

    Parameters
    ----------
    fields : mapping of str to Array or Field, or a list of such mappings
        The first field is the reference, on whose grid ``size`` and corners count. A list has
        groups of equal fields, whose frames may differ in number and in size.
    dims : str, sequence of str, or mapping of field name to these, optional
        Names of the axes, such as "tcyx"; the arrays' own dimension names when omitted.
    size : mapping of str to int, or sequence of int
        The window along each dimension that is cropped; a sequence is for the last dimensions.
        Dimensions that are not in it are taken whole.
    over : str or sequence of str, optional
        Dimensions each index of which is a frame of its own. When omitted, the first one, unless
        it is cropped.
    per_item : int
        Crops of each frame in an epoch.
    where : optional
        Which places are allowed: `fraction` or `foreground`.
    border : {"inside", "pad", "edge", "reflect"}
        Whether a crop may leave the array. If it may, its centre lies inside, and what is outside
        has the pad value, repeats the edge, or is reflected; ``batch["inside"]`` has the range
        that lies inside along each axis.
    pad_value : scalar, optional
        The fill value of each array when omitted.
    seed : int
        The seed of samples that a loader of another library asks for; a `Loader` has its own.

    Raises
    ------
    ValueError
        A window is larger than a frame, or two fields have no whole ratio; the message names both.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> rgb = zarr.zeros((10, 3, 64, 96), chunks=(1, 3, 32, 32), dtype="u1")
    >>> depth = zarr.zeros((10, 32, 48), chunks=(1, 32, 32), dtype="f4")
    >>> crops = ml.Crops({"rgb": rgb, "depth": depth}, dims={"rgb": "tcyx", "depth": "tyx"},
    ...                  size={"y": 16, "x": 16}, per_item=4)
    >>> crops
    Crops(40 items: rgb (3, 16, 16) uint8, depth (8, 8) float32)
    >>> {name: value.shape for name, value in crops[7].items()}
    {'rgb': (3, 16, 16), 'depth': (8, 8), 'item': (), 'start': (4,)}
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        fields: Any,
        *,
        dims: Any = None,
        size: Any,
        over: str | Sequence[str] | None = None,
        per_item: int = 1,
        where: Any = None,
        border: str = "inside",
        pad_value: Any = None,
        seed: int = 0,
    ) -> None:
        self._groups = as_fields(fields, "Crops")
        name, reference = next(iter(self._groups[0].items()))
        found = names_of_axes(name, reference, dims)
        if found is None:
            raise ValueError(
                f"the axes of field {name!r}, of shape {reference.array.shape}, have no names: "
                "pass dims=, such as dims='tcyx'"
            )
        self._dims = found
        self._size = sizes_of(size, found, f"field {name!r}")
        if over is None:
            over = () if found[0] in self._size else found[:1]
        self._over = (over,) if isinstance(over, str) and over in found else tuple(over)
        for dim in self._over:
            if dim not in found or dim in self._size:
                raise ValueError(f"over={over!r}: {dim!r} is cropped, or not one of {found}")
        if per_item < 1:
            raise ValueError(f"per_item={per_item}; each frame has at least one crop")
        self._per_item, self._seed = int(per_item), int(seed)
        self._border, self._pad_value = check_border(border), pad_value
        self._columns = columns_of(self._groups, dims, self._size, self._over)
        self._grid()
        self._where = None if where is None else where.bind(self)
        frames = [math.prod(shape) for shape in self._frame_shapes]
        if self._where is not None:
            frames = self._where.frames
        self._prepare([count * self._per_item for count in frames])

    def _grid(self) -> None:
        """Where corners may be: multiples of a step, in a range for each group."""
        axes = len(self._dims)
        step = np.ones(axes, np.int64)
        for column in self._columns:
            for axis, down in zip(column.axes, column.down, strict=True):
                if axis >= 0 and self._dims[axis] in self._size:
                    step[axis] = math.lcm(int(step[axis]), int(down))
        self._step = step
        cropped = [self._dims.index(dim) for dim in self._dims if dim in self._size]
        low = np.zeros((len(self._groups), axes), np.int64)
        places = np.ones((len(self._groups), axes), np.int64)
        self._frame_shapes = []
        for number, group in enumerate(self._groups):
            shape = next(iter(group.values())).array.shape
            self._frame_shapes.append(tuple(shape[self._dims.index(dim)] for dim in self._over))
            for axis in cropped:
                window, length = self._size[self._dims[axis]], int(shape[axis])
                if self._border == "inside":
                    if window > length:
                        raise ValueError(
                            f"a window of {window} along {self._dims[axis]!r} is larger than group "
                            f"{number}, which has {length}; border='pad' allows it"
                        )
                    last = length - window
                else:
                    low[number, axis] = -(window // 2 // step[axis]) * step[axis]
                    last = max(0, length - window + window // 2)
                places[number, axis] = (last - low[number, axis]) // step[axis] + 1
        self._low, self._places, self._cropped = low, places, cropped

    def _frames(self, items: Ints) -> tuple[Ints, Ints]:
        """The group and the frame of each item."""
        groups = np.searchsorted(self._ends, items, "right") - 1
        return groups, (items - self._ends[groups]) // self._per_item

    def _corners(
        self, items: Ints, seed: int, epoch: Any, rounds: Ints | None
    ) -> tuple[Ints, Ints, dict[str, Any]]:
        groups, frames = self._frames(items)
        corners = self._low[groups]
        if self._where is not None:
            found: tuple[Ints, Ints, dict[str, Any]] = self._where.corners(
                self, groups, frames, items, seed, epoch, rounds
            )
            return found
        self._set_frames(corners, groups, frames)
        for pair in range(0, len(self._cropped), 2):
            words = draw(seed, "corner", epoch, items, rounds=rounds, attempt=pair)
            for axis, word in zip(self._cropped[pair : pair + 2], words, strict=False):
                places = (word % self._places[groups, axis].astype(np.uint64)).astype(np.int64)
                corners[:, axis] += places * self._step[axis]
        return groups, corners, {}

    def _set_frames(self, corners: Ints, groups: Ints, frames: Ints) -> None:
        shapes = np.array(self._frame_shapes, np.int64).reshape(len(self._groups), -1)
        for number in reversed(range(len(self._over))):
            frames, index = np.divmod(frames, shapes[groups, number])
            corners[:, self._dims.index(self._over[number])] = index

    def _begins(self) -> Ints:
        """A block has the frames that lie in one chunk of the reference, along ``over[0]``."""
        begins = [np.zeros(1, np.int64)]
        for number, group in enumerate(self._groups):
            shape = self._frame_shapes[number]
            count = int(self._ends[number + 1] - self._ends[number])
            if not shape or self._where is not None:
                block = max(1, self._per_item)
                ends = np.arange(block, count + block, block)
            else:
                axis = self._dims.index(self._over[0])
                ends = np.array(chunk_ends(next(iter(group.values())).array, axis, shape[0]))
                ends *= count // shape[0]
            begins.append(self._ends[number] + np.minimum(ends, count))
        return np.concatenate(begins)

    def _spec(self) -> dict[str, Any]:
        where = None if self._where is None else self._where.digest
        return {"per_item": self._per_item, "over": self._over, "where": where}


def chunk_ends(array: Any, axis: int, length: int) -> list[int]:
    """Where the chunks along one axis end; shards, which are fetched as one, count as chunks."""
    grid = getattr(getattr(array, "metadata", None), "grid", None)
    if grid is None:
        return [length]
    ends, end = [], 0
    for size in grid[axis].sizes(length):
        end += size
        ends.append(end)
    return ends
