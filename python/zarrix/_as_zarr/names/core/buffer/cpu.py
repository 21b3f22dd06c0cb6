"""Buffers in the memory of the CPU, under the module name of zarr-python 3."""

from zarrix._runtime.buffers import Buffer, NDBuffer, default_buffer_prototype

__all__ = ["Buffer", "NDBuffer", "buffer_prototype", "numpy_buffer_prototype"]

buffer_prototype = default_buffer_prototype()
numpy_buffer_prototype = default_buffer_prototype
