"""Names of ``zarr.buffer.cpu``, which are those of ``zarr.core.buffer.cpu``."""

from zarrix._as_zarr.names.core.buffer.cpu import (
    Buffer,
    NDBuffer,
    as_numpy_array_wrapper,
    buffer_prototype,
    numpy_buffer_prototype,
)

__all__ = [
    "Buffer",
    "NDBuffer",
    "as_numpy_array_wrapper",
    "buffer_prototype",
    "numpy_buffer_prototype",
]
