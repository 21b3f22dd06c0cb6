"""The destination of a job, which belongs to it from its first task to its end.

The folder ``.zarrix-job`` there has the job's document, its journal and its intermediates. Without
it, chunks without an array would be keys of unknown origin.
"""

from __future__ import annotations

import hashlib
from datetime import timedelta

from zarrix._errors import ContainsArrayError, ContainsGroupError, JobError
from zarrix._metadata.json import json_loads
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix._stores.keys import JOB_MARK, key_of
from zarrix._stores.local import DirectoryStore
from zarrix._stores.zip import ZipStore
from zarrix.jobs._operation import Operation
from zarrix.jobs._places import Place

__all__ = ["DOCUMENT", "FOLDER", "Destination", "id_of"]

FOLDER = ".zarrix-job"
"""Where a job keeps its document, its journal and its intermediates, below the destination."""

DOCUMENT = "job.json"


def id_of(document: bytes) -> str:
    """The name of a job."""
    return hashlib.sha256(document).hexdigest()[:16]


class Destination:
    """The destination of an operation.

    Parameters
    ----------
    operation : Operation
    document : bytes
        The document of its job.
    overwrite : bool
        Whether what is there is removed.
    """

    def __init__(self, operation: Operation, document: bytes, overwrite: bool) -> None:
        self._operation = operation
        self._document = document
        self._id = id_of(document).encode()
        self._overwrite = overwrite

    @property
    def folder(self) -> tuple[Store, str] | None:
        """The store of the destination, and the folder there; None without one, or in an archive,
        which cannot replace its members.
        """
        name = self._operation.destination
        if name is None or name not in self._operation.places:
            return None
        store, path, _ = self._operation.places[name]
        return None if isinstance(store, ZipStore) else (store, key_of(path, FOLDER))

    @property
    def is_taken(self) -> bool:
        """Whether there is an unfinished job."""
        return self._stored() is not None

    def take(self, *, afresh: bool) -> None:
        """Begin the job there, or go on with it; ``afresh`` removes what it has done.

        Raises
        ------
        JobError
            Another job is unfinished there.
        ContainsArrayError, ContainsGroupError
            Something else is there.
        """
        folder, stored = self.folder, self._stored()
        if stored is not None and self._overwrite and stored != self._document:
            self._clear()
            stored = None
        if stored is not None:
            self._check(stored)
            if afresh:
                self._discard()
            return
        self._require_free()
        if folder is not None:
            # Another part of the job may begin it at the same time.
            store, path = folder
            store.update_value(
                key_of(path, DOCUMENT), lambda old: self._document if old is None else old
            )
            self._check(self._stored() or b"{}")

    @property
    def is_done(self) -> bool:
        """Whether this very job has made what is there."""
        marked = self._marked()
        if marked is None or self.is_taken:
            return False
        store, path, _ = marked
        found = store.get(key_of(path, JOB_MARK))
        return (
            found is not None and bytes(found) == self._id and nodes.find(store, path) is not None
        )

    def mark(self) -> None:
        """Record that the job is done, where listings of groups do not see it."""
        marked = self._marked()
        if marked is not None:
            marked.store[key_of(marked.path, JOB_MARK)] = self._id

    def _marked(self) -> Place | None:
        """The array that has the mark."""
        if self.folder is None:
            return None
        return self._operation.marked

    def release(self) -> None:
        """Remove the folder of the job, and partial files of workers that were killed."""
        self._empty_folder()
        for store, path, _ in self._operation.new_places:
            if isinstance(store, DirectoryStore):
                for name in store._engine.leftovers(store.engine_path(path)):
                    store._engine.remove_leftover(name, timedelta(0))
        if self.folder is not None:
            # The document goes last: without it, the rest would be keys of unknown origin.
            self.folder[0].rmdir(self.folder[1])

    def abandon(self) -> None:
        """Remove all that the unfinished job has written.

        Raises
        ------
        JobError
            Another job is there, or its result is complete.
        """
        stored = self._stored()
        if stored is not None:
            self._check(stored)
            self._discard()
            self.release()

    def _stored(self) -> bytes | None:
        folder = self.folder
        found = None if folder is None else folder[0].get(key_of(folder[1], DOCUMENT))
        return None if found is None else bytes(found)

    def _check(self, stored: bytes) -> None:
        if stored != self._document:
            told = json_loads(stored)
            kind = told.get("kind") if isinstance(told, dict) else None
            raise JobError(
                f"another job ({kind}) is unfinished at the destination: go on with it "
                "(Job.load), abandon() it, or pass overwrite=True"
            )

    def _require_free(self) -> None:
        if self._overwrite:
            self._clear()
            return
        for place in self._operation.new_places:
            try:
                _require_free(place)
            except (ContainsArrayError, ContainsGroupError):
                # Another part of the same job has begun meanwhile.
                if self._stored() != self._document:
                    raise

    def _clear(self) -> None:
        places = self._operation.new_places
        for store, path, _ in places:
            for name, (other, there, _) in self._operation.places.items():
                inside = not path or there == path or there.startswith(f"{path}/")
                is_same = other._engine.id == store._engine.id
                if is_same and inside and name != self._operation.destination:
                    raise JobError("overwrite=True would remove the source of the job")
        self.release()
        for store, path, _ in places:
            nodes.clear(store, path)

    def _discard(self) -> None:
        """Remove all that the tasks have written, and the journal."""
        for store, path, _ in self._operation.new_places:
            node = nodes.find(store, path)
            if node is not None:
                raise JobError(
                    f"the {node.kind} {nodes.describe(store, path)} is complete; run the job again "
                    "to finish it, or delete it"
                )
        for store, path, _ in self._operation.new_places:
            files, folders = store._engine.list_dir(store.engine_path(path))
            for name in files:
                store._engine.delete(store.engine_path(key_of(path, name)))
            for name in set(folders) - {FOLDER}:
                store.rmdir(key_of(path, name))
        self._empty_folder()

    def _empty_folder(self) -> None:
        if self.folder is not None:
            store, path = self.folder
            for name in store.listdir(path):
                if name != DOCUMENT:
                    store.rmdir(key_of(path, name))


def _require_free(place: Place) -> None:
    store, path, _ = place
    node = nodes.find(store, path)
    if node is not None:
        error = ContainsArrayError if node.kind == "array" else ContainsGroupError
        raise error(
            f"{nodes.describe(store, path)} contains a node ({node.kind}); pass overwrite=True to "
            "replace it"
        )
    files, folders = store._engine.list_dir(store.engine_path(path))
    there = sorted({*files, *folders} - {FOLDER})
    if there:
        raise ContainsArrayError(
            f"{nodes.describe(store, path)} has {there[0]!r}, which is not of this job; choose "
            "another destination, or pass overwrite=True to remove it"
        )
