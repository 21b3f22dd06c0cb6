"""Names of ``zarr.core.buffer.core``."""

from zarrix._as_zarr.names.abc.buffer import ArrayLike, NDArrayLike
from zarrix._runtime.buffers import Buffer, BufferPrototype, NDBuffer, default_buffer_prototype

__all__ = [
    "ArrayLike",
    "NDArrayLike",
    "Buffer",
    "BufferPrototype",
    "NDBuffer",
    "default_buffer_prototype",
]
