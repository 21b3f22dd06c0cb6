"""Making the consolidated metadata of a hierarchy, and keeping it up to date.

Every change of metadata made through zarrix ends in `update_consolidated`, which brings the
consolidated documents of the groups above up to date under their locks. They are correct unless
another program changed something. `zarrix._nodes.consolidated_store` serves metadata from them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from zarrix._errors import MetadataError, ZarrixError
from zarrix._metadata import v2, v3
from zarrix._metadata.checks import members_of
from zarrix._metadata.consolidated import Documents, commit_of, encode, parse
from zarrix._metadata.group import GroupMetadata
from zarrix._metadata.literals import Format
from zarrix._nodes.batch import Batch, Change, batches_above
from zarrix._nodes.long_documents import is_long, without_entries
from zarrix._nodes.orphans import nothing_at
from zarrix._nodes.pending import intent_above, with_pending
from zarrix._nodes.put_new import put_new
from zarrix._nodes.spliced import LongDocument, most_spliced, shortened
from zarrix._stores.base import Store
from zarrix._stores.keys import (
    CONSOLIDATED_DOCUMENT,
    DOCUMENTS_OF_A_NODE,
    GROUP_DOCUMENT,
    ZARR_JSON,
    ZARRAY,
    key_of,
)
from zarrix._stores.labels import place

__all__ = ["consolidate", "documents_below", "update_consolidated", "updated_once"]

# Groups whose consolidated metadata is looked for in one request to a remote store.
_ASKED_AT_ONCE = 1000


def _collect(
    store: Store, root: str, paths: Sequence[str], zarr_format: Format, deep: bool
) -> Documents:
    """The documents of the nodes at ``paths``, and with ``deep`` of all nodes below, by key
    relative to ``root``.

    Level by level, so that one request to a remote store covers a level.
    """
    found: Documents = {}
    start = len(root) + 1 if root else 0
    level = list(paths)
    while level:
        names = DOCUMENTS_OF_A_NODE[zarr_format]
        stored = store.getitems([key_of(one, name) for one in level for name in names], contexts={})
        groups = []
        for one in level:
            own = [key_of(one, name) for name in names if key_of(one, name) in stored]
            documents = {key: _own_members(store, key, stored[key]) for key in own}
            found.update((key[start:], _without_members(own)) for key, own in documents.items())
            is_array = any(
                key.endswith(ZARRAY) or document.get("node_type") == "array"
                for key, document in documents.items()
            )
            if own and not is_array:
                groups.append(one)
        below = store.child_names_of(groups) if deep else []
        pairs = zip(groups, below, strict=deep)
        level = [key_of(group, name) for group, children in pairs for name in children]
    return found


def _own_members(store: Store, key: str, document: Any) -> Mapping[str, Any]:
    return members_of(without_entries(store, key, document), place(store, key))


def documents_below(store: Store, root: str, zarr_format: Format) -> Documents:
    """The documents of the group ``root`` and of all nodes below it, by key relative to it."""
    with store.listed_once():
        return _collect(store, root, [root], zarr_format, deep=True)


def _without_members(document: Any) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {k: v for k, v in document.items() if k != "consolidated_metadata"}


def consolidate(store: Store, path: str, zarr_format: Format, key: str) -> None:
    """Write the consolidated metadata of the group at ``path``; in v2 under the name ``key``.

    The documents are read under the lock of the consolidated document, so that no change is lost in
    between.
    """
    target = key_of(path, key if zarr_format == 2 else ZARR_JSON)

    def write(old: bytes | None) -> bytes:
        documents = documents_below(store, path, zarr_format)
        old, long = shortened(old, zarr_format, place(store, target))
        _require_no_commit(store, path, long)
        stored = commit_of(old, zarr_format), parse(old, zarr_format, place(store, target)) or {}
        documents = with_pending(store, path, documents, stored, whole=True)
        return encode(old, documents, zarr_format, place(store, target))

    store._update_at_most(target, write, most_spliced())


def update_consolidated(
    store: Store,
    path: str,
    zarr_format: Format,
    *,
    deep: bool = False,
    apart: str | None = None,
    documents: Mapping[str, bytes] | None = None,
) -> None:
    """Update consolidated metadata above ``path`` after a change of that node; inside a batch, at
    the end of the batch.

    Parameters
    ----------
    store : Store
    path : str
        Path of the node that was created, changed or removed.
    zarr_format : 2 or 3
    deep : bool
        Whether everything below it changed, too, as after a move.
    apart : str, optional
        The path of a group whose consolidated metadata is correct already.
    documents : dict of str to bytes, optional
        By key, all documents of the node, which was created with them. A batch does not read them
        again.
    """
    if zarr_format == 3 and not path:
        # Its document has the consolidated metadata, and is not part of it.
        return
    is_leaf = key_of(path, ZARRAY) in (documents or ())
    change, is_held = Change(path, zarr_format, deep, documents, is_leaf), False
    for batch in batches_above(store, path):
        # Every one holds it, and not only the first.
        is_held |= batch.hold(store, change)
    if not is_held:
        _update_format(store, [change], {}, apart)


@contextlib.contextmanager
def updated_once(
    store: Store, root: str, zarr_format: Format, *, most_in: str | None = None
) -> Iterator[None]:
    """Add what the block changes below ``root`` to consolidated metadata once, at its end, also
    after an error.

    Most changes are below the group ``most_in``, or else below ``root``: the consolidated metadata
    above these is read at the beginning.
    """
    above = _with_parents(root if most_in is None else most_in)
    before = dict(_consolidated(store, above, zarr_format))
    batch = Batch(store, root, zarr_format, before)
    batch.begin()
    try:
        yield
    except BaseException as error:
        try:
            _update(store, batch)
        except (ZarrixError, OSError) as second:
            error.add_note(f"consolidated metadata does not show what was changed: {second}")
        raise
    _update(store, batch)


def _update(store: Store, batch: Batch) -> None:
    changes = batch.end()
    relied_on = batch.groups.relied_on()
    for zarr_format in sorted({change.zarr_format for change in changes}):
        own = [change for change in changes if change.zarr_format == zarr_format]
        is_same = zarr_format == batch.zarr_format
        _update_format(store, own, batch.before, relied_on=relied_on if is_same else ())


def _update_format(
    store: Store,
    changes: Sequence[Change],
    before: Mapping[str, bytes],
    apart: str | None = None,
    relied_on: Sequence[str] = (),
) -> None:
    above: set[str] = set()
    for change in changes:
        above.update(_that_contain(change))
    zarr_format = changes[0].zarr_format
    gone: list[str] = []
    with _told_what_is_stored(changes):
        roots = [root for root, _ in _consolidated(store, above, zarr_format, gone)]
    gone = sorted({*gone}.intersection(relied_on))
    if zarr_format == 2:
        gone = _without_document(store, relied_on, GROUP_DOCUMENT[2])
    made_again = list(_made_again(store, gone, zarr_format))
    if made_again:
        # Others have changed nodes without consolidated metadata: what was stored is not known.
        before, changes = {}, [*changes, *made_again]
    for root in roots:
        inside = [one for one in changes if root in _that_contain(one)]
        if root != apart:
            _resync(store, root, inside, before.get(root))


def _made_again(store: Store, groups: Iterable[str], zarr_format: Format) -> Iterator[Change]:
    """Make groups again that another process has removed while nodes were stored in them."""
    metadata = GroupMetadata(zarr_format=zarr_format)
    for path in groups:
        if nothing_at(store, path):
            continue
        document = (v2 if zarr_format == 2 else v3).group_document(metadata)
        put_new(store, key_of(path, metadata.document_name), document, lambda old: old)
        yield Change(path, zarr_format, deep=False)


def _without_document(store: Store, groups: Sequence[str], name: str) -> list[str]:
    there = {group for group, _ in _stored(store, groups, name)}
    return [group for group in groups if group not in there]


def _stored(store: Store, groups: Sequence[str], name: str) -> Iterator[tuple[str, bytes]]:
    """The documents of one name of those groups that have it, in the order of the groups."""
    for begin in range(0, len(groups), _ASKED_AT_ONCE):
        keys = {key_of(one, name): one for one in groups[begin : begin + _ASKED_AT_ONCE]}
        found = store.getitems(keys, contexts={})
        yield from ((one, found[key]) for key, one in keys.items() if key in found)


def _consolidated(
    store: Store, paths: Iterable[str], zarr_format: Format, absent: list[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Those groups that have consolidated metadata, from the root down, and the documents.

    The groups without a document of that name are added to ``absent``.
    """
    roots = sorted(paths)
    there = set()
    for root, document in _stored(store, roots, CONSOLIDATED_DOCUMENT[zarr_format]):
        there.add(root)
        if zarr_format == 2 or b'"consolidated_metadata"' in document:
            yield root, document
    if absent is not None:
        absent.extend(root for root in roots if root not in there)


