"""The types of numcodecs' classes, which has none of its own."""

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar, Literal, Self

__all__ = [
    "Adler32",
    "AsType",
    "BZ2",
    "Base64",
    "BitRound",
    "Blosc",
    "CRC32",
    "Categorize",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "GZip",
    "JSON",
    "JenkinsLookup3",
    "LZ4",
    "LZMA",
    "PackBits",
    "Pickle",
    "Quantize",
    "Shuffle",
    "VLenArray",
    "VLenBytes",
    "VLenUTF8",
    "Zlib",
    "Zstd",
    "blosc",
    "codec_registry",
    "get_codec",
    "register_codec",
]

class _Codec:
    codec_id: ClassVar[str]
    def encode(self, buf: Any) -> Any: ...
    def decode(self, buf: Any, out: Any = None) -> Any: ...
    def get_config(self) -> dict[str, Any]: ...
    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> Self: ...

class Adler32(_Codec):
    def __init__(self, location: Literal["start", "end"] | None = None) -> None: ...

class AsType(_Codec):
    def __init__(self, encode_dtype: Any, decode_dtype: Any) -> None: ...

class BZ2(_Codec):
    def __init__(self, level: int = 1) -> None: ...

class Base64(_Codec): ...

class BitRound(_Codec):
    def __init__(self, keepbits: int) -> None: ...

class Blosc(_Codec):
    NOSHUFFLE: ClassVar[int]
    SHUFFLE: ClassVar[int]
    BITSHUFFLE: ClassVar[int]
    AUTOSHUFFLE: ClassVar[int]
    max_buffer_size: ClassVar[int]
    def __init__(
        self,
        cname: str = "lz4",
        clevel: int = 5,
        shuffle: int = 1,
        blocksize: int = 0,
        typesize: int | None = None,
    ) -> None: ...

class CRC32(_Codec):
    def __init__(self, location: Literal["start", "end"] | None = None) -> None: ...

class Categorize(_Codec):
    def __init__(self, labels: Any, dtype: Any, astype: Any = "u1") -> None: ...

class Delta(_Codec):
    def __init__(self, dtype: Any, astype: Any = None) -> None: ...

class FixedScaleOffset(_Codec):
    def __init__(self, offset: Any, scale: Any, dtype: Any, astype: Any = None) -> None: ...

class Fletcher32(_Codec): ...

class GZip(_Codec):
    def __init__(self, level: int = 1) -> None: ...

class JSON(_Codec):
    def __init__(
        self,
        encoding: str = "utf-8",
        skipkeys: bool = False,
        ensure_ascii: bool = True,
        check_circular: bool = True,
        allow_nan: bool = True,
        sort_keys: bool = True,
        indent: Any = None,
        separators: Any = None,
        strict: bool = True,
    ) -> None: ...

class JenkinsLookup3(_Codec):
    def __init__(self, initval: int = 0, prefix: Any = None) -> None: ...

class LZ4(_Codec):
    def __init__(self, acceleration: int = 1) -> None: ...

class LZMA(_Codec):
    def __init__(
        self, format: int = 1, check: int = -1, preset: Any = None, filters: Any = None
    ) -> None: ...

class PackBits(_Codec): ...

class Pickle(_Codec):
    def __init__(self, protocol: int = 5) -> None: ...

class Quantize(_Codec):
    def __init__(self, digits: int, dtype: Any, astype: Any = None) -> None: ...

class Shuffle(_Codec):
    def __init__(self, elementsize: int = 4) -> None: ...

class VLenArray(_Codec):
    def __init__(self, dtype: Any) -> None: ...

class VLenBytes(_Codec): ...
class VLenUTF8(_Codec): ...

class Zlib(_Codec):
    def __init__(self, level: int = 1) -> None: ...

class Zstd(_Codec):
    def __init__(self, level: int = 0, checksum: bool = False) -> None: ...

blosc: ModuleType
codec_registry: dict[str, Any]

def get_codec(config: Mapping[str, Any]) -> Any: ...
def register_codec(cls: type[Any], codec_id: str | None = None) -> None: ...
