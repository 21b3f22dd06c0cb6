"""Names of ``zarr.buffer``."""

from zarrix._runtime.buffers import default_buffer_prototype

__all__ = ["default_buffer_prototype"]
