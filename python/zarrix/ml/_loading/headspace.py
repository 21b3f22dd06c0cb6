"""How fast a program would be if its loader took no time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from zarrix.ml._loading.loader import Loader

__all__ = ["headspace"]


def headspace(loader: Loader, batches: int = 100) -> Iterator[Any]:
    """One batch again and again: the most that a program could gain from any faster loader.

    Time the same training steps over this and over the loader; the difference is what loading
    costs. The loader's position does not move.

    Parameters
    ----------
    loader : Loader
    batches : int

    Returns
    -------
    iterator of Batch

    Raises
    ------
    ValueError
        ``batches`` is negative.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> loader = ml.Loader(ml.Rows({"x": zarr.zeros((8, 2))}), batch_size=4)
    >>> len(list(ml.headspace(loader, batches=5)))
    5
    """
    if batches < 0:
        raise ValueError(f"batches={batches}; it is not negative")
    return _repeated(loader, batches)


def _repeated(loader: Loader, batches: int) -> Iterator[Any]:
    batch = loader._first()
    for _ in range(batches):
        yield batch
