"""The base classes of v3 codecs, under the module name of zarr-python 3."""

from zarrix._codecs.codec import Codec
from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarrix._codecs.kinds import UserCodec as UserCodec

__all__ = ["ArrayArrayCodec", "ArrayBytesCodec", "BytesBytesCodec", "Codec"]
