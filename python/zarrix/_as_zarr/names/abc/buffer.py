"""Names of ``zarr.abc.buffer``."""

from zarrix._runtime.buffers import Buffer, BufferPrototype, NDBuffer

__all__ = ["Buffer", "BufferPrototype", "NDBuffer"]
