"""Any mutable mapping of str to bytes as a store."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from zarrix import _engine
from zarrix._stores.base import Store
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.sites import Site

__all__ = ["KVStore"]


class KVStore(EngineStore):
    """Any mutable mapping of str to bytes as a store: a dict, an fsspec mapping, another store.

    A key that no store accepts, such as ``../a``, is an error before the mapping sees it.

    Parameters
    ----------
    mutablemapping : MutableMapping
        It is referenced, not copied. The engine uses its ``getitems`` if it has one.

    Raises
    ------
    InvalidKeyError
        On access, if the key is not one that stores accept.

    Examples
    --------
    >>> import zarrix as zarr
    >>> values = {}
    >>> z = zarr.array([1, 2, 3, 4], chunks=2, store=zarr.KVStore(values))
    >>> sorted(values)
    ['.zarray', '0', '1']
    """

    _opened_with = frozenset({"_mutable_mapping"})

    def __init__(self, mutablemapping: MutableMapping[str, Any]) -> None:
        self._mutable_mapping = mutablemapping
        self._dimension_separator = getattr(mutablemapping, "_dimension_separator", None)

    @property
    def _is_in_memory(self) -> bool:  # type: ignore[override]  # Of an instance, not of the class.
        inner = self._mutable_mapping
        return type(inner) is dict or (isinstance(inner, Store) and inner._is_in_memory)

    def _open_engine(self) -> _engine.Store:
        inner = self._mutable_mapping
        return inner._engine if isinstance(inner, Store) else engine_of(inner)

    def engine_path(self, path: str) -> str:
        inner = self._mutable_mapping
        return inner.engine_path(path) if isinstance(inner, Store) else path

    def _sites(self, path: str) -> list[Site]:
        inner = self._mutable_mapping
        return inner._sites(path) if isinstance(inner, Store) else of_object(inner, path)

    def __iter__(self) -> Iterator[str]:
        return iter(self._mutable_mapping)

    def __len__(self) -> int:
        return len(self._mutable_mapping)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KVStore):
            return NotImplemented
        return bool(self._mutable_mapping == other._mutable_mapping)

    def __repr__(self) -> str:
        return (
            f"<zarrix.storage.KVStore of {type(self._mutable_mapping).__name__} at {id(self):#x}>"
        )


KVStore.__module__ = "zarrix.storage"
