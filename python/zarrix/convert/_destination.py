"""The destination of an import: chunks are stored first, metadata documents last.

The documents are in memory until all chunks are stored, so that an import that is interrupted
leaves no array that reads as fill values. What was asked is written to one value beside the chunks
first, and removed last; the next call continues if it asks the same, because a stored chunk is
always complete.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.memory import MemoryStore

__all__ = ["JOB", "Destination", "seen_by_parents"]

JOB = "zarrix-import.json"
"""The name of the value that says what an unfinished import was asked."""


class Destination:
    """Where an import stores its nodes.

    Parameters
    ----------
    location : Location
    asked : mapping
        The source and the options, which a resumed import must repeat.
    overwrite, resume : bool
    """

    def __init__(
        self, location: Location, asked: Mapping[str, Any], overwrite: bool, resume: bool
    ) -> None:
        self.store: Store = location.store
        self.path = location.path
        self.documents = MemoryStore()
        self._key = key_of(self.path, JOB)
        self._asked = json.loads(json.dumps(asked, default=str))
        self._can_resume = self.store.is_erasable()
        self._overwrite, self._resume = overwrite, resume

    def begin(self) -> bool:
        """Claim the path; return whether chunks of an earlier call may be there."""
        overwrite, resume = self._overwrite, self._resume
        before = self.store.get(self._key) if self._can_resume else None
        if before is not None and not overwrite:
            if not resume:
                raise ConversionError(
                    f"an unfinished import is at {nodes.describe(self.store, self.path)}; "
                    "continue it with resume=True (--resume) or replace it with overwrite=True "
                    "(--overwrite)"
                )
            if json.loads(before) != self._asked:
                raise ConversionError(
                    f"the unfinished import at {nodes.describe(self.store, self.path)} had "
                    "another source or other options, or its source has changed; replace it with "
                    "overwrite=True (--overwrite)"
                )
            return True
        if before is not None:
            del self.store[self._key]
        if overwrite:
            nodes.clear(self.store, self.path)
        elif nodes.find(self.store, self.path) is not None:
            complete = ", and no import into it is unfinished" if resume else ""
            raise ContainsArrayError(
                f"{nodes.describe(self.store, self.path)} exists{complete}; replace it with "
                "overwrite=True (--overwrite)"
            )
        else:
            nodes.require_free(self.store, self.path)
        if self._can_resume:
            self.store[self._key] = json.dumps(self._asked).encode()
        return False

    def finish(self) -> None:
        """Store the documents, those of the root last, and end the import."""
        inside = f"{self.path}/" if self.path else ""
        keys = sorted(self.documents, key=lambda key: (-key.count("/"), key))
        for key in keys:
            if key.startswith(inside) or key not in self.store:
                self.store[key] = self.documents[key]
        seen_by_parents(self.store, self.path)
        # Last: a call that is killed before can be resumed, and then does all of the above.
        if self._can_resume:
            del self.store[self._key]


def seen_by_parents(store: Store, path: str) -> None:
    """Add a new node, and the groups above it, to the consolidated metadata above them."""
    names = path.split("/") if path else []
    for depth in range(1, len(names) + 1):
        above = "/".join(names[:depth])
        found = nodes.find(store, above)
        if found is not None:
            update_consolidated(store, above, found.zarr_format, deep=above == path)
