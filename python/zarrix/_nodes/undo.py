"""A creation that fails leaves nothing behind: neither metadata nor chunks of a new node.

Whatever can be checked is checked before the first byte is stored. What is left are values that
turn out not to fit while they are written, sources that fail half-way and stores that refuse. Only
keys that the new node has are deleted, never a folder: other files may lie in it. Groups above that
were made on the way stay, since others may use them by now. So does a new node that has replaced
another: the old one cannot come back, and nothing at all would be worse than the new one.
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
