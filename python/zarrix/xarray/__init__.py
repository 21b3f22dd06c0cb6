"""xarray on zarrix: the engine "zarrix", and writing datasets; zarr-python is not needed.

``xr.open_dataset(path, engine="zarrix")`` finds the engine by the entry point of the package.
"""

try:
    # Optional package: xarray.
    import xarray.backends.writers as _  # noqa: F401
except ImportError:
    raise ImportError(
        "zarrix.xarray extends xarray 2025.11 or newer, which is not installed: "
        "pip install 'zarrix[xarray]'"
    ) from None

from zarrix.xarray._accessor import register
from zarrix.xarray._write import to_zarr

__all__ = ["to_zarr"]

register()
del register
