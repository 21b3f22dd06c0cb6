"""Public names of ``zarr.attrs``."""

from zarrix._attributes import Attributes

__all__ = ["Attributes"]
