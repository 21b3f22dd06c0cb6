"""Names of ``zarr.abc.metadata``."""

from zarrix._codecs.codec import Codec as Metadata

__all__ = ["Metadata"]
