"""Names of ``zarr.core.buffer.core``."""

from zarrix._runtime.buffers import Buffer, BufferPrototype, NDBuffer, default_buffer_prototype

__all__ = ["Buffer", "BufferPrototype", "NDBuffer", "default_buffer_prototype"]
