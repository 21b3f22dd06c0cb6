"""Names of ``zarr.codecs.crc32c_``."""

from zarrix._codecs.classes import Crc32cCodec

__all__ = ["Crc32cCodec"]
