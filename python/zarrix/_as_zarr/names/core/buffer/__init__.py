"""Buffers of stores and codecs, under the module name of zarr-python 3."""

import numpy as np

from zarrix._as_zarr.names.abc.buffer import ArrayLike, NDArrayLike
from zarrix._runtime.buffers import (
    Buffer,
    BufferPrototype,
    NDBuffer,
    default_buffer_prototype,
    numpy_buffer_prototype,
)

__all__ = [
    "ArrayLike",
    "NDArrayLike",
    "Buffer",
    "BufferPrototype",
    "NDArrayLikeOrScalar",
    "NDBuffer",
    "default_buffer_prototype",
    "numpy_buffer_prototype",
]

# What a selection returns.
NDArrayLikeOrScalar = np.generic | NDArrayLike
