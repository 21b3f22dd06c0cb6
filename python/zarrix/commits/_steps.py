"""The steps of a commit after its chunks are stored: the root's document, all others, the end.

L1  lock, and recover what a dead commit left        `zarrix.commits._commit`
L2  the intent                                       `zarrix.commits._stage`
L3  chunks, to keys that no reader looks at          the engine
L4  the root's document: the commit                  `show`
L5  the documents of the nodes                       `store_documents`
L6  what is not needed any more, and the intent      `clean`
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from typing import Any

from zarrix._array.access import current_snapshot, opened_at
from zarrix._array.resize import erase_beyond
from zarrix._errors import CommitConflictError, CommitLostError, CommitVisibleError
from zarrix._metadata.consolidated import Documents, commit_member, encode, parse
from zarrix._metadata.intent import Intent
from zarrix._metadata.json import json_loads
from zarrix._metadata.merged import ConflictError, bare, encoded, merged
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import documents_below, update_consolidated
from zarrix._nodes.location import Location
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    ARRAY_DOCUMENT,
    COMMIT_INTENT,
    CONSOLIDATED_DOCUMENT,
    NODE_DOCUMENTS,
    ZARR_JSON,
    ZARRAY,
    key_of,
)
from zarrix._stores.labels import describe, place
from zarrix._stores.local import LocalStore
from zarrix.commits._inherited import late_in
from zarrix.commits._left import Left, left_in
from zarrix.commits._lock import CommitLock
from zarrix.commits._spaces import remove_chunks

__all__ = [
    "clean",
    "commit_key",
    "delete_nodes",
    "erase",
    "read_documents",
    "rebase",
    "report",
    "root_document",
    "show",
    "store_documents",
]


def commit_key(store: Store, intent: Intent) -> str:
    """The key of the document that makes a commit visible: that of an array is its own."""
    is_array = nodes.has_array(store, intent.root, intent.zarr_format)
    names = ARRAY_DOCUMENT if is_array else CONSOLIDATED_DOCUMENT
    return key_of(intent.root, names[intent.zarr_format])


def read_documents(store: Store, keys: list[str]) -> Documents:
    """The stored documents of some keys, parsed, and without consolidated metadata."""
    found = store.getitems(keys, contexts={})
    return {key: bare(json_loads(value, place(store, key))) for key, value in found.items()}


def rebase(
    store: Store, changes: Mapping[str, tuple[Any, Any]], stored: Mapping[str, Any]
) -> Documents:
    """The changed documents, with what others have changed in the ``stored`` ones meanwhile.

    Raises
    ------
    CommitConflictError
        Others have changed the same.
    """
    found: Documents = {}
    for key, (before, mine) in changes.items():
        theirs = stored.get(key)
        try:
            if before is None and theirs is not None and _is_array(key, mine):
                # Also an equal one: its chunks would be those of both.
                raise ConflictError("array")
            found[key] = merged(key, before, mine, theirs)
        except ConflictError as error:
            path = key.rpartition("/")[0]
            raise CommitConflictError(
                f"another writer has changed the {error.what} in {place(store, key)}, which the "
                "commit changes, too; nothing of the commit is visible: make it again",
                path,
                key,
                error.what,
            ) from None
    return found


def _is_array(key: str, document: Any) -> bool:
    if key.rpartition("/")[2] == ZARR_JSON:
        return isinstance(document, Mapping) and document.get("node_type") == "array"
    return key.rpartition("/")[2] == ZARRAY and document is not None


def show(
    store: LocalStore,
    lock: CommitLock,
    intent: Intent,
    changes: Mapping[str, Any],
    left: Callable[[float], list[Left]],
    locked: Collection[str],
) -> None:
    """L4: replace the document of the root, so that all changes are visible at once.

    The root's document and those of all changed nodes are compared with what the commit began
    from, and the complete intent is stored before.

    Parameters
    ----------
    store : LocalStore
    lock : CommitLock
    intent : Intent
    changes : mapping of key to (JSON, JSON)
        The documents before and after.
    left : function
        From the time to the key spaces that the commit leaves.
    locked : collection of key
        The documents whose locks the caller has.
    """
    key = commit_key(store, intent)
    is_array = nodes.has_array(store, intent.root, intent.zarr_format)

    def change(old: bytes | None) -> bytes:
        stored = read_documents(store, [*changes])
        after = rebase(store, changes, stored)
        intent.documents = {one: (stored.get(one), after[one]) for one in after}
        lock.store(intent, fsync=store.syncs)
        if is_array:
            return encoded(after[key], key) if key in after else old or b""
        # By the clock that times the files.
        now = os.stat(os.path.join(lock.folder, COMMIT_INTENT)).st_mtime
        return root_document(store, intent, old, after, left(now))

    _replace(store, key, change, locked)


def _replace(
    store: Store,
    key: str,
    change: Callable[[bytes | None], bytes | None],
    locked: Collection[str],
) -> None:
    if key not in locked:
        store.update_value(key, change)
        return
    new = change(store._value(key))
    if new is not None:
        store._engine.put(store.engine_path(key), new, fsync=store.syncs, locks=False)


def root_document(
    store: Store, intent: Intent, old: bytes | None, after: Documents, left: list[Left]
) -> bytes:
    """The consolidated metadata of the root with the documents ``after`` the commit."""
    zarr_format, root = intent.zarr_format, intent.root
    key = key_of(root, CONSOLIDATED_DOCUMENT[zarr_format])
    label = place(store, key)
    known = parse(old, zarr_format, label)
    if known is None:
        known = documents_below(store, root, zarr_format)
    start = len(root) + 1 if root else 0
    documents = dict(known)
    for one, document in after.items():
        if document is None:
            documents.pop(one[start:], None)
        else:
            documents[one[start:]] = document
    used = {(path, new) for path, (_, new) in intent.flips.items()}
    kept = [
        one
        for one in left_in(old, zarr_format)
        if (one.path, str(one.space)) not in used and one.path not in intent.deletes
    ]
    sweep = [one.to_json() for one in [*kept, *left]]
    noted: dict[str, Any] = {"id": intent.id, "claim": None, "message": intent.message}
    noted["sweep"] = sweep
    late = late_in(commit_member(old, zarr_format))
    if late:
        noted["late"] = late
    whole: Any = old
    if zarr_format == 3 and key in after:
        # The group's own members are in the same document.
        theirs = json_loads(old, label) if old is not None else {}
        whole = {**after[key]}
        if "consolidated_metadata" in theirs:
            whole["consolidated_metadata"] = theirs["consolidated_metadata"]
    return encode(whole, documents, zarr_format, label, noted)


def store_documents(store: Store, intent: Intent, locked: Collection[str] = ()) -> None:
    """L5: the documents of the changed nodes, sorted by path.

    The caller has the locks of those that are ``locked``.
    """
    assert intent.documents is not None
    done = commit_key(store, intent)
    for key in sorted(intent.documents):
        before, after = intent.documents[key]
        if key != done and after is not None:
            _replace(store, key, _settled(store, key, before, after), locked)


def clean(store: Store, intent: Intent) -> None:
    """L6: delete nodes, and bring the consolidated metadata of other groups up to date."""
    erase(store, intent, shorter=True)
    delete_nodes(store, intent)
    for path in intent.paths():
        update_consolidated(store, path, intent.zarr_format, apart=intent.root)


def delete_nodes(store: Store, intent: Intent) -> None:
    """Delete the nodes that a commit deletes, unless another program has put others there."""
    for path in sorted(intent.deletes, reverse=True):
        pairs = [
            (key, *intent.documents[key])
            for key in (key_of(path, name) for name in NODE_DOCUMENTS)
            if intent.documents is not None and key in intent.documents
        ]
        stored = read_documents(store, [key for key, *_ in pairs])
        # Not a node that another program has put there since.
        if any(b is None and _is_still(stored.get(key), a) for key, a, b in pairs):
            store.rmdir(path)
        elif any(_is_array(key, a) for key, a, b in pairs if b is None) and not stored:
            # A loss of power can leave them, without the name under which they were deleted.
            remove_chunks(store, path)


def erase(store: Store, intent: Intent, *, shorter: bool) -> None:
    """Delete what is beyond the end of arrays whose lengths the commit changes.

    The end is that of the stored document, and not that of the intent.

    Parameters
    ----------
    store : Store
    intent : Intent
    shorter : bool
        Whether only arrays count that the commit makes shorter.
    """
    for path, (before, after) in intent.grows.items():
        node = nodes.find(store, path, intent.zarr_format)
        if node is None or node.kind != "array" or len(before) != len(after):
            continue
        if shorter and all(a <= b for a, b in zip(before, after, strict=True)):
            continue
        array = opened_at(Location(store, path, intent.zarr_format), node)
        if len(array.shape) == len(after):
            axes = [axis for axis, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]
            erase_beyond(array, current_snapshot(array), *axes)


def _is_still(stored: Any, before: Any) -> bool:
    """Whether a node is there, and nothing but its attributes has changed."""
    if not isinstance(stored, Mapping) or not isinstance(before, Mapping):
        return False
    found = [{**one, "attributes": None} for one in (stored, before)]
    return found[0] == found[1]


def _settled(
    store: Store, key: str, before: Any, after: Any
) -> Callable[[bytes | None], bytes | None]:
    def change(old: bytes | None) -> bytes | None:
        whole = None if old is None else json_loads(old, place(store, key))
        theirs = bare(whole)
        found = merged(key, before, after, theirs, settled=True)
        if found == theirs:
            return old
        if isinstance(whole, Mapping) and "consolidated_metadata" in whole:
            found = _with_consolidated(found, whole["consolidated_metadata"])
        return encoded(found, key)

    return change


def _with_consolidated(document: Any, inline: Any) -> Any:
    # In zarr-python's position: before the kind of the node.
    members = {name: value for name, value in document.items() if name != "node_type"}
    kind = {"node_type": document["node_type"]} if "node_type" in document else {}
    return {**members, "consolidated_metadata": inline, **kind}


def _visible_error(
    store: Store, root: str, error: Exception, second: Exception | None
) -> CommitVisibleError:
    """What to raise for an error that came after the commit of ``root`` had become visible.

    ``second`` is the error of the attempt to complete the commit nevertheless.
    """
    named = describe(store, root)
    if second is None:
        rest = "and is complete"
    elif isinstance(second, CommitLostError):
        rest = "and another commit, which has taken over, completes it"
    else:
        rest = (
            f"but is not complete, because of a second error: {second}; the next commit, or "
            "zarrix.recover(), completes it"
        )
    is_lost = isinstance(error, CommitLostError)
    why = "another commit took over" if is_lost else f"{type(error).__name__}: {error}"
    return CommitVisibleError(
        f"the commit of {named} is visible, {rest}; do not make it again. The error came "
        f"afterwards: {why}",
        is_complete=second is None,
    )


def report(
    store: Store, root: str, error: BaseException, second: Exception | None, *, is_visible: bool
) -> None:
    """Say what an error of a commit has left, and what came of finishing or removing it.

    Raises
    ------
    CommitVisibleError
        The commit is visible, and the error is not one that ends the process.
    """
    if is_visible and isinstance(error, Exception):
        raise _visible_error(store, root, error, second) from error
    if second is not None:
        error.add_note(f"what the commit has stored stays until the next one: {second}")
