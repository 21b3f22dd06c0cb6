"""Names of ``zarr.codecs.gzip``."""

from zarrix._codecs.classes import GzipCodec

__all__ = ["GzipCodec"]
