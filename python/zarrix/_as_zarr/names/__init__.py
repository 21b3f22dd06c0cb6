"""Names of zarr-python 3 that zarrix lacks, or that differ for its users."""

from zarrix._as_zarr.distribution import VERSION

__all__ = ["__version__"]

__version__ = VERSION
