"""Stored chunks, documents and codecs that cannot be right."""

import contextlib
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from numcodecs.registry import codec_registry

from bad_input.refusing import at, refused

CODECS: dict[str, tuple[list[Any], Any]] = {
    "none": ([], None),
    "blosc-lz4": ([], numcodecs.Blosc("lz4", 5, 1)),
    "blosc-zstd-bit": ([], numcodecs.Blosc("zstd", 5, 2)),
    "blosc-copy": ([], numcodecs.Blosc("lz4", 0, 0)),
    "zstd": ([], numcodecs.Zstd(3)),
    "zstd-checksum": ([], numcodecs.Zstd(3, checksum=True)),
    "gzip": ([], numcodecs.GZip(5)),
    "zlib": ([], numcodecs.Zlib(5)),
    "lz4": ([], numcodecs.LZ4()),
    "bz2": ([], numcodecs.BZ2()),
    "lzma": ([], numcodecs.LZMA()),
    "crc32": ([numcodecs.CRC32()], None),
    "fletcher32": ([numcodecs.Fletcher32()], None),
    "adler32": ([numcodecs.Adler32()], None),
    "shuffle-zlib": ([numcodecs.Shuffle(4)], numcodecs.Zlib(5)),
    "delta-fletcher32-zstd": (
        [numcodecs.Delta("<i4"), numcodecs.Fletcher32()],
        numcodecs.Zstd(1),
    ),
}
NOTICES_EVERY_FLIP = (
    *("zstd-checksum", "zlib", "shuffle-zlib", "bz2", "lzma"),
    *("crc32", "fletcher32", "adler32", "delta-fletcher32-zstd"),
)


