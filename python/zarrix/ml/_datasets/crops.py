"""Random crops of frames, volumes or images, at the same place in every field.

`Crops` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from zarrix.ml._datasets.places import Frames, Places
from zarrix.ml._datasets.split import Divisible
from zarrix.ml._datasets.windows import check_border, frame_dims, sizes_of
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import Field, as_fields, columns_of, required_names

__all__ = ["Crops"]


class Crops(Divisible):
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
    density : float, optional
        Crops of each frame as a multiple of its area over that of the window, so that a group of
        larger frames has more; at least one. In place of ``per_item``.
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
        density: float | None = None,
        where: Any = None,
        border: str = "inside",
        pad_value: Any = None,
        seed: int = 0,
    ) -> None:
        self._given = {
            "dims": dims,
            "size": size,
            "over": over,
            "per_item": per_item,
            "density": density,
            "where": where,
            "border": border,
            "pad_value": pad_value,
            "seed": seed,
        }
        self._groups = as_fields(fields, "Crops")
        name, reference = next(iter(self._groups[0].items()))
        self._dims = required_names(name, reference, dims)
        self._size = sizes_of(size, self._dims, f"field {name!r}")
        self._over = frame_dims(over, self._dims, self._size)
        self._seed = int(seed)
        self._per_item = self._crops_of_groups(per_item, density)
        self._border, self._pad_value = check_border(border), pad_value
        self._columns = columns_of(self._groups, dims, self._size, self._over)
        self._places = Places(self._groups, self._dims, self._size, self._columns, self._border)
        shapes = [next(iter(group.values())).array.shape for group in self._groups]
        self._frame_shapes = [
            tuple(int(shape[self._dims.index(dim)]) for dim in self._over) for shape in shapes
        ]
        frames = [math.prod(shape) for shape in self._frame_shapes]
        self._where = None
        if where is not None:
            self._where = where.bind(
                Frames(self._groups, dims, self._over, self._places, self._frame_shapes)
            )
            frames = [len(allowed) for allowed in self._where.frames]
        self._prepare(np.array(frames, np.int64) * self._per_item)

    def _crops_of_groups(self, per_item: int, density: float | None) -> Ints:
        """How many crops the frames of each group have in an epoch."""
        if per_item < 1:
            raise ValueError(f"per_item={per_item}; each frame has at least one crop")
        if density is None:
            return np.full(len(self._groups), per_item, np.int64)
        if per_item != 1 or not 0 < density < math.inf:
            raise ValueError(
                f"density={density}, per_item={per_item}; density= is positive, and in place of "
                "per_item="
            )
        return np.array([self._crops_of(group, density) for group in self._groups], np.int64)

    def _crops_of(self, group: dict[str, Field], density: float) -> int:
        shape = dict(zip(self._dims, next(iter(group.values())).array.shape, strict=True))
        covered = math.prod(shape[dim] / window for dim, window in self._size.items())
        return max(1, int(density * covered + 0.5))

    def _corners(self, visits: Visits) -> tuple[Ints, Ints, dict[str, Any]]:
        groups, frames = self._visited(visits.items)
        extras: dict[str, Any] = {}
        if self._where is None:
            corners = self._places.corners(groups, visits)
        else:
            corners, frames, extras = self._where.corners(groups, frames, visits)
        self._set_frames(corners, groups, frames)
        return groups, corners, extras

    def _visited(self, items: Ints) -> tuple[Ints, Ints]:
        """The group of each item, and which of its visited frames it has."""
        groups = np.searchsorted(self._ends, items, "right") - 1
        return groups, (items - self._ends[groups]) // self._per_item[groups]

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        groups, frames = self._visited(items)
        if self._where is not None:
            for group, allowed in enumerate(self._where.frames):
                here = groups == group
                frames[here] = allowed[frames[here]]
        each = np.array([math.prod(shape[1:]) for shape in self._frame_shapes], np.int64)
        return groups, frames // each[groups] if self._over else np.zeros_like(frames)

    def _set_frames(self, corners: Ints, groups: Ints, frames: Ints) -> None:
        shapes = np.array(self._frame_shapes, np.int64).reshape(len(self._groups), -1)
        for number in reversed(range(len(self._over))):
            frames, index = np.divmod(frames, shapes[groups, number])
            corners[:, self._dims.index(self._over[number])] = index

    @property
    def _axis(self) -> int | None:
        return self._dims.index(self._over[0]) if self._over else None

    def _before(self, group: int, positions: Ints) -> Ints:
        """Items of a group whose frame comes before these positions along the first of `over`."""
        frames = positions * math.prod(self._frame_shapes[group][1:])
        if self._where is not None:
            frames = np.searchsorted(self._where.frames[group], frames)
        return frames * int(self._per_item[group])

    def _spec(self) -> dict[str, Any]:
        where = None if self._where is None else self._where.digest
        return {
            "per_item": self._per_item.tolist(),
            "over": [self._dims.index(dim) for dim in self._over],
            "where": where,
            "crop": self._places.identity(),
        }
