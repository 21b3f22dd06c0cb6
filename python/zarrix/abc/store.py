"""The base class of stores, under the module name of zarr-python 3."""

from zarrix._stores.base import Store

__all__ = ["Store"]
