"""dask on zarrix: arrays from stored arrays, and back, without locks and without rechunking.

Writers of different elements lose no update, also if their blocks share chunks or shards, in any
processes. Therefore blocks of any shape are stored as they are.
"""

import importlib
from typing import TYPE_CHECKING, Any

from zarrix._errors import suggestion
from zarrix.dask._read import from_array
from zarrix.dask._write import store, to_zarr

if TYPE_CHECKING:
    from zarrix.dask._plugin import AsZarr as AsZarr

__all__ = ["AsZarr", "from_array", "store", "to_zarr"]


def __getattr__(name: str) -> Any:
    # For import time, and because dask is often installed without distributed.
    if name == "AsZarr":
        return importlib.import_module("zarrix.dask._plugin").AsZarr
    raise AttributeError(
        f"module {__name__!r} has no attribute {name!r}{suggestion(name, __all__)}"
    )
