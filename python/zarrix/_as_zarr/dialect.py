"""What installing the alias changes in zarrix, for as long as it is installed."""

from __future__ import annotations

from zarrix._as_zarr.attributes import add_attributes, remove_attributes
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store

__all__ = ["enter", "leave"]

_before: list[tuple[int | None, bool | None]] = []


def enter() -> None:
    """Let a call that leaves it open mean what it means in zarr-python 3.

    New nodes are v3, chunks of nothing but the fill value are not stored in v2 either, ``get`` and
    ``clear`` of stores are coroutines, an array at the root of a store has the name "/", and a
    store may be made in the folder of an array, beside its chunks.
    """
    _before.append((config.default_zarr_format, config.write_empty_chunks))
    config.default_zarr_format = 3
    if config.write_empty_chunks is None:
        config.write_empty_chunks = False
    config._initial = {
        "default_zarr_format": 3,
        "write_empty_chunks": config.write_empty_chunks,
    }
    Store._answers_awaited = True
    DIALECT.is_zarr3 = True
    add_attributes()


def leave() -> None:
    """Restore what `enter` changed."""
    config._initial = {}
    zarr_format, config.write_empty_chunks = _before.pop()
    config.default_zarr_format = zarr_format  # type: ignore[assignment]  # Read from it.
    Store._answers_awaited = False
    DIALECT.is_zarr3 = False
    remove_attributes()
