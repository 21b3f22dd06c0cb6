"""The table of codecs: one row has every fact about one codec.

Every other list of codecs follows from it: kinds in a chain, what is native, which options only an
encoder uses, which codecs detect damage, the classes of `zarrix.codecs`, and which package has a
codec that is not installed. To add a codec, add its row, its file in ``crates/codec``, and a class
in `zarrix._codecs.classes` if users are to name it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

from zarrix._codecs import blosc, domains, images
from zarrix._codecs import extension_bindings as extensions
from zarrix._codecs import numcodecs_bindings as numcodecs
from zarrix._codecs.bound import Binding, Config, DType
from zarrix._codecs.domains import Domain

__all__ = [
    "ARRAY_TO_ARRAY",
    "ARRAY_TO_BYTES",
    "BY_ID",
    "BY_NAME",
    "CODECS",
    "ELEMENTWISE",
    "REGISTERED",
    "CodecRow",
]

Limits = Mapping[str, "tuple[int, int] | None"]
Kind = Literal["array-to-array", "array-to-bytes", "bytes-to-bytes"]


class CodecRow(NamedTuple):
    """One codec.

    Attributes
    ----------
    kind : str
    name : str
        In v3 documents; empty if it is there only as ``numcodecs.<id>``.
    codec_id : str
        In numcodecs, and so in v2 documents; empty if numcodecs has no such codec.
    cls : str
        Its class in `zarrix.codecs`.
    numcodecs_cls : str
        Its class in `zarrix.codecs.numcodecs`.
    package : str
        What pip installs if numcodecs lacks the codec.
    bind : function, optional
        Binds the codec ``name`` to its input, if the engine needs more than the document says.
    bind_numcodecs : function, optional
        Binds the codec ``codec_id`` to its input; without it, the codec is called in Python.
    bind_image : function, optional
        Binds the codec to a chunk that is a picture. A result without a configuration is left to
        numcodecs.
    native : str
        The engine's name of the codec ``codec_id``.
    left_to_numcodecs : bool
        numcodecs accepts configurations that the engine does not. (For lzma this is False: the
        engine has all filters of Python's module.)
    to_v3, to_numcodecs : function, optional
        Translate the configuration, if both names mean the same codec. The first returns None if v3
        cannot express the configuration.
    defaults : mapping
        Of the configuration in a new v3 document.
    complete : function, optional
        Adds values that depend on the dtype of the input.
    dtype_key : str
        The member of the configuration that names the dtype of the input.
    options : mapping of str to (int, int) or None
        Options that only an encoder uses, and the range of those that are whole numbers.
    level_minus_one : int, optional
        The meaning of level -1, which zlib has and v3 does not.
    decodes_with : mapping, optional
        Options with which a lossy codec can decode.
    elementwise : bool
        Each element is encoded alone, so a transposition can move before the codec.
    detects_damage : bool
        The decoder detects changed bytes.
    domain : function, optional
        Which elements the codec preserves.
    """

    kind: Kind
    name: str = ""
    codec_id: str = ""
    cls: str = ""
    numcodecs_cls: str = ""
    package: str = ""
    bind: Binding | None = None
    bind_numcodecs: Binding | None = None
    bind_image: images.ImageBinding | None = None
    native: str = ""
    left_to_numcodecs: bool = False
    to_v3: Callable[[Config], dict[str, Any] | None] | None = None
    to_numcodecs: Callable[[Config], dict[str, Any]] | None = None
    defaults: Config = MappingProxyType({})
    complete: Callable[[Config, DType], dict[str, Any]] | None = None
    dtype_key: str = ""
    options: Limits = MappingProxyType({})
    level_minus_one: int | None = None
    decodes_with: Config | None = None
    elementwise: bool = False
    detects_damage: bool = False
    domain: Domain | None = None

    @property
    def document_name(self) -> str:
        """The name in new v3 documents."""
        return self.name or f"numcodecs.{self.codec_id}"


_ZLIB_DEFAULT = 6
_IMAGECODECS = "imagecodecs, then imagecodecs.numcodecs.register_codecs()"


def _gzip_to_v3(config: Config) -> dict[str, Any]:
    return {**config, "level": _ZLIB_DEFAULT} if config.get("level") == -1 else dict(config)


def _crc32c_to_v3(config: Config) -> dict[str, Any] | None:
    return {} if config.get("location") in (None, "end") else None


def _set_options(config: Config) -> dict[str, Any]:
    return {key: value for key, value in config.items() if value is not None}


def _complete_shuffle(given: Config, dtype: DType) -> dict[str, Any]:
    return {"elementsize": dtype.itemsize} if given.get("elementsize") is None else dict(given)


_PCODEC: Limits = {
    "level": (0, 12),
    "mode_spec": None,
    "delta_spec": None,
    "paging_spec": None,
    "delta_encoding_order": (0, 7),
    "equal_pages_up_to": (1, 2**24),
}

CODECS: tuple[CodecRow, ...] = (
    # Compressors.
    CodecRow(
        kind="bytes-to-bytes",
        name="blosc",
        codec_id="blosc",
        cls="BloscCodec",
        numcodecs_cls="Blosc",
        bind_numcodecs=blosc.bind_numcodecs,
        native="blosc",
        to_v3=blosc.to_v3,
        to_numcodecs=blosc.to_numcodecs,
        complete=blosc.complete,
        options=blosc.LIMITS,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        name="zstd",
        codec_id="zstd",
        cls="ZstdCodec",
        numcodecs_cls="Zstd",
        bind_numcodecs=numcodecs.zstd,
        native="zstd",
        to_v3=dict,
        to_numcodecs=dict,
        defaults={"level": 0, "checksum": False},
        options={"level": (-131072, 22), "checksum": None},
    ),
    CodecRow(
        kind="bytes-to-bytes",
        name="gzip",
        codec_id="gzip",
        cls="GzipCodec",
        numcodecs_cls="GZip",
        bind_numcodecs=numcodecs.one_integer("level", 1),
        native="gzip",
        to_v3=_gzip_to_v3,
        to_numcodecs=dict,
        defaults={"level": 5},
        options={"level": (0, 9)},
        level_minus_one=_ZLIB_DEFAULT,
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="zlib",
        numcodecs_cls="Zlib",
        bind_numcodecs=numcodecs.one_integer("level", 1),
        options={"level": (0, 9)},
        level_minus_one=_ZLIB_DEFAULT,
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="lz4",
        numcodecs_cls="LZ4",
        bind_numcodecs=numcodecs.one_integer("acceleration", 1),
        options={"acceleration": (1, 2**31 - 1)},
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="bz2",
        numcodecs_cls="BZ2",
        bind_numcodecs=numcodecs.bz2,
        options={"level": (1, 9)},
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="lzma",
        numcodecs_cls="LZMA",
        bind_numcodecs=numcodecs.lzma,
        options={"preset": None, "check": None},
        detects_damage=True,
    ),
    # Checksums and other codecs on bytes.
    CodecRow(
        kind="bytes-to-bytes",
        name="crc32c",
        codec_id="crc32c",
        cls="Crc32cCodec",
        numcodecs_cls="CRC32C",
        package="numcodecs[crc32c]",
        bind_numcodecs=numcodecs.checksum("end"),
        to_v3=_crc32c_to_v3,
        to_numcodecs=dict,
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="crc32",
        numcodecs_cls="CRC32",
        bind_numcodecs=numcodecs.checksum("start"),
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="adler32",
        numcodecs_cls="Adler32",
        bind_numcodecs=numcodecs.checksum("start"),
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="fletcher32",
        numcodecs_cls="Fletcher32",
        bind_numcodecs=numcodecs.checksum(None),
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="jenkins_lookup3",
        numcodecs_cls="JenkinsLookup3",
        bind_numcodecs=numcodecs.jenkins,
        detects_damage=True,
    ),
    CodecRow(
        kind="bytes-to-bytes",
        codec_id="shuffle",
        numcodecs_cls="Shuffle",
        bind_numcodecs=numcodecs.shuffle,
        complete=_complete_shuffle,
    ),
    CodecRow(kind="bytes-to-bytes", codec_id="base64", bind_numcodecs=numcodecs.base64),
    # Arrays to arrays.
    CodecRow(kind="array-to-array", name="transpose", cls="TransposeCodec"),
    CodecRow(kind="array-to-array", name="reshape"),
    CodecRow(
        kind="array-to-array",
        name="bitround",
        codec_id="bitround",
        numcodecs_cls="BitRound",
        bind=extensions.bitround,
        bind_numcodecs=numcodecs.bitround,
        left_to_numcodecs=True,
        options={"keepbits": None},
        decodes_with={"keepbits": 1},
        elementwise=True,
        domain=domains.bitround,
    ),
    CodecRow(
        kind="array-to-array",
        name="cast_value",
        cls="CastValue",
        bind=extensions.cast_value,
        elementwise=True,
    ),
    CodecRow(
        kind="array-to-array",
        name="scale_offset",
        cls="ScaleOffset",
        bind=extensions.scale_offset,
        elementwise=True,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="delta",
        numcodecs_cls="Delta",
        bind_numcodecs=numcodecs.delta,
        left_to_numcodecs=True,
        dtype_key="dtype",
        domain=domains.delta,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="astype",
        numcodecs_cls="AsType",
        bind_numcodecs=numcodecs.astype,
        left_to_numcodecs=True,
        dtype_key="decode_dtype",
        elementwise=True,
        domain=domains.astype,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="quantize",
        numcodecs_cls="Quantize",
        bind_numcodecs=numcodecs.quantize,
        left_to_numcodecs=True,
        dtype_key="dtype",
        options={"digits": None},
        decodes_with={"digits": 1},
        elementwise=True,
        domain=domains.quantize,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="fixedscaleoffset",
        numcodecs_cls="FixedScaleOffset",
        bind_numcodecs=numcodecs.fixedscaleoffset,
        left_to_numcodecs=True,
        dtype_key="dtype",
        elementwise=True,
        domain=domains.fixedscaleoffset,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="categorize",
        bind_numcodecs=numcodecs.categorize,
        left_to_numcodecs=True,
        elementwise=True,
        domain=domains.categorize,
    ),
    CodecRow(
        kind="array-to-array",
        codec_id="packbits",
        numcodecs_cls="PackBits",
        bind_numcodecs=numcodecs.packbits,
        domain=domains.packbits,
    ),
    # Arrays to bytes.
    CodecRow(kind="array-to-bytes", name="bytes", cls="BytesCodec"),
    CodecRow(kind="array-to-bytes", name="sharding_indexed", cls="ShardingCodec"),
    CodecRow(kind="array-to-bytes", name="vlen-utf8", codec_id="vlen-utf8", cls="VLenUTF8Codec"),
    CodecRow(kind="array-to-bytes", name="vlen-bytes", codec_id="vlen-bytes", cls="VLenBytesCodec"),
    CodecRow(kind="array-to-bytes", name="n5_default"),
    CodecRow(kind="bytes-to-bytes", name="conditional"),
    CodecRow(kind="array-to-bytes", name="packbits", bind=extensions.packbits),
    CodecRow(
        kind="array-to-bytes",
        name="pcodec",
        codec_id="pcodec",
        numcodecs_cls="PCodec",
        package="numcodecs[pcodec]",
        bind=extensions.pcodec,
        bind_numcodecs=numcodecs.pcodec,
        left_to_numcodecs=True,
        options=_PCODEC,
        domain=domains.pcodec,
    ),
    CodecRow(
        kind="array-to-bytes",
        name="imagecodecs_jpeg",
        codec_id="imagecodecs_jpeg",
        cls="JpegCodec",
        package=_IMAGECODECS,
        bind_image=images.jpeg,
        to_v3=_set_options,
        to_numcodecs=dict,
        options={"level": (0, 100), "subsampling": None, "optimize": None},
    ),
    CodecRow(kind="array-to-bytes", name="jpeg", bind_image=images.jpeg_draft),
    CodecRow(
        kind="array-to-bytes",
        name="imagecodecs_png",
        codec_id="imagecodecs_png",
        cls="PngCodec",
        package=_IMAGECODECS,
        bind_image=images.png,
        to_v3=_set_options,
        to_numcodecs=dict,
        options={"level": (0, 9), "strategy": None, "filter": None},
        detects_damage=True,
    ),
    CodecRow(
        kind="array-to-bytes",
        name="imagecodecs_webp",
        codec_id="imagecodecs_webp",
        cls="WebpCodec",
        package=_IMAGECODECS,
        bind_image=images.webp,
        to_v3=_set_options,
        to_numcodecs=dict,
        options={"level": (0, 100), "method": (0, 6), "numthreads": None},
    ),
    # Called in Python, through zfpy: no crate builds the library.
    CodecRow(kind="array-to-bytes", name="zfp"),
    CodecRow(
        kind="array-to-bytes",
        codec_id="zfpy",
        numcodecs_cls="ZFPY",
        package="numcodecs[zfpy]",
        domain=domains.zfpy,
    ),
)

REGISTERED = {row.name: row for row in CODECS if row.name}
"""Rows by name in v3."""

BY_ID = {row.codec_id: row for row in CODECS if row.codec_id}
"""Rows by id in numcodecs."""

BY_NAME = {
    **REGISTERED,
    # The name of 'bytes' in drafts of the specification.
    "endian": REGISTERED["bytes"],
    **{f"numcodecs.{codec_id}": row for codec_id, row in BY_ID.items()},
}
"""Rows by every name that a v3 document may have."""

# Users register more: `zarrix._codecs.user_codecs`.
ARRAY_TO_ARRAY = {name for name, row in BY_NAME.items() if row.kind == "array-to-array"}
ARRAY_TO_BYTES = {name for name, row in BY_NAME.items() if row.kind == "array-to-bytes"}
ELEMENTWISE = frozenset(name for name, row in BY_NAME.items() if row.elementwise)
