"""How an array was opened: what belongs to the object and is not stored."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zarrix._metadata.arguments import normalize_order
from zarrix._metadata.literals import Order
from zarrix._runtime.config import defaults_of_arrays
from zarrix._stores.base import Store

__all__ = ["ArrayOptions"]


class ArrayOptions(NamedTuple):
    """The options of an array object, under the names that they have as arguments of `Array`.

    A named tuple and not a frozen dataclass, which takes three times as long to make: every array
    that is opened makes two.

    Attributes
    ----------
    read_only : bool
    synchronizer : mapping of key to lock, or None
    cache_metadata, cache_attrs : bool
    write_empty_chunks : bool or None
        None for the default of the current config, or else of the format.
    meta_array : ndarray or None
    allow_pickle : bool
    checksum : bool
    read_missing_chunks : bool or None
        None for the default of the current config.
    order : {'C', 'F'}
    is_detached : bool
        Whether there is no stored document, so that none can be gone.
    is_view : bool
        Whether the metadata differs from the stored one, or elements are cast.
    cast_to : dtype or None
        The dtype of what is read, if it is not that of the metadata.
    """

    read_only: bool = False
    synchronizer: Any = None
    cache_metadata: bool = True
    cache_attrs: bool = True
    write_empty_chunks: bool | None = None
    meta_array: Any = None
    allow_pickle: bool = False
    checksum: bool = False
    read_missing_chunks: bool | None = None
    order: Order | None = None
    is_detached: bool = False
    is_view: bool = False
    cast_to: np.dtype[Any] | None = None

    def of_open_array(self, store: Store, zarr_format: int) -> ArrayOptions:
        """The same with the defaults of the store, the config and the format filled in.

        Later changes of the config do not change an array that is open.
        """
        pickle, empty, missing, default_order = defaults_of_arrays()
        # Unpacked, because asking a named tuple for an attribute takes longer.
        (
            read_only, synchronizer, cache_metadata, cache_attrs, write_empty, meta_array,
            allow_pickle, checksum, read_missing, order, is_detached, is_view, cast_to,
        ) = self  # fmt: skip
        if write_empty is None:
            # The default of each generation of zarr.
            write_empty = zarr_format == 2 if empty is None else empty
        if read_missing is None:
            read_missing = missing
        if order is None:
            order = default_order
        if store._is_staged:
            # Other handles of the commit change the documents, too.
            cache_metadata, is_detached = False, True
        return ArrayOptions(
            bool(read_only) or store.read_only,
            synchronizer,
            bool(cache_metadata),
            bool(cache_attrs),
            bool(write_empty),
            meta_array,
            bool(allow_pickle) or pickle,
            bool(checksum),
            bool(read_missing),
            "C" if order == "C" else normalize_order(order),
            is_detached,
            is_view,
            cast_to,
        )
