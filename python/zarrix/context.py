"""Public name of ``zarr.context`` of zarr 2.18."""

from typing import Any, TypedDict

__all__ = ["Context"]


class Context(TypedDict, total=False):
    """What 2.18 hands to stores along with keys; ours are not asked with one."""

    meta_array: Any
