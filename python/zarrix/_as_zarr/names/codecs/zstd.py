"""Names of ``zarr.codecs.zstd``."""

from zarrix._codecs.classes import ZstdCodec

__all__ = ["ZstdCodec"]