def chunked(folder: Path, codec: str) -> tuple[Any, np.ndarray[Any, Any], Path]:
    """An array of 2 x 2 chunks, its values, and the file of the chunk that will be damaged."""
    filters, compressor = CODECS[codec]
    values = (np.arange(2500, dtype="<i4") // 7 % 50).reshape(50, 50)
    z = zarr.open_array(
        at(folder, f"c/{codec}"),
        mode="w",
        shape=values.shape,
        chunks=(30, 30),
        dtype="<i4",
        filters=filters,
        compressor=compressor,
    )
    z[...] = values
    return z, values, Path(at(folder, f"c/{codec}/0.1"))


def check_damage(folder: Path, z: Any, values: np.ndarray[Any, Any]) -> None:
    """Reading and changing the damaged chunk is refused; the other chunks do not notice."""
    for kind in (ValueError, RuntimeError, zarr.errors.CorruptChunkError):
        with refused(folder, kind, "0.1"):
            z[...]
    with refused(folder, ValueError, "0.1"):
        z[2, 40]
    with refused(folder, ValueError, "0.1"):
        z[2, 40] = 1
    assert np.array_equal(z[30:], values[30:])
    assert np.array_equal(z[:, :30], values[:, :30])


@pytest.mark.parametrize("codec", CODECS)
def test_a_chunk_cut_short_is_named_and_not_written_over(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for size in (0, 1, 3, 11, 15, len(whole) // 2, len(whole) - 1):
        chunk.write_bytes(whole[:size])
        check_damage(folder, z, values)


@pytest.mark.parametrize("codec", CODECS)
def test_a_damaged_chunk_is_mended_by_writing_all_of_it(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    chunk.write_bytes(whole[: len(whole) // 2])
    z[:30, 30:] = values[:30, 30:]
    assert np.array_equal(z[...], values)


@pytest.mark.parametrize("codec", NOTICES_EVERY_FLIP)
def test_a_flipped_bit_under_a_checksum_is_noticed_and_named(folder: Path, codec: str) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for i in range(0, len(whole), max(1, len(whole) // 25)):
        damaged = bytearray(whole)
        damaged[i] ^= 1 << i % 8
        chunk.write_bytes(damaged)
        with contextlib.suppress(zarr.errors.CorruptChunkError):
            # Bits that mean nothing, as the unused ones of a header, may change nothing.
            assert np.array_equal(z[...], values), i
            continue
        check_damage(folder, z, values)


@pytest.mark.parametrize("codec", [name for name in CODECS if name not in NOTICES_EVERY_FLIP])
def test_a_flipped_bit_without_a_checksum_fails_only_as_a_corrupt_chunk(
    folder: Path, codec: str
) -> None:
    z, values, chunk = chunked(folder, codec)
    whole = chunk.read_bytes()
    for i in range(0, len(whole), max(1, len(whole) // 60)):
        for damage in (1 << i % 8, 0xFF):
            damaged = bytearray(whole)
            damaged[i] ^= damage
            chunk.write_bytes(damaged)
            with contextlib.suppress(zarr.errors.CorruptChunkError):
                got = z[...]
                assert np.array_equal(got[30:], values[30:])
                assert np.array_equal(got[:, :30], values[:, :30])


def test_a_chunk_that_is_too_long_is_named(folder: Path) -> None:
    z, values, chunk = chunked(folder, "none")
    chunk.write_bytes(chunk.read_bytes() + b"more")
    check_damage(folder, z, values)


# Metadata


def document(**changes: Any) -> str:
    import json

    fields: dict[str, Any] = {
        "zarr_format": 2,
        "shape": [6, 10],
        "chunks": [2, 5],
        "dtype": "<i4",
        "compressor": None,
        "fill_value": 0,
        "order": "C",
        "filters": None,
    }
    fields |= changes
    return json.dumps({key: value for key, value in fields.items() if value != "left out"})


DOCUMENTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "empty": ("", ("JSON",)),
    "no JSON": ("shape: [6, 10]", ("JSON",)),
    "cut short": (document()[:40], ("JSON",)),
    "a list": ("[2]", ("JSON object",)),
    "not text": ("\udcff\udcfe{}", ()),
    **{
        f"no {key}": (document(**{key: "left out"}), (key,))
        for key in (
            *("zarr_format", "shape", "chunks", "dtype", "compressor"),
            *("fill_value", "order", "filters"),
        )
    },
    "v3": (document(zarr_format=3), ("zarr_format", "3")),
    "a dtype that is none": (document(dtype="<q9"), ("dtype", "<q9")),
    "a negative shape": (document(shape=[6, -10]), ("shape", "-10")),
    "a shape of text": (document(shape="6x10"), ("shape", "6x10")),
    "chunks of another rank": (document(chunks=[2]), ("chunks",)),
    "chunks of zero": (document(chunks=[2, 0]), ("chunks", "0")),
    "chunks without end": (document(chunks=[2**40, 2**40]), ("chunk",)),
    "an order that is none": (document(order="K"), ("order", "K")),
    "a fill value of another kind": (document(fill_value="many"), ("fill_value", "many")),
    "a compressor without id": (document(compressor={"level": 1}), ("compressor", "id")),
    "filters that are not a list": (document(filters={"id": "delta"}), ("filters",)),
    "a separator that is none": (document(dimension_separator="_"), ("dimension_separator", "_")),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_array_metadata_that_says_nothing_sensible_is_named(folder: Path, name: str) -> None:
    text, words = DOCUMENTS[name]
    Path(at(folder, "a/.zarray")).write_bytes(text.encode("utf-8", "surrogateescape"))
    for kind in (ValueError, zarr.errors.MetadataError):
        with refused(folder, kind, "a/.zarray", *words):
            zarr.open_array(at(folder, "a"), mode="r")
    with refused(folder, ValueError, ".zarray", *words):
        zarr.open(at(folder), mode="r")["a"]
    with refused(folder, ValueError, ".zarray", *words):
        zarr.open_array(at(folder, "a"), mode="a", shape=3)


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"zarr_format": 3}'])
def test_group_metadata_that_says_nothing_sensible_is_named(folder: Path, text: str) -> None:
    Path(at(folder, ".zgroup")).write_text(text)
    for mode in ("r", "r+", "a"):
        with refused(folder, ValueError, ".zgroup"):
            zarr.open_group(at(folder), mode=mode)


@pytest.mark.parametrize("text", ["", "{", "[]", '"kept"'])
def test_attributes_that_are_no_json_object_are_named_and_not_written_over(
    folder: Path, text: str
) -> None:
    Path(at(folder, ".zattrs")).write_text(text)
    group = zarr.open_group(at(folder), mode="r+")
    with refused(folder, ValueError, ".zattrs"):
        group.attrs["title"]
    with refused(folder, ValueError, ".zattrs"):
        group.attrs["other"] = 1


def test_an_attribute_that_json_does_not_have_leaves_the_others(folder: Path) -> None:
    group = zarr.open_group(at(folder), mode="r+")
    with refused(folder, TypeError, "when", "JSON"):
        group.attrs["when"] = object()
    with refused(folder, TypeError, "when", "JSON"):
        group.attrs.put({"title": "new", "when": {1, 2}})
    assert group.attrs.asdict() == {"title": "kept"}


# Codecs

UNKNOWN = {
    "imagecodecs_jpeg2k": "pip install imagecodecs",
    "zfpy": "numcodecs[zfpy]",
    "flac": "flac-numcodecs",
    "mylab_squash": "mylab_squash",
    "blosc3": "did you mean 'blosc'",
}


@pytest.mark.parametrize("codec", UNKNOWN)
@pytest.mark.parametrize("place", ["compressor", "filters"])
def test_an_unknown_codec_is_named_with_the_package_that_has_it(
    folder: Path, codec: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(codec_registry, codec, raising=False)
    config: Any = {"id": codec, "level": 3}
    changes = {place: [config] if place == "filters" else config}
    Path(at(folder, "a/.zarray")).write_text(document(**changes))
    with refused(folder, ValueError, repr(codec), UNKNOWN[codec], "a"):
        zarr.open(at(folder, "a"), mode="r")[...]
    with refused(folder, zarr.errors.UnknownCodecError, repr(codec), UNKNOWN[codec]):
        zarr.open(at(folder, "a"), mode="r+")[0] = 1


def test_stored_pickles_are_not_executed(folder: Path) -> None:
    Path(at(folder, "a/.zarray")).write_text(
        document(dtype="|O", filters=[{"id": "pickle", "protocol": 5}], fill_value=None)
    )
    Path(at(folder, "a/0.0")).write_bytes(b"cos\nsystem\n(S'touch executed'\ntR.")
    with contextlib.chdir(folder), refused(folder, ValueError, "a"):
        zarr.open(at(folder, "a"), mode="r")[...]
