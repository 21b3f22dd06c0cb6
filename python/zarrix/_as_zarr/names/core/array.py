"""Names of ``zarr.core.array`` that are coroutines there, and types for annotations."""

from typing import Any

from zarrix._array.config import ArrayConfig
from zarrix.api.asynchronous import create_array, from_array

__all__ = [
    "ArrayConfig",
    "CompressorLike",
    "CompressorsLike",
    "FiltersLike",
    "SerializerLike",
    "ShardsLike",
    "create_array",
    "from_array",
]

CompressorLike = CompressorsLike = FiltersLike = SerializerLike = ShardsLike = Any
