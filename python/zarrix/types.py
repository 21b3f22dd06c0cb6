"""Names for annotations, as zarr 2.18 and zarr-python 3 have them.

One class is an array of either format.
"""

from typing import Any, Literal

from zarrix._array.array import Array
from zarrix._hierarchy.asynchronous import AsyncArray

__all__ = [
    "DIMENSION_SEPARATOR",
    "JSON",
    "MEMORY_ORDER",
    "ZARR_VERSION",
    "AnyArray",
    "AnyAsyncArray",
    "ArrayV2",
    "ArrayV3",
    "AsyncArrayV2",
    "AsyncArrayV3",
    "ZarrFormat",
]

AnyArray = ArrayV2 = ArrayV3 = Array
AnyAsyncArray = AsyncArrayV2 = AsyncArrayV3 = AsyncArray
JSON = Any
ZarrFormat = ZARR_VERSION = Literal[2, 3]
DIMENSION_SEPARATOR = Literal[".", "/"]
MEMORY_ORDER = Literal["C", "F"]
