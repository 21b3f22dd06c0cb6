"""Names of ``zarr.codecs.sharding``."""

from zarrix._codecs.classes import ShardingCodec

__all__ = ["ShardingCodec"]
