"""Rules about a stored array that need no access: too small or too large chunks, useless codecs."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from zarrix._array.dimension_names import names_of
from zarrix._display.labels import ratio_text
from zarrix._display.table import Printed

__all__ = ["Finding", "lint"]

_SAMPLE_CHUNKS = 4
_MOST_SAMPLE = 32 * 2**20


@dataclass(frozen=True)
class Finding(Printed):
    """A rule that an array breaks.

    Attributes
    ----------
    rule : str
        A stable name, such as ``chunks/tiny``.
    severity : {'info', 'warn', 'error'}
    what : str

    Examples
    --------
    >>> from zarrix.measure import Finding
    >>> print(Finding("chunks/tiny", "warn", "chunks of 8 bytes"))
    warn   chunks/tiny          chunks of 8 bytes
    """

    rule: str
    severity: Literal["info", "warn", "error"]
    what: str

    def to_json(self) -> str:
        """The finding as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.measure import Finding
        >>> Finding("a", "info", "b").to_json()
        '{"rule": "a", "severity": "info", "what": "b"}'
        """
        return json.dumps(asdict(self))

    def __str__(self) -> str:
        return f"{self.severity:<6} {self.rule:<20} {self.what}"


def lint(array: Any) -> list[Finding]:
    """Name what is probably wrong with the layout of an array.

    Parameters
    ----------
    array : Array

    Returns
    -------
    list of Finding

    Raises
    ------
    CorruptChunkError
        A chunk of the sample is damaged.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros(100_000, chunks=10)
    >>> [one.rule for one in zarr.measure.lint(z)][0]
    'chunks/tiny'
    """
    found: list[Finding] = []
    itemsize = max(1, array.dtype.itemsize)
    shape = tuple(array.shape)
    chunks = tuple(max(1, c) for c in array.chunks)
    nbytes = math.prod(chunks) * itemsize
    count = math.prod(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    if nbytes < 16 * 2**10 and count > 8:
        found.append(Finding("chunks/tiny", "warn", f"{count:,} chunks of {nbytes:,} bytes"))
    if nbytes > 128 * 2**20:
        found.append(Finding("chunks/huge", "warn", f"chunks of {nbytes:,} bytes"))
    covered = math.prod(-(-n // c) * c for n, c in zip(shape, chunks, strict=True))
    if math.prod(shape) and count > 1 and covered > 1.25 * math.prod(shape):
        waste = 100 * (1 - math.prod(shape) / covered)
        found.append(
            Finding("chunks/misfit", "info", f"{waste:.0f} % of the elements of chunks are padding")
        )
    if count > 100_000 and getattr(array, "shards", None) is None:
        found.append(Finding("shards/missing", "warn", f"{count:,} chunks, each under its own key"))
    if not any(names_of(array)) and array.ndim:
        found.append(Finding("meta/no-dimension-names", "info", "axes have no names"))
    return found + _of_values(array, chunks)


def _of_values(array: Any, chunks: tuple[int, ...]) -> list[Finding]:
    """Rules that look at some chunks."""
    found: list[Finding] = []
    nbytes = math.prod(chunks) * max(1, array.dtype.itemsize)
    if array.dtype.hasobject or not math.prod(array.shape) or nbytes > _MOST_SAMPLE:
        return found
    stored = int(array.nbytes_stored)
    if stored > 0 and array.nchunks_initialized == array.nchunks:
        is_useless = array.nbytes / stored < 1.02
        if array.compressor is not None and array.nbytes > 2**20 and is_useless:
            ratio = ratio_text(array.nbytes, stored)
            found.append(Finding("codec/useless", "info", f"the codec makes the array {ratio}"))
    rng = np.random.default_rng(0)
    values = []
    for _ in range(_SAMPLE_CHUNKS):
        at = [int(rng.integers(0, -(-n // c))) for n, c in zip(array.shape, chunks, strict=True)]
        region = tuple(slice(i * c, (i + 1) * c) for i, c in zip(at, chunks, strict=True))
        values.append(np.asarray(array[region]))
    narrower = _narrower(values, array.dtype)
    if narrower is not None:
        found.append(
            Finding(
                "dtype/wasteful", "info",
                f"the values of a sample of {array.dtype} are those of {narrower}",
            )
        )  # fmt: skip
    return found


def _narrower(values: list[Any], dtype: np.dtype[Any]) -> np.dtype[Any] | None:
    """A smaller data type that has all values exactly."""
    choices = {"f": ("f2", "f4"), "i": ("i1", "i2", "i4"), "u": ("u1", "u2", "u4")}
    for name in choices.get(dtype.kind, ()):
        narrow = np.dtype(name)
        if narrow.itemsize >= dtype.itemsize:
            break
        with np.errstate(all="ignore"):
            if all(
                np.array_equal(one, one.astype(narrow).astype(dtype), equal_nan=dtype.kind == "f")
                for one in values
            ):
                return narrow
    return None


lint.__module__ = "zarrix.measure"
