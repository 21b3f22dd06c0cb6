"""Common base of arrays and groups: the store, and how they were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._nodes.attributes import Attributes
    from zarrix._stores.base import Store

__all__ = ["Member"]


class Member:
    """An open node of a hierarchy; base of arrays and groups."""

    __slots__ = ()

    _store: Store
    _chunk_store: Store | None
    _path: str
    _synchronizer: Any
    _meta_array: Any
    _attrs: Attributes

    @property
    def store(self) -> Store:
        """The store of metadata and attributes, and of the chunks without a `chunk_store`."""
        return self._store._user_store

    @property
    def chunk_store(self) -> Store:
        """The store of the chunks."""
        return self._store if self._chunk_store is None else self._chunk_store

    def _stores(self) -> list[Store]:
        if self._chunk_store is None or self._chunk_store is self._store:
            return [self._store]
        return [self._store, self._chunk_store]

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """What tells this node from others in the task graphs of dask, equal in all processes.

        It costs no request, and does not depend on stored elements.
        """
        # Import time: only task graphs ask for it.
        from zarrix._stores.identity import identity

        kind = f"zarrix.{type(self).__name__}"
        return kind, tuple(map(identity, self._stores())), self._path, self._token()

    def _token(self) -> str:
        """What else tells this node from others of its path."""
        return ""

    @property
    def path(self) -> str:
        """Its path in the store, without a leading slash; empty for the root."""
        return self._path

    @property
    def synchronizer(self) -> Any:
        """The ``synchronizer`` argument."""
        return self._synchronizer

    @property
    def meta_array(self) -> npt.NDArray[Any]:
        """An empty array of the type that reads return."""
        like = () if self._meta_array is None else self._meta_array
        return np.empty_like(like, shape=())

    @property
    def attrs(self) -> Attributes:
        """User attributes: a mutable mapping of names to JSON values."""
        return self._attrs
