"""v3 codecs as objects, which users pass and arrays show.

A codec is only its name and its configuration; the engine encodes and decodes. The classes have the
names, arguments and defaults of zarr-python 3, so that code which creates them runs here. Objects
of zarr-python itself, and any other object with a ``to_dict()``, are accepted as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from numbers import Number
from typing import Any, ClassVar

import numpy as np

from zarrix._codecs.blosc import CNAMES, SHUFFLES
from zarrix._codecs.codec import Codec, Document, OtherCodec, in_range, one_of
from zarrix._codecs.image_classes import JpegCodec, PngCodec, WebpCodec
from zarrix._codecs.kinds import ArrayArrayCodec, ArrayBytesCodec, BytesBytesCodec
from zarrix._codecs.normalize import as_codec_document
from zarrix._codecs.table import CODECS
from zarrix._errors import MetadataError

__all__ = [
    "BloscCodec",
    "BytesCodec",
    "CastValue",
    "Crc32cCodec",
    "Endian",
    "GzipCodec",
    "JpegCodec",
    "PngCodec",
    "ScaleOffset",
    "ShardingCodec",
    "ShardingCodecIndexLocation",
    "TransposeCodec",
    "VLenBytesCodec",
    "VLenUTF8Codec",
    "WebpCodec",
    "ZstdCodec",
    "codec_from_dict",
]


# Compressors, which the index of a shard cannot have.
_OF_NO_FIXED_SIZE = ("blosc", "gzip", "zstd")


class Endian(Enum):
    """The order of the bytes of an element."""

    big = "big"
    little = "little"


class ShardingCodecIndexLocation(Enum):
    """The position of the index in a shard."""

    start = "start"
    end = "end"


@dataclass(frozen=True, kw_only=True)
class BytesCodec(ArrayBytesCodec):
    """Elements as their bytes, in the byte order ``endian``.

    Parameters
    ----------
    endian : {"little", "big"} or None
        None for elements of one byte, which have no byte order.

    Raises
    ------
    MetadataError
        ``endian`` is something else.

    References
    ----------
    Zarr v3 codec specification, "bytes".

    Examples
    --------
    >>> from zarrix.codecs import BytesCodec
    >>> BytesCodec().to_dict(), BytesCodec(endian=None).to_dict()
    ({'name': 'bytes', 'configuration': {'endian': 'little'}}, {'name': 'bytes'})
    """

    name: ClassVar[str] = "bytes"
    is_fixed_size = True
    _added_bytes: ClassVar[int | None] = 0
    endian: str | None = "little"

    def __post_init__(self) -> None:
        one_of(self, "endian", ("little", "big", None))

    def to_dict(self) -> Document:
        return {"name": self.name} if self.endian is None else super().to_dict()


@dataclass(frozen=True, kw_only=True)
class BloscCodec(BytesBytesCodec):
    """Blosc: a fast compressor after a shuffle of bytes or bits.

    Parameters
    ----------
    typesize : int, optional
        Bytes of the elements that are shuffled; those of the data type when omitted.
    cname : {"blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"}
    clevel : int
        From 0, no compression, to 9.
    shuffle : {"noshuffle", "shuffle", "bitshuffle"}, optional
        Follows the data type when omitted.
    blocksize : int
        Bytes of a block; 0 lets Blosc choose.

    Raises
    ------
    MetadataError
        A value is not allowed.

    References
    ----------
    Zarr v3 codec specification, "blosc".

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix.codecs import BloscCodec
    >>> codec = BloscCodec(cname="lz4", shuffle="bitshuffle")
    >>> z = zarr.create_array({}, data=np.arange(1000), compressors=codec)
    >>> z.compressors[0].cname, z.compressors[0].typesize
    ('lz4', 8)
    """

    name: ClassVar[str] = "blosc"
    typesize: int | None = None
    cname: str = "zstd"
    clevel: int = 5
    shuffle: str | None = None
    blocksize: int = 0

    def __post_init__(self) -> None:
        one_of(self, "cname", CNAMES)
        one_of(self, "shuffle", (*SHUFFLES, None))
        in_range(self, "clevel")
        in_range(self, "blocksize")
        if self.typesize is not None:
            in_range(self, "typesize")


@dataclass(frozen=True, kw_only=True)
class GzipCodec(BytesBytesCodec):
    """Gzip, which every implementation reads.

    Parameters
    ----------
    level : int
        From 0, no compression, to 9.

    Raises
    ------
    MetadataError
        ``level`` is out of range.

    References
    ----------
    Zarr v3 codec specification, "gzip".

    Examples
    --------
    >>> from zarrix.codecs import GzipCodec
    >>> GzipCodec(level=12)
    Traceback (most recent call last):
        ...
    zarrix.errors.MetadataError: GzipCodec: level=12; allowed: whole numbers from 0 to 9
    """

    name: ClassVar[str] = "gzip"
    level: int = 5

    def __post_init__(self) -> None:
        in_range(self, "level")


@dataclass(frozen=True, kw_only=True)
class ZstdCodec(BytesBytesCodec):
    """Zstandard.

    Parameters
    ----------
    level : int
        From -131072 to 22; 0 is Zstandard's default.
    checksum : bool
        Store a checksum of each chunk, so that damage is noticed on reading.

    Raises
    ------
    MetadataError
        ``level`` is out of range.

    References
    ----------
    Codec ``zstd`` of zarr-extensions.

    Examples
    --------
    >>> from zarrix.codecs import ZstdCodec
    >>> ZstdCodec(level=5).to_dict()
    {'name': 'zstd', 'configuration': {'level': 5, 'checksum': False}}
    """

    name: ClassVar[str] = "zstd"
    level: int = 0
    checksum: bool = False

    def __post_init__(self) -> None:
        in_range(self, "level")


@dataclass(frozen=True)
class Crc32cCodec(BytesBytesCodec):
    """A CRC-32C checksum of four bytes after the chunk; a chunk that does not match it is an error.

    References
    ----------
    Zarr v3 codec specification, "crc32c".

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.codecs import Crc32cCodec
    >>> store = {}
    >>> z = zarr.create_array(store, data=[1, 2], compressors=Crc32cCodec())
    >>> store["c/0"] = b"x" + store["c/0"][1:]
    >>> z[:]
    Traceback (most recent call last):
        ...
    zarrix.errors.CorruptChunkError: ...
    """

    name: ClassVar[str] = "crc32c"
    is_fixed_size = True
    _added_bytes: ClassVar[int | None] = 4

    def to_dict(self) -> Document:
        return {"name": self.name}


@dataclass(frozen=True, kw_only=True)
class TransposeCodec(ArrayArrayCodec):
    """The axes of a chunk in another order, as in ``numpy.transpose``.

    Drafts of the specification had ``"C"`` and ``"F"`` for two of the orders.

    Parameters
    ----------
    order : tuple of int, or {"C", "F"}
        Axis ``i`` of the encoded chunk is axis ``order[i]`` of the array.

    Raises
    ------
    TypeError, ValueError
        ``order`` holds something that is not an int.

    References
    ----------
    Zarr v3 codec specification, "transpose".

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.codecs import TransposeCodec
    >>> z = zarr.create_array({}, data=[[1, 2], [3, 4]], filters=TransposeCodec(order=(1, 0)))
    >>> z.order, z[0]
    ('F', array([1, 2]))
    """

    name: ClassVar[str] = "transpose"
    is_fixed_size = True
    _added_bytes: ClassVar[int | None] = 0
    order: tuple[int, ...] | str

    def __post_init__(self) -> None:
        if self.order not in ("C", "F"):
            object.__setattr__(self, "order", tuple(int(axis) for axis in self.order))


@dataclass(frozen=True, kw_only=True)
class CastValue(ArrayArrayCodec):
    """Elements as values of another data type, rounded and limited as configured.

    Parameters
    ----------
    data_type : str, numpy.dtype or ZDType
        Of the encoded elements.
    rounding : str
        ``"nearest-even"``, ``"nearest-away"``, ``"towards-zero"``, ``"towards-positive"`` or
        ``"towards-negative"``.
    out_of_range : str, optional
        What becomes of values that do not fit: ``"error"``, ``"clamp"``, or ``"wrap"`` for
        integers. An error when omitted.
    scalar_map : mapping, optional
        Pairs of values that are replaced, for ``"encode"`` and for ``"decode"``.

    Raises
    ------
    MetadataError
        When an array is made: a value is not allowed.

    References
    ----------
    Codec ``cast_value`` of zarr-extensions.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix.codecs import CastValue
    >>> narrow = CastValue(data_type="uint8", rounding="towards-zero", out_of_range="clamp")
    >>> z = zarr.create_array({}, data=[1.5, 300.0], filters=narrow)
    >>> z[:]
    array([  1., 255.])
    """

    name: ClassVar[str] = "cast_value"
    data_type: Any
    rounding: str = "nearest-even"
    out_of_range: str | None = None
    scalar_map: Any = None

    def __post_init__(self) -> None:
        to_json = getattr(self.data_type, "to_json", None)
        if to_json is not None:
            object.__setattr__(self, "data_type", to_json(zarr_format=3))

    @property
    def dtype(self) -> Any:
        """The data type of the encoded elements, as an object of `zarrix.dtype`."""
        # Import time: its classes take time to make.
        from zarrix._dtypes.zdtype import parse_dtype

        return parse_dtype(self.data_type)

    @property
    def configuration(self) -> dict[str, Any]:
        """The ``"configuration"`` of the document."""
        found = super().configuration
        if self.rounding == "nearest-even":
            del found["rounding"]
        if self.scalar_map is not None:
            found["scalar_map"] = {
                way: [list(pair) for pair in _items(pairs)]
                for way, pairs in self.scalar_map.items()
            }
        return found


def _items(pairs: Any) -> Any:
    return pairs.items() if isinstance(pairs, Mapping) else pairs


@dataclass(frozen=True, kw_only=True)
class ScaleOffset(ArrayArrayCodec):
    """The encoded element is ``(element - offset) * scale``.

    Parameters
    ----------
    offset, scale : number or str
        A text is the value as documents write it, such as ``"NaN"``.

    Raises
    ------
    TypeError
        A value is neither a number nor a text.
    MetadataError
        When an array is made: a value does not fit the data type.

    References
    ----------
    Codec ``scale_offset`` of zarr-extensions.

    Examples
    --------
    >>> from zarrix.codecs import ScaleOffset
    >>> ScaleOffset(offset=273.15, scale=10).to_dict()
    {'name': 'scale_offset', 'configuration': {'offset': 273.15, 'scale': 10}}
    """

    name: ClassVar[str] = "scale_offset"
    offset: Any = 0
    scale: Any = 1

    def __post_init__(self) -> None:
        for name in ("offset", "scale"):
            value = getattr(self, name)
            if not isinstance(value, Number | str | np.generic):
                raise TypeError(f"{name} is {value!r}; expected a number or a text")

    @property
    def configuration(self) -> dict[str, Any]:
        """The ``"configuration"`` of the document, without default values."""
        given = {"offset": (self.offset, 0), "scale": (self.scale, 1)}
        return {key: value for key, (value, usual) in given.items() if value != usual}

    def to_dict(self) -> Document:
        return super().to_dict() if self.configuration else {"name": self.name}


@dataclass(frozen=True)
class VLenUTF8Codec(ArrayBytesCodec):
    """Variable-length text, as numcodecs stores it.

    References
    ----------
    Codec ``vlen-utf8`` of zarr-extensions.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.create_array({}, shape=3, dtype=str).serializer
    VLenUTF8Codec()
    """

    name: ClassVar[str] = "vlen-utf8"


@dataclass(frozen=True)
class VLenBytesCodec(ArrayBytesCodec):
    """Variable-length bytes, as numcodecs stores them.

    References
    ----------
    Codec ``vlen-bytes`` of zarr-extensions.

    Examples
    --------
    >>> from zarrix.codecs import VLenBytesCodec
    >>> VLenBytesCodec().name
    'vlen-bytes'
    """

    name: ClassVar[str] = "vlen-bytes"


@dataclass(frozen=True, kw_only=True)
class ShardingCodec(ArrayBytesCodec):
    """A shard: inner chunks of ``chunk_shape``, each encoded by ``codecs``, and an index.

    Parameters
    ----------
    chunk_shape : int or tuple of int
        Shape of an inner chunk, which divides the shard.
    codecs, index_codecs : iterable of codecs
        Codecs, also of numcodecs; values that depend on the data type are filled in when an array
        is created.
    index_location : {"end", "start"}
    subchunk_write_order : str
        Accepted for zarr-python; inner chunks are written in C order.

    Raises
    ------
    MetadataError
        ``index_location`` is something else, a length of ``chunk_shape`` is below 1, or the length
        of what ``index_codecs`` encode depends on the index.
    TypeError, ValueError
        ``chunk_shape`` does not hold ints, or a codec is not known.

    References
    ----------
    Zarr v3 codec specification, "sharding-indexed".

    Examples
    --------
    ``shards=`` and ``chunks=`` of `zarrix.create_array` make the same array.

    >>> import zarrix as zarr
    >>> from zarrix.codecs import ShardingCodec
    >>> sharding = ShardingCodec(chunk_shape=(10, 10))
    >>> z = zarr.create(shape=(100, 100), chunks=(50, 50), codecs=[sharding], zarr_format=3)
    >>> z.shards, z.chunks
    ((50, 50), (10, 10))
    """

    name: ClassVar[str] = "sharding_indexed"
    chunk_shape: tuple[int, ...]
    codecs: tuple[Any, ...] = (BytesCodec(),)
    index_codecs: tuple[Any, ...] = (BytesCodec(), Crc32cCodec())
    index_location: str = "end"
    subchunk_write_order: str = field(default="morton", repr=False, compare=False)

    def __post_init__(self) -> None:
        shape = self.chunk_shape
        lengths = shape if isinstance(shape, Iterable) else (shape,)
        object.__setattr__(self, "chunk_shape", tuple(int(length) for length in lengths))
        if any(length < 1 for length in self.chunk_shape):
            raise MetadataError(f"ShardingCodec: chunk_shape={shape!r}; expected at least 1")
        for name in ("codecs", "index_codecs"):
            chain = tuple(codec_from_dict(as_codec_document(one)) for one in getattr(self, name))
            object.__setattr__(self, name, chain)
        for codec in self.index_codecs:
            if codec.name in _OF_NO_FIXED_SIZE:
                raise MetadataError(
                    f"ShardingCodec: {codec.name!r} is one of 'index_codecs' whose output has no "
                    "fixed length; compress the chunks by codecs="
                )
        location = getattr(self.index_location, "value", self.index_location)
        object.__setattr__(self, "index_location", location)
        one_of(self, "index_location", ("end", "start"))

    @property
    def configuration(self) -> dict[str, Any]:
        """The ``"configuration"`` of the document."""
        return {k: v for k, v in super().configuration.items() if k != "subchunk_write_order"}


CODEC_CLASSES: dict[str, type[Codec]] = {row.name: globals()[row.cls] for row in CODECS if row.cls}

# Pickles name a class by its module: a public one, which does not move.
for _class in (*CODEC_CLASSES.values(), Endian, ShardingCodecIndexLocation):
    _class.__module__ = "zarrix.codecs"


def _of_numcodecs(document: Mapping[str, Any]) -> Codec:
    # Import time, as above.
    from zarrix._codecs.numcodecs_classes import BY_NAME

    made: Codec = BY_NAME.get(document["name"], OtherCodec).from_dict(document)
    return made


def codec_from_dict(document: Mapping[str, Any]) -> Codec:
    """The object for a codec's document; an `OtherCodec` if none of the classes fits."""
    kind = CODEC_CLASSES.get(document["name"], OtherCodec)
    if kind is OtherCodec:
        # Import time: a registered codec of a user.
        from zarrix._codecs.user_codecs import find

        own = find(document["name"])
        if own is not None:
            made: Codec = own.from_dict(dict(document))
            return made
        if document["name"].startswith("numcodecs."):
            return _of_numcodecs(document)
    configuration = document.get("configuration", {})
    if kind is OtherCodec or set(configuration) - {one.name for one in fields(kind)}:
        return OtherCodec(dict(document))
    if kind is BytesCodec and "endian" not in configuration:
        return BytesCodec(endian=None)
    try:
        codec: Codec = kind.from_dict(document)
    except (MetadataError, TypeError, ValueError):
        # In stored arrays, options that only an encoder uses may have any value.
        return OtherCodec(dict(document))
    return codec
