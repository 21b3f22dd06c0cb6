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
    from zarrix.interop._engine_protocol import Engine as Engine
    from zarrix.interop._pipeline_zarr_python import Pipeline as Pipeline
    from zarrix.interop._zarr_python import ZarrStore as ZarrStore

__all__ = ["Engine", "Pipeline", "ZarrStore", "accelerate"]

_LATE = {
    "Engine": "zarrix.interop._engine_protocol",
    "accelerate": "zarrix.interop._accelerate",
}
_SUBCLASSES = {
    "Pipeline": "zarrix.interop._pipeline_zarr_python",
    "ZarrStore": "zarrix.interop._zarr_python",
}


def __getattr__(name: str) -> Any:
    if name in _LATE:
        # Import time: few programs also use zarr-python.
        return getattr(importlib.import_module(_LATE[name]), name)
    if name not in _SUBCLASSES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Subclasses of zarr-python's classes, which few programs have.
    try:
        importlib.import_module("zarr.abc.store")
    except ImportError:
        raise ImportError(
            f"zarrix.interop.{name} is for zarr-python 3, which is not installed: "
            "pip install 'zarr>=3'"
        ) from None
    return getattr(importlib.import_module(_SUBCLASSES[name]), name)
