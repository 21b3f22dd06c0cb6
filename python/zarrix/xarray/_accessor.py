"""``ds.zarrix``, ``array.zarrix`` and ``tree.zarrix``: the accessors that write."""

from __future__ import annotations

from typing import Any

import xarray

from zarrix.xarray._write import to_zarr

__all__ = ["register"]


class ZarrixAccessor:
    """What zarrix adds to datasets, arrays and trees of xarray, under the name ``zarrix``.

    `register` is called by ``import zarrix.xarray``, and so when the engine is first used.

    Parameters
    ----------
    data : Dataset, DataArray or DataTree

    Examples
    --------
    >>> import xarray as xr, zarrix.xarray
    >>> xr.Dataset({"a": ("x", [1, 2, 3])}).zarrix.to_zarr("data.zarr")
    <zarrix.hierarchy.Group '/'>
    """

    def __init__(self, data: Any) -> None:
        self._data = data

    def to_zarr(self, store: Any, mode: str | None = None, **options: Any) -> Any:
        """Write the dataset, array or tree; see `zarrix.xarray.to_zarr`.

        Parameters
        ----------
        store : Store, Group, mapping, str or Path
        mode : {'w-', 'w', 'a', 'a-', 'r+'}, optional
        **options
            As for `zarrix.xarray.to_zarr`.

        Returns
        -------
        Group, or dask.delayed.Delayed
            The group that was written; with ``compute=False`` the task.

        Raises
        ------
        ContainsGroupError
            Mode ``'w-'``, and the group exists.
        ValueError
            The data does not fit the stored variables, the mode, or a region.

        Examples
        --------
        >>> import xarray as xr, zarrix.xarray
        >>> ds = xr.Dataset({"a": ("x", [1, 2, 3])})
        >>> ds.zarrix.to_zarr("data.zarr", encoding={"a": {"chunks": (2,)}})["a"].chunks
        (2,)
        """
        return to_zarr(self._data, store, mode, **options)


def register() -> None:
    """Give datasets, arrays and trees the accessor ``zarrix``."""
    for kind in ("dataset", "dataarray", "datatree"):
        getattr(xarray, f"register_{kind}_accessor")("zarrix")(ZarrixAccessor)
