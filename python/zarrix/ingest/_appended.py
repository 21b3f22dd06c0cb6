"""What an append did, or would do."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field

from zarrix._display.printable import counted, lines
from zarrix._display.table import Printed

__all__ = ["Appended"]


@dataclass
class Appended(Printed):
    """What an append did, or would do.

    Attributes
    ----------
    dest, along : str
    sources : int
    added, replaced, same : int
        Labels that were not stored before; that were, with other values, which were replaced; and
        that were stored already, and are as they were.
    length : int
        Labels that are stored now.
    notes : list of str
        Attributes that differ and were not stored.
    dry_run : bool

    Examples
    --------
    >>> from zarrix.ingest import Appended
    >>> Appended("era5.zarr", "time", sources=1, added=24, length=48).added
    24
    """

    dest: str
    along: str
    sources: int = 0
    added: int = 0
    replaced: int = 0
    same: int = 0
    length: int = 0
    notes: list[str] = field(default_factory=list)
    dry_run: bool = False

    def to_json(self) -> str:
        """The result as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.ingest import Appended
        >>> Appended("a.zarr", "time").to_json()[:36]
        '{"version": 1, "dest": "a.zarr", "al'
        """
        return json.dumps({"version": 1, **dataclasses.asdict(self)})

    def __str__(self) -> str:
        verb = "would add" if self.dry_run else "added"
        told = f"{self.dest}: {verb} {self.added:,} of {self.along} from"
        rows = [f"{told} {counted(self.sources, 'source')}; it has {self.length:,} now"]
        if self.dry_run:
            rows = [rows[0].replace("it has", "it would have").removesuffix(" now")]
        if self.replaced:
            rows.append(f"  {'would replace' if self.dry_run else 'replaced'} {self.replaced:,}")
        if self.same:
            rows.append(f"  {self.same:,} were stored already")
        return lines([*rows, *(f"  note: {one}" for one in self.notes)])
