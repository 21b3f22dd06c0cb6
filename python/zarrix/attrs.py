"""Public names of ``zarr.attrs``."""

from zarrix._nodes.attributes import Attributes

__all__ = ["Attributes"]
