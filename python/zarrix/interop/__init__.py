"""For other packages: a store of zarr-python 3 over any store of ours.

``zarr.open(ZarrStore("s3://bucket/x.zarr"))``, and with it xarray and dask, read and write through
the engine: its locks and conditional puts, its requests and its caches.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrix.interop._zarr_python import ZarrStore as ZarrStore

__all__ = ["ZarrStore"]


def __getattr__(name: str) -> Any:
    # A subclass of zarr-python's class, which few programs have.
    if name != "ZarrStore":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        importlib.import_module("zarr.abc.store")
    except ImportError:
        raise ImportError(
            "zarrix.interop.ZarrStore is a store of zarr-python 3, which is not installed: "
            "pip install 'zarr>=3'"
        ) from None
    # Optional package: zarr-python.
    from zarrix.interop._zarr_python import ZarrStore

    return ZarrStore
