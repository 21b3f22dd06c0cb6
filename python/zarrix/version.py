"""Public name of ``zarr.version`` of zarr 2.18."""

from zarrix._engine import __version__ as version

__all__ = ["version"]
