"""Names of ``zarr.codecs.blosc``."""

from zarrix._codecs.blosc import BloscCname, BloscShuffle
from zarrix._codecs.classes import BloscCodec

__all__ = ["BloscCname", "BloscCodec", "BloscShuffle"]
