"""Commits that are not over, for calls that change lengths or consolidated metadata.

A commit leaves an intent in the topmost group of its hierarchy until it is over, also if its
process is killed. Reads never look for it. Only local files have one.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any

from zarrix._errors import MetadataError
from zarrix._metadata.consolidated import Documents
from zarrix._metadata.intent import Intent, has_happened, parse_intent, with_commit
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import COMMIT_INTENT, ZARR_JSON, ZGROUP

__all__ = ["folders_of", "intent_above", "read_intent", "with_pending"]


def folders_of(store: Store, path: str) -> list[str]:
    """The folders of a node and of the groups that it lies in, from the node up; empty elsewhere.

    Also those above the store, whose groups no path in the store names.
    """
    folder = store._folder_at(path)
    if folder is None:
        return []
    found = [folder]
    for _ in path.split("/") if path else []:
        folder = os.path.dirname(folder)
        found.append(folder)
    below = os.path.realpath(folder)
    above = os.path.dirname(below)
    while above != below and any(
        os.path.exists(os.path.join(above, name)) for name in (ZARR_JSON, ZGROUP)
    ):
        found.append(above)
        below, above = above, os.path.dirname(above)
    return found


def intent_above(store: Store, path: str) -> str | None:
    """The folder with the intent of a commit that may change the node at ``path``; None mostly."""
    if store._is_staged or store.is_remote:
        return None
    for folder in folders_of(store, path):
        if os.path.exists(os.path.join(folder, COMMIT_INTENT)):
            return folder
    return None


def read_intent(folder: str) -> Intent | None:
    """The intent in a folder; None if there is none, or none yet.

    Raises
    ------
    MetadataError
        The file is not an intent.
    """
    file = os.path.join(folder, COMMIT_INTENT)
    try:
        with open(file, "rb") as opened:
            document = opened.read(config.max_document_bytes + 1)
    except FileNotFoundError:
        return None
    return parse_intent(document, file) if document else None


def with_pending(
    store: Store,
    root: str,
    documents: Documents,
    stored: tuple[Any, Documents],
    *,
    whole: bool = False,
) -> Documents:
    """The documents of the nodes below ``root``, as a commit that has happened has made them.

    Between its first document and its last one, a commit is visible in consolidated metadata. What
    others write there must not take it back.

    Parameters
    ----------
    store : Store
    root : str
        Path of the group with the consolidated metadata.
    documents : dict of key to JSON
        The nodes' own documents, by keys relative to ``root``.
    stored : (object, dict of key to JSON)
        The id of the last commit in the consolidated metadata so far, and its documents.
    whole : bool
        Whether the documents are those of all nodes below.
    """
    folder = intent_above(store, root)
    if folder is None:
        return documents
    intent = None
    with suppress(MetadataError):
        # The next commit reports it.
        intent = read_intent(folder)
    here = store._folder_at(root)
    if intent is None or here is None:
        return documents
    inside = os.path.relpath(os.path.realpath(here), os.path.realpath(folder))
    prefix = "" if inside == "." else inside.replace(os.sep, "/")
    start = f"{prefix}/" if prefix else ""
    commit_id, consolidated = stored
    known = {start + key: one for key, one in consolidated.items()}
    own = {start + key: one for key, one in documents.items()}
    if not has_happened(intent, commit_id, known, own):
        return documents
    return with_commit(intent, documents, prefix, whole=whole)
