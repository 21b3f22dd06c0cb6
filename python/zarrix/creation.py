"""Public names of ``zarr.creation``."""

from zarrix._array.create import array, create
from zarrix._array.filled import (
    empty,
    empty_like,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from zarrix._array.open_array import open_array, open_like
from zarrix.storage import normalize_store_arg

__all__ = [
    "array",
    "create",
    "empty",
    "empty_like",
    "full",
    "full_like",
    "normalize_store_arg",
    "ones",
    "ones_like",
    "open_array",
    "open_like",
    "zeros",
    "zeros_like",
]

for _name in __all__:
    if _name != "normalize_store_arg":
        globals()[_name].__module__ = __name__
