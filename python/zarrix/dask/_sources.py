"""Lazy values are not written over the stored arrays that they are computed of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zarrix._array.source import stored_arrays
from zarrix._hierarchy.replacing import named
from zarrix._stores.base import Store
from zarrix._stores.overlap import refuse_overlap

__all__ = ["refuse_sources"]


def refuse_sources(store: Store, path: str, values: Iterable[Any]) -> None:
    """Raise an error if a path that is going to be replaced has what ``values`` are computed of.

    Raises
    ------
    OverlapError
    """
    sources = {id(one): one for value in values for one in stored_arrays(value)}
    refuse_overlap("write", (store, path), map(named, sources.values()))
