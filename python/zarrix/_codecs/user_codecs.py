"""Codecs that users wrote for zarr-python 3, called by the engine: awaited, for whole chunks.

`register` makes one known by its name. A chain that names it gets an object with the methods of a
numcodecs codec, which awaits the user's on the event loop of this package, and has the GIL.
"""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, UserCodec
from zarrix._codecs.table import ARRAY_TO_ARRAY, ARRAY_TO_BYTES
from zarrix._runtime import event_loop
from zarrix._runtime.buffers import Buffer, NDBuffer, as_bytes, default_buffer_prototype

__all__ = ["ArraySpec", "AwaitedCodec", "bound", "find", "register", "result_dtype"]

_registered: dict[str, type[UserCodec]] = {}
_GROUP = "zarr.codecs"


@dataclass(frozen=True)
class ArraySpec:
    """What a codec is told about a chunk: its shape, data type and fill value."""

    shape: tuple[int, ...]
    dtype: Any
    fill_value: Any = None
    config: Any = None
    prototype: Any = field(default_factory=default_buffer_prototype)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def order(self) -> str:
        """Order of the elements in memory."""
        return "C"


def register(name: str, kind: type[UserCodec]) -> None:
    """Make a class known as the codec ``name``."""
    _registered[name] = kind
    for names, base in ((ARRAY_TO_ARRAY, ArrayArrayCodec), (ARRAY_TO_BYTES, ArrayBytesCodec)):
        names.discard(name)
        if issubclass(kind, base):
            names.add(name)


def find(name: str) -> type[UserCodec] | None:
    """The class that is registered as ``name``, also by an installed package."""
    if name not in _registered:
        for entry in importlib.metadata.entry_points(group=_GROUP, name=name):
            kind = entry.load()
            # A class for zarr-python itself exchanges its buffers.
            if isinstance(kind, type) and issubclass(kind, UserCodec):
                register(name, kind)
    return _registered.get(name)


class AwaitedCodec:
    """A user's codec with the methods of a numcodecs codec.

    Parameters
    ----------
    codec : UserCodec
    spec : ArraySpec
        Of the input of `encode`.
    before, after : (dtype, shape) or None
        Of the array that is encoded, and of the one that results; None for bytes.
    """

    def __init__(
        self,
        codec: UserCodec,
        spec: ArraySpec,
        before: tuple[np.dtype[Any], tuple[int, ...]] | None,
        after: tuple[np.dtype[Any], tuple[int, ...]] | None,
    ) -> None:
        self.codec_id = codec.name or type(codec).__name__
        self._codec, self._spec, self._before, self._after = codec, spec, before, after

    def encode(self, value: Any) -> Any:
        """Encode the bytes, or the elements, of one chunk."""
        given = _buffer(value, self._before)
        if hasattr(self._codec, "_encode_sync"):
            return _plain(self._codec._encode_sync(given, self._spec), self._after)
        return _plain(event_loop.run(self._codec._encode_single(given, self._spec)), self._after)

    def decode(self, value: Any) -> Any:
        """The inverse of `encode`."""
        given = _buffer(value, self._after)
        if hasattr(self._codec, "_decode_sync"):
            return _plain(self._codec._decode_sync(given, self._spec), self._before)
        return _plain(event_loop.run(self._codec._decode_single(given, self._spec)), self._before)


def bound(
    codec: UserCodec, dtype: np.dtype[Any], shape: tuple[int, ...], size: int | None
) -> tuple[AwaitedCodec, np.dtype[Any] | None, tuple[int, ...], int | None]:
    """The codec for chunks of a dtype and shape, and its output: dtype, shape and number of bytes.

    The dtype is None if the output is bytes, and the number None if it depends on the data.
    """
    # Import time: its classes take time to make.
    from zarrix._dtypes.zdtype import parse_dtype

    data_type = parse_dtype(dtype, zarr_format=3)
    spec = ArraySpec(shape, data_type, np.zeros((), dtype)[()])
    codec = codec.evolve_from_array_spec(spec)
    out = codec.resolve_metadata(spec)
    if isinstance(codec, ArrayArrayCodec):
        after_dtype = np.dtype(_native(out.dtype))
        after = after_dtype, tuple(out.shape)
        length = int(np.prod(after[1], dtype=object)) * after_dtype.itemsize
        return AwaitedCodec(codec, spec, (dtype, shape), after), *after, length
    length_or_none = None
    if codec.is_fixed_size and size is not None:
        length_or_none = codec.compute_encoded_size(size, spec)
    before = (dtype, shape) if isinstance(codec, ArrayBytesCodec) else None
    return AwaitedCodec(codec, replace(spec), before, None), None, shape, length_or_none


def result_dtype(document: dict[str, Any], dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The elements that a user's array-to-array codec produces."""
    kind = find(document["name"])
    assert kind is not None
    after = bound(kind.from_dict(document), dtype, (1,), dtype.itemsize)[1]
    return dtype if after is None else after


def _native(dtype: Any) -> Any:
    return dtype.to_native_dtype() if hasattr(dtype, "to_native_dtype") else dtype


def _buffer(value: Any, form: tuple[np.dtype[Any], tuple[int, ...]] | None) -> Any:
    view = memoryview(value).cast("B") if not isinstance(value, np.ndarray) else value
    flat = np.asarray(view).reshape(-1).view("B") if len(view) else np.empty(0, "B")
    if form is None:
        return Buffer.from_array_like(flat)
    dtype, shape = form
    return NDBuffer.from_numpy_array(flat.view(dtype).reshape(shape))


def _plain(value: Any, form: tuple[np.dtype[Any], tuple[int, ...]] | None) -> Any:
    if form is None:
        return as_bytes(value)
    return np.ascontiguousarray(value.as_numpy_array(), form[0]).reshape(form[1])
