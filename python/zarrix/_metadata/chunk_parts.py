"""The grid and the keys of chunks as `ArrayMetadata` shows them, and documents from objects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Self

from zarrix._metadata.chunk_grid import AxisGrid

__all__ = ["ChunkGrid", "ChunkKeyEncoding", "ListedChunkGrid", "as_document", "plain_members"]


class ChunkGrid(NamedTuple):
    """The result of `ArrayMetadata.chunk_grid`; a rectilinear grid has the longest lengths."""

    name: str
    chunk_shape: tuple[int, ...]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.chunk_shape)

    def to_dict(self) -> dict[str, Any]:
        """The document.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(4, chunks=2).metadata.chunk_grid.to_dict()
        {'name': 'regular', 'configuration': {'chunk_shape': [2]}}
        """
        return {"name": self.name, "configuration": {"chunk_shape": [*self.chunk_shape]}}


class ListedChunkGrid(ChunkGrid):
    """A rectilinear grid, which also has the lengths of all chunks."""

    axes: tuple[AxisGrid, ...]

    @classmethod
    def of(cls, axes: tuple[AxisGrid, ...]) -> Self:
        """The grid of these axes."""
        made = cls("rectilinear", tuple(max(axis.lengths) for axis in axes))
        made.axes = axes
        return made

    @property
    def chunk_shapes(self) -> tuple[int | tuple[int, ...], ...]:
        """The lengths of the chunks along each axis; one length is for as many as are needed."""
        return tuple(
            axis.even
            if axis.even
            else tuple(length for length, count in axis.runs for _ in range(count))
            for axis in self.axes
        )

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        shapes = [axis.document() for axis in self.axes]
        return {"name": self.name, "configuration": {"kind": "inline", "chunk_shapes": shapes}}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListedChunkGrid) and self.axes == other.axes

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self.axes)

    def __reduce__(self) -> Any:
        return ListedChunkGrid.of, (self.axes,)


class ChunkKeyEncoding(NamedTuple):
    """The result of `ArrayMetadata.chunk_key_encoding`: its name and its separator."""

    name: str
    separator: str

    def to_dict(self) -> dict[str, Any]:
        """The document.

        Returns
        -------
        dict

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(4).metadata.chunk_key_encoding.to_dict()
        {'name': 'v2', 'configuration': {'separator': '.'}}
        """
        return {"name": self.name, "configuration": {"separator": self.separator}}

    def encode_chunk_key(self, chunk_coords: Sequence[int]) -> str:
        """The key of a chunk, without a suffix.

        Parameters
        ----------
        chunk_coords : sequence of int

        Returns
        -------
        str

        Raises
        ------
        TypeError
            ``chunk_coords`` is not a sequence.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.zeros(4, zarr_format=3).metadata.chunk_key_encoding.encode_chunk_key((1,))
        'c/1'
        """
        parts = [*map(str, chunk_coords)]
        if self.name == "default":
            return self.separator.join(["c", *parts])
        return self.separator.join(parts) or "0"


def codec_documents(codecs: Iterable[Any]) -> list[Any]:
    """The documents of codecs, of which some may be objects."""
    return [one.to_dict() if hasattr(one, "to_dict") else one for one in codecs]


def plain_members(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a document of v3 as programs pass them, in the form in which they are stored.

    Codecs may be objects, names any iterable, and the separator of keys may stand beside the name
    of the encoding, as zarr-python takes them.
    """
    given = dict(members)
    if isinstance(given.get("codecs"), list | tuple):
        given["codecs"] = codec_documents(given["codecs"])
    names = given.get("dimension_names")
    if isinstance(names, Iterable) and not isinstance(names, str):
        given["dimension_names"] = [*names]
    keys = given.get("chunk_key_encoding")
    if isinstance(keys, Mapping) and keys.keys() == {"name", "separator"}:
        configuration = {"separator": keys["separator"]}
        given["chunk_key_encoding"] = {"name": keys["name"], "configuration": configuration}
    return given


def as_document(members: Mapping[str, Any]) -> dict[str, Any]:
    """Members of a document, of which some may be objects: data types, grids, codecs."""
    given = {name: one for name, one in members.items() if one is not None or name in _NULLABLE}
    extra = given.pop("extra_fields", {})
    is_v3 = "data_type" in given
    name = "data_type" if is_v3 else "dtype"
    dtype: Any = given.get(name)
    if hasattr(dtype, "to_native_dtype"):
        given[name] = dtype.to_json(zarr_format=3 if is_v3 else 2)
        if not is_v3:
            given[name] = given[name]["name"]
        if given.get("fill_value") is not None:
            scalar = dtype.cast_scalar(given["fill_value"])
            given["fill_value"] = dtype.to_json_scalar(scalar, zarr_format=3 if is_v3 else 2)
    for part in ("chunk_grid", "chunk_key_encoding"):
        if hasattr(given.get(part), "to_dict"):
            given[part] = given[part].to_dict()
    if "codecs" in given:
        given["codecs"] = codec_documents(given["codecs"])
    if not is_v3:
        given["filters"] = given.get("filters") and [*map(_config, given["filters"])]
        given["compressor"] = given.get("compressor") and _config(given["compressor"])
    else:
        given = {"node_type": "array", "attributes": {}, "storage_transformers": [], **given}
    return {**extra, **given}


_NULLABLE = ("fill_value", "compressor", "filters")


def _config(codec: Any) -> Any:
    """A codec of v2 as its configuration."""
    return codec.get_config() if hasattr(codec, "get_config") else codec


# Pickles name a class by its module: a public one, which does not move.
ChunkGrid.__module__ = ChunkKeyEncoding.__module__ = "zarrix.core.metadata"