def _with_parents(path: str) -> list[str]:
    names = path.split("/") if path else []
    return ["/".join(names[:depth]) for depth in range(len(names) + 1)]


def _that_contain(change: Change) -> list[str]:
    """The groups whose consolidated metadata, if they have any, names the node."""
    found = _with_parents(change.path)
    # In v3, the document of a group does not contain itself.
    return found[:-1] if change.zarr_format == 3 or change.is_leaf else found


def _resync(store: Store, root: str, changes: Sequence[Change], before: bytes | None) -> None:
    """Bring the consolidated metadata of one group up to date."""
    target = key_of(root, CONSOLIDATED_DOCUMENT[changes[0].zarr_format])
    with _told_what_is_stored(changes, target):
        change = _resynced(store, root, changes, before)
        store._update_at_most(target, change, most_spliced())


@contextlib.contextmanager
def _told_what_is_stored(changes: Sequence[Change], target: str = "") -> Iterator[None]:
    """Add to an error of the store, or of a document, that the nodes themselves are stored."""
    try:
        yield
    except (OSError, MetadataError) as error:
        more = f" (and of {len(changes) - 1} further nodes)" if len(changes) > 1 else ""
        inside = f" in {target!r}" if target else ""
        error.add_note(
            f"the change of {changes[0].path or '/'!r}{more} itself is stored; the consolidated "
            f"metadata{inside} does not say so: bring it up to date with consolidate_metadata()"
        )
        raise


