"""dask on zarrix: arrays from stored arrays, and back, without locks and without rechunking.

Writers of different elements lose no update, also if their blocks share chunks or shards, in any
processes. Therefore blocks of any shape are stored as they are.
"""

from zarrix.dask._plugin import AsZarr
from zarrix.dask._read import from_array
from zarrix.dask._write import store, to_zarr

__all__ = ["AsZarr", "from_array", "store", "to_zarr"]
