"""Names of ``zarr.core.attributes``."""

from zarrix._nodes.attributes import Attributes

__all__ = ["Attributes"]
