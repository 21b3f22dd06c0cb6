"""Names of ``zarr.codecs.cast_value``."""

from zarrix._codecs.classes import CastValue

__all__ = ["CastValue"]
