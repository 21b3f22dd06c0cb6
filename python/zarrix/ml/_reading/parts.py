"""Parts of entries: windows that are read from one place, the source of an array or a stage."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._array.conversion import NativeConversion
from zarrix._errors import CallCancelledError, ZarrixError
from zarrix.ml._order.random import Ints
from zarrix.ml._staging.staged_array import SOURCE, StagedArray

__all__ = ["Part", "Windows", "parts_of", "read_parts"]

# Entries whose windows touch more units are read from their source.
_MOST_UNITS = 1 << 20


class Windows(NamedTuple):
    """Some windows of an array, and how they become values of a batch."""

    starts: Ints
    out: Any
    border: str
    padding: bytes | None
    conversion: NativeConversion | None

    def part(self, begin: int, end: int) -> Windows:
        return self._replace(starts=self.starts[begin:end], out=self.out[begin:end])


class Part(NamedTuple):
    """Consecutive windows of an entry, from number ``first`` on, and the array they are read from.

    ``staged`` is where that is not the source, and ``source`` is the source.
    """

    entry: int
    first: int
    windows: Windows
    io: _engine.ArrayIO
    staged: StagedArray | None
    source: _engine.ArrayIO | None = None

    def native(self) -> tuple[Any, ...]:
        starts, out, border, padding, conversion = self.windows
        return self.io, starts, out, border, padding, conversion

    def from_source(self) -> Part:
        """The same windows, read from the source."""
        if self.source is None:
            return self
        return self._replace(io=self.source, staged=None, source=None)


def parts_of(
    entry: int,
    windows: Windows,
    source: _engine.ArrayIO,
    staged: StagedArray,
    cancel: Any = None,
    threads: int = 0,
) -> list[Part]:
    """An entry in parts: from the stage what it has, where it can be staged now, or else from the
    source.
    """
    whole = [Part(entry, 0, windows, source, None)]
    if not len(windows.starts):
        return whole
    units, owners = units_of(staged, windows)
    if units is None:
        return whole
    try:
        layers = staged.layers_of(units, cancel, threads)
    except OSError:
        # The folder of the stage is gone, or its disk fails.
        staged.forget()
        return whole
    of_windows = _of_windows(layers, owners)
    if windows.border == "reflect":
        of_windows[_are_leaving(staged, windows)] = SOURCE
    if (of_windows == of_windows[0]).all():
        bounds = [0, len(of_windows)]
    else:
        changes = np.flatnonzero(of_windows[1:] != of_windows[:-1]) + 1
        bounds = [0, *changes.tolist(), len(of_windows)]
    parts = []
    for begin, end in pairwise(bounds):
        layer, some = int(of_windows[begin]), windows.part(begin, end)
        if layer == SOURCE:
            parts.append(Part(entry, begin, some, source, None))
        else:
            staged.windows += end - begin
            parts.append(Part(entry, begin, some, staged.io(layer), staged, source))
    return parts


def units_of(staged: StagedArray, windows: Windows) -> tuple[Any, Any]:
    """The different units that windows touch; and for each window the places of its units among
    them, -1 where it has fewer than others. None if there are too many.
    """
    unit = np.array(staged.layout.unit, np.int64)
    counts = np.array(staged.layout.counts, np.int64)
    shape = np.array(staged.metadata.shape, np.int64)
    low = np.clip(windows.starts, 0, shape - 1) // unit
    ends = windows.starts + np.array(windows.out.shape[1:], np.int64)
    high = np.clip(ends - 1, 0, shape - 1) // unit
    reach = (high - low).max(axis=0) + 1
    if float(np.prod(reach.astype(float))) * len(low) > _MOST_UNITS:
        return None, None
    steps = np.stack([axis.ravel() for axis in np.indices(tuple(reach.tolist()))], axis=1)
    numbers = low[:, None, :] + steps
    is_touched = (numbers <= high[:, None, :]).all(axis=2)
    flat = np.ravel_multi_index(
        tuple(np.moveaxis(np.minimum(numbers, counts - 1), 2, 0)), tuple(counts.tolist())
    )
    units, places = np.unique(flat[is_touched], return_inverse=True)
    owners = np.full(flat.shape, -1, np.int64)
    owners[is_touched] = places.ravel()
    return units, owners


def _of_windows(layers: Any, owners: Any) -> Any:
    """The layer that has all units of each window, or `SOURCE`."""
    if owners.shape[1] == 1:
        return layers[owners[:, 0]]
    each = layers[owners]
    # Where a window has fewer units, its first one stands again.
    each = np.where(owners < 0, each[:, :1], each)
    return np.where((each == each[:, :1]).all(axis=1), each[:, 0], SOURCE)


def _are_leaving(staged: StagedArray, windows: Windows) -> Any:
    ends = windows.starts + np.array(windows.out.shape[1:], np.int64)
    return ((windows.starts < 0) | (ends > np.array(staged.metadata.shape))).any(axis=1)


def read_parts(
    parts: Sequence[Part],
    tolerates: bool,
    cancel: Any,
    progress: Any,
    threads: int,
) -> list[tuple[int, int, str | None, Exception]]:
    """Read parts by one call of the engine; what is damaged, if that is tolerated.

    What a stage has and cannot give, because it is damaged or gone, is read from the source by a
    second call. With ``progress`` it is an error instead: entries were delivered meanwhile.
    """
    has_staged = progress is None and any(part.staged is not None for part in parts)
    native: list[Any] = [part.native() for part in parts]
    try:
        failures = _engine.read_many(
            native,
            tolerate=tolerates or has_staged,
            cancel=cancel,
            progress=progress,
            threads=threads,
        )
    except CallCancelledError:
        raise
    except (ZarrixError, OSError):
        # The files of a stage may be removed at any time; errors of a source come again.
        if not has_staged:
            raise
        for part in parts:
            if part.staged is not None:
                part.staged.forget()
        sources = [part.from_source() for part in parts]
        return read_parts(sources, tolerates, cancel, progress, threads)
    damaged = [failure for failure in failures if parts[failure[0]].staged is not None]
    failures = [failure for failure in failures if parts[failure[0]].staged is None]
    if failures and not tolerates:
        raise failures[0][3]
    found = [(parts[n].entry, parts[n].first + w, key, error) for n, w, key, error in failures]
    if damaged:
        again = [_instead(parts[number], window) for number, window, _, _ in damaged]
        found += read_parts(again, tolerates, cancel, progress, threads)
    return found


def _instead(part: Part, window: int) -> Part:
    """A damaged window of a stage, to be read from the source."""
    alone = part.windows.part(window, window + 1)
    if part.staged is not None:
        units, _ = units_of(part.staged, alone)
        part.staged.damaged(units)
    return part.from_source()._replace(first=part.first + window, windows=alone)
