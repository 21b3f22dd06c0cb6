"""Names of ``zarr.core`` that zarrix has elsewhere."""

from zarrix._as_zarr.names.core.codec_pipeline import BatchedCodecPipeline
from zarrix._runtime.buffers import Buffer, NDBuffer

__all__ = ["BatchedCodecPipeline", "Buffer", "NDBuffer"]
