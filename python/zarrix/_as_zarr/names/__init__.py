"""Names of zarr-python 3 that zarrix lacks, or that differ for its users."""

from zarrix._as_zarr.distribution import VERSION
from zarrix._as_zarr.functions import consolidate_metadata
from zarrix._as_zarr.functions import open as open  # noqa: A004

__all__ = ["__version__", "consolidate_metadata", "open"]

__version__ = VERSION
