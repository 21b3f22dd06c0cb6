"""Names of ``zarr.codecs.vlen_utf8``."""

from zarrix._codecs.classes import VLenBytesCodec, VLenUTF8Codec

__all__ = ["VLenBytesCodec", "VLenUTF8Codec"]
