"""What an array object knows at one moment of the stored array: one value that never changes.

An array has one snapshot, and replaces it by one assignment. A thread that reads takes it once, and
so has metadata, engine array and dtypes of one state of the array, also while others change it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from zarrix import _engine
from zarrix._array.options import ArrayOptions
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.literals import Order
from zarrix._metadata.replaced import judge_replaced
from zarrix._nodes.engine_array import OpenedDocument, engine_array
from zarrix._nodes.location import Location

__all__ = ["ArraySnapshot", "engine_array_of", "snapshot_of"]


@dataclass(slots=True, eq=False)
class ArraySnapshot:
    """The metadata of an array, and what follows from it and from the options.

    Nothing assigns to its attributes after it is made; a test looks for that. It is not frozen,
    because a frozen one takes five times as long to make, for each array that is opened.

    Attributes
    ----------
    metadata : ArrayMetadata
    document : bytes or None
        The stored document of the metadata; None if it is not stored as it is.
    io : ArrayIO
        The engine's array.
    order : {'C', 'F'}
        The order in memory of what is read.
    is_plain_read, is_plain_write : bool
        Whether the fast path of ``z[key]`` and of ``z[key] = value`` does all that is needed.
    large_result : int
        The number of elements from which on a result may take the memory of another.
    syncs : bool or None
        Whether writes are synced; None if the current config decides.
    """

    metadata: ArrayMetadata
    document: bytes | None
    io: _engine.ArrayIO
    order: Order
    is_plain_read: bool
    is_plain_write: bool
    large_result: int
    syncs: bool | None


def snapshot_of(
    location: Location,
    options: ArrayOptions,
    metadata: ArrayMetadata,
    document: bytes | None,
    key: str,
) -> ArraySnapshot:
    """The snapshot of an array with this metadata, whose document has the key ``key``."""
    is_plain = options.cache_metadata and options.cast_to is None
    store = location.store
    return ArraySnapshot(
        metadata,
        document,
        engine_array_of(location, options, metadata, document, key),
        metadata.order if metadata.zarr_format == 2 else options.order or "C",
        is_plain,
        is_plain and not options.read_only and options.synchronizer is None,
        _engine.LARGE_RESULT_BYTES // max(1, metadata.dtype.itemsize),
        None if store._durability is None else store.syncs,
    )


def engine_array_of(
    location: Location,
    options: ArrayOptions,
    metadata: ArrayMetadata,
    document: bytes | None,
    key: str,
) -> _engine.ArrayIO:
    """The engine's array for ``metadata``, which need not be the stored one."""
    store, path, _, chunk_store = location
    if store._array_io is not None:
        made: _engine.ArrayIO | None = store._array_io(path, metadata)
        if made is not None:
            return made
    opened: OpenedDocument | None = None
    if document is not None and chunk_store is None and not options.is_detached:
        # The engine compares it with the stored one, unless that is in another store.
        vouching = store.vouching_for(key)
        judge = partial(judge_replaced, document, metadata.where, store._dimension_separator)
        opened = document, vouching, judge
    return engine_array(
        store if chunk_store is None else chunk_store,
        path,
        metadata,
        write_empty_chunks=bool(options.write_empty_chunks),
        allow_pickle=options.allow_pickle,
        read_missing_chunks=bool(options.read_missing_chunks),
        document=opened,
    )
