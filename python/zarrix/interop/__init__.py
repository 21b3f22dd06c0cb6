"""For zarr-python 3 and its users: stores of ours as its stores, and its arrays on the engine.

``zarr.open(ZarrStore("s3://bucket/x.zarr"))``, and with it xarray and dask, read and write bytes
through the engine: its locks and conditional puts, its requests and its caches. With
``accelerate()``, the elements of every ``zarr.Array`` are read and written by it, too.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from zarrix.interop._accelerate import accelerate as accelerate
    from zarrix.interop._zarr_python import ZarrStore as ZarrStore

__all__ = ["ZarrStore", "accelerate"]


def __getattr__(name: str) -> Any:
    if name == "accelerate":
        # Import time: few programs also use zarr-python.
        from zarrix.interop._accelerate import accelerate

        return accelerate
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
