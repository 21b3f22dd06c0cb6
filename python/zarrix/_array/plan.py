"""What a read would cost, told before it is made.

The engine goes through the same chunks as the read would, and asks the store for their lengths
(of shards that are wanted in part, for their index) instead of their bytes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zarrix._display.printable import counted
from zarrix._dtypes.variable import is_variable
from zarrix._selection.fancy import Indexer

if TYPE_CHECKING:
    from zarrix._array.protocols import SelectedArray

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
    elements_touched : int
        Elements of the touched chunks.
    elements_used : int
        Elements of the result.
    itemsize : int or None
        Bytes of an element; None for text and other elements without a size of their own.
    """

    chunks: int
    shards: int | None
    missing: int
    requests: int
    bytes_fetched: int
    elements_touched: int
    elements_used: int
    itemsize: int | None

    @property
    def bytes_touched(self) -> int | None:
        """Bytes of the touched chunks once decoded; None where elements have no size."""
        return None if self.itemsize is None else self.elements_touched * self.itemsize

    @property
    def bytes_used(self) -> int | None:
        """Bytes of the result; None where elements have no size."""
        return None if self.itemsize is None else self.elements_used * self.itemsize

    @property
    def amplification(self) -> float:
        """How many elements of touched chunks there are to each of the result; 1 is best.

        Compression does not enter: it is about how the chunks lie under the selection. Below 1
        where elements are selected more than once; 0 where nothing is.
        """
        return self.elements_touched / self.elements_used if self.elements_used else 0.0

    def __str__(self) -> str:
        chunks = counted(self.chunks, "chunk")
        if self.shards is not None:
            chunks += f" in {counted(self.shards, 'shard')}"
        missing = f", {self.missing} of them not stored" if self.missing else ""
        return (
            f"Touches {chunks}{missing}; fetches {_bytes(self.bytes_fetched)} in "
            f"{counted(self.requests, 'request')} and uses {self._amount(self.elements_used)} of "
            f"{self._amount(self.elements_touched)} of chunks (amplification "
            f"{self.amplification:.3g})."
        )

    def _amount(self, elements: int) -> str:
        if self.itemsize is None:
            return counted(elements, "element")
        return _bytes(elements * self.itemsize)


# Pickles name a class by its module: a public one, which does not move.
ReadPlan.__module__ = "zarrix.core"


def plan(array: SelectedArray, indexer: Indexer) -> ReadPlan:
    """What reading ``indexer`` from ``array`` would cost."""
    metadata = array._metadata
    axes: Any = indexer.axes
    coords: Any = indexer.coords
    chunks, values, stored, requests, fetched, elements = array._io.cost(axes, coords)
    sized = not is_variable(metadata.dtype)
    return ReadPlan(
        chunks=chunks,
        shards=None if metadata.shard_codec is None else values,
        missing=values - stored,
        requests=requests,
        bytes_fetched=fetched,
        elements_touched=elements,
        elements_used=math.prod(indexer.shape),
        itemsize=metadata.dtype.itemsize if sized else None,
    )


def _bytes(count: int) -> str:
    """A number of bytes in a unit that leaves it below 1024.

    Examples
    --------
    >>> _bytes(100), _bytes(1536), _bytes(5 * 2**30)
    ('100 bytes', '1.5 KiB', '5.0 GiB')
    """
    if count < 1024:
        return counted(count, "byte")
    number = float(count)
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB"):
        if number < 1024 or unit == "TiB":
            break
        number /= 1024
    return f"{number:.1f} {unit}"
