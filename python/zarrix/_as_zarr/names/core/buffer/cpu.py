"""Buffers in the memory of the CPU, under the module name of zarr-python 3."""

from collections.abc import Callable
from typing import Any

from zarrix._runtime.buffers import Buffer, NDBuffer, default_buffer_prototype

__all__ = [
    "Buffer",
    "NDBuffer",
    "as_numpy_array_wrapper",
    "buffer_prototype",
    "numpy_buffer_prototype",
]

buffer_prototype = default_buffer_prototype()
numpy_buffer_prototype = default_buffer_prototype


def as_numpy_array_wrapper(func: Callable[[Any], bytes], buf: Buffer, prototype: Any) -> Any:
    """The buffer of the bytes that a function makes of the array of another buffer."""
    return prototype.buffer.from_bytes(func(buf.as_numpy_array()))
