"""Registering codecs, under the module name of zarr-python 3."""

from zarrix._codecs.registry import get_codec, get_codec_class, register_codec

__all__ = ["get_codec", "get_codec_class", "register_codec"]
