"""Functions of ``zarr.api.synchronous`` that differ for users of zarr-python 3."""

from zarrix._as_zarr.functions import consolidate_metadata
from zarrix._as_zarr.functions import open as open  # noqa: A004

__all__ = ["consolidate_metadata", "open"]
