"""Names of ``zarr.abc.codec`` that differ for users of zarr-python 3, or that zarrix lacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Protocol, TypedDict, runtime_checkable

from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec, UserCodec
from zarrix._runtime.buffers import Buffer, NDBuffer

__all__ = [
    "ArrayBytesCodecPartialDecodeMixin",
    "ArrayBytesCodecPartialEncodeMixin",
    "BaseCodec",
    "Codec",
    "CodecInput",
    "CodecJSON",
    "CodecJSON_V2",
    "CodecJSON_V3",
    "CodecOutput",
    "GetResult",
    "SupportsSyncCodec",
]

BaseCodec = UserCodec
Codec = ArrayArrayCodec | ArrayBytesCodec | BytesBytesCodec
CodecInput = NDBuffer | Buffer
CodecOutput = NDBuffer | Buffer
CodecJSON = CodecJSON_V3 = str | Mapping[str, object]
CodecJSON_V2 = Mapping[str, object]


class GetResult(TypedDict):
    """Whether a value was stored."""

    status: Literal["present", "missing"]


@runtime_checkable
class SupportsSyncCodec(Protocol):
    """A codec that encodes and decodes without an event loop."""

    def _decode_sync(self, chunk_data: Any, chunk_spec: Any) -> Any: ...

    def _encode_sync(self, chunk_data: Any, chunk_spec: Any) -> Any: ...


class ArrayBytesCodecPartialDecodeMixin:
    """The base of codecs that can decode a part of a chunk; the engine decodes whole chunks."""


class ArrayBytesCodecPartialEncodeMixin:
    """The base of codecs that can encode a part of a chunk; the engine encodes whole chunks."""
