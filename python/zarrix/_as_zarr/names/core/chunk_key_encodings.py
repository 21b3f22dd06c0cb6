"""The names of ``zarr.core.chunk_key_encodings``: the keys of chunks as objects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypedDict

from zarrix._metadata.chunk_keys import key_encoding_document, parse_key_encoding

__all__ = [
    "ENCODINGS",
    "ChunkKeyEncoding",
    "ChunkKeyEncodingLike",
    "ChunkKeyEncodingParams",
    "DefaultChunkKeyEncoding",
    "V2ChunkKeyEncoding",
    "parse_chunk_key_encoding",
]

ChunkKeyEncodingLike = Any


class _Named(TypedDict):
    name: Literal["v2", "default"]


class ChunkKeyEncodingParams(_Named, total=False):
    """A name and a separator, which `parse_chunk_key_encoding` takes."""

    separator: Literal[".", "/"]


@dataclass(frozen=True)
class ChunkKeyEncoding:
    """What ``create_array(chunk_key_encoding=)`` takes."""

    name: ClassVar[str]
    separator: str

    def __post_init__(self) -> None:
        if self.separator not in (".", "/"):
            raise ValueError(f"separator={self.separator!r}; expected '.' or '/'")

    def to_dict(self) -> dict[str, Any]:
        """The document."""
        return {"name": self.name, "configuration": {"separator": self.separator}}

    @classmethod
    def from_dict(cls, data: Any) -> ChunkKeyEncoding:
        """The encoding that a document describes."""
        return parse_chunk_key_encoding(data)


@dataclass(frozen=True)
class DefaultChunkKeyEncoding(ChunkKeyEncoding):
    """The keys of v3: c/0/1."""

    name: ClassVar[str] = "default"
    separator: str = "/"

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """The key of a chunk."""
        return self.separator.join(map(str, ("c", *chunk_coords)))

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """The position of the chunk of a key."""
        if chunk_key == "c":
            return ()
        if not chunk_key.startswith(f"c{self.separator}"):
            raise ValueError(f"{chunk_key!r} is not a key of the encoding 'default'")
        return tuple(map(int, chunk_key.split(self.separator)[1:]))


@dataclass(frozen=True)
class V2ChunkKeyEncoding(ChunkKeyEncoding):
    """The keys of v2: 0.1."""

    name: ClassVar[str] = "v2"
    separator: str = "."

    def encode_chunk_key(self, chunk_coords: tuple[int, ...]) -> str:
        """The key of a chunk."""
        return self.separator.join(map(str, chunk_coords)) or "0"

    def decode_chunk_key(self, chunk_key: str) -> tuple[int, ...]:
        """The position of the chunk of a key."""
        return tuple(map(int, chunk_key.split(self.separator)))


ENCODINGS = {one.name: one for one in (DefaultChunkKeyEncoding, V2ChunkKeyEncoding)}


def parse_chunk_key_encoding(data: ChunkKeyEncodingLike) -> ChunkKeyEncoding:
    """The encoding of a document, or of an object that has one.

    Raises
    ------
    ValueError
        The document is not one of these encodings.
    """
    found = parse_key_encoding(key_encoding_document(data), "chunk_key_encoding")
    if found.suffix:
        raise ValueError("keys with a suffix have no class in zarr-python")
    return ENCODINGS[found.name](found.separator)
