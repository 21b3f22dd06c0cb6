"""The engine "zarrix" of xarray."""

from __future__ import annotations

from typing import Any

from xarray import Dataset, DataTree
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from zarrix._runtime.signatures import check_keywords
from zarrix.xarray._store import Store

__all__ = ["ZarrixBackend"]

_DECODERS = (
    *("mask_and_scale", "decode_times", "concat_characters", "decode_coords"),
    *("drop_variables", "use_cftime", "decode_timedelta"),
)
_OPENING = (
    *("group", "mode", "consolidated", "storage_options", "zarr_format"),
    *("use_zarr_fill_value_as_mask", "cache_members"),
)


class ZarrixBackend(BackendEntrypoint):
    """The engine "zarrix" of `xarray.open_dataset` and `xarray.open_datatree`.

    It opens anything that `zarrix.open` does: paths, URLs, zip archives, references, mappings,
    groups, and stores of other libraries. zarr-python is not needed. It is chosen only by its
    name.

    The options are those of xarray's own engine "zarr": ``group``, ``mode``, ``storage_options``,
    ``zarr_format``, ``use_zarr_fill_value_as_mask``, ``cache_members``, and ``consolidated``, where
    True requires consolidated metadata and False ignores it. When omitted, it is used where it
    saves requests.

    Examples
    --------
    >>> import xarray as xr, zarrix as zarr
    >>> root = zarr.create_group("data.zarr")
    >>> z = root.create_array("a", data=[1, 2, 3], dimension_names=["x"])
    >>> xr.open_dataset("data.zarr", engine=ZarrixBackend)["a"].sum().item()
    6
    """

    description = "Open Zarr data by the engine of zarrix"
    supports_groups = True
    # xarray would read them from a signature, and looks here for which decoders there are.
    open_dataset_parameters = ("filename_or_obj", *_DECODERS, *_OPENING)

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        # xarray's own engine claims the suffix .zarr. With two engines that claim it, the result
        # would depend on their order.
        return False

    def open_dataset(self, filename_or_obj: Any, **options: Any) -> Dataset:
        decoders, opening = _divided(options, "open_dataset")
        return _decoded(Store.open_group(filename_or_obj, **opening), decoders)

    def open_groups_as_dict(self, filename_or_obj: Any, **options: Any) -> dict[str, Dataset]:
        decoders, opening = _divided(options, "open_groups")
        top = "/" + (opening.get("group") or "").strip("/")
        stores = Store.open_store(filename_or_obj, **opening)
        return {_relative(path, top): _decoded(store, decoders) for path, store in stores.items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        groups = self.open_groups_as_dict(filename_or_obj, **options)
        # As xarray's own backends: the tree closes what was opened for it.
        from xarray.backends.common import datatree_from_dict_with_io_cleanup

        return datatree_from_dict_with_io_cleanup(groups)


def _divided(options: dict[str, Any], function: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of xarray's decoders, and those that say what is opened and how."""
    check_keywords(options, ZarrixBackend.open_dataset_parameters, function)
    opening: dict[str, Any] = {"consolidated": None}
    decoders: dict[str, Any] = {}
    for name, value in options.items():
        (decoders if name in _DECODERS else opening)[name] = value
    return decoders, opening


def _decoded(store: Store, decoders: dict[str, Any]) -> Dataset:
    """The dataset of a store; the store is closed if its variables cannot be decoded."""
    try:
        return StoreBackendEntrypoint().open_dataset(store, **decoders)
    except BaseException:
        store.close()
        raise


def _relative(path: str, top: str) -> str:
    if top == "/":
        return path
    return path[len(top) + 1 :] or "."
