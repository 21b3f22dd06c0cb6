"""The merge of three sorted streams: what one place has, what the other one has, and the ledger."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from tempfile import SpooledTemporaryFile
from typing import NamedTuple

from zarrix._errors import CopyError
from zarrix._hierarchy.ledger import Row
from zarrix._stores.ordered import Stored

__all__ = ["Pair", "Spools", "merged"]

# Rows that wait for a later step are in memory up to so many bytes for each step.
_IN_MEMORY = 1 << 20


class Pair(NamedTuple):
    """One key: what is stored under it on either side, and what the ledger has of it."""

    key: str
    source: Stored | None
    dest: Stored | None
    row: Row | None = None


def merged(source: Iterable[Stored], dest: Iterable[Stored], rows: Iterable[Row]) -> Iterator[Pair]:
    """Every key that is in one of the streams, in order.

    Raises
    ------
    CopyError
        A listing is not in the order of its keys.
    """
    streams = (_ordered(source, "source"), _ordered(dest, "destination"), iter(rows))
    heads = [next(streams[0], None), next(streams[1], None), next(streams[2], None)]
    while keys := [head.key for head in heads if head is not None]:
        key = min(keys)
        taken: list[Stored | Row | None] = [None, None, None]
        for at, head in enumerate(heads):
            if head is not None and head.key == key:
                taken[at], heads[at] = head, next(streams[at], None)
        yield Pair(key, *taken)  # type: ignore[arg-type]


def _ordered(stream: Iterable[Stored], side: str) -> Iterator[Stored]:
    last = ""
    for stored in stream:
        if stored.key <= last:
            raise CopyError(
                f"the listing of the {side} has {stored.key!r} after {last!r}, which is not the "
                "order of keys: nothing can be compared with it"
            )
        last = stored.key
        yield stored


class Spools:
    """Pairs that wait for a later step, by its number, on disk if they are many."""

    def __init__(self) -> None:
        self._files: dict[int, SpooledTemporaryFile[bytes]] = {}

    def add(self, step: int, pair: Pair) -> None:
        """Append a pair to those of a step."""
        file = self._files.get(step)
        if file is None:
            # Kept open until the step is done.
            file = self._files[step] = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115
        file.write(json.dumps(pair).encode() + b"\n")

    def steps(self) -> list[int]:
        """The numbers of the steps that have pairs."""
        return sorted(self._files)

    def of(self, step: int) -> Iterator[Pair]:
        """The pairs of a step, in the order in which they were added."""
        file = self._files.get(step)
        if file is None:
            return
        file.seek(0)
        for line in file:
            key, source, dest, row = json.loads(line)
            yield Pair(key, source and Stored(*source), dest and Stored(*dest), row and Row(*row))

    def close(self) -> None:
        """Drop all pairs."""
        for file in self._files.values():
            file.close()
        self._files.clear()
