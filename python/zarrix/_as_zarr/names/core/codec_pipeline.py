"""Names of ``zarr.core.codec_pipeline``: a chain of codecs by their kinds.

The engine encodes and decodes; a pipeline here tells what a chain consists of, and compares chains.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Self

from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec

__all__ = ["BatchedCodecPipeline", "codecs_from_list"]

Parts = tuple[tuple[ArrayArrayCodec, ...], ArrayBytesCodec, tuple[BytesBytesCodec, ...]]


def codecs_from_list(codecs: Iterable[Any]) -> Parts:
    """The codecs of a chain by their kinds.

    Raises
    ------
    ValueError
        There is not one codec from array to bytes, or the order differs.
    """
    before: list[ArrayArrayCodec] = []
    between: list[ArrayBytesCodec] = []
    after: list[BytesBytesCodec] = []
    for codec in codecs:
        if isinstance(codec, ArrayArrayCodec) and not between:
            before.append(codec)
        elif isinstance(codec, ArrayBytesCodec) and not between:
            between.append(codec)
        elif isinstance(codec, BytesBytesCodec) and between:
            after.append(codec)
        else:
            raise ValueError(f"{codec!r} cannot be at this place of a chain of codecs")
    if not between:
        raise ValueError("a chain of codecs needs one that makes bytes of an array")
    return tuple(before), between[0], tuple(after)


@dataclass(frozen=True)
class BatchedCodecPipeline:
    """A chain of codecs by their kinds."""

    array_array_codecs: tuple[Any, ...]
    array_bytes_codec: Any
    bytes_bytes_codecs: tuple[Any, ...]
    batch_size: int = 1

    @classmethod
    def from_codecs(cls, codecs: Iterable[Any], *, batch_size: int | None = None) -> Self:
        """The chain of these codecs."""
        return cls(*codecs_from_list(codecs), batch_size=batch_size or 1)

    def __iter__(self) -> Iterator[Any]:
        yield from (*self.array_array_codecs, self.array_bytes_codec, *self.bytes_bytes_codecs)
