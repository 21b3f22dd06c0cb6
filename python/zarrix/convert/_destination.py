"""The destination of an import: chunks are stored first, metadata documents last.

The documents are in memory until all chunks are stored, so that an import that is interrupted
leaves no array that reads as fill values. What was asked, and which arrays have chunks, is written
to one value beside the chunks first, and removed last; the next call continues if it asks the same,
because a stored chunk is always complete. What replaces it removes the chunks of these arrays only.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from zarrix._errors import ContainsArrayError, ConversionError
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated, updated_once
from zarrix._nodes.location import Location
from zarrix._nodes.many import each_of, levels
from zarrix._nodes.orphans import lost_chunk
from zarrix._stores.base import Store
from zarrix._stores.keys import DOCUMENTS, ZARR_JSON, ZARRAY, ZATTRS, is_litter, key_of
from zarrix._stores.memory import MemoryStore
from zarrix._stores.overlap import refuse_overlap

__all__ = ["JOB", "Destination", "check_named", "seen_by_parents"]

JOB = "zarrix-import.json"
"""The name of the value that says what an unfinished import was asked."""


def _parsed(document: Any) -> Any:
    """What an unfinished import was asked; None if the value is damaged."""
    try:
        return json.loads(document)
    except ValueError:
        return None


def _arrays_of(document: Any) -> frozenset[str]:
    """The paths of the arrays whose chunks an unfinished import has stored."""
    asked = None if document is None else _parsed(document)
    found = asked.get("arrays", []) if isinstance(asked, dict) else []
    if not isinstance(found, list):
        return frozenset()
    return frozenset(one for one in found if isinstance(one, str))


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
    overwrite, resume, into : bool
    """

    def __init__(
        self, location: Location, *, overwrite: bool, resume: bool, into: bool = False
    ) -> None:
        self.store: Store = location.store
        self.path = location.path
        self.documents = MemoryStore()
        self._key = key_of(self.path, JOB)
        self._can_resume = self.store.is_erasable()
        self._overwrite, self._resume = overwrite, resume
        self.into = into and nodes.find(self.store, self.path) is not None

    def refuse_overlap(self, sources: Iterable[str], plain: Collection[str]) -> None:
        """Raise `OverlapError` if a source lies in the destination, or around it.

        The ``plain`` ones are not symbolic links.
        """
        refuse_overlap("import", (self.store, self.path), sources, plain=plain)

    def begin(self, asked: Mapping[str, Any]) -> bool:
        """Claim the path; return whether chunks of an earlier call may be there.

        Parameters
        ----------
        asked : mapping
            The source and the options, which a resumed import must repeat; what they make of the
            metadata documents is compared, too.
        """
        overwrite, resume = self._overwrite, self._resume
        nodes.refuse_below_array(self.store, self.path)
        identity = self._identity(asked)
        before = self.store._value(self._key) if self._can_resume else None
        if before is not None and not overwrite:
            self._require_same(before, identity)
            return True
        if overwrite:
            self._require_made(before)
            if self._can_resume:
                # Before the first change, so that what a failure leaves is known to be of arrays.
                there = sorted({*_arrays_of(before), *self._arrays_there()})
                record = {**identity, "arrays": there, "clearing": True}
                self.store[self._key] = json.dumps(record).encode()
                self._clear_unfinished()
            else:
                self.store.rmdir(self.path)
        elif self.into:
            self._require_free()
        elif nodes.find(self.store, self.path) is not None:
            complete = ", and no import into it is unfinished" if resume else ""
            raise ContainsArrayError(
                f"{nodes.describe(self.store, self.path)} exists{complete}; replace it with "
                "overwrite=True (--overwrite), or add to it with into=True (--into)"
            )
        else:
            self._require_empty()
        if self._can_resume:
            self.store[self._key] = json.dumps(identity).encode()
        return False

    def _require_same(self, before: Any, identity: Any) -> None:
        """Raise an error if this call is not the one that was interrupted."""
        if not self._resume:
            raise ConversionError(
                f"an unfinished import is at {nodes.describe(self.store, self.path)}; "
                "continue it with resume=True (--resume) or replace it with overwrite=True "
                "(--overwrite)"
            )
        told = _parsed(before)
        if self.into and isinstance(told, dict):
            # Some of the arrays that were to be made may be there by now.
            told = {**told, "arrays": identity["arrays"], "made": identity["made"]}
        if told != identity:
            raise ConversionError(
                f"the unfinished import at {nodes.describe(self.store, self.path)} had "
                "another source or other options, or its source has changed; replace it with "
                "overwrite=True (--overwrite)"
            )

    def _require_free(self) -> None:
        """Raise an error if chunks of others are where a new array is going to be."""
        paths = ["/".join(part for part in (self.path, one) if part) for one in self._array_paths()]
        there = nodes.find_all(self.store, paths)
        with each_of(self.store) as each:
            each(
                lambda path: nodes.require_no_chunks(self.store, path),
                [path for path in paths if there[path] is None],
            )

    def _identity(self, asked: Mapping[str, Any]) -> Any:
        digest = hashlib.sha256()
        for key in sorted(self.documents):
            digest.update(f"{key}\0{len(self.documents[key])}\0".encode() + self.documents[key])
        made: dict[str, Any] = {"made": digest.hexdigest(), "arrays": [*self._array_paths()]}
        if self.into:
            made["into"] = True
        return json.loads(json.dumps({**asked, **made}, default=str))

    def _array_paths(self) -> Iterator[str]:
        """The paths, below that of the destination, of the arrays that are going to be made."""
        for path in sorted({key.rpartition("/")[0] for key in self.documents}):
            if nodes.has_array(self.documents, path):
                yield path[len(self.path) :].lstrip("/")

    def _arrays_there(self) -> Iterator[str]:
        """The paths, below that of the destination, of the arrays that are there."""
        top = self.store.engine_path(self.path)
        for key in self.store._engine.list_prefix(top):
            below, _, name = key[len(top) :].lstrip("/").rpartition("/")
            at = "/".join(part for part in (self.path, below) if part)
            if name in (ZARRAY, ZARR_JSON) and nodes.has_array(self.store, at):
                yield below

    def _require_made(self, before: Any) -> None:
        """Raise an error if a value is there that no array, group or unfinished import has."""
        lost = nodes.stranger(self.store, self.path, apart=JOB)
        if lost is None:
            top = self.store.engine_path(self.path)
            keys = self.store._engine.list_prefix(top)
            lost = lost_chunk((key[len(top) :].lstrip("/") for key in keys), self._has(before))
        if lost is not None:
            raise ConversionError(
                f"{nodes.describe(self.store, self.path)} holds {lost!r}, which is not of an array "
                "or group there, so it is not overwritten; delete it yourself or choose another "
                "path"
            )

    def _has(self, before: Any) -> Callable[[str], bool]:
        """Whether an array is at a path now, or is one of an unfinished import."""
        recorded = _arrays_of(before)

        @functools.cache
        def has_array(path: str) -> bool:
            at = key_of(self.path, path) if path else self.path
            return path in recorded or nodes.has_array(self.store, at)

        return has_array

    def _clear_unfinished(self) -> None:
        """Remove all but the record, without which a call that is killed now could not go on."""
        files, folders = self.store._engine.list_dir(self.store.engine_path(self.path))
        documents_first = sorted(files, key=lambda name: name not in DOCUMENTS)
        for name in documents_first:
            if name != JOB:
                del self.store[key_of(self.path, name)]
        for name in folders:
            self.store.rmdir(key_of(self.path, name))

    def _require_empty(self) -> None:
        """Raise an error if there are values of others, which a node would become part of."""
        nodes.require_free(self.store, self.path)
        found = [name for name in self.store.listdir(self.path) if not is_litter(name)]
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

    def finish(self, paths: Iterable[str]) -> None:
        """Store the documents, those of the root last, and end the import.

        Parameters
        ----------
        paths : iterable of str
            All nodes of the import, also those that were there.
        """
        with updated_once(self.store, "", self._zarr_format(), most_in=self.path):
            stored = self._store_documents()
            if self._overwrite:
                # What was there before goes from consolidated metadata.
                seen_by_parents(self.store, self.path)
            else:
                more = paths if self.into else ()
                seen_by_parents(self.store, self.path, *more, known=stored, deep=False)
        # Last: a call that is killed before can be resumed, and then does all of the above.
        if self._can_resume:
            del self.store[self._key]

    def _zarr_format(self) -> Format:
        return 3 if any(key.endswith(ZARR_JSON) for key in self.documents) else 2

    def _store_documents(self) -> dict[str, dict[str, bytes]]:
        """Store the documents from the deepest level up, and of a server those of a level at once.

        Returns
        -------
        dict
            By path, all documents of the new nodes.
        """
        by_path: dict[str, dict[str, bytes]] = {}
        # Attributes of v2 first: what a call that is killed leaves is complete, or not a node yet.
        for key in sorted(self.documents, key=lambda key: not key.endswith(ZATTRS)):
            by_path.setdefault(key.rpartition("/")[0], {})[key] = self.documents[key]
        stored: dict[str, dict[str, bytes]] = {}

        def put(path: str) -> None:
            is_own = _is_within(path, self.path) and not self.into
            # A call that was killed may have stored some documents of a node.
            new = {
                key: document
                for key, document in by_path[path].items()
                if is_own or key not in self.store
            }
            for key, document in new.items():
                self.store[key] = document
            attributes = key_of(path, ZATTRS)
            if attributes in new and attributes not in self.store:
                # Another process took them for those of a deleted node, while there was no node.
                self.store[attributes] = new[attributes]
            if len(new) == len(by_path[path]):
                stored[path] = new

        with each_of(self.store) as each:
            for level in reversed([*levels(by_path)]):
                each(put, level)
        return stored


def seen_by_parents(
    store: Store,
    *paths: str,
    known: Mapping[str, Mapping[str, bytes]] = MappingProxyType({}),
    deep: bool = True,
) -> None:
    """Add new nodes, and the groups above them, to the consolidated metadata above them.

    Parameters
    ----------
    store : Store
    paths : str
    known : mapping of str to mapping
        By path, all documents of nodes that were just stored.
    deep : bool
        Whether all below ``paths`` is new, too.
    """
    above = {part for path in paths for part in _and_above(path)}.difference(known)
    found = nodes.find_all(store, sorted(above))
    formats = {path: node.zarr_format for path, node in found.items() if node is not None}
    for path, zarr_format in sorted(formats.items()):
        update_consolidated(store, path, zarr_format, deep=deep and path in paths)
    for path, documents in sorted(known.items()):
        zarr_format = 3 if key_of(path, ZARR_JSON) in documents else 2
        update_consolidated(store, path, zarr_format, documents=documents)


def _and_above(path: str) -> Iterator[str]:
    """A path and those above it, without the root."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _is_within(path: str, above: str) -> bool:
    return not above or path == above or path.startswith(f"{above}/")
