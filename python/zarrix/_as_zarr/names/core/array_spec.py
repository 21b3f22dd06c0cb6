"""Names of ``zarr.core.array_spec``."""

from zarrix._array.config import ArrayConfig
from zarrix._codecs.user_codecs import ArraySpec

__all__ = ["ArrayConfig", "ArraySpec"]
