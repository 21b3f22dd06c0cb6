"""The base class of v3 codecs, under the module name of zarr-python 3."""

from zarrix._codecs.codec import Codec

__all__ = ["Codec"]
