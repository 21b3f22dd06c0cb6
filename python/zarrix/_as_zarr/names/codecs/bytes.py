"""Names of ``zarr.codecs.bytes``."""

from zarrix._codecs.classes import BytesCodec, Endian

__all__ = ["ENDIAN", "BytesCodec", "Endian"]

ENDIAN = ("little", "big")
