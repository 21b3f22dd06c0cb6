"""Names of ``zarr.codecs.bytes``."""

from zarrix._codecs.classes import BytesCodec, Endian

__all__ = ["BytesCodec", "Endian"]
