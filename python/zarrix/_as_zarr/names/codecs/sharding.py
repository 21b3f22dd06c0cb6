"""Names of ``zarr.codecs.sharding``."""

from typing import Literal

from zarrix._codecs.classes import ShardingCodec, ShardingCodecIndexLocation

__all__ = ["IndexLocation", "ShardingCodec", "ShardingCodecIndexLocation"]

IndexLocation = Literal["start", "end"]
