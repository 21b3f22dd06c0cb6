"""Whether encoded chunks can move between chunks and shards without being decoded.

Where two arrays differ only in how their chunks are put into stored values, their encoded chunks
are equal. A shard is then made of bytes that are copied, and of an index that is new.
"""

from __future__ import annotations

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_dumps
from zarrix._metadata.translate import same_fill

__all__ = ["is_encoded_alike"]


def is_encoded_alike(source: ArrayMetadata, dest: ArrayMetadata) -> bool:
    """Whether the chunks (or inner chunks of shards) of two arrays have equal bytes."""
    if source.rectilinear is not None or dest.rectilinear is not None:
        return False
    if source.shape != dest.shape or source.inner_chunk_shape != dest.inner_chunk_shape:
        return False
    if source.dtype != dest.dtype or not same_fill(
        source.fill_value, dest.fill_value, source.dtype
    ):
        return False
    ours, theirs = _inner_codecs(source), _inner_codecs(dest)
    return ours is not None and ours == theirs


def _inner_codecs(metadata: ArrayMetadata) -> bytes | None:
    """The codecs of one chunk; None if its shards are within other codecs."""
    shard = metadata.shard_codec
    if shard is None:
        return json_dumps([dict(one) for one in metadata.codecs])
    return json_dumps(list(shard["codecs"])) if len(metadata.codecs) == 1 else None
