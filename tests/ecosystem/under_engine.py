"""A plugin of pytest by which xarray's own tests of Zarr run on ``zarrix.xarray``.

    python -m pytest -p under_engine --pyargs xarray.tests.test_backends -k Zarr

``engine="zarr"`` opens by our engine, and ``to_zarr`` of datasets, arrays and trees is ours, with
xarray's default of ``safe_chunks``. Stores stay those of zarr-python, which the tests look into.
"""

from __future__ import annotations

from typing import Any

import xarray.backends
import xarray.backends.writers
import xarray.backends.zarr
import zarr
import zarrix
from xarray.backends.common import BACKEND_ENTRYPOINTS
from zarrix.xarray import to_zarr
from zarrix.xarray._backend import ZarrixBackend
from zarrix.xarray._store import Store


def written(
    data: Any,
    store: Any = None,
    mode: Any = None,
    group: Any = None,
    encoding: Any = None,
    **options: Any,
) -> Any:
    """`zarrix.xarray.to_zarr` with the signature of xarray's."""
    options.setdefault("safe_chunks", True)
    place = {} if store is None else store
    with as_configured():
        return to_zarr(data, place, mode, group=group, encoding=encoding, **options)


def written_tree(
    data: Any,
    store: Any,
    mode: Any = "w-",
    encoding: Any = None,
    group: Any = None,
    write_inherited_coords: bool = False,
    **options: Any,
) -> Any:
    """The same for trees."""
    options["write_inherited_coords"] = write_inherited_coords
    return written(data, store, mode, group, encoding, **options)


def as_configured() -> Any:
    """The format of new hierarchies that the tests set in zarr-python's configuration."""
    return zarrix.config.set(default_zarr_format=zarr.config.get("default_zarr_format"))


class StoreAsConfigured(Store):
    """Our store of variables, for tests that create one."""

    __slots__ = ()

    @classmethod
    def open_group(cls, *arguments: Any, **options: Any) -> Store:
        with as_configured():
            return super().open_group(*arguments, **options)


BACKEND_ENTRYPOINTS["zarr"] = ("zarr", ZarrixBackend)
xarray.backends.list_engines.cache_clear()
xarray.backends.ZarrStore = xarray.backends.zarr.ZarrStore = StoreAsConfigured
xarray.backends.writers.to_zarr = written
xarray.backends.writers._datatree_to_zarr = written_tree
