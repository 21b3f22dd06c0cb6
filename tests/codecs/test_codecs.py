"""Codec arguments, and the chains that the engine is given."""

import subprocess
import sys

import numcodecs
import numpy as np
import pytest
from numcodecs.checksum32 import JenkinsLookup3
from zarrix import codecs
from zarrix._codecs.bind import bind_chain
from zarrix._codecs.numcodecs import (
    DEFAULT_COMPRESSOR,
    codec_object,
    compression_config,
    normalize_compressor,
    normalize_filters,
)
from zarrix._errors import BadCompressorError, MetadataError, UnknownCodecError

ZSTD3 = {"id": "zstd", "level": 3, "checksum": False}


def chain(*configs, dtype="<f8", shape=(4, 5), order="C", new=False):
    """The engine's chain after "bytes", and the foreign objects."""
    members = [{"name": "transpose", "configuration": {"order": [1, 0]}}] if order == "F" else []
    members.append({"name": "bytes"})
    for config in configs:
        config = config if isinstance(config, dict) else config.get_config()
        rest = {key: value for key, value in config.items() if key != "id"}
        members.append({"name": f"numcodecs.{config['id']}", "configuration": rest})
    described = (members, np.dtype(dtype), shape, "x/.zarray")
    bound, foreign = bind_chain(*described, zarr_format=2, new=new)
    return bound[1 + (order == "F") :], foreign


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("default", DEFAULT_COMPRESSOR),
        (None, None),
        ("none", None),
        ([], None),
        (False, None),
        (numcodecs.Zstd(3), ZSTD3),
        ({"id": "zstd", "level": 3}, ZSTD3),
        ("zstd", {"id": "zstd", "level": 0, "checksum": False}),
    ],
)
def test_every_form_of_compressor_becomes_its_configuration(argument, expected):
    assert normalize_compressor(argument) == expected


def test_the_default_compressor_is_that_of_numcodecs():
    assert numcodecs.Blosc().get_config() == DEFAULT_COMPRESSOR
    assert codec_object(DEFAULT_COMPRESSOR) == numcodecs.Blosc()


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (None, None),
        ([], None),
        ([numcodecs.Zstd(3)], (ZSTD3,)),
        (numcodecs.Zstd(3), (ZSTD3,)),
        ({"id": "zstd", "level": 3}, (ZSTD3,)),
        (["crc32", {"id": "zstd", "level": 3}], ({"id": "crc32"}, ZSTD3)),
    ],
)
def test_every_form_of_filters_becomes_their_configurations(argument, expected):
    assert normalize_filters(argument) == expected


@pytest.mark.parametrize(
    ("compression", "options", "expected"),
    [
        ("gzip", None, {"id": "gzip", "level": 1}),
        ("gzip", 7, {"id": "gzip", "level": 7}),
        ("zstd", {"level": 3}, ZSTD3),
        ("blosc", ("zstd", 3), {**DEFAULT_COMPRESSOR, "cname": "zstd", "clevel": 3}),
        ("default", None, DEFAULT_COMPRESSOR),
        (None, None, None),
        ("none", None, None),
        (numcodecs.Zstd(3), None, ZSTD3),
    ],
)
def test_compression_in_the_style_of_h5py(compression, options, expected):
    assert compression_config(compression, options) == expected


