"""Parts of entries: windows that are read from one place, the source of an array or a stage."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from zarrix import _engine
from zarrix._errors import CallCancelledError, ZarrixError
from zarrix.ml._order.random import Ints
from zarrix.ml._staging.staged_array import SOURCE, StagedArray

__all__ = ["Part", "parts_of", "read_parts"]

# Entries whose windows touch more units are read from their source.
_MOST_UNITS = 1 << 20


class Part(NamedTuple):
    """Consecutive windows of an entry, from number ``first`` on, as `_engine.read_many` takes them.

    They are read from ``io``: that of ``staged``, or ``source``.
    """

    entry: int
    first: int
    io: _engine.ArrayIO
    starts: Ints
    out: Any
    #: Border, padding and conversion.
    rest: tuple[Any, ...]
    #: Turns of windows, and their size before they get another one.
    way: tuple[Any, Any] | None
    source: _engine.ArrayIO
    staged: StagedArray | None

    def native(self) -> tuple[Any, ...]:
        return self.io, self.starts, self.out, *self.rest, self.way

    def some(self, begin: int, end: int) -> Part:
        """The part with some of its windows."""
        way = self.way
        if way is not None and way[0] is not None:
            way = way[0][begin:end], way[1]
        return self._replace(starts=self.starts[begin:end], out=self.out[begin:end], way=way)

    @property
    def window(self) -> tuple[int, ...]:
        """The shape of a window in the array."""
        return window_of(self.out, self.way)

    def note_damage(self, window: int) -> None:
        """Let the stage drop what it has of a window."""
        if self.staged is not None:
            starts = self.starts[window : window + 1]
            self.staged.damaged(units_of(self.staged, starts, self.window)[0])

    def from_source(self) -> tuple[Any, ...]:
        return self.source, self.starts, self.out, *self.rest, self.way


def window_of(out: Any, way: tuple[Any, Any] | None) -> tuple[int, ...]:
    """The shape of the windows of an array that fill a buffer."""
    if way is None or way[1] is None:
        return tuple(out.shape[1:])
    return tuple(way[1][0])


def parts_of(
    entry: int, whole: tuple[Any, ...], staged: StagedArray, cancel: Any, threads: int
) -> list[Part]:
    """An entry in parts: from the stage what it has, where it can be staged now, or else from the
    source.
    """
    source, starts, out, *rest, way = whole
    alone = [Part(entry, 0, source, starts, out, tuple(rest), way, source, None)]
    if not len(starts):
        return alone
    window = alone[0].window
    units, owners = units_of(staged, starts, window)
    if units is None:
        return alone
    try:
        layers = staged.layers_of(units, cancel, threads)
    except OSError:
        # The folder of the stage is gone, or its disk fails.
        staged.forget()
        return alone
    of_windows = _of_windows(layers, owners)
    if rest[0] == "reflect":
        ends = starts + np.array(window, np.int64)
        is_leaving = (starts < 0) | (ends > np.array(staged.metadata.shape))
        of_windows[is_leaving.any(axis=1)] = SOURCE
    changes = np.flatnonzero(of_windows[1:] != of_windows[:-1]) + 1
    parts = []
    for begin, end in pairwise([0, *changes.tolist(), len(of_windows)]):
        layer = int(of_windows[begin])
        is_staged = layer != SOURCE
        io = staged.io(layer) if is_staged else source
        part = alone[0].some(begin, end)
        parts.append(part._replace(first=begin, io=io, staged=staged if is_staged else None))
        staged.windows += (end - begin) * is_staged
    return parts


def units_of(staged: StagedArray, starts: Ints, window: tuple[int, ...]) -> tuple[Any, Any]:
    """The different units that windows touch; and for each window the places of its units among
    them, -1 where it has fewer than others. None if there are too many.
    """
    unit = np.array(staged.layout.unit, np.int64)
    counts = np.array(staged.layout.counts, np.int64)
    shape = np.array(staged.metadata.shape, np.int64)
    low = np.clip(starts, 0, shape - 1) // unit
    ends = starts + np.array(window, np.int64)
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


def read_parts(
    parts: dict[int, Part], read: Callable[..., list[Any]], native: list[Any], *, tolerate: bool
) -> list[Any]:
    """Read entries, of which some are parts, by one call; what is damaged, if that is tolerated.

    What a stage has and cannot give, because it is damaged or gone, is read from the source by a
    second call.
    """
    try:
        failures = read(native, tolerate=True)
    except CallCancelledError:
        raise
    except (ZarrixError, OSError):
        # The files of a stage may be removed at any time; errors of a source come again.
        sources = list(native)
        for place, part in parts.items():
            sources[place] = part.from_source()
            if part.staged is not None:
                part.staged.forget()
        return read(sources, tolerate=tolerate)
    found, again = [], []
    for place, window, key, error in failures:
        if place not in parts or parts[place].staged is None:
            found.append((place, window, key, error))
            continue
        part = parts[place]
        part.note_damage(window)
        again.append((place, window, part.some(window, window + 1).from_source()))
    if found and not tolerate:
        raise found[0][3]
    if again:
        more = read([one for _, _, one in again], tolerate=tolerate)
        found += [(*again[number][:2], key, error) for number, _, key, error in more]
    return found
