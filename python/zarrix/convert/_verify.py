"""The verification of an import: what was stored is read again, and the source by its library.

The source is read by the library of its format alone (`SourceArray.native`), because a reader that
looks at the wrong bytes of a file would find them equal to themselves.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np

from zarrix._array.access import metadata_of
from zarrix._errors import ConversionError, ZarrixError
from zarrix.convert._encoded import keys_in
from zarrix.convert._regions import count, region_at, step_of, stored_regions
from zarrix.convert._source import Encoded, Region, SourceArray, UnkeptError
from zarrix.convert._sparse import stored_reader

__all__ = ["verify", "verify_files"]

_LEAST, _MOST = 8, 1000
_THREADS, _LIBRARY_STEP = 4, 10
# All regions of an array are compared up to so many; of larger ones those that are stored, and
# a sample of the others.
_MOST_EMPTY = 100_000


def verify(
    shown: str,
    array: Any,
    source_array: SourceArray,
    changed: Callable[[Any], Any],
    budget: int,
    *,
    everything: bool,
) -> None:
    """Compare an array with its source.

    Parameters
    ----------
    shown : str
        The name of the array, for the message.
    array : Array
        What was stored.
    changed : function
        What the import makes of the values of the source.
    budget : int
        Bytes of a region.
    everything : bool
        Whether all regions are compared, or a sample.

    Raises
    ------
    ConversionError
        They differ.
    """
    if source_array.intact is not None:
        source_array.intact()
    read = source_array.native or (
        stored_reader(source_array) if source_array.is_sparse else source_array.read
    )
    for region in _chosen(array, source_array, budget, everything):
        try:
            source = _by_library(shown, read, region)
        except UnkeptError:
            # The engine has a filter that the library lacks.
            return
        if not _same(array[region], changed(source)):
            raise _differs(shown, region)


def verify_files(
    shown: str, array: Any, source_array: SourceArray, encoded: Encoded, *, everything: bool
) -> None:
    """Compare chunks that are files with them, several at once.

    Each file that is looked at is compared byte for byte. In a sample, one file in ten, and at
    least 8, is decoded by the engine and by the library of the format, which take longest.

    Raises
    ------
    ConversionError
        They differ, or a file is damaged.
    """
    files, key_at = dict(encoded.files), keys_in(array)
    every = [*_chosen(array, replace(source_array, sequential=False), 1, everything)]
    step = 1 if everything else max(1, min(_LIBRARY_STEP, len(every) // _LEAST))

    def check(number: int) -> None:
        region = every[number]
        at = tuple(part.start // n for part, n in zip(region, encoded.chunks, strict=True))
        with open(files[at], "rb") as file:
            same = file.read() == array.chunk_store.get(key_at(at))
        if not same:
            raise _differs(shown, region)
        if number % step:
            return
        if not _same(array[region], _by_library(shown, source_array.read, region)):
            raise _differs(shown, region)

    with ThreadPoolExecutor(_THREADS) as threads:
        for _ in threads.map(check, range(len(every))):
            pass


def _by_library(shown: str, read: Callable[[Region], Any], region: Region) -> Any:
    """A region as the library of the format reads it."""
    try:
        return read(region)
    except (ZarrixError, MemoryError):
        raise
    except Exception as error:
        # The library of the format has errors of its own.
        raise ConversionError(
            f"{shown} at {_told(region)} cannot be read from the source: {error}"
        ) from error


def _differs(shown: str, region: Region) -> ConversionError:
    return ConversionError(
        f"{shown} at {_told(region)} is not what the source has; the source may have changed, or "
        "the destination is damaged"
    )


def _chosen(
    array: Any, source_array: SourceArray, budget: int, everything: bool
) -> Iterator[Region]:
    unit = tuple(int(n) for n in metadata_of(array).chunk_shape)
    if source_array.sequential:
        # A stream is read from its begin: a sample of it is what comes first.
        unit = step_of(source_array.shape, unit, None, source_array.itemsize, budget, rows=True)
    shape, total = source_array.shape, count(source_array.shape, unit)
    draw = random.Random(0)
    stored: Any = range(total)
    if source_array.stored is not None:
        stored = stored_regions(shape, unit, source_array.extent, source_array.stored())
    wanted = len(stored) if everything else min(_MOST, max(_LEAST, math.ceil(len(stored) / 100)))
    if source_array.sequential:
        chosen: Any = range(min(wanted, total))
    elif everything and total <= _MOST_EMPTY:
        chosen = range(total)
    else:
        chosen = {*draw.sample(stored, min(wanted, len(stored)))}
        if len(stored) < total:
            # What is not stored has to read as the fill value.
            chosen |= {draw.randrange(total) for _ in range(_LEAST)}
        chosen = sorted(chosen)
    return (region_at(number, shape, unit) for number in chosen)


def _told(region: Region) -> str:
    return "[" + ", ".join(f"{one.start}:{one.stop}" for one in region) + "]"


def _same(stored: Any, source: Any) -> bool:
    stored, source = np.asarray(stored), np.asarray(source)
    if stored.shape != source.shape:
        return False
    if stored.dtype.hasobject or source.dtype.hasobject or stored.dtype.kind == "T":
        return all(map(_same_element, stored.ravel().tolist(), source.ravel().tolist()))
    return bool(stored.tobytes() == source.astype(stored.dtype, copy=False).tobytes())


def _same_element(stored: Any, source: Any) -> bool:
    if isinstance(stored, np.ndarray) or isinstance(source, np.ndarray):
        stored, source = np.asarray(stored), np.asarray(source)
        same = stored.tobytes() == source.astype(stored.dtype, copy=False).tobytes()
        return bool(stored.shape == source.shape and same)
    return bool(stored == source)
