"""Sources of an import: one file, or several that are stacked or joined to one array."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._formats import open_source
from zarrix.convert._matching import is_pattern, matching
from zarrix.convert._options import check_options
from zarrix.convert._source import Region, Source, SourceArray

__all__ = ["open_sources"]

_MOST_OPEN = 64


def open_sources(
    source: Any,
    format: str | None,
    stack: str | None,
    concat: int | None,
    options: Mapping[str, Any],
) -> Source:
    """The source of an import.

    Raises
    ------
    ConversionError
        Files that are stacked or joined do not have one array each, of one dtype and shape.
    """
    if isinstance(source, str | os.PathLike):
        named = os.fspath(source)
        names = matching(named, None, ConversionError) if is_pattern(named) else [named]
        if not names:
            raise FileNotFoundError(2, "no file matches", named)
    else:
        names = [os.fspath(one) for one in source]
    if stack is None and concat is None:
        if len(names) != 1 and _are_images(names, format):
            return _images(names, options)
        if len(names) != 1:
            raise ConversionError(
                f"{len(names)} sources make one array with stack= (--stack NAME) or concat= "
                "(--concat AXIS)"
            )
        return open_source(names[0], format, options)
    if stack is not None and concat is not None:
        raise ConversionError("files are either stacked or joined: pass stack= or concat=")
    return _Joined(names, format, options).source(stack, concat)


def _are_images(names: list[str], format: str | None) -> bool:
    # Import time: formats are imported when a file of them is opened.
    from zarrix.convert._images import SUFFIXES

    return format in (None, "images") and all(one.lower().endswith(SUFFIXES) for one in names)


def _images(names: list[str], options: Mapping[str, Any]) -> Source:
    # Import time, as above.
    from zarrix.convert._images import open_listed

    check_options(open_listed, options, "images", "read")
    return open_listed(names, **options)


def _reader(source_array: SourceArray, native: bool) -> Callable[[Region], Any]:
    return source_array.native if native and source_array.native is not None else source_array.read


class _Joined:
    """Files that each have one array; a few of them are open at a time."""

    def __init__(self, names: list[str], format: str | None, options: Mapping[str, Any]) -> None:
        self._names, self._format, self._options = names, format, options
        self._open: dict[str, Source] = {}

    def _one(self, index: int) -> SourceArray:
        name = self._names[index]
        if name not in self._open:
            if len(self._open) >= _MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            self._open[name] = open_source(name, self._format, self._options)
        opened = self._open[name]
        if len(opened.arrays) != 1:
            raise ConversionError(f"{name} has {len(opened.arrays)} arrays; only one can be joined")
        (array,) = opened.arrays.values()
        return array

    def source(self, stack: str | None, concat: int | None) -> Source:
        """The joined array; every file is opened once, to compare shapes."""
        shapes: list[tuple[int, ...]] = []
        identity: list[list[Any]] = []
        asked: list[Any] = []
        first = self._one(0)
        for index, name in enumerate(self._names):
            one = self._one(index)
            shapes.append(one.shape)
            identity += self._open[name].identity
            asked.append(self._open[name].asked)
            if one.dtype != first.dtype or len(one.shape) != len(first.shape):
                raise ConversionError(
                    f"{name} has {one.shape} of {one.dtype}, and {self._names[0]} has "
                    f"{first.shape} of {first.dtype}"
                )
        array = self._stacked(first, shapes, stack) if stack is not None else None
        if array is None:
            array = self._concatenated(first, shapes, concat or 0)
        shown = f"{self._names[0]} and {len(self._names) - 1} more"
        return Source(shown, {"": array}, identity=identity, asked=asked, close=self._close)

    def _stacked(
        self, first: SourceArray, shapes: list[tuple[int, ...]], stack: str
    ) -> SourceArray:
        for name, shape in zip(self._names, shapes, strict=True):
            if shape != first.shape:
                raise ConversionError(f"{name} has shape {shape}, and the first {first.shape}")

        def read(region: Region, native: bool = False) -> Any:
            frames = range(region[0].start, region[0].stop)
            return np.stack([_reader(self._one(i), native)(region[1:]) for i in frames])

        names = first.dimension_names or (None,) * len(first.shape)
        return SourceArray(
            (len(shapes), *first.shape),
            first.dtype,
            read,
            chunks=None if first.chunks is None else (1, *first.chunks),
            attributes=first.attributes,
            dimension_names=(stack or None, *names),
            why_decoded="it is made of several files",
            native=lambda region: read(region, True),
        )

    def _concatenated(
        self, first: SourceArray, shapes: list[tuple[int, ...]], axis: int
    ) -> SourceArray:
        if not 0 <= axis < len(first.shape):
            raise ConversionError(f"concat={axis} is not an axis of {first.shape}")
        for name, shape in zip(self._names, shapes, strict=True):
            if shape[:axis] + shape[axis + 1 :] != first.shape[:axis] + first.shape[axis + 1 :]:
                raise ConversionError(f"{name} has shape {shape}, and the first {first.shape}")
        ends = np.cumsum([shape[axis] for shape in shapes]).tolist()

        def read(region: Region, native: bool = False) -> Any:
            parts, at = [], region[axis].start
            while at < region[axis].stop:
                index = int(np.searchsorted(ends, at, side="right"))
                begin = ends[index] - shapes[index][axis]
                stop = min(region[axis].stop, ends[index])
                inside = [*region]
                inside[axis] = slice(at - begin, stop - begin)
                parts.append(_reader(self._one(index), native)(tuple(inside)))
                at = stop
            return np.concatenate(parts, axis=axis)

        shape = (*first.shape[:axis], ends[-1], *first.shape[axis + 1 :])
        return SourceArray(
            shape,
            first.dtype,
            read,
            chunks=first.chunks,
            attributes=first.attributes,
            dimension_names=first.dimension_names,
            why_decoded="it is made of several files",
            native=lambda region: read(region, True),
        )

    def _close(self) -> None:
        closing: list[Callable[[], None]] = [one.close for one in self._open.values()]
        self._open = {}
        with contextlib.ExitStack() as stack:
            for close in closing:
                stack.callback(close)
