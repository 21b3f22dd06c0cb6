"""Base classes that code for zarr-python 3 names: `zarrix.abc.store`, `zarrix.abc.codec`."""

from zarrix.abc import codec, store

__all__ = ["codec", "store"]
