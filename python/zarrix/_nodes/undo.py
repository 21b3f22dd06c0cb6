"""A creation that fails leaves neither metadata nor chunks of a new node.

Everything that can be checked is checked before the first byte is stored. The remaining failures
are values that do not fit when they are written, sources that fail half-way, and errors of stores.
Only keys of the new node are deleted, and never a folder, which may contain other files. New parent
groups stay, because others may use them meanwhile. A new node that has replaced another one stays,
too: the old node cannot be restored, and no node would be worse than the new one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from zarrix._errors import ZarrixError
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.group import GroupMetadata
from zarrix._nodes import nodes
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.engine_array import engine_array
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZATTRS, key_of

__all__ = ["or_nothing"]


@contextlib.contextmanager
def or_nothing(
    store: Store,
    path: str,
    chunk_store: Store | None,
    metadata: ArrayMetadata | GroupMetadata,
    *,
    replaces: bool,
) -> Iterator[None]:
    """Delete the new node at ``path`` again if the block fails, unless it replaces another."""
    if replaces:
        yield
        return
    try:
        yield
    except BaseException as error:
        try:
            _discard(store, path, chunk_store, metadata)
        except (ZarrixError, OSError) as second:
            where = nodes.describe(store, path)
            error.add_note(f"what was stored at {where} until then could not be deleted: {second}")
        raise


def _discard(
    store: Store, path: str, chunk_store: Store | None, metadata: ArrayMetadata | GroupMetadata
) -> None:
    if isinstance(metadata, ArrayMetadata):
        chunks = store if chunk_store is None else chunk_store
        io = engine_array(chunks, path, metadata, allow_pickle=True)
        for key, _ in io.stored_chunks():
            chunks._engine.delete(key)
    documents = (ZATTRS, metadata.document_name) if metadata.zarr_format == 2 else (ZARR_JSON,)
    for name in documents:
        with contextlib.suppress(KeyError):
            del store[key_of(path, name)]
    update_consolidated(store, path, metadata.zarr_format)
