"""The base class of codecs of format 3, under the module name of zarr-python 3."""

from zarrix._codecs.classes import Codec

__all__ = ["Codec"]
