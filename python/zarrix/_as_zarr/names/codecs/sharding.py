"""Names of ``zarr.codecs.sharding``."""

from typing import Literal

from zarrix._codecs.classes import ShardingCodec, ShardingCodecIndexLocation

__all__ = [
    "INDEX_LOCATION",
    "SUBCHUNK_WRITE_ORDER",
    "IndexLocation",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "SubchunkWriteOrder",
]

INDEX_LOCATION = ("start", "end")
IndexLocation = Literal["start", "end"]
SubchunkWriteOrder = Literal["morton", "unordered", "lexicographic", "colexicographic"]
SUBCHUNK_WRITE_ORDER = ("morton", "unordered", "lexicographic", "colexicographic")
