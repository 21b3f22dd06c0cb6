"""The destination of an import: chunks are stored first, metadata documents last.

The documents are in memory until all chunks are stored, so that an import that is interrupted
leaves no array that reads as fill values. What was asked is written to one value beside the chunks
first, and removed last; the next call continues if it asks the same, because a stored chunk is
always complete.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.keys import key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.overlap import refuse_overlap

__all__ = ["JOB", "Destination", "check_named", "seen_by_parents"]

JOB = "zarrix-import.json"
"""The name of the value that says what an unfinished import was asked."""

_LITTER = {".DS_Store"}


def _parsed(document: Any) -> Any:
    """What an unfinished import was asked; None if the value is damaged."""
    try:
        return json.loads(document)
    except ValueError:
        return None


def check_named(dest: Any) -> None:
    """Raise `ConversionError` for empty text, which an unset variable of a shell is."""
    if isinstance(dest, str | os.PathLike) and not os.fspath(dest):
        raise ConversionError(
            "the destination is empty; name a folder, such as 'new.zarr', or '.' for this one"
        )


class Destination:
    """Where an import stores its nodes.

    Parameters
    ----------
    location : Location
    overwrite, resume : bool
    """

    def __init__(self, location: Location, *, overwrite: bool, resume: bool) -> None:
        self.store: Store = location.store
        self.path = location.path
        self.documents = MemoryStore()
        self._key = key_of(self.path, JOB)
        self._can_resume = self.store.is_erasable()
        self._overwrite, self._resume = overwrite, resume

    def refuse_overlap(self, sources: Iterable[str]) -> None:
        """Raise `OverlapError` if a source lies in the destination, or around it."""
        refuse_overlap("import", (self.store, self.path), sources)

    def begin(self, asked: Mapping[str, Any]) -> bool:
        """Claim the path; return whether chunks of an earlier call may be there.

        Parameters
        ----------
        asked : mapping
            The source and the options, which a resumed import must repeat; what they make of the
            metadata documents is compared, too.
        """
        overwrite, resume = self._overwrite, self._resume
        self._require_groups()
        identity = self._identity(asked)
        before = self.store.get(self._key) if self._can_resume else None
        if before is not None and not overwrite:
            if not resume:
                raise ConversionError(
                    f"an unfinished import is at {nodes.describe(self.store, self.path)}; "
                    "continue it with resume=True (--resume) or replace it with overwrite=True "
                    "(--overwrite)"
                )
            if _parsed(before) != identity:
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
            self._require_empty()
        if self._can_resume:
            self.store[self._key] = json.dumps(identity).encode()
        return False

    def _identity(self, asked: Mapping[str, Any]) -> Any:
        digest = hashlib.sha256()
        for key in sorted(self.documents):
            digest.update(f"{key}\0{len(self.documents[key])}\0".encode() + self.documents[key])
        return json.loads(json.dumps({**asked, "made": digest.hexdigest()}, default=str))

    def _require_groups(self) -> None:
        """Raise an error if something above is an array, whose keys a node below would become."""
        names = self.path.split("/")
        for depth in range(len(names) if self.path else 0):
            above = "/".join(names[:depth])
            found = nodes.find(self.store, above)
            if found is not None and found.kind == "array":
                raise ContainsArrayError(
                    f"{nodes.describe(self.store, above)} is an array, and nothing can be imported "
                    "below it; choose another destination"
                )

    def _require_empty(self) -> None:
        """Raise an error if there are values of others, which a node would become part of."""
        nodes.require_free(self.store, self.path)
        found = [name for name in self.store.listdir(self.path) if name not in _LITTER]
        if found:
            shown = nodes.describe(self.store, self.path)
            more = f" and {len(found) - 1} more" if len(found) > 1 else ""
            raise ConversionError(
                f"{shown} is not an array or a group, and holds {found[0]!r}{more}; choose a new "
                "name, such as one that ends in .zarr"
            )

    def drop(self, path: str) -> None:
        """Remove the chunks that were stored of an array, and its documents."""
        nodes.clear(self.store, path)
        for key in [one for one in self.documents if one.startswith(f"{path}/")]:
            del self.documents[key]

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
