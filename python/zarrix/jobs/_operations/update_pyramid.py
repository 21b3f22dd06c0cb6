"""`update_pyramid`: the levels of an image again, where a part of level 0 has changed.

A stage is a level. Its tasks write whole stored values of the level, and read the level before it,
which the stage before has completed. A stored value of which only a part has changed is computed
completely, so that a task writes no value that another one writes, and needs no lock.

`update_pyramid` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._hierarchy.group import Group
from zarrix._runtime.signatures import takes
from zarrix._runtime.sizes import parse_size
from zarrix.jobs._operations.downsample import METHODS, check_dtype, downsampled, shape_below
from zarrix.jobs._operations.new_array import write_unit
from zarrix.jobs._operations.task_size import task_bytes
from zarrix.jobs._running.documents import below, opened
from zarrix.jobs._running.job import Job
from zarrix.jobs._running.operation import Done, Operation, Setting, Stage, source_array
from zarrix.jobs._running.places import Place, digest_of, place_of
from zarrix.jobs._running.run import Running, run_or_plan
from zarrix.jobs._running.tiling import Region

__all__ = ["UpdatePyramid", "update_pyramid"]

# A region of the level before, its sums, and the region of the level.
_COPIES = 3


class UpdatePyramid(Operation):
    """Computes regions of levels from the level before each."""

    kind = "update-pyramid"
    destination = None

    def __init__(self, setting: Setting) -> None:
        super().__init__(setting)
        self._found: dict[int, Array] = {}

    def _array(self, level: int) -> Array:
        found = self._found.get(level)
        if found is None:
            self._found[level] = found = self._opened(level)
        return found

    def _opened(self, level: int) -> Array:
        place = below(self.places["group"], self.parameters["paths"][level])
        told = self.parameters["digests"][level]
        return source_array(place, told, read_only=level == 0)

    def check(self) -> None:
        """The levels must be those that were planned for."""
        for level in range(len(self.parameters["paths"])):
            self._opened(level)

    @property
    def stages(self) -> Sequence[Stage]:
        """One stage for each level but the first."""
        told = self.parameters
        return [
            Stage(
                f"level {level}",
                math.prod(_counts(box, lengths)),
                functools.partial(self._region, level),
                tuple(lengths),
                _COPIES * math.prod(lengths) * math.prod(factors) * told["itemsize"],
                math.prod(box) * math.prod(factors) * told["itemsize"],
                math.prod(box) * told["itemsize"],
            )
            for level, (box, lengths, factors) in enumerate(
                zip(told["boxes"], told["lengths"], told["factors"], strict=True), 1
            )
        ]

    def _region(self, level: int, number: int) -> Region:
        told = self.parameters
        box, lengths = told["boxes"][level - 1], told["lengths"][level - 1]
        axes = []
        for n, length, origin in zip(
            reversed(box), reversed(lengths), reversed(told["origins"][level - 1]), strict=True
        ):
            number, at = divmod(number, -(-n // length))
            axes.append(slice(origin + at * length, origin + min((at + 1) * length, n)))
        return tuple(reversed(axes))

    def kept(self) -> list[Place]:
        """Nothing: all that it writes is named by the metadata of the image."""
        return []

    def read_places(self) -> Mapping[str, Place]:
        """The largest level; the others are made of it."""
        return {"source": below(self.places["group"], self.parameters["paths"][0])}

    def run(self, stage: int, number: int) -> Done:
        """Compute a region from the level before."""
        level = stage + 1
        before, factors = self._array(stage), self.parameters["factors"][stage]
        region = self._region(level, number)
        inside = tuple(
            slice(part.start * factor, min(part.stop * factor, n))
            for part, factor, n in zip(region, factors, before.shape, strict=True)
        )
        block = before[inside]
        smaller = downsampled(block, factors, self.parameters["method"])
        self._array(level)[region] = smaller
        return Done(None, block.nbytes, smaller.nbytes)

    def finish(self, values: Sequence[Mapping[int, Any]]) -> Group:
        """The group, whose documents have not changed."""
        found = opened(self.places["group"])
        assert isinstance(found, Group)
        return found


@takes(Running, like=Job.run)
def update_pyramid(
    group: Any,
    region: Any = None,
    *,
    method: str | None = None,
    factors: Sequence[int] | None = None,
    levels: Sequence[str] | None = None,
    max_memory: int | str = "1 GiB",
    run: bool = True,
    **running: Unpack[Running],
) -> Any:
    """Compute the levels of an image again, where a part of level 0 has changed.

    Afterwards, the levels are those that `pyramid` would make. Only stored values that the region
    touches are read and written. After an interruption, the same call does it again. Nothing else
    may write to these levels meanwhile.

    Parameters
    ----------
    group : Group, Store, str or Path
        With the levels of `pyramid`, or of another program that wrote OME-Zarr metadata.
    region : slice, Ellipsis or tuple of these, optional
        The part of level 0 that has changed, with steps of 1; by default all of it.
    method : str, optional
        As for `pyramid`; by default the one that the metadata names.
    factors : sequence of int, optional
        By how much each axis shrinks from level to level; by default as the metadata says.
    levels : sequence of str, optional
        The names of the levels, the largest first; by default those in the metadata.
    max_memory : int or str
        The bytes that a task may use, such as "2 GiB"; at least one stored value is computed.
    run : bool
        False returns the `Job` with its plan, and writes nothing.
    **running
        As for `Job.run`: executor, resume, retries, patience and progress.

    Returns
    -------
    Group or Job
        The group of the levels; the job with ``run=False``.

    Raises
    ------
    ValueError
        The metadata does not say what the levels are, or their shapes are others; or the region is
        not a box of level 0.
    JobFailed, JobInterrupted
        As from `Job.run`.

    Examples
    --------
    >>> import numpy as np
    >>> import zarrix as zarr
    >>> image = zarr.open_group("image.zarr", mode="w", zarr_format=3)
    >>> image.create_array("0", shape=(200, 200), chunks=(50, 50), dtype="u2")
    <zarrix.core.Array '/0' (200, 200) uint16>
    >>> levels = zarr.jobs.pyramid(image["0"], levels=3)
    >>> levels["0"][:40, :40] = 8
    >>> zarr.jobs.update_pyramid(levels, (slice(40), slice(40)))["2"][:12:3, 0]
    array([8, 8, 8, 8], dtype=uint16)
    """
    place = place_of(group)
    node = opened(place)
    if not isinstance(node, Group):
        raise TypeError(f"the levels of an image are in a group, and {node!r} is an array")
    told = _multiscale(node)
    paths = list(levels) if levels is not None else _paths(node, told)
    arrays = [opened(below(place, path)) for path in paths]
    if not arrays or not all(isinstance(one, Array) for one in arrays):
        raise ValueError(f"the levels {paths} of {node!r} are not all arrays")
    known = told.get("type")
    method = method if method is not None else known
    if method not in METHODS:
        raise ValueError(f"the metadata of {node!r} names the method {known!r}; pass method=")
    check_dtype(arrays[0].dtype, method)
    by_level = _factors(arrays, told, factors)
    limit = parse_size(max_memory, "max_memory")
    boxes, origins, lengths = _changed_below(arrays, by_level, _box(region, arrays[0]), limit)
    parameters = {
        "paths": paths,
        "digests": [digest_of(metadata_of(array)) for array in arrays],
        "factors": by_level,
        "method": method,
        "itemsize": max(1, arrays[0].dtype.itemsize),
        "boxes": boxes,
        "origins": origins,
        "lengths": lengths,
    }
    return run_or_plan(Job("update-pyramid", Setting(parameters, {"group": place})), run, **running)


def _changed_below(
    arrays: Sequence[Array],
    by_level: Sequence[Sequence[int]],
    changed: Sequence[tuple[int, int]],
    limit: int,
) -> tuple[list[list[int]], list[list[int]], list[list[int]]]:
    """The stored values of each level that a box of level 0 changes.

    Returns
    -------
    boxes, origins, lengths : list of list of int
        Of each further level: the shape of the box of these values, where it begins, and the
        elements of a task along each axis.
    """
    boxes, origins, lengths = [], [], []
    itemsize = max(1, arrays[0].dtype.itemsize)
    for array, by_axis in zip(arrays[1:], by_level, strict=True):
        changed = [
            (begin // f, -(-end // f)) for (begin, end), f in zip(changed, by_axis, strict=True)
        ]
        unit = write_unit(array)
        whole = [
            (begin // n * n, min(-(-end // n) * n, size))
            for (begin, end), n, size in zip(changed, unit, array.shape, strict=True)
        ]
        origins.append([begin for begin, _ in whole])
        boxes.append([max(0, end - begin) for begin, end in whole])
        cells = task_bytes(array.nbytes, limit // _COPIES // math.prod(by_axis)) // itemsize
        lengths.append(_grown(unit, boxes[-1], cells))
    return boxes, origins, lengths


def _multiscale(group: Group) -> Mapping[str, Any]:
    """The first image of OME-Zarr metadata; empty without any."""
    attributes = dict(group.attrs)
    found = (attributes.get("ome") or attributes).get("multiscales")
    if not isinstance(found, list) or not found or not isinstance(found[0], dict):
        return {}
    first: dict[str, Any] = found[0]
    return first


def _paths(group: Group, multiscale: Mapping[str, Any]) -> list[str]:
    datasets = multiscale.get("datasets")
    if not isinstance(datasets, list) or not all(
        isinstance(one, dict) and isinstance(one.get("path"), str) for one in datasets
    ):
        raise ValueError(f"{group!r} has no OME-Zarr metadata with levels; pass levels=")
    return [one["path"] for one in datasets]


def _factors(
    arrays: Sequence[Array], multiscale: Mapping[str, Any], factors: Sequence[int] | None
) -> list[list[int]]:
    """The factors from each level to the next one; they must lead to its shape."""
    found = []
    for level, (before, array) in enumerate(itertools.pairwise(arrays), 1):
        by_axis = list(factors) if factors is not None else _ratio(multiscale, level)
        if (
            len(by_axis) != before.ndim
            or array.ndim != before.ndim
            or any(not isinstance(one, int) or one < 1 for one in by_axis)
            or shape_below(before.shape, by_axis) != array.shape
        ):
            raise ValueError(
                f"level {level} has the shape {array.shape}, and {before.shape} shrinks by "
                f"{by_axis}; pass factors= with a number for each axis"
            )
        if array.dtype != before.dtype:
            raise ValueError(f"level {level} has {array.dtype}, and the one before {before.dtype}")
        found.append(by_axis)
    return found


def _ratio(multiscale: Mapping[str, Any], level: int) -> list[int]:
    """By how much the scale of a level is larger than that of the one before."""
    scales: list[Sequence[float]] = []
    for dataset in multiscale.get("datasets", ())[level - 1 : level + 1]:
        moves = dataset.get("coordinateTransformations") or ()
        scales += [one["scale"] for one in moves if one.get("type") == "scale"][:1]
    if len(scales) != 2:
        return []
    return [round(after / before) if before else 0 for before, after in zip(*scales, strict=False)]


def _box(region: Any, array: Array) -> list[tuple[int, int]]:
    """Begin and end along each axis."""
    given = region if isinstance(region, tuple) else (() if region is None else (region,))
    if Ellipsis in given:
        at = given.index(Ellipsis)
        missing = (slice(None),) * (array.ndim - len(given) + 1)
        given = (*given[:at], *missing, *given[at + 1 :])
    given = (*given, *(slice(None),) * (array.ndim - len(given)))
    if len(given) != array.ndim or not all(
        isinstance(one, slice) and one.step in (None, 1) for one in given
    ):
        raise ValueError(f"region={region!r}; expected slices with steps of 1 for {array!r}")
    found = []
    for one, n in zip(given, array.shape, strict=True):
        begin, end, _ = one.indices(n)
        found.append((begin, max(begin, end)))
    return found


def _grown(unit: Sequence[int], box: Sequence[int], max_elements: int) -> list[int]:
    """Whole stored values with at most so many elements together; last axes first."""
    grown = [max(1, min(n, length)) for n, length in zip(box, unit, strict=True)]
    for axis in reversed(range(len(grown))):
        times = max(1, max_elements // math.prod(grown))
        grown[axis] = max(1, min(box[axis], unit[axis] * times))
        if grown[axis] < box[axis]:
            break
    return grown


def _counts(shape: Sequence[int], lengths: Sequence[int]) -> tuple[int, ...]:
    return tuple(-(-n // length) for n, length in zip(shape, lengths, strict=True))
