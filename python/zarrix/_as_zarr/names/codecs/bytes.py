"""Names of ``zarr.codecs.bytes``."""

from zarrix._codecs.classes import BytesCodec

__all__ = ["BytesCodec"]
