"""The route ``crops``: what a training loader yields, as a contact sheet."""

from __future__ import annotations

import json
import math
import time
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix.ml import Crops, Loader
from zarrix.viewer._answers import Answer, Refused
from zarrix.viewer._axes import dims_of, plane_of
from zarrix.viewer._cost import check_touched, decoded_bytes, touched
from zarrix.viewer._limits import MOST_CHUNKS, MOST_DECODED_BYTES, MOST_ELEMENTS
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._roots import Roots
from zarrix.viewer._tile import octets

__all__ = ["crops"]

_MOST_CROPS = 64


def crops(roots: Roots, parameters: Parameters) -> Answer:
    """Random windows of the plane, in the order in which `zarrix.ml.Loader` would give them."""
    path = parameters.text("path")
    array = roots.array(path)
    plane = plane_of(array.shape, dims_of(array, roots.parent(path)))
    if plane is None:
        raise Refused(400, f"{path or '/'} has no plane that crops could be taken of")
    height, width = _size(parameters.wholes("shape", 2))
    count = parameters.whole("n", 16, 1, _MOST_CROPS)
    seed = parameters.whole("seed", 0, 0, 2**31)
    names = tuple(f"a{axis}" for axis in range(array.ndim))
    axes = (plane.y, plane.x, plane.c)
    over = tuple(name for axis, name in enumerate(names) if axis not in axes)
    channels = 1 if plane.c is None else array.shape[plane.c]
    if count * height * width * channels > MOST_ELEMENTS:
        raise Refused(413, f"the crops have more than {MOST_ELEMENTS:,} elements", "too-large")
    _check_one(array, plane, height, width, count)
    try:
        found = Crops(
            {"crop": array},
            dims=names,
            size={names[plane.y]: height, names[plane.x]: width},
            over=over,
            # A short array yields several of one frame.
            per_item=-(-count // max(1, math.prod(array.shape[names.index(one)] for one in over))),
        )
        loader = Loader(found, batch_size=count, seed=seed, prefetch=0, drop_last=False)
    except ValueError as error:
        raise Refused(400, str(error), "crops") from error
    begun = time.perf_counter()
    batch: dict[str, Any] = next(iter(loader))
    took = time.perf_counter() - begun
    values = np.asarray(batch["crop"])
    more = {
        "x-zarrix-starts": json.dumps(np.asarray(batch["start"]).tolist(), separators=(",", ":")),
        "x-zarrix-window": json.dumps(_window(array, plane, height, width, over, names)),
        "x-zarrix-rate": f"{len(values) / max(took, 1e-9):.1f}",
    }
    return octets(values, "raw", more)


def _size(shape: list[int]) -> tuple[int, int]:
    if len(shape) != 2 or 0 in shape:
        raise Refused(400, "shape= is the height and the width of crops, such as 256,256")
    return shape[0], shape[1]


def _check_one(array: Any, plane: Any, height: int, width: int, count: int) -> None:
    """Refuse crops whose chunks are too large together, at the worst place."""
    grid = metadata_of(array).inner_grid
    size = {plane.y: height, plane.x: width}
    axes: list[Any] = []
    for axis, length in enumerate(array.shape):
        if axis in size:
            if not 0 < size[axis] <= length:
                raise Refused(400, f"crops of {height} x {width} do not fit into {array.shape}")
            begin = max(0, min(max(grid[axis].lengths) - 1, length - size[axis]))
            axes.append((begin, 1, size[axis]))
        else:
            axes.append((0, 1, length) if axis == plane.c else 0)
    check_touched(array, axes)
    # A loader knows where all chunks of an axis end.
    if max(one.count(length) for one, length in zip(grid, array.shape, strict=True)) > MOST_CHUNKS:
        raise Refused(413, "the array has too many chunks for a loader", "too-large")
    if touched(grid, axes) * count > MOST_CHUNKS // 4:
        raise Refused(413, "the chunks of so many crops are too many", "too-large")
    if decoded_bytes(array, axes) * count > 4 * MOST_DECODED_BYTES:
        raise Refused(413, "the chunks of so many crops are too large", "too-large")


def _window(array: Any, plane: Any, height: int, width: int, over: Any, names: Any) -> list[int]:
    size = {plane.y: height, plane.x: width}
    return [
        1 if name in over else size.get(axis, array.shape[axis]) for axis, name in enumerate(names)
    ]
