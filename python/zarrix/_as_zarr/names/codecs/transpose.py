"""Names of ``zarr.codecs.transpose``."""

from zarrix._codecs.classes import TransposeCodec

__all__ = ["TransposeCodec"]
