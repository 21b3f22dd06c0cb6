"""The engine "zarrix" of xarray."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from xarray import Dataset, DataTree
from xarray.backends import BackendEntrypoint, StoreBackendEntrypoint

from zarrix.xarray._store import Store

__all__ = ["ZarrixBackend"]


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

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        # xarray's own engine claims the suffix .zarr. With two engines that claim it, the result
        # would depend on their order.
        return False

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
        use_zarr_fill_value_as_mask: bool | None = None,
        cache_members: bool = True,
    ) -> Dataset:
        store = Store.open_group(
            filename_or_obj,
            mode,
            group,
            consolidated=consolidated,
            storage_options=storage_options,
            zarr_format=zarr_format,
            use_zarr_fill_value_as_mask=use_zarr_fill_value_as_mask,
            cache_members=cache_members,
        )
        return _decoded(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
    ) -> dict[str, Dataset]:
        stores = Store.open_store(
            filename_or_obj,
            mode,
            group,
            consolidated=consolidated,
            storage_options=storage_options,
            zarr_format=zarr_format,
        )
        top = "/" + (group or "").strip("/")
        return {
            _relative(path, top): _decoded(
                store,
                mask_and_scale=mask_and_scale,
                decode_times=decode_times,
                concat_characters=concat_characters,
                decode_coords=decode_coords,
                drop_variables=drop_variables,
                use_cftime=use_cftime,
                decode_timedelta=decode_timedelta,
            )
            for path, store in stores.items()
        }

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        mode: str = "r",
        consolidated: bool | None = None,
        storage_options: Mapping[str, Any] | None = None,
        zarr_format: int | None = None,
    ) -> DataTree:
        groups = self.open_groups_as_dict(
            filename_or_obj,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
            group=group,
            mode=mode,
            consolidated=consolidated,
            storage_options=storage_options,
            zarr_format=zarr_format,
        )
        # As xarray's own backends: the tree closes what was opened for it.
        from xarray.backends.common import datatree_from_dict_with_io_cleanup

        return datatree_from_dict_with_io_cleanup(groups)


def _decoded(store: Store, **decoders: Any) -> Dataset:
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
