"""Names of ``zarr.core.array_spec``."""

from typing import Literal, TypedDict

from zarrix._array.config import ArrayConfig
from zarrix._codecs.user_codecs import ArraySpec

__all__ = ["ArrayConfig", "ArrayConfigParams", "ArraySpec"]


class ArrayConfigParams(TypedDict, total=False):
    """The settings of an array."""

    order: Literal["C", "F"]
    write_empty_chunks: bool
    read_missing_chunks: bool
