"""The engine's handle of an array, created in one place for reads, writes, creation and
migration.
"""

from __future__ import annotations

from collections.abc import Callable

from zarrix import _engine
from zarrix._metadata.array import ArrayMetadata
from zarrix._stores.base import Store
from zarrix._stores.labels import describe

__all__ = ["OpenedDocument", "engine_array"]

# The form that `_engine.ArrayIO` takes.
OpenedDocument = tuple[bytes, str | None, Callable[[bytes], None]]


def engine_array(
    chunks: Store,
    path: str,
    metadata: ArrayMetadata,
    *,
    write_empty_chunks: bool = True,
    allow_pickle: bool = False,
    read_missing_chunks: bool = True,
    document: OpenedDocument | None = None,
) -> _engine.ArrayIO:
    """The engine's handle of the array at ``path``.

    If the ``document`` with which the array was opened is gone or describes other chunks, writes
    are an error, and missing chunks do not read as the fill value.

    Parameters
    ----------
    chunks : Store
        The store of the chunks; messages about chunks begin with it and the path.
    path : str
        Of the array; empty for the root.
    metadata : ArrayMetadata
    write_empty_chunks, allow_pickle, read_missing_chunks : bool
        As of `Array`.
    document : OpenedDocument, optional

    Raises
    ------
    UnknownCodecError, MetadataError
        As from `ArrayMetadata.layout`.
    """
    layout = metadata.layout(
        write_empty_chunks=write_empty_chunks,
        allow_pickle=allow_pickle,
        read_missing_chunks=read_missing_chunks,
    )
    where = chunks.engine_path(path)
    place = describe(chunks, path)
    return _engine.ArrayIO(chunks._engine, where, layout.bound, document=document, place=place)
