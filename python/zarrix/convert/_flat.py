"""Elements that lie in a file one after the other: npy, raw, safetensors, NetCDF3, stored members.

Regions are read by position, in runs as long as the layout allows. A memory map would be simpler,
but a file that another program truncates would end the process with SIGBUS, and its pages would
count as memory of the process.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._source import Encoded, OpenFile, Part, Region, SourceArray

__all__ = ["Flat", "flat_array", "reject_objects"]

# Below this length, one read of the whole span is cheaper than a read for each run.
_SHORT_RUN = 64 * 1024
_MOST_SPAN = 16 * 2**20
# Bytes of the chunks of a virtual array.
_VIRTUAL_CHUNK = 4 * 2**20


def flat_array(
    file: OpenFile,
    offset: int,
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
    order: str = "C",
    **more: Any,
) -> SourceArray:
    """An array whose elements begin at ``offset`` of a file.

    Raises
    ------
    ConversionError
        The file is too short for the shape, or elements are Python objects.
    """
    reject_objects(dtype, str(file.path))
    needed = math.prod(shape) * dtype.itemsize
    if offset < 0 or offset + needed > file.size:
        raise ConversionError(
            f"{file.path} is truncated: {shape} of {dtype} from byte {offset} on needs {needed} "
            f"bytes, and {max(0, file.size - offset)} are there"
        )
    stored = shape[::-1] if order == "F" else shape
    flat = Flat(file, offset, stored, dtype)

    def read(region: Region) -> Any:
        return flat.read(region[::-1]).T if order == "F" else flat.read(region)

    encoded = flat.encoded() if order == "C" and needed else None
    return SourceArray(
        shape,
        dtype,
        read,
        order=order,
        encoded=encoded,
        why_decoded="it is empty or in Fortran order",
        **more,
    )


def reject_objects(dtype: np.dtype[Any], shown: str) -> None:
    """Raise `ConversionError` for a dtype of Python objects."""
    if dtype.hasobject:
        raise ConversionError(
            f"{shown} holds Python objects, which are pickled: loading them can run any program. "
            "If you trust the file, pass allow_pickle=True (--option allow_pickle=true)"
        )


class Flat:
    """Elements in C order."""

    def __init__(
        self, file: OpenFile, offset: int, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> None:
        self._file, self._offset, self._shape, self._dtype = file, offset, shape, dtype
        # Bytes from one index of an axis to the next.
        self._steps = [math.prod(shape[i + 1 :]) * dtype.itemsize for i in range(len(shape))]

    def read(self, region: Region) -> Any:
        starts = [one.start for one in region]
        out = np.empty([one.stop - one.start for one in region], self._dtype)
        if out.nbytes == 0:
            return out
        split = len(self._shape)
        while split and out.shape[split - 1] == self._shape[split - 1]:
            split -= 1
        # The axis at which a run begins: all later axes are complete.
        run = max(0, split - 1)
        self._fill(out, starts, 0, self._offset, run)
        return out

    def _fill(self, out: Any, starts: list[int], axis: int, base: int, run: int) -> None:
        """Read the part of ``out`` from ``axis`` on, whose first element is at ``base``."""
        if axis >= run:
            at = base + sum(
                start * step for start, step in zip(starts[axis:], self._steps[axis:], strict=True)
            )
            self._file.read_into(out.reshape(-1).view(np.uint8).data, at)
            return
        step, count = self._steps[axis], out.shape[0]
        if axis == run - 1 and out[0].nbytes < _SHORT_RUN and count * step <= _MOST_SPAN:
            rows = np.empty((count, *self._shape[axis + 1 :]), self._dtype)
            flat = rows.reshape(-1).view(np.uint8).data
            self._file.read_into(flat, base + starts[axis] * step)
            inner = zip(starts[axis + 1 :], out.shape[1:], strict=True)
            out[...] = rows[(slice(None), *(slice(first, first + n) for first, n in inner))]
            return
        for i in range(count):
            self._fill(out[i], starts, axis + 1, base + (starts[axis] + i) * step, run)

    def encoded(self) -> Encoded | None:
        """The rows of the file as chunks, if they divide it evenly or the last one is padded."""
        shape, itemsize = self._shape, self._dtype.itemsize
        if not itemsize or self._dtype.hasobject:
            return None
        # Chunks of one index of the outer axes, and of a divisor of the axis at which they split.
        axis = 0
        while axis < len(shape) - 1 and self._steps[axis] > _VIRTUAL_CHUNK:
            axis += 1
        if not shape:
            extent: tuple[int, ...] = ()
        else:
            extent = (
                *(1,) * axis,
                _divisor(shape[axis], max(1, _VIRTUAL_CHUNK // self._steps[axis])),
                *shape[axis + 1 :],
            )
        grid = [n // chunk for n, chunk in zip(shape, extent, strict=True)]
        length = math.prod(extent) * itemsize

        def find(coords: tuple[int, ...]) -> Part | None:
            at = sum(i * n * step for i, n, step in zip(coords, extent, self._steps, strict=True))
            return Part(coords, self._offset + at, length)

        def parts() -> Iterator[Part]:
            for coords in itertools.product(*map(range, grid)):
                part = find(coords)
                if part is not None:
                    yield part

        return Encoded(extent, None, None, self._file, parts, find)


def _divisor(length: int, limit: int) -> int:
    """The largest divisor of ``length`` that is at most ``limit``.

    A chunk at the end of an axis would be padded, and the bytes of a file are not.
    """
    if length <= limit:
        return length
    return max(
        (d for one in range(1, math.isqrt(length) + 1) if length % one == 0
         for d in (one, length // one) if d <= limit),
        default=1,
    )  # fmt: skip