def _resynced(
    store: Store, root: str, changes: Sequence[Change], before: bytes | None
) -> Callable[[bytes | None], bytes | None]:
    zarr_format = changes[0].zarr_format
    label = place(store, key_of(root, CONSOLIDATED_DOCUMENT[zarr_format]))

    def change(stored: bytes | None) -> bytes | None:
        old, long = shortened(stored, zarr_format, label)
        documents = parse(old, zarr_format, label)
        if documents is None:
            return stored
        _require_no_commit(store, root, long)
        # Any other change of a node would have ended in another document, or waits for this one.
        is_alone = before is not None and _is_same(before, stored, zarr_format, label)
        fresh = _fresh(store, root, changes, use_known=is_alone)
        fresh = with_pending(store, root, fresh, (commit_of(old, zarr_format), documents))
        is_replaced = _replaced(root, changes, {_folder(key) for key in fresh})
        left = {key: one for key, one in documents.items() if not is_replaced(key)}
        new = encode(old, {**left, **fresh}, zarr_format, label)
        return new if long is None else long.spliced(new, is_replaced)

    return change


def _require_no_commit(store: Store, root: str, long: LongDocument | None) -> None:
    """Raise an error for a long document that a commit may be changing, entry by entry."""
    folder = None if long is None else intent_above(store, root)
    if folder is not None:
        raise MetadataError(
            f"a commit in {folder!r} is not over, and the consolidated metadata is longer than "
            "config.max_document_bytes (ZARRIX_MAX_DOCUMENT_BYTES); finish the commit with "
            "zarrix.recover() first, or raise the limit"
        )


def _is_same(before: bytes, stored: bytes | None, zarr_format: Format, label: str) -> bool:
    """Whether two versions of consolidated metadata have the same entries."""
    if before == stored:
        return True
    if stored is None or is_long(before) or is_long(stored):
        return False
    return _members(before, zarr_format, label) == _members(stored, zarr_format, label)


def _members(document: bytes | None, zarr_format: Format, label: str) -> Documents:
    # In v3, the attributes of the group are in the same document.
    documents = parse(document, zarr_format, label) or {}
    return {key: one for key, one in documents.items() if key != ZARR_JSON}


def _fresh(store: Store, root: str, changes: Sequence[Change], use_known: bool) -> Documents:
    """The documents that the changed nodes have now, by key relative to ``root``."""
    start = len(root) + 1 if root else 0
    deep = {one.path for one in changes if one.deep}
    found: Documents = {}
    asked = []
    for one in changes:
        if one.deep:
            continue
        if one.documents is None or not use_known or not deep.isdisjoint(_with_parents(one.path)):
            asked.append(one.path)
            continue
        for key, document in one.documents.items():
            found[key[start:]] = _without_members(members_of(document, place(store, key)))
    zarr_format = changes[0].zarr_format
    found.update(_collect(store, root, sorted(asked), zarr_format, deep=False))
    found.update(_collect(store, root, sorted(deep), zarr_format, deep=True))
    return found


def _replaced(
    root: str, changes: Sequence[Change], there: Collection[str]
) -> Callable[[str], bool]:
    """Whether a consolidated document, by its key, is of a changed node."""
    start = len(root) + 1 if root else 0
    own = {one.path[start:] for one in changes}
    # Nothing is left below a node that is gone.
    below = {one.path[start:] for one in changes if one.deep} | (own - set(there))

    def is_replaced(key: str) -> bool:
        folder = _folder(key)
        return folder in own or not below.isdisjoint(_with_parents(folder))

    return is_replaced


def _folder(key: str) -> str:
    return key.rpartition("/")[0]
