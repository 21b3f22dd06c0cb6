"""Names of ``zarr.core.metadata.v3``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from zarrix._as_zarr.names.core.chunk_grids import ChunkGrid as PlannedGrid
from zarrix._as_zarr.names.core.common import parse_named_configuration, parse_shapelike
from zarrix._codecs.classes import codec_from_dict
from zarrix._codecs.kinds import UserCodec
from zarrix._codecs.table import REGISTERED
from zarrix._codecs.user_codecs import find
from zarrix._metadata.chunk_grid import axis_of
from zarrix._metadata.chunk_parts import ChunkGrid, ListedChunkGrid
from zarrix._metadata.one_format import ArrayV3Metadata
from zarrix.errors import MetadataValidationError, NodeTypeValidationError, UnknownCodecError

__all__ = [
    "ArrayV3Metadata",
    "RectilinearChunkGridMetadata",
    "RectilinearDimSpecJSON",
    "RegularChunkGridMetadata",
    "create_chunk_grid_metadata",
    "parse_codecs",
    "parse_dimension_names",
    "parse_node_type_array",
    "parse_shapelike",
    "parse_storage_transformers",
    "parse_zarr_format",
]

RectilinearDimSpecJSON = int | list[int | list[int]]


def parse_dimension_names(data: Any) -> tuple[str | None, ...] | None:
    """Names of axes as a tuple; None stays None."""
    if data is None:
        return None
    if isinstance(data, Iterable) and all(isinstance(one, str | None) for one in [*data]):
        return tuple(data)
    raise TypeError(f"Expected either None or an iterable of str, got {type(data)}")


def parse_zarr_format(data: Any) -> Literal[3]:
    """The format, which is 3.

    Raises
    ------
    MetadataValidationError
        It is something else.
    """
    if type(data) is int and data == 3:
        return 3
    raise MetadataValidationError(f"zarr_format is {data!r}; expected 3")


def parse_node_type_array(data: Any) -> Literal["array"]:
    """The type of the node of an array.

    Raises
    ------
    NodeTypeValidationError
        It is something else.
    """
    if isinstance(data, str) and data == "array":
        return "array"
    raise NodeTypeValidationError(f"node_type is {data!r}; expected 'array'")


def parse_storage_transformers(data: Any) -> tuple[Any, ...]:
    """The members of a list as a tuple; None is an empty one.

    Raises
    ------
    TypeError
        It is not a list.
    """
    if data is None:
        return ()
    if isinstance(data, Iterable) and not isinstance(data, str | bytes):
        return tuple(data)
    raise TypeError(f"Expected an iterable of storage transformers, and not {data!r}")


def parse_codecs(data: Any) -> tuple[Any, ...]:
    """Codecs as objects; some may be documents.

    Raises
    ------
    TypeError
        It is not a list.
    UnknownCodecError
        No codec has one of the names.
    """
    if not isinstance(data, Iterable):
        raise TypeError(f"codecs are a list, and not {data!r}")
    return tuple(_codec(one) for one in data)


def _codec(data: Any) -> Any:
    if isinstance(data, UserCodec):
        return data
    name, configuration = parse_named_configuration(data, require_configuration=False)
    document = {"name": name, "configuration": configuration or {}}
    if find(name) is None and name not in REGISTERED:
        raise UnknownCodecError(f"no codec has the name {name!r}")
    return codec_from_dict(document)


class _GridOfOneKind(type):
    """The class of the two classes below: an instance is a grid of their kind."""

    _kind: str

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, ChunkGrid) and instance.name == cls._kind


def _check_length(length: Any) -> int:
    if not isinstance(length, int):
        raise TypeError(f"a length of chunks is an int, and not {length!r}")
    if length < 1:
        raise ValueError(f"a length of chunks is at least 1, and not {length!r}")
    return int(length)


def _lengths(value: Any, *, pairs: bool = False) -> Any:
    """The lengths of chunks as plain numbers; with ``pairs`` there may be [length, count]."""
    if isinstance(value, list | tuple):
        return [
            [_check_length(one[0]), one[1]] if pairs and _is_pair(one) else _check_length(one)
            for one in value
        ]
    return _check_length(value)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


class RegularChunkGridMetadata(metaclass=_GridOfOneKind):
    """The grid of equal chunks that ``metadata.chunk_grid`` is."""

    _kind = "regular"

    def __new__(cls, *, chunk_shape: Sequence[int]) -> Any:
        """A grid of chunks of this shape.

        Raises
        ------
        TypeError, ValueError
            It is not made of numbers of at least 1.
        """
        if not isinstance(chunk_shape, Iterable) or isinstance(chunk_shape, str | Mapping):
            raise TypeError(f"a shape of chunks has a length for each axis: {chunk_shape!r}")
        return ChunkGrid("regular", tuple(_check_length(length) for length in chunk_shape))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Any:
        """The grid of a document."""
        _, configuration = parse_named_configuration(data, "regular")
        return cls(chunk_shape=configuration["chunk_shape"])


class RectilinearChunkGridMetadata(metaclass=_GridOfOneKind):
    """The grid of listed chunks that ``metadata.chunk_grid`` is; an array shows the lengths."""

    _kind = "rectilinear"

    def __new__(cls, *, chunk_shapes: Sequence[int | Sequence[int]]) -> Any:
        """A grid of chunks of these lengths along each axis.

        Raises
        ------
        TypeError, ValueError
            A length is not a number of at least 1.
        """
        return _listed([_lengths(one) for one in chunk_shapes])

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Any:
        """The grid of a document, which may have pairs of a length and a count."""
        _, configuration = parse_named_configuration(data, "rectilinear")
        if configuration.get("kind") != "inline":
            raise ValueError(f"kind is {configuration.get('kind')!r}; expected 'inline'")
        return _listed([_lengths(one, pairs=True) for one in configuration["chunk_shapes"]])


def _listed(chunk_shapes: list[Any]) -> Any:
    found = [axis_of(one) for one in chunk_shapes]
    axes = tuple(axis for axis in found if axis is not None)
    if len(axes) < len(found):
        raise ValueError(f"chunk_shapes={chunk_shapes!r}; expected lengths of at least 1")
    return ListedChunkGrid.of(axes)


def create_chunk_grid_metadata(grid: PlannedGrid) -> Any:
    """The grid that ``metadata.chunk_grid`` is, of the chunks of an array."""
    if grid.is_regular:
        return ChunkGrid("regular", grid.chunk_shape)
    return ListedChunkGrid.of(tuple(one.axis for one in grid.dimensions))