@pytest.mark.parametrize(
    ("argument", "error", "words"),
    [
        (numcodecs.Zstd, BadCompressorError, "pass an instance, Zstd()"),
        (5, BadCompressorError, "compressor=5 (int) is not a codec"),
        ({"level": 3}, BadCompressorError, "needs its name under 'id'"),
        ({"id": "zstd", "lvl": 3}, BadCompressorError, "is not accepted"),
        ("zstdd", UnknownCodecError, "did you mean 'zstd'?"),
        ("imagecodecs_jpegxl", UnknownCodecError, "pip install imagecodecs"),
        ({"id": "pcodec_x"}, UnknownCodecError, "pip install numcodecs[pcodec]"),
    ],
)
def test_what_is_no_codec_gets_one_clear_sentence(argument, error, words):
    with pytest.raises(error) as caught:
        normalize_compressor(argument)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("codec", "expected"),
    [
        (numcodecs.Zstd(3, checksum=True), ("zstd", {"level": 3, "checksum": True})),
        (numcodecs.GZip(4), ("gzip", {"level": 4})),
        (numcodecs.Zlib(4), ("numcodecs.zlib", {"level": 4})),
        (numcodecs.LZ4(2), ("numcodecs.lz4", {"acceleration": 2})),
        (numcodecs.Shuffle(8), ("numcodecs.shuffle", {"elementsize": 8})),
        (numcodecs.Delta("<i4", "<i2"), ("numcodecs.delta", {"dtype": "<i4", "astype": "<i2"})),
        (numcodecs.PackBits(), ("numcodecs.packbits", {})),
        (numcodecs.CRC32(), ("numcodecs.crc32", {"location": "start"})),
        (numcodecs.CRC32(location="end"), ("numcodecs.crc32", {"location": "end"})),
        (numcodecs.Adler32(), ("numcodecs.adler32", {"location": "start"})),
        (numcodecs.Fletcher32(), ("numcodecs.fletcher32", {})),
        (numcodecs.BZ2(7), ("numcodecs.bz2", {"level": 7})),
        (numcodecs.LZMA(), ("numcodecs.lzma", {"format": 1, "check": -1})),
        (
            numcodecs.LZMA(3, 0, None, [{"id": 3, "dist": 8}, {"id": 33, "preset": 1}]),
            (
                "numcodecs.lzma",
                {
                    "format": 3,
                    "check": 0,
                    "filters": [{"id": 3, "dist": 8}, {"id": 33, "preset": 1}],
                },
            ),
        ),
        (numcodecs.Base64(), ("numcodecs.base64", {})),
        (JenkinsLookup3(), ("numcodecs.jenkins_lookup3", {"initval": 0})),
        (
            JenkinsLookup3(7, b"\1\2"),
            ("numcodecs.jenkins_lookup3", {"initval": 7, "prefix": [1, 2]}),
        ),
        (
            numcodecs.Quantize(2, "<f8", "<f4"),
            ("numcodecs.quantize", {"digits": 2, "dtype": "<f8", "astype": "<f4"}),
        ),
        (
            numcodecs.FixedScaleOffset(np.float32(1.5), np.int64(10), "<f8", "<i2"),
            (
                "numcodecs.fixedscaleoffset",
                {"offset": 1.5, "scale": 10, "dtype": "<f8", "astype": "<i2"},
            ),
        ),
        (
            numcodecs.AsType("<f4", "<f8"),
            ("numcodecs.astype", {"encode_dtype": "<f4", "decode_dtype": "<f8"}),
        ),
        (numcodecs.BitRound(9), ("numcodecs.bitround", {"keepbits": 9, "dtype": "<f8"})),
        (
            numcodecs.Categorize(["a", "é"], "<U3"),
            ("numcodecs.categorize", {"labels": ["a", "é"], "dtype": "<U3", "astype": "|u1"}),
        ),
        ({"id": "crc32c"}, ("numcodecs.crc32c", {"location": "end"})),
    ],
)
def test_native_codecs_by_their_native_names(codec, expected):
    bound, foreign = chain(codec)
    assert [(one["name"], one["configuration"]) for one in bound] == [expected]
    assert foreign == []


@pytest.mark.parametrize(
    ("dtype", "shuffle", "filters", "expected"),
    [
        ("<f8", 1, [], ("shuffle", 8)),
        ("<f8", 0, [], ("noshuffle", 8)),
        ("<f8", 2, [], ("bitshuffle", 8)),
        ("<f8", -1, [], ("shuffle", 8)),
        ("|u1", -1, [], ("bitshuffle", 1)),
        ("|S300", 1, [], ("shuffle", 300)),
        ("<f8", -1, [numcodecs.Shuffle(8)], ("bitshuffle", 1)),
        ("<i4", -1, [numcodecs.Delta("<i4", "<i2")], ("shuffle", 2)),
        ("<f8", 1, [numcodecs.AsType("<f4", "<f8")], ("shuffle", 4)),
        ("<f8", 1, [numcodecs.FixedScaleOffset(0, 1, "<f8", "<i2")], ("shuffle", 2)),
        ("<f8", 1, [numcodecs.BZ2()], ("shuffle", 1)),
        ("<f4", 1, [numcodecs.BitRound(3)], ("shuffle", 4)),
    ],
)
def test_blosc_shuffles_by_the_elements_it_sees(dtype, shuffle, filters, expected):
    bound, _ = chain(*filters, numcodecs.Blosc("zstd", 3, shuffle, 512), dtype=dtype)
    assert bound[-1] == {
        "name": "blosc",
        "configuration": {
            "cname": "zstd",
            "clevel": 3,
            "shuffle": expected[0],
            "typesize": expected[1],
            "blocksize": 512,
        },
    }


def test_consecutive_foreign_codecs_are_one_slot():
    first = [
        numcodecs.AsType("<c8", "<f8"),
        numcodecs.Delta("<c8"),
        numcodecs.FixedScaleOffset(0, 1, "<c8"),
    ]
    bound, foreign = chain(*first, numcodecs.Zlib(), numcodecs.AsType("<i8", "<M8[s]"))
    assert [one["configuration"] for one in bound if one["name"] == "zarrix.foreign"] == [
        {"slot": 0, "name": "astype+delta+fixedscaleoffset", "encoded_bytes": 160},
        {"slot": 1, "name": "astype", "encoded_bytes": None},
    ]
    names = [("astype", "delta", "fixedscaleoffset"), ("astype",)]
    assert [slot.names for slot in foreign] == names
    assert [slot.name for slot in foreign] == ["+".join(one) for one in names]
    assert [slot.encoded_bytes(160) for slot in foreign] == [160, None]


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_foreign_slot_gives_what_numcodecs_gives(order):
    data = np.round(np.linspace(0, 9, 20), 3).reshape(4, 5)
    filters = [numcodecs.AsType("<c8", "<f8"), numcodecs.FixedScaleOffset(0, 1000, "<c8", "<c16")]
    _, (slot,) = chain(*filters, order=order)
    stored = data.tobytes(order)
    expected = np.asarray(data, order=order)
    for codec in filters:
        expected = codec.encode(expected)
    encoded = slot.encode(stored)
    assert bytes(encoded) == expected.tobytes("A")
    with pytest.warns(np.exceptions.ComplexWarning):
        decoded = slot.decode(encoded)
    np.testing.assert_allclose(np.frombuffer(decoded), np.frombuffer(stored), atol=1e-3)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_foreign_codec_sees_the_chunk_as_an_array_of_its_shape(order):
    seen = []

    class Spy(numcodecs.abc.Codec):
        codec_id = "zarrix-test-spy"

        def encode(self, buf):
            seen.append((buf.shape, buf.dtype, buf.tolist()))
            return buf

        def decode(self, buf, out=None):
            return buf

    numcodecs.register_codec(Spy)
    data = np.arange(6, dtype=">i4").reshape(2, 3)
    _, (slot,) = chain(Spy(), dtype=">i4", shape=(2, 3), order=order)
    encoded = slot.encode(data.tobytes(order))
    assert seen == [((2, 3), np.dtype(">i4"), data.tolist())]
    assert bytes(encoded) == data.tobytes(order)


