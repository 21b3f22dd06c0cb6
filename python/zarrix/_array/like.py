"""Keywords that create an array like another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._array.kept_codecs import kept_codecs
from zarrix._dtypes.variable import dtype_in_3
from zarrix._metadata.arguments import normalize_shape
from zarrix._metadata.grid_documents import has_lists
from zarrix._metadata.literals import Format
from zarrix._nodes import nodes
from zarrix._nodes.location import Location
from zarrix._selection.values import equal_chunks

__all__ = ["chunks_of", "take_like", "take_storage"]


def take_like(a: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """``kwargs``, with missing values from ``a``: shape, chunks, dtype, codecs."""
    if not hasattr(a, "shape"):
        a = np.asanyarray(a)
    kwargs.setdefault("shape", tuple(a.shape))
    kwargs.setdefault("chunks", chunks_of(a))
    if hasattr(a, "dtype"):
        kwargs.setdefault("dtype", a.dtype)
    if isinstance(a, Array):
        chosen = format_like(a, kwargs)
        kwargs["zarr_format"] = chosen
        codecs = kept_codecs(a, chosen, kwargs["dtype"], len(normalize_shape(kwargs["shape"])))
        if chosen == 3 and kwargs["dtype"] == a.dtype:
            kwargs["dtype"] = dtype_in_3(a)
        if has_lists(kwargs["chunks"]) and (chosen == 2 or tuple(kwargs["shape"]) != a.shape):
            kwargs["chunks"] = True
        own_codecs = {"compression", "compressor", "compressors", "codecs"} & kwargs.keys()
        if a.zarr_format == 3:
            if chosen == 3 and not own_codecs:
                kwargs.setdefault("shards", a._snapshot.metadata.partition[1])
                kwargs.update((name, one) for name, one in codecs.items() if name not in kwargs)
            return kwargs
        if not own_codecs and "compressors" in codecs:
            kwargs.setdefault("compressor", next(iter(codecs["compressors"]), None))
        kwargs.setdefault("order", a.order)
        if "filters" in codecs:
            kwargs.setdefault("filters", codecs["filters"])
    return kwargs


def format_like(a: Array, kwargs: dict[str, Any]) -> Format:
    """The format of an array like ``a``: that of its group, or of ``a``."""
    version, asked = kwargs.pop("zarr_version", None), kwargs.get("zarr_format")
    if kwargs.get("store") is None:
        return nodes.check_format(version, asked) or a.zarr_format
    location = Location.of(kwargs["store"], kwargs.get("path"), version, asked)
    kwargs["store"] = location.store
    return location.choose_format(a.zarr_format).zarr_format or a.zarr_format


def take_storage(source: Array, kwargs: dict[str, Any]) -> None:
    """Defaults for a copy of ``source``, from its metadata."""
    if "fillvalue" not in kwargs:
        kwargs.setdefault("fill_value", source.fill_value)
    take_like(source, kwargs)
    del kwargs["shape"]


def chunks_of(a: Any) -> Any:
    """``chunks=`` of an array with the grid of ``a``; True if that is not possible."""
    if isinstance(a, Array):
        return a._snapshot.metadata.partition[0]
    chunks = equal_chunks(a)
    if isinstance(chunks, tuple) and len(chunks) == len(a.shape):
        if all(isinstance(length, int | np.integer) for length in chunks):
            return chunks
    elif hasattr(a, "chunklen"):
        return (a.chunklen, *a.shape[1:])
    return True
