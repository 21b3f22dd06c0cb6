"""The cost of a read, computed before it is made.

The engine visits the same chunks as the read would, and asks the store for their lengths instead of
their bytes, or for the shard index if only a part of a shard is selected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._array.handle import ArrayHandle
from zarrix._array.transfer import fields_and_key
from zarrix._display.printable import counted
from zarrix._dtypes.variable import is_variable
from zarrix._runtime.sizes import size_text
from zarrix._selection.fancy import Rule

__all__ = ["ReadPlan", "plan_of"]


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """The chunks that reading a selection touches and fetches; `print` shows it as a sentence.

    Attributes
    ----------
    chunks : int
        Touched chunks (or inner chunks of shards), including missing ones.
    shards : int or None
        Touched shards, including missing ones; None for an array without shards.
    missing : int
        Touched chunks (or shards) that are missing, and read as the fill value.
    requests : int
        Requests to the store, for complete values or ranges.
    bytes_fetched : int
        Bytes that these requests return, as they are stored (mostly compressed).
    elements_touched : int
        Elements of the touched chunks.
    elements_used : int
        Elements of the result.
    itemsize : int or None
        Item size in bytes; None for variable-length elements.
    strategy : str
        How the read is done. The engine reads ``"interleaved"`` (neighbouring chunks block by
        block), in ``"parallel shards"`` (their inner chunks are divided among the threads) or
        ``"batched"`` (each request is for many values). Otherwise it reads chunk by chunk:
        ``"whole chunks"``, ``"byte ranges"`` of them, ``"shard ranges"`` (the index, then inner
        chunks) or ``"cached chunks"``. An empty selection reads ``"nothing"``.
    """

    chunks: int
    shards: int | None
    missing: int
    requests: int
    bytes_fetched: int
    elements_touched: int
    elements_used: int
    itemsize: int | None
    strategy: str

    def __setstate__(self, state: Sequence[Any]) -> None:
        # Plans that were pickled before they had a strategy have one value less.
        for name, value in zip(self.__slots__, [*state, ""], strict=False):
            object.__setattr__(self, name, value)

    @property
    def bytes_touched(self) -> int | None:
        """Decoded size of the touched chunks in bytes; None for variable-length elements."""
        return None if self.itemsize is None else self.elements_touched * self.itemsize

    @property
    def bytes_used(self) -> int | None:
        """Size of the result in bytes; None for variable-length elements."""
        return None if self.itemsize is None else self.elements_used * self.itemsize

    @property
    def amplification(self) -> float:
        """The number of elements in touched chunks for each element of the result; 1 is best.

        It does not depend on compression, only on the chunk grid and the selection. It is below 1
        if elements are selected more than once, and 0 if nothing is selected.
        """
        return self.elements_touched / self.elements_used if self.elements_used else 0.0

    def __str__(self) -> str:
        chunks = counted(self.chunks, "chunk")
        if self.shards is not None:
            chunks += f" in {counted(self.shards, 'shard')}"
        missing = f", {self.missing} of them not stored" if self.missing else ""
        how = f" ({self.strategy})" if self.requests and self.strategy else ""
        return (
            f"Touches {chunks}{missing}; fetches {size_text(self.bytes_fetched)} in "
            f"{counted(self.requests, 'request')}{how} and uses "
            f"{self._amount(self.elements_used)} of {self._amount(self.elements_touched)} of "
            f"chunks (amplification {self.amplification:.3g})."
        )

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.table import info_table

        rows: list[tuple[str, Any]] = [("Chunks", f"{self.chunks:,}")]
        if self.shards is not None:
            rows.append(("Shards", f"{self.shards:,}"))
        rows += [
            ("Not stored", f"{self.missing:,}"),
            ("Requests", f"{self.requests:,} ({self.strategy})"),
            ("Fetched", size_text(self.bytes_fetched)),
            ("Used", f"{self._amount(self.elements_used)} of "
             f"{self._amount(self.elements_touched)} of chunks"),
            ("Amplification", f"{self.amplification:.3g}"),
        ]  # fmt: skip
        return info_table(rows)

    def _amount(self, elements: int) -> str:
        if self.itemsize is None:
            return counted(elements, "element")
        return size_text(elements * self.itemsize)


# Pickles name a class by its module: a public one, which does not move.
ReadPlan.__module__ = "zarrix.core"


def plan_of(array: ArrayHandle, selection: Any, rule: Rule) -> ReadPlan:
    """The plan for reading a selection of ``array``."""
    snapshot = array._current()
    metadata, io = snapshot.metadata, snapshot.io
    _, key = fields_and_key(array, metadata, None, selection)
    indexer = rule(key, metadata.shape)
    axes: Any = indexer.axes
    coords: Any = indexer.coords
    chunks, values, stored, requests, fetched, elements = io.cost(axes, coords)
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
        strategy=io.strategy(axes, coords),
    )