@pytest.mark.parametrize(
    ("config", "error", "words"),
    [
        ({"id": "pickle"}, MetadataError, "variable-length"),
        ({"id": "vlen-utf8"}, MetadataError, "variable-length"),
        ({"id": "blosc", "cname": "lz5"}, MetadataError, "allowed are blosclz, lz4"),
        ({"id": "blosc", "clevel": "5"}, MetadataError, "not a whole number"),
        ({"id": "blosc", "shuffle": 7}, MetadataError, "allowed are -1, 0, 1 and 2"),
        ({"id": "blosc", "blocksize": -1}, MetadataError, "'blocksize' = -1"),
        ({"id": "delta"}, MetadataError, "lacks 'dtype'"),
        ({"id": "delta", "dtype": "nope"}, MetadataError, "codec 'delta'"),
        ({"id": "crc32", "location": "middle"}, MetadataError, "allowed are 'start' and 'end'"),
        ({"id": "bz2", "level": 10}, MetadataError, "'level' = 10; allowed are 1 to 9"),
        ({"id": "lzma", "format": 4}, MetadataError, "'format' = 4; allowed are 1 to 3"),
        ({"id": "lzma", "format": 3}, MetadataError, "which raw streams need"),
        ({"id": "lzma", "filters": [{"id": 99}]}, MetadataError, "a filter number of liblzma"),
        ({"id": "lzma", "filters": [33]}, MetadataError, "not a list of objects with 'id'"),
        ({"id": "quantize", "digits": "2", "dtype": "<f4"}, MetadataError, "not a whole number"),
        ({"id": "quantize", "dtype": "<f4"}, MetadataError, "lacks 'digits'"),
        ({"id": "fixedscaleoffset", "scale": 1, "dtype": "<f4"}, MetadataError, "lacks 'offset'"),
        (
            {"id": "fixedscaleoffset", "scale": "1", "offset": 0, "dtype": "<f4"},
            MetadataError,
            "'scale' = '1', not a number",
        ),
        ({"id": "astype", "encode_dtype": "<f4"}, MetadataError, "lacks 'decode_dtype'"),
        ({"id": "bitround", "keepbits": 53}, MetadataError, "allowed are 0 to 52"),
        ({"id": "categorize", "dtype": "<U3", "labels": [1]}, MetadataError, "list of strings"),
        ({"id": "jenkins_lookup3", "initval": -1}, MetadataError, "'initval' = -1"),
        ({"id": "jenkins_lookup3", "prefix": [256]}, MetadataError, "not a list of bytes"),
        ({"id": "imagecodecs_jpeg2k"}, UnknownCodecError, "pip install imagecodecs"),
        ({"id": "never-heard-of"}, UnknownCodecError, "import the package that registers it"),
    ],
)
def test_a_codec_that_cannot_be_used_names_the_document(config, error, words):
    with pytest.raises(error) as caught:
        chain(config, new=True)
    assert str(caught.value).startswith("x/.zarray: key 'filters': codec")
    assert words in str(caught.value)


def test_old_blosc_configurations_get_what_numcodecs_assumes():
    bound, _ = chain({"id": "blosc"})
    assert bound[0]["configuration"]["cname"] == "lz4"
    assert bound[0]["configuration"]["shuffle"] == "shuffle"


def test_every_codec_of_the_module_is_numcodecs_own():
    for name in codecs.__all__:
        assert getattr(codecs, name) is not None
    assert codecs.Blosc is numcodecs.Blosc
    with pytest.raises(AttributeError):
        codecs.Blosk  # noqa: B018


def test_a_blosc_array_opens_without_importing_numcodecs():
    script = (
        "import sys; from zarrix import _metadata, storage, codecs, sync, meta; "
        "from zarrix._metadata import v2; "
        "document = v2.array_document(v2.new_array(shape=(10, 10), dtype='f4')); "
        "v2.parse_array(document).layout(); "
        "sys.exit('numcodecs' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
