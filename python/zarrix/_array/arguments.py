"""Convert the arguments of functions that create arrays to metadata.

`create`, `open_array` and `create_array` have different names for the same arguments. Here they
become metadata of either format, which is checked completely before anything in a store changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from zarrix._array.config import ArrayConfig
from zarrix._codecs.normalize import numcodecs_config
from zarrix._codecs.numcodecs import compression_config
from zarrix._errors import BadCompressorError
from zarrix._metadata import v2, v3
from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.checksum import with_checksum
from zarrix._metadata.chunk_keys import key_encoding_document
from zarrix._metadata.grid_documents import has_lists
from zarrix._metadata.literals import DEFAULT
from zarrix._nodes.location import Location
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.config import order_of_arrays
from zarrix._stores.base import Store
from zarrix._stores.keys import ARRAY_DOCUMENT, key_of
from zarrix._stores.labels import place

__all__ = ["arguments_of_v2", "metadata_of_create", "new_metadata", "only_in_v3", "store_separator"]

V3_ONLY = (
    "shards",
    "codecs",
    "serializer",
    "dimension_names",
    "chunk_key_encoding",
    "chunk_shape",
)
_MORE = (*V3_ONLY, "compressors", "attributes")


def only_in_v3(arguments: Mapping[str, Any], names: Iterable[str]) -> str | None:
    """The first argument in ``names`` that was passed, or listed chunks; None if there is none."""
    for name in names:
        value = arguments.get(name)
        if value is None:
            continue
        if name == "chunk_key_encoding" and key_encoding_document(value)["name"] == "v2":
            # The keys of both formats, in zarr-python also those of a v2 array.
            continue
        return name
    return "chunks=[[...], ...]" if has_lists(arguments.get("chunks")) else None


def new_metadata(
    location: Location, arguments: dict[str, Any], *, checksum: bool = False
) -> ArrayMetadata:
    """The metadata of a new array.

    Parameters
    ----------
    location : Location
        With the format of the array.
    arguments : dict
        Arguments of `create_array` and `create` that were passed. Arguments that the format does
        not use are left out, or have their default. The dict is consumed.
    checksum : bool
        Add a checksum over every chunk, unless the codecs have one.
    """
    store, path, zarr_format, _ = location
    separator = arguments.pop("dimension_separator", None)
    object_codec = arguments.pop("object_codec", None)
    _merge_compressors(arguments)
    if "chunk_shape" in arguments:
        arguments["chunks"] = arguments.pop("chunk_shape")
    where = place(store, key_of(path, ARRAY_DOCUMENT[zarr_format or 2]))
    if zarr_format == 3:
        if object_codec is not None:
            raise ValueError("object_codec= belongs to zarr_format 2")
        if separator is not None:
            if arguments.get("chunk_key_encoding") is not None:
                raise ValueError("give chunk_key_encoding= or dimension_separator=, not both")
            arguments["chunk_key_encoding"] = ("default", separator)
        metadata = v3.new_array(**arguments, label=where)
    else:
        words = arguments_of_v2(store, separator, arguments)
        metadata = v2.new_array(**words, object_codec=object_codec, label=where)
    return with_checksum(metadata) if checksum else metadata


def metadata_of_create(
    location: Location,
    more: Mapping[str, Any],
    *,
    compressor: Any,
    fill_value: Any,
    checksum: bool,
    **arguments: Any,
) -> ArrayMetadata:
    """The metadata of an array that `create` or `open_array` creates.

    Parameters
    ----------
    location : Location
        Its format is that of the call, if there is one.
    more : mapping
        The arguments of h5py and of zarr-python 3 that were passed.
    """
    compressor, fill_value = _from_h5py(compressor, fill_value, more)
    arguments.update(fill_value=fill_value, compressor=compressor)
    given = {name: more[name] for name in _MORE if more.get(name) is not None}
    arguments.update(given)
    if _is_default(compressor) and "compressors" in more:
        # None means no compression.
        arguments["compressors"] = more["compressors"]
    location = location.choose_format(2, only_in_v3(arguments, V3_ONLY))
    if location.zarr_format == 2 and arguments.get("order") in (None, "C"):
        given_order = ArrayConfig.given(more.get("config")).get("order")
        arguments["order"] = given_order or arguments.get("order")
    return new_metadata(location, arguments, checksum=checksum)


def _from_h5py(compressor: Any, fill_value: Any, more: Mapping[str, Any]) -> tuple[Any, Any]:
    """Compressor and fill value, also under h5py's names."""
    if isinstance(compressor, str) and compressor == "default":
        if "compression" in more:
            compressor = compression_config(more["compression"], more.get("compression_opts"))
        elif more.get("compression_opts") is not None:
            raise ValueError("compression_opts= needs compression=")
    else:
        for name in ("compression", "compression_opts"):
            if name in more:
                warn_caller(f"{name}= is overridden by compressor=")
    return compressor, more.get("fillvalue", fill_value)


