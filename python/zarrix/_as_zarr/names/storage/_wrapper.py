"""Names of ``zarr.storage._wrapper``."""

from zarrix._stores.wrapper import WrapperStore

__all__ = ["WrapperStore"]
