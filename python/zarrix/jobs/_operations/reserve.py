"""`reserve`: rows of an array for one of many writers that append at the same time."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from zarrix._array import resize
from zarrix._array.array import Array
from zarrix.jobs._running.tiling import Region

__all__ = ["reserve"]


@contextlib.contextmanager
def reserve(
    array: Array, count: int, axis: int = 0, *, align: str | None = "shards"
) -> Iterator[Region]:
    """Grow an array by rows that belong to the caller alone, among any number of processes.

    The new length is stored atomically, before the block begins. No other reservation has these
    rows, nor, with ``align="shards"``, the stored values (shards or chunks) that they are in.
    Then writers need no locks, also on file systems that have none.

    Parameters
    ----------
    array : Array
    count : int
        The number of rows.
    axis : int
    align : {"shards", None}
        Whether the rows begin where a stored value begins; rows that are left out before read as
        the fill value. None reserves the next rows, which may share a chunk with those of others.

    Yields
    ------
    tuple of slice
        The region, for ``z[region] = data``. If the block fails, its rows read as the fill value.

    Raises
    ------
    ValueError
        ``count`` is negative, ``axis`` is out of range, or ``align`` is something else.
    WriterError
        A `Writer` has the array open.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.create_array({}, shape=(0, 3), chunks=(4, 3), dtype="i4")
    >>> for number in (1, 2):
    ...     with zarr.jobs.reserve(z, 2) as region:
    ...         z[region] = number
    >>> region
    (slice(4, 6, None), slice(0, 3, None))
    >>> z[:, 0]
    array([1, 1, 0, 0, 2, 2], dtype=int32)
    """
    if align not in ("shards", None):
        raise ValueError(f"align is 'shards' or None, not {align!r}")
    region = resize.reserve(array, count, axis, aligned=align is not None)
    yield region
