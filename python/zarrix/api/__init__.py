"""The functions of zarr-python 3's ``zarr.api``: `zarrix.api.synchronous`."""

from zarrix.api import synchronous

__all__ = ["synchronous"]
