"""Names of ``zarr.codecs.scale_offset``."""

from zarrix._codecs.classes import ScaleOffset

__all__ = ["ScaleOffset"]
