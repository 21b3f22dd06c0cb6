"""What xarray calls encoding, and the metadata of arrays: dimensions, codecs, creation options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xarray.backends.zarr import DIMENSION_KEY
from xarray.coding.strings import check_vlen_dtype

from zarrix._array.access import metadata_of, snapshot_of
from zarrix._array.array import Array
from zarrix._codecs.chain import split_chain

__all__ = ["codecs_of", "dimensions_of", "new_array_options", "take_unlimited"]


def dimensions_of(array: Array, *, nczarr: bool) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The names of the dimensions of an array, and its attributes without them.

    v3 has the names in the metadata. In v2 they are an attribute, or, in files of NCZarr, a member
    of ``.zarray``.

    Raises
    ------
    KeyError
        The array does not name its dimensions.
    """
    metadata = metadata_of(array)
    attributes = _attributes_of(array)
    if metadata.zarr_format == 3:
        names = metadata.dimension_names or ()
        if len(names) != len(metadata.shape):
            raise KeyError(
                "Zarr object is missing the `dimension_names` metadata which is required for "
                f"xarray to determine variable dimensions: the array {array.name!r} of shape "
                f"{array.shape} has {len(names)} names; zarrix.open(...)[{array.path!r}] reads it"
            )
        return tuple(names), attributes
    if DIMENSION_KEY in attributes:
        found = attributes[DIMENSION_KEY]
    elif nczarr and "_NCZARR_ARRAY" in metadata.extra:
        # Names are complete paths.
        paths = metadata.extra["_NCZARR_ARRAY"]["dimrefs"]
        found = [path.rpartition("/")[2] for path in paths]
    else:
        raise KeyError(
            f"Zarr object is missing the attribute `{DIMENSION_KEY}` and the NCZarr metadata, "
            "which are required for xarray to determine variable dimensions: the array "
            f"{array.name!r}; "
            f"zarrix.open(...)[{array.path!r}] reads it"
        )
    return tuple(found), {
        name: value
        for name, value in attributes.items()
        if name != DIMENSION_KEY and not name.lower().startswith("_nc")
    }


def take_unlimited(dimensions: tuple[Any, ...], attributes: dict[str, Any]) -> set[Any]:
    """The dimensions without a limit, whose axes an import names in an attribute.

    The attribute is taken out: in xarray such dimensions belong to the encoding of a dataset.
    """
    axes = attributes.get("unlimited_axes")
    is_ours = isinstance(axes, list) and all(
        type(one) is int and 0 <= one < len(dimensions) for one in axes
    )
    if not is_ours:
        return set()
    return {dimensions[one] for one in attributes.pop("unlimited_axes")}


def _attributes_of(array: Array) -> dict[str, Any]:
    """The attributes of an array, in v3 those of the document with which it was opened."""
    if metadata_of(array).zarr_format == 2 or snapshot_of(array).document is None:
        return array.attrs.asdict()
    return array.attrs._as_opened(metadata_of(array).extra.get("attributes", {}))


def codecs_of(array: Array) -> dict[str, Any]:
    """The codecs of an array, as `Dataset.to_zarr` of any backend accepts them again.

    In v3 they are dicts, because zarr-python refuses codec objects of another package.
    """
    metadata = metadata_of(array)
    if metadata.zarr_format == 2:
        return {"compressors": array.compressors, "filters": tuple(array.filters or ())}
    shard = metadata.shard_codec
    chain = metadata.codecs if shard is None else shard["codecs"]
    filters, serializer, compressors = split_chain(dict(codec) for codec in chain)
    return {
        "compressors": tuple(compressors),
        "filters": tuple(filters),
        "serializer": serializer[0],
    }


def new_array_options(
    dtype: Any, encoding: dict[str, Any], write_empty_chunks: bool | None, zarr_format: int
) -> dict[str, Any]:
    """The options of `Group.create_array` for an ``encoding`` that xarray has checked.

    Raises
    ------
    ValueError
        The encoding and the call differ in ``write_empty_chunks``.
    """
    options = {name: _plain(value) for name, value in encoding.items()}
    options["dtype"] = str if check_vlen_dtype(dtype) is str else dtype
    config = {name: options.pop(name) for name in ("order",) if name in options}
    wanted = options.pop("write_empty_chunks", write_empty_chunks)
    if write_empty_chunks is not None and wanted != write_empty_chunks:
        raise ValueError(
            f'Differing "write_empty_chunks" values in encoding and parameters: '
            f"{wanted} and {write_empty_chunks}"
        )
    # As in xarray's own backend: chunks of only fill values are not stored, in both formats.
    config["write_empty_chunks"] = bool(wanted)
    options.pop("cache_metadata", None)
    if zarr_format == 2 and options.get("serializer", "auto") is None:
        del options["serializer"]
    return {**options, "config": config}


def _plain(value: Any) -> Any:
    """Codec objects of zarr-python as dicts, alone or in a sequence; anything else as it is."""
    if isinstance(value, Mapping | str):
        return value
    if isinstance(value, tuple | list):
        return tuple(map(_plain, value))
    is_foreign = type(value).__module__.partition(".")[0] == "zarr"
    return value.to_dict() if is_foreign and hasattr(value, "to_dict") else value