def _is_default(compressor: Any) -> bool:
    return isinstance(compressor, str) and compressor in ("auto", "default")


def _merge_compressors(arguments: dict[str, Any]) -> None:
    """Convert the single ``compressor`` that older code passes to ``compressors``."""
    compressor = arguments.pop("compressor", "default")
    if _is_default(compressor):
        arguments.setdefault("compressors", "auto")
    elif _is_default(arguments.get("compressors", "auto")):
        arguments["compressors"] = compressor
    else:
        raise ValueError("give compressors= or compressor=, not both")


def arguments_of_v2(
    store: Store | None, separator: str | None, arguments: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of `create_array` in the form of v2."""
    compressors = arguments.get("compressors")
    if compressors is None or compressors is False:
        compressor = None
    elif isinstance(compressors, str) and compressors == "auto":
        compressor = "default"
    elif isinstance(compressors, list | tuple):
        if len(compressors) > 1:
            raise BadCompressorError(
                f"compressors: v2 has one, not {len(compressors)}; pass the others in "
                "filters=, or use zarr_format=3"
            )
        compressor = _numcodec(compressors[0]) if compressors else None
    else:
        compressor = _numcodec(compressors)
    encoding = arguments.get("chunk_key_encoding")
    if encoding is not None:
        document = key_encoding_document(encoding)
        if document["name"] != "v2":
            raise ValueError(
                f"chunk_key_encoding={encoding!r} belongs to zarr_format=3; v2 has 'v2'"
            )
        separator = document["configuration"]["separator"]
    filters = arguments.get("filters")
    if isinstance(filters, list | tuple):
        filters = [_numcodec(one) for one in filters]
    return {
        "shape": arguments["shape"],
        "dtype": arguments.get("dtype"),
        "chunks": arguments.get("chunks", True),
        "compressor": compressor,
        "filters": None if isinstance(filters, str) and filters == "auto" else filters,
        "fill_value": arguments.get("fill_value", DEFAULT),
        "order": arguments.get("order") or order_of_arrays(),
        "dimension_separator": store_separator(store, separator),
    }


def store_separator(store: Store | None, wanted: str | None) -> str | None:
    """The separator of v2 chunk keys: ``wanted``, or that of the store."""
    preferred = getattr(store, "_dimension_separator", None)
    if wanted is not None and preferred not in (None, wanted):
        raise ValueError(
            f"dimension_separator={wanted!r} conflicts with the store's "
            f"own separator {preferred!r}; leave it out, or open the store without one"
        )
    return wanted or preferred


def _numcodec(codec: Any) -> Any:
    """A v3 codec that numcodecs also has, under its v2 name; other codecs unchanged."""
    if hasattr(codec, "get_config") or not hasattr(codec, "to_dict"):
        return codec
    return numcodecs_config(codec.to_dict()) or codec
