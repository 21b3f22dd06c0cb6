"""The info report of arrays and groups.

It is made from public properties, so it shows h5py and zarr-python objects too.
"""

from __future__ import annotations

import textwrap
from typing import Any

from zarrix._codecs.shown import codec_text
from zarrix._display.labels import byte_count, type_name
from zarrix._display.printable import printable
from zarrix._dtypes.variable import is_variable
from zarrix._errors import shorten
from zarrix._metadata.array import ArrayMetadata
from zarrix._runtime.cached_property import cached_property
from zarrix._runtime.dialect import DIALECT

__all__ = ["InfoItems", "InfoReporter", "array_items", "group_items"]

InfoItems = list[tuple[str, Any]]

# Private attributes of zarr-python's report that other packages ask for.
_ASKED = {
    "_zarr_format": "zarr_format",
    "_compressors": "compressors",
    "_filters": "filters",
    "_serializer": "serializer",
    "_shape": "shape",
    "_chunk_shape": "chunks",
    "_shard_shape": "shards",
    "_read_only": "read_only",
    "_name": "name",
}
# Wide enough for the longest description of a Blosc compressor on one line.
_WIDTH = 100


def array_items(array: Any, metadata: ArrayMetadata, *, counted: bool = True) -> InfoItems:
    """The rows of an array's report; ``Name`` only if it has one.

    If not ``counted``, the stored chunks are not listed.
    """
    nbytes = array.nbytes
    rows: list[tuple[str, Any] | None] = [
        ("Name", array.name) if array.name is not None else None,
        ("Type", type_name(array)),
        ("Zarr format", "3") if array.zarr_format == 3 else None,
        ("Data type", _data_type(metadata)),
        ("Shape", str(array.shape)),
        _dimension_names_row(array),
        *_partition_rows(metadata),
        ("Order", array.order),
        ("Read-only", str(array.read_only)),
        *((f"Filter [{i}]", repr(codec)) for i, codec in enumerate(array.filters or ())),
        *_codec_rows(array, metadata),
        _not_native(array, metadata),
        *_store_rows(array),
        ("No. bytes", byte_count(nbytes)),
        *(_stored_rows(array, nbytes) if counted else _NOT_COUNTED),
    ]
    return [row for row in rows if row is not None]


def _data_type(metadata: ArrayMetadata) -> str:
    """The dtype; under `zarrix.as_zarr` the data type of the metadata, as in zarr-python 3."""
    return str(metadata.data_type if DIALECT.is_zarr3 else metadata.dtype)


def _dimension_names_row(array: Any) -> tuple[str, str] | None:
    names = getattr(array.metadata, "dimension_names", None)
    return None if names is None else ("Dimension names", str(tuple(names)))


_NOT_COUNTED = [("No. bytes stored", "not counted here; info counts them")]


def _stored_rows(array: Any, nbytes: int) -> InfoItems:
    stored = int(array.nbytes_stored)
    chunks = ("Chunks initialized", f"{array.nchunks_initialized}/{array.nchunks}")
    if stored <= 0:
        return [chunks]
    ratio = f"{nbytes / stored:.1f}"
    return [("No. bytes stored", byte_count(stored)), ("Storage ratio", ratio), chunks]


def _partition_rows(metadata: ArrayMetadata) -> InfoItems:
    outer = str(metadata.chunk_shape)
    if metadata.rectilinear is not None:
        lengths = [axis.document() for axis in metadata.rectilinear]
        outer = f"several, of lengths {shorten(lengths)}"
    if metadata.shard_codec is None:
        return [("Chunk shape", outer)]
    return [("Shard shape", outer), ("Chunk shape", str(metadata.inner_chunk_shape))]


def _codec_rows(array: Any, metadata: ArrayMetadata) -> InfoItems:
    if array.zarr_format == 2:
        return [("Compressor", codec_text(metadata.compressor_config, metadata.where))]
    compressors = ", ".join(map(repr, array.compressors))
    return [("Serializer", repr(array.serializer)), ("Compressors", compressors or "none")]


def group_items(group: Any, *, counted: bool = True, deep: bool = False) -> InfoItems:
    """The rows of a group's report; if not ``counted``, its members are not listed, and with
    ``deep``, those of its groups are counted, too.
    """
    rows: list[tuple[str, Any] | None] = [
        ("Name", group.name),
        ("Type", type_name(group)),
        ("Zarr format", "3") if group.zarr_format == 3 else None,
        ("Read-only", str(group.read_only)),
        *_store_rows(group),
        *(_member_rows(group, deep) if counted else ()),
    ]
    return [row for row in rows if row is not None]


def _member_rows(group: Any, deep: bool) -> InfoItems:
    arrays, groups = list(group.array_keys()), list(group.group_keys())
    named = [("Arrays", ", ".join(arrays)), ("Groups", ", ".join(groups))]
    counts = len(arrays), len(groups)
    if deep:
        kinds = [hasattr(one, "shape") for _, one in group.members(max_depth=None)]
        counts = sum(kinds), len(kinds) - sum(kinds)
    return [
        ("No. members", sum(counts)),
        ("No. arrays", counts[0]),
        ("No. groups", counts[1]),
        *(row for row in named if row[1]),
    ]


def _store_rows(node: Any) -> InfoItems:
    rows = [("Store type", type_name(node.store))]
    if node.chunk_store is not node.store:
        rows.append(("Chunk store type", type_name(node.chunk_store)))
    if node.synchronizer is not None:
        rows.insert(0, ("Synchronizer type", type_name(node.synchronizer)))
    return rows


def _not_native(array: Any, metadata: ArrayMetadata) -> tuple[str, str] | None:
    """The codecs that the engine calls in Python, which are much slower."""
    foreign = set(metadata.foreign_codecs)
    if not foreign:
        return None
    codecs = [*(array.filters or ()), array.serializer, *array.compressors]
    names = [type(codec).__name__ for codec in codecs if codec and _codec_id(codec) in foreign]
    how = "in Python" if is_variable(metadata.dtype) else "through numcodecs"
    return ("Not native", f"{', '.join(names)} ({how})") if names else None


def _codec_id(codec: Any) -> str:
    """The numcodecs name of a codec of either format."""
    return str(getattr(codec, "codec_id", "") or codec.name.removeprefix("numcodecs."))


class InfoReporter:
    """The rows of ``info_items()``, printed as a table of text or HTML."""

    def __init__(self, obj: Any, deep: bool = False) -> None:
        self.obj = obj
        self._deep = deep

    @cached_property
    def items(self) -> InfoItems:
        """The rows, made when they are first printed: they count members and stored chunks."""
        rows: InfoItems = group_items(self.obj, deep=True) if self._deep else self.obj.info_items()
        return rows

    def __getattr__(self, name: str) -> Any:
        if name in _ASKED:
            return getattr(self.obj, _ASKED[name])
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self.items)
        rows = []
        for name, value in self.items:
            start, rest = f"{name:<{width}} : ", f"{'':<{width}} : "
            said = printable(str(value))
            text = textwrap.fill(said, _WIDTH, initial_indent=start, subsequent_indent=rest)
            rows.append(text)
        return "\n".join([*rows, ""])

    def _repr_html_(self) -> str:
        # Imported when called: only notebooks show HTML.
        from zarrix._display.table import info_table

        return info_table(self.items)


# Pickles name a class by its module: that of zarr 2.18, where `zarrix.util` has it.
InfoReporter.__module__ = "zarrix.util"
