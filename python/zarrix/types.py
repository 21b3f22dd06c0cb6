"""Names for annotations, as zarr-python 3 has them; one class is an array of either format."""

from typing import Any, Literal

from zarrix._array import Array
from zarrix._async import AsyncArray

__all__ = [
    "JSON",
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
ZarrFormat = Literal[2, 3]
