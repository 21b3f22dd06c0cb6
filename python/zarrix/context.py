"""Public name of ``zarr.context`` of zarr 2.18."""

from typing import Any, TypedDict

__all__ = ["Context"]


class Context(TypedDict, total=False):
    """2.18 passes it to stores with keys; zarrix does not."""

    meta_array: Any
