"""The document of an array that a job will make: planned like any new array, and stored last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from zarrix._array.access import metadata_of
from zarrix._array.array import Array
from zarrix._array.create_array import create_array
from zarrix._array.dimension_names import names_of
from zarrix._array.like import take_like
from zarrix._metadata.literals import Format
from zarrix._stores.memory import MemoryStore

__all__ = ["lengths_by_name", "new_document", "write_unit"]


def new_document(
    like: Any, zarr_format: Format, arguments: Mapping[str, Any], **more: Any
) -> dict[str, Any]:
    """The metadata of an array with these arguments, and what they leave out from ``like``.

    Raises
    ------
    MetadataError, ValueError, TypeError
        The arguments do not describe an array.
    """
    given = {name: value for name, value in arguments.items() if value is not None} | more
    given["zarr_format"] = zarr_format
    names = more.get("dimension_names") or (() if like is None else names_of(like))
    for name in {"chunks", "shards"} & given.keys():
        shape = more["shape"] if like is None else more.get("shape", like.shape)
        given[name] = lengths_by_name(given[name], names, shape, name)
    has_codecs = {"compressors", "compressor"} & given.keys()
    if like is not None:
        if "chunks" in given:
            # Shards of the source need not be a multiple of other chunks.
            given.setdefault("shards", None)
        if has_codecs:
            given.setdefault("filters", None)
        same_format = isinstance(like, Array) and like.zarr_format == zarr_format
        if same_format or not isinstance(like, Array):
            given = take_like(like, given)
        else:
            given.setdefault("chunks", like.chunks if isinstance(like.chunks, tuple) else True)
        given.setdefault("shape", tuple(like.shape))
        given.setdefault("dtype", like.dtype)
        if isinstance(like, Array) and given["dtype"] == like.dtype:
            given.setdefault("fill_value", like.fill_value)
    if given.get("chunks") is True:
        given["chunks"] = "auto"
    if zarr_format == 2:
        separator = given.pop("dimension_separator", None)
        for name in ("shards", "dimension_names", "serializer"):
            given.pop(name, None)
        if separator is not None:
            given["chunk_key_encoding"] = {"name": "v2", "separator": separator}
    else:
        given.pop("dimension_separator", None)
    made: dict[str, Any] = metadata_of(create_array(MemoryStore(), **given))._document()
    return made


def lengths_by_name(rule: Any, names: Sequence[str | None], shape: Sequence[int], what: str) -> Any:
    """Lengths along the axes, where they are given by names of dimensions; -1 and what is not named
    is the whole axis.

    Raises
    ------
    ValueError
        There is no dimension of a name.
    """
    if not isinstance(rule, Mapping):
        return rule
    unknown = sorted(map(str, {*rule} - {*names}))
    if unknown:
        known = ", ".join(map(repr, names)) or "no names"
        raise ValueError(f"{what}: the array has no dimension {unknown[0]!r}; it has {known}")
    lengths = (rule.get(name, -1) for name in names)
    return tuple(
        max(1, n) if length == -1 else int(length) for length, n in zip(lengths, shape, strict=True)
    )


def write_unit(array: Array) -> tuple[int, ...]:
    """The longest stored value along each axis."""
    return tuple(max(axis.lengths) for axis in metadata_of(array).grid)
