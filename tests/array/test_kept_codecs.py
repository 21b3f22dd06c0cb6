"""The codecs of an array, taken for a new array of any other data type."""

import itertools
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix import codecs, jobs

NUMBERS = ("?", "i1", "u1", "i2", ">u2", "i4", ">i8", "u8", "f2", "f4", ">f8", "c8", "c16")
SOME = ("?", "u1", "i2", ">f8")
OTHERS = ("M8[ns]", "m8[s]", "S3", "U2", "V5", "str", [("a", "i1"), ("b", ">f4")])
PAIRS = list(itertools.product((*NUMBERS, *OTHERS), repeat=2))

LAYOUTS = {
    "plain": {},
    "sharded": {"shards": (6, 4)},
    "blosc": {"compressors": codecs.BloscCodec(cname="lz4"), "shards": (6, 4)},
    "none": {"compressors": None},
    "transposed": {"filters": [codecs.TransposeCodec(order=(1, 0))], "shards": (6, 4)},
}


def _v3(dtype, layout):
    dtype = str if dtype == "str" else dtype
    return zarr.create_array({}, shape=(6, 4), chunks=(3, 2), dtype=dtype, **LAYOUTS[layout])


def _holds(array, dtype):
    """Whether elements of a data type come back."""
    values = np.zeros(array.shape, dtype) if dtype != "str" else np.full(array.shape, "ä")
    if np.dtype(values.dtype).kind in "iufc":
        values[...] = np.arange(values.size).reshape(values.shape) % 100
    array[:] = values
    found = array[:]
    assert (found == values).all(), (array, dtype)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_data_type_gets_the_codecs_of_every_other_in_v3(layout):
    for before, after in PAIRS:
        source = _v3(before, layout)
        made = zarr.empty_like(source, dtype=str if after == "str" else after)
        assert (made.shape, made.chunks, made.shards) == (source.shape, (3, 2), source.shards)
        if layout == "none":
            assert made.compressors == ()
        if layout == "transposed":
            assert made.filters == source.filters
        _holds(made, after)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_casts_of_every_numeric_pair_keep_the_layout(layout, tmp_path):
    for number, (before, after) in enumerate(itertools.product(SOME, NUMBERS[:-2])):
        source = _v3(before, layout)
        values = np.arange(24).reshape(6, 4).astype(before)
        source[:] = values
        expected = values.astype(after)
        from_view = zarr.from_array({}, data=source.astype(after))
        group = zarr.group({}, zarr_format=3)
        zarr.copy(source, group, name="copy", dtype=after)
        made = [from_view, group["copy"]]
        if number % 5 == 0:
            place = tmp_path / str(number)
            made.append(jobs.rechunk(source, place / "r", dtype=after))
            cast = jobs.map_chunks(
                lambda a, to=after: a.astype(to), source, dest=place / "m", dtype=after
            )
            made.append(cast)
        for array in made:
            np.testing.assert_array_equal(array[:], expected)
            assert (array.chunks, array.shards) == (source.chunks, source.shards)


def test_values_that_follow_from_the_elements_are_found_anew():
    source = zarr.create_array({}, shape=8, dtype="u1", compressors=codecs.BloscCodec())
    document = zarr.empty_like(source, dtype="f8").compressors[0].to_dict()["configuration"]
    assert (document["typesize"], document["shuffle"]) == (8, "shuffle")
    chosen = codecs.BloscCodec(typesize=4, shuffle="noshuffle", clevel=9)
    source = zarr.create_array({}, shape=8, dtype="u1", compressors=chosen)
    document = zarr.empty_like(source, dtype="f8").compressors[0].to_dict()["configuration"]
    assert (document["typesize"], document["shuffle"], document["clevel"]) == (4, "noshuffle", 9)
    big = zarr.create_array({}, shape=8, dtype="i4", serializer=codecs.BytesCodec(endian="big"))
    assert zarr.empty_like(big, dtype="f8").serializer == codecs.BytesCodec(endian="big")


def test_nested_shards_of_one_byte_hold_wider_elements():
    inner = codecs.ShardingCodec(chunk_shape=(2,), codecs=[codecs.BytesCodec(endian=None)])
    source = zarr.create_array(
        {}, shape=16, chunks=4, shards=8, dtype="u1", serializer=inner, compressors=None
    )
    made = zarr.empty_like(source, dtype="f8")
    assert made.serializer.chunk_shape == (2,)
    _holds(made, "f8")


@pytest.mark.parametrize("filters", ["none", "delta", "quantize", "fixed", "text"])
def test_every_data_type_gets_the_codecs_of_every_other_in_v2(filters):
    for before, after in PAIRS:
        kind = np.dtype(before).kind if before != "str" else "O"
        if filters == "delta" and (kind not in "iuf" or before in ("f2", "?")):
            continue
        if filters in ("quantize", "fixed") and kind != "f":
            continue
        if (filters == "text") != (before == "str"):
            continue
        name = np.dtype(before).str if before != "str" else ""
        given = {
            "delta": [numcodecs.Delta(dtype=name)] if kind in "iuf" else None,
            "quantize": [numcodecs.Quantize(digits=2, dtype=name)] if kind == "f" else None,
            "fixed": [numcodecs.FixedScaleOffset(0, 10, dtype=name, astype="i2")]
            if kind == "f"
            else None,
        }.get(filters)
        dtype = str if before == "str" else before
        source = zarr.create(
            (6, 4),
            chunks=(3, 2),
            dtype=dtype,
            filters=given,
            zarr_format=2,
            compressor=numcodecs.Zlib(3),
        )
        wanted = str if after == "str" else after
        made = zarr.empty_like(source, dtype=wanted)
        assert made.chunks == (3, 2)
        assert made.compressor == numcodecs.Zlib(3)
        if filters != "fixed":
            _holds(made, after)


def test_an_array_of_other_axes_takes_the_codecs_that_fit():
    source = zarr.create_array({}, shape=(6, 4), chunks=(3, 2), dtype="u1", order="F")
    made = zarr.empty_like(source, shape=(5,), chunks=(2,), shards=None, dtype="f4")
    _holds(made, "f4")


@pytest.mark.parametrize(
    ("zarr_format", "encoding"),
    [
        (2, None),
        (2, {"name": "v2", "separator": "/"}),
        (3, None),
        (3, {"name": "v2", "separator": "/"}),
        (3, {"name": "default", "separator": "."}),
    ],
)
def test_from_array_takes_the_keys_of_chunks(zarr_format: Any, encoding: Any) -> None:
    source = zarr.create_array(
        {}, shape=(4, 4), chunks=(2, 2), dtype="i4", zarr_format=zarr_format,
        chunk_key_encoding=encoding,
    )  # fmt: skip
    assert zarr.from_array({}, data=source).metadata.to_dict() == source.metadata.to_dict()
    other = zarr.from_array({}, data=source, zarr_format=5 - zarr_format)
    assert other.metadata.chunk_key_encoding.name == ("v2" if zarr_format == 3 else "default")
    given = ("v2", "/")
    named = zarr.from_array({}, data=source, chunk_key_encoding=given)
    assert named.metadata.chunk_key_encoding.encode_chunk_key((0, 1)) == "0/1"
