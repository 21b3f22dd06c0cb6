"""Names of ``zarr.storage._logging``."""

from zarrix._stores.wrapper import LoggingStore

__all__ = ["LoggingStore"]
