"""What a read would cost, told before it is made.

The engine goes through the same chunks as the read would, and asks the store for their lengths
(of shards that are wanted in part, for their index) instead of their bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarrix._fancy import Picked

if TYPE_CHECKING:
    from zarrix._selecting import Selecting

__all__ = ["ReadPlan", "plan"]


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """What reading a selection touches and fetches; `print` shows it as a sentence.

    Attributes
    ----------
    chunks : int
        Chunks touched, stored or not; of an array with shards, inner chunks.
    shards : int or None
        Shards touched, stored or not; None for an array without shards.
    missing : int
        Of the chunks (of the shards, where there are any) those that are not stored: they read as
        the fill value.
    requests : int
        Requests to the store, of whole values or of ranges of them.
    bytes_fetched : int
        Bytes that these requests return, as stored: mostly compressed.
    bytes_touched : int
        Bytes of the touched chunks once decoded.
    bytes_used : int
        Bytes of the result.
    """

    chunks: int
    shards: int | None
    missing: int
    requests: int
    bytes_fetched: int
    bytes_touched: int
    bytes_used: int

    @property
    def amplification(self) -> float:
        """How many bytes of touched chunks there are to each byte of the result; 1 is best.

        Compression does not enter: it is about how the chunks lie under the selection. Below 1
        where elements are selected more than once; 0 where nothing is.
        """
        return self.bytes_touched / self.bytes_used if self.bytes_used else 0.0

    def __str__(self) -> str:
        chunks = _counted(self.chunks, "chunk")
        if self.shards is not None:
            chunks += f" in {_counted(self.shards, 'shard')}"
        missing = f", {self.missing} of them not stored" if self.missing else ""
        return (
            f"Touches {chunks}{missing}; fetches {_bytes(self.bytes_fetched)} in "
            f"{_counted(self.requests, 'request')} and uses {_bytes(self.bytes_used)} of "
            f"{_bytes(self.bytes_touched)} of chunks (amplification {self.amplification:.3g})."
        )


def plan(array: Selecting, picked: Picked) -> ReadPlan:
    """What reading ``picked`` from ``array`` would cost."""
    metadata = array._metadata
    axes: Any = picked.axes
    coords: Any = picked.coords
    chunks, values, stored, requests, fetched, elements = array._io.cost(axes, coords)
    itemsize = metadata.dtype.itemsize
    return ReadPlan(
        chunks=chunks,
        shards=None if metadata.shard_codec is None else values,
        missing=values - stored,
        requests=requests,
        bytes_fetched=fetched,
        bytes_touched=elements * itemsize,
        bytes_used=math.prod(picked.shape) * itemsize,
    )


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}" if count == 1 else f"{count:,} {word}s"


def _bytes(count: int) -> str:
    """A number of bytes in a unit that leaves it below 1024.

    Examples
    --------
    >>> _bytes(100), _bytes(1536), _bytes(5 * 2**30)
    ('100 bytes', '1.5 KiB', '5.0 GiB')
    """
    if count < 1024:
        return _counted(count, "byte")
    number = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.1f} {unit}"
