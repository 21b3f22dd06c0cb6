"""Names of ``zarr.abc.codec`` that differ for users of zarr-python 3."""

from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, UserCodec

__all__ = ["BaseCodec", "Codec"]

BaseCodec = UserCodec
Codec = ArrayArrayCodec | ArrayBytesCodec | BytesBytesCodec
