"""Common base of arrays and groups: the store, and how they were opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from zarrix._nodes.attributes import Attributes
    from zarrix._nodes.location import Location
    from zarrix._stores.base import Store

__all__ = ["Member", "location_of"]


class Member:
    """An open node of a hierarchy; base of arrays and groups."""

    __slots__ = ()

    _location: Location
    # The named tuple of options of the kind of node; both have `synchronizer` and `meta_array`.
    _options: Any
    _attrs: Attributes

    @property
    def store(self) -> Store:
        """The store of metadata and attributes, and of the chunks without a `chunk_store`."""
        return self._location.store._user_store

    @property
    def chunk_store(self) -> Store:
        """The store of the chunks."""
        return self._location.chunks

    def _stores(self) -> list[Store]:
        store, chunks = self._location.store, self._location.chunks
        return [store] if chunks is store else [store, chunks]

    def __dask_tokenize__(self) -> tuple[Any, ...]:
        """What tells this node from others in the task graphs of dask, equal in all processes.

        It costs no request, and does not depend on stored elements.
        """
        # Import time: only task graphs ask for it.
        from zarrix._stores.identity import identity

        kind = f"zarrix.{type(self).__name__}"
        return kind, tuple(map(identity, self._stores())), self._location.path, self._token()

    def _token(self) -> str:
        """What else tells this node from others of its path."""
        return ""

    @property
    def path(self) -> str:
        """Its path in the store, without a leading slash; empty for the root."""
        return self._location.path

    @property
    def synchronizer(self) -> Any:
        """The ``synchronizer`` argument."""
        return self._options.synchronizer

    @property
    def meta_array(self) -> npt.NDArray[Any]:
        """An empty array of the type that reads return."""
        given = self._options.meta_array
        like = () if given is None else given
        return np.empty_like(like, shape=())

    @property
    def attrs(self) -> Attributes:
        """User attributes: a mutable mapping of names to JSON values."""
        return self._attrs


def location_of(node: Member) -> Location:
    """The stores and the path of an array or a group."""
    return node._location
