"""Arrays in the memory of this process, which workers in other processes would write as copies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from zarrix._array.array import Array
from zarrix._stores.identity import is_in_one_process

__all__ = ["require_shared"]

_SAME_PROCESS = ("dask.threaded", "dask.local")


def require_shared(arrays: Iterable[Array], scheduler: Any = None) -> None:
    """Raise an error if tasks run in other processes, which do not see one of the arrays.

    Raises
    ------
    ValueError
        The store of an array is in the memory of this process.
    """
    hidden = [one for one in arrays if is_in_one_process(one.chunk_store)]
    if hidden and _runs_elsewhere(scheduler):
        raise ValueError(
            f"{hidden[0]!r} is in the memory of this process ({hidden[0].chunk_store!r}), and the "
            "dask workers are other processes, whose changes would be lost; store it in a file or "
            "a bucket, or pass scheduler='threads'"
        )


def _runs_elsewhere(scheduler: Any) -> bool:
    # Optional package: dask.
    from dask.base import get_scheduler

    get = get_scheduler(scheduler=scheduler)
    # Without a scheduler, arrays are computed by threads of this process.
    return get is not None and getattr(get, "__module__", "") not in _SAME_PROCESS
