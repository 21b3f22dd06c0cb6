"""Codecs that the engine calls in Python: consecutive ones are one slot of its chain.

numcodecs codecs expect typed arrays, so each slot knows the dtype and the shape of its input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from zarrix._codecs.bound import UINT8
from zarrix._codecs.numcodecs import codec_object

__all__ = ["ForeignCodecs", "Run", "number_slots"]


class ForeignCodecs:
    """Consecutive codecs of numcodecs, which the engine calls.

    Parameters
    ----------
    codecs : sequence of (dict or object, str)
        In encoding order: configurations, or objects that encode and decode, each with its position
        in the metadata document, for messages.
    dtype : dtype
        Of the input of `encode`.
    shape : tuple of int or None
        Shape of the chunk, unless an earlier codec flattens it; zfpy and image codecs use it.
    order : "C" or "F"
        Order of the input elements of `encode`.
    encoded_bytes : int or None
        Length of the output of `encode`; None if it depends on the data.

    Attributes
    ----------
    names : tuple of str
        Their ids.
    name : str
        The same for the engine's messages.
    """

    __slots__ = (
        "_codecs",
        "_dtype",
        "_encoded_bytes",
        "_order",
        "_shape",
        "name",
        "names",
    )

    def __init__(
        self,
        codecs: Iterable[tuple[Any, str]],
        dtype: np.dtype[Any],
        shape: tuple[int, ...] | None,
        order: str,
        encoded_bytes: int | None,
    ) -> None:
        self._codecs = [
            codec_object(one, where) if isinstance(one, Mapping) else one for one, where in codecs
        ]
        self.names = tuple(codec.codec_id for codec in self._codecs)
        self.name = "+".join(self.names)
        self._encoded_bytes = encoded_bytes
        self._dtype = dtype
        self._shape = shape
        self._order: Any = order

    def encoded_bytes(self, decoded_bytes: int) -> int | None:
        """Length of an encoded chunk; None if it depends on the data."""
        return self._encoded_bytes

    def encode(self, buffer: Any) -> memoryview:
        """Encode the bytes of one chunk."""
        value: Any = np.frombuffer(buffer, dtype=self._dtype)
        if self._shape is not None:
            value = value.reshape(self._shape, order=self._order)
        for codec in self._codecs:
            value = codec.encode(value)
        return _as_bytes(value)

    def decode(self, buffer: Any) -> memoryview:
        """The inverse of `encode`."""
        value = buffer
        for codec in reversed(self._codecs):
            value = codec.decode(value)
        return _as_bytes(value)


def _as_bytes(value: Any) -> memoryview:
    # In memory order: an array that a codec returns in Fortran order has its elements in stored
    # order.
    if isinstance(value, np.ndarray):
        flat = np.ascontiguousarray(value.reshape(-1, order="A"))
        return flat.view(UINT8).data if flat.size else memoryview(b"")
    return memoryview(value).cast("B")


@dataclass
class Run:
    """Consecutive Python codecs, and the input of the first of them."""

    dtype: np.dtype[Any]
    shape: tuple[int, ...] | None
    codecs: list[tuple[Any, str]] = field(default_factory=list)
    encoded_bytes: int | None = None

    def add(self, codec: Any, encoded_bytes: int | None, label: str) -> None:
        """Append a codec, given as its configuration or as an object that encodes and decodes.

        ``label`` is its position in the document, for messages.
        """
        self.codecs.append((codec, label))
        self.encoded_bytes = encoded_bytes


def number_slots(
    steps: list[dict[str, Any] | Run], order: str, foreign: list[ForeignCodecs]
) -> list[dict[str, Any]]:
    """The engine's chain; the Python codecs that it calls are appended to ``foreign``."""
    chain: list[dict[str, Any]] = []
    for step in steps:
        if isinstance(step, Run):
            size = step.encoded_bytes
            slot = ForeignCodecs(step.codecs, step.dtype, step.shape, order, size)
            configuration = {"slot": len(foreign), "name": slot.name, "encoded_bytes": size}
            chain.append({"name": "zarrix.foreign", "configuration": configuration})
            foreign.append(slot)
        else:
            chain.append(step)
    return chain
