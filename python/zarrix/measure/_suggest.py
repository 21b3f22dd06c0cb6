"""A layout for an array that does not exist yet."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from zarrix._display.table import Printed
from zarrix._hierarchy.copy_log import check_choice
from zarrix.measure._access import accesses_of
from zarrix.measure._model import Layout, Use, candidates, cost

__all__ = ["Suggestion", "shards_of", "suggest"]

_MANY_FILES = 20_000
_SHARD = 64 * 2**20
_MOST_SHARDS = 100_000


@dataclass(frozen=True)
class Suggestion(Printed):
    """A layout, and what the model expects of it.

    Attributes
    ----------
    shape, chunks : tuple of int
    dtype : str
    shards : tuple of int or None
        For arrays of more than 20,000 chunks, and for remote stores.
    expected_s : float
        Seconds of an access; a figure of the model, not measured.
    nchunks : int

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.suggest((1000, 512, 512), "f4", access="frame").chunks[0]
    1
    """

    shape: tuple[int, ...]
    dtype: str
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    expected_s: float
    nchunks: int

    @property
    def code(self) -> str:
        """The call that creates such an array."""
        shards = "" if self.shards is None else f", shards={self.shards}"
        return (
            f"zarr.create_array(store, shape={self.shape}, dtype={self.dtype!r}, "
            f"chunks={self.chunks}{shards})"
        )

    def to_json(self) -> str:
        """The suggestion as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.suggest((8, 8), "u1", access="all").to_json()[:30]
        '{"version": 1, "shape": [8, 8]'
        """
        return json.dumps({"version": 1, **asdict(self), "code": self.code})

    def __str__(self) -> str:
        shards = "" if self.shards is None else f", shards {self.shards}"
        return (
            f"chunks {self.chunks}{shards}: {self.nchunks:,} chunks, about "
            f"{1e3 * self.expected_s:.2f} ms an access (by the model, not measured)\n{self.code}"
        )


def suggest(
    shape: Sequence[int],
    dtype: Any,
    *,
    access: Any,
    place: Literal["local", "remote"] = "local",
    dimension_names: Sequence[str | None] | None = None,
) -> Suggestion:
    """Suggest chunks for an array that does not exist yet; the same for the same arguments.

    Parameters
    ----------
    shape : sequence of int
    dtype : dtype
    access : str or sequence of str
        ``"crop 256x256"``, ``"frame"``, ``"plane y"``, ``"series t"``, ``"all"``, ``"points 100"``,
        ``"append t"``; with a weight, ``"frame:0.1"``.
    place : {'local', 'remote'}
        Where it will be stored: a remote store has a latency for each request.
    dimension_names : sequence of str, optional
        What the accesses call the axes.

    Returns
    -------
    Suggestion

    Raises
    ------
    ValueError
        An access is not understood, no access is named, or ``place`` is neither "local" nor
        "remote".

    Examples
    --------
    >>> import zarrix as zarr
    >>> print(zarr.suggest((100, 3, 1080, 1920), "u1", access="crop 256x256").nchunks > 100)
    True
    """
    check_choice("place", place, ("local", "remote"))
    shape = tuple(int(n) for n in shape)
    of = np.dtype(dtype)
    use = Use(shape, of.itemsize, accesses_of(access, shape, dimension_names), place)
    best = candidates(use)[0]
    return Suggestion(
        shape,
        of.str,
        best.chunks,
        shards_of(best, use),
        cost(best, use),
        math.prod(-(-n // c) for n, c in zip(shape, best.chunks, strict=True)),
    )


def shards_of(layout: Layout, use: Use) -> tuple[int, ...] | None:
    """Shards of about 64 MiB if there would be very many files; None otherwise."""
    grid = [-(-n // c) for n, c in zip(use.shape, layout.chunks, strict=True)]
    if math.prod(grid) <= (_MANY_FILES if use.place == "local" else 1000):
        return None
    target = max(_SHARD, math.prod(use.shape) * use.itemsize // _MOST_SHARDS)
    counts = [1] * len(grid)
    nbytes = math.prod(layout.chunks) * use.itemsize
    for axis in reversed(range(len(grid))):
        while counts[axis] < grid[axis] and nbytes * math.prod(counts) * 2 <= target:
            counts[axis] = min(grid[axis], counts[axis] * 2)
    while math.prod(-(-g // n) for g, n in zip(grid, counts, strict=True)) > _MOST_SHARDS:
        axis = max(range(len(grid)), key=lambda i: grid[i] / counts[i])
        counts[axis] = min(grid[axis], counts[axis] * 2)
    return tuple(c * n for c, n in zip(layout.chunks, counts, strict=True))


suggest.__module__ = "zarrix.measure"
