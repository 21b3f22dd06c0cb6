"""The objects behind ``z.oindex[...]``, ``z.vindex[...]`` and ``z.blocks[...]``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from zarrix._array.handle import ArrayHandle
from zarrix._array.transfer import read_selection, write_selection
from zarrix._selection.fancy import (
    Indexer,
    resolve_blocks,
    resolve_orthogonal,
    resolve_points,
)

if TYPE_CHECKING:
    from zarrix._array.plan import ReadPlan

__all__ = ["BlockIndex", "OIndex", "VIndex"]


class _Index(ABC):
    """Base of ``z.oindex``, ``z.vindex`` and ``z.blocks``: an array with another rule for keys."""

    __slots__ = ("array",)

    def __init__(self, array: ArrayHandle) -> None:
        self.array = array

    @abstractmethod
    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        """Resolve ``key`` by this rule."""

    def __getitem__(self, selection: Any) -> Any:
        return read_selection(self.array, selection, None, None, self._rule)

    def __setitem__(self, selection: Any, value: Any) -> None:
        write_selection(self.array, selection, value, None, self._rule)

    def plan(self, selection: Any) -> ReadPlan:
        """The chunks that reading the selection would touch and fetch, as from `Array.plan`.

        Parameters
        ----------
        selection : as for ``z.oindex[selection]``, or that of the index that this is
            Reads only the lengths of chunks and the shard indexes.

        Returns
        -------
        ReadPlan

        Raises
        ------
        BoundsCheckError
            An index is out of range for its axis (also an ``IndexError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array(range(100), chunks=10)
        >>> z.oindex.plan([3, 17, 18]).chunks
        2
        """
        # Imported when called, for import time: few programs plan their reads.
        from zarrix._array.plan import plan_of

        return plan_of(self.array, selection, self._rule)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.array!r}>"


class OIndex(_Index):
    """Orthogonal selections, as ``z.oindex[key]``: each axis is selected independently.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if an index is out of range for its axis (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(12).reshape(3, 4))
    >>> z.oindex[[2, 0], [True, False, False, True]]
    array([[ 8, 11],
           [ 0,  3]])
    >>> z.oindex[:, [1]] = -1
    >>> z[:, 1]
    array([-1, -1, -1])
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_orthogonal(key, shape)


class VIndex(_Index):
    """Selections of points or by a mask, as ``z.vindex[key]``; index arrays broadcast together.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if an index is out of range for its axis (also an ``IndexError``).
    VindexInvalidSelectionError
        On use, if the key has no index arrays or no mask (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(12).reshape(3, 4))
    >>> z.vindex[[2, 0], [0, 3]]
    array([8, 3])
    >>> z.vindex[z[:] > 9] = 0
    >>> z[2]
    array([8, 9, 0, 0])
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_points(key, shape)


class BlockIndex(_Index):
    """Selections of complete chunks (or shards), as ``z.blocks[key]``.

    Parameters
    ----------
    array : Array

    Raises
    ------
    BoundsCheckError
        On use, if a block lies outside the grid (also an ``IndexError``).

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.arange(10), chunks=4)
    >>> z.blocks[1], z.blocks[1:]
    (array([4, 5, 6, 7]), array([4, 5, 6, 7, 8, 9]))
    """

    __module__ = "zarrix.indexing"
    __slots__ = ()

    def _rule(self, key: Any, shape: tuple[int, ...]) -> Indexer:
        return resolve_blocks(key, shape, self.array._snapshot.metadata.grid)
