"""The codecs of a stored array, for a new array of any data type.

A document names values that follow from the elements that a codec is given: the item size of
Blosc, the data type of a filter. They are left out for elements of another data type, for which
they are found anew. Codecs that cannot encode the new elements are left out, too: the serializer
and the filters first, and the compressors last.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._codecs.encodable import for_a_new_array
from zarrix._codecs.native import dtype_after
from zarrix._codecs.normalize import codec_document
from zarrix._codecs.table import ARRAY_TO_ARRAY
from zarrix._errors import ZarrixError
from zarrix._metadata import v2, v3
from zarrix._metadata.literals import Format

__all__ = ["kept_codecs"]

Options = dict[str, Any]

# The lengths of a small array on which codecs are tried.
_LENGTH = 8


def kept_codecs(a: Array, zarr_format: Format, dtype: Any, ndim: int) -> Options:
    """The codecs of ``a`` as options of a new array: filters, compressors, and in v3 a serializer.

    What is not in the result is to have its default.

    Parameters
    ----------
    a : Array
    zarr_format : {2, 3}
        Of the new array: that of ``a``, or 3.
    dtype : dtype
    ndim : int
    """
    names = ("filters", "compressors", *(("serializer",) if a.zarr_format == 3 else ()))
    kept = {name: for_a_new_array(getattr(a, name)) for name in names}
    if dtype == a._snapshot.metadata.dtype and ndim == a.ndim:
        return kept
    for options in _candidates(a, kept):
        with contextlib.suppress(ZarrixError, ValueError, TypeError):
            _try(options, zarr_format, dtype, ndim)
            return options
    return {}


def _candidates(a: Array, kept: Options) -> Iterator[Options]:
    """All codecs without what follows from the elements of ``a``, and then fewer of them."""
    dtype = a._snapshot.metadata.dtype
    if a.zarr_format == 2:
        filters = kept["filters"]
        of_any = None if filters is None else [_of_any_element(one, dtype) for one in filters]
        yield {**kept, "filters": of_any}
    else:
        chain = _unbound([*kept["filters"], kept["serializer"], *kept["compressors"]], dtype)
        count = len(kept["filters"])
        found = {"filters": chain[:count], "compressors": chain[count + 1 :]}
        yield {**found, "serializer": chain[count]}
        yield found
        kept = found
    yield {"compressors": kept["compressors"]}


def _unbound(chain: list[Any], dtype: np.dtype[Any]) -> list[dict[str, Any]]:
    """The documents of a chain, without the values that its input decides."""
    found = []
    for codec in chain:
        document = dict(codec) if isinstance(codec, Mapping) else codec.to_dict()
        found.append(_of_any_input(document, dtype))
        if document["name"] in ARRAY_TO_ARRAY:
            dtype = dtype_after(document, dtype)
    return found


def _of_any_input(document: dict[str, Any], dtype: np.dtype[Any]) -> dict[str, Any]:
    name, given = document["name"], dict(document.get("configuration") or {})
    if name == "sharding_indexed":
        given["codecs"] = _unbound(given["codecs"], dtype)
        return {"name": name, "configuration": given}
    for key, value in list(given.items()):
        rest = {one: given[one] for one in given if one != key}
        completed = codec_document({"name": name, "configuration": rest}, dtype)
        if completed.get("configuration", {}).get(key) == value:
            given = rest
    return {"name": name, "configuration": given} if given else {"name": name}


def _of_any_element(codec: Any, dtype: np.dtype[Any]) -> Any:
    """The configuration of a filter of v2, without the data type of its input."""
    config = codec.get_config() if hasattr(codec, "get_config") else dict(codec)
    return {name: value for name, value in config.items() if value != dtype.str}


def _try(options: Options, zarr_format: Format, dtype: Any, ndim: int) -> None:
    """Make the metadata of an array with these codecs.

    Raises
    ------
    ZarrixError, ValueError, TypeError
        They cannot encode its elements.
    """
    lengths = (_LENGTH,) * ndim
    arguments = {"shape": lengths, "chunks": lengths, "dtype": dtype, **options}
    if zarr_format == 3:
        v3.new_array(**arguments)
    else:
        packers = arguments.pop("compressors")
        v2.new_array(compressor=packers[0] if packers else None, **arguments)
