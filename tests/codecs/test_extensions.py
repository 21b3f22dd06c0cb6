"""Codecs from the registry of extensions, and what may stand between them."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import BytesCodec, CastValue, ScaleOffset, TransposeCodec
from zarrix.errors import MetadataError


def stored(values: Any, **keywords: Any) -> tuple[Any, dict[str, bytes]]:
    """What reads back of ``values``, and the chunks, not compressed."""
    z = zarr.create_array({}, data=values, compressors=None, **keywords)
    found = {key: bytes(z.store[key]) for key in z.store if "zarr.json" not in key}
    return zarr.open_array(z.store, mode="r"), found


def test_booleans_take_one_bit_each() -> None:
    values = np.random.RandomState(0).randint(0, 2, (100, 80)).astype(bool)
    z, chunks = stored(values, chunks=(50, 80), serializer="packbits")
    assert {len(chunk) for chunk in chunks.values()} == {500}
    np.testing.assert_array_equal(z[...], values)
    np.testing.assert_array_equal(z[33:60, 7:9], values[33:60, 7:9])
    expected = np.packbits(values[:50].reshape(-1), bitorder="little").tobytes()
    assert chunks["c/0/0"] == expected


def test_packed_booleans_are_read_in_shards_too() -> None:
    values = np.random.RandomState(0).randint(0, 2, (64, 64)).astype(bool)
    z, chunks = stored(values, chunks=(8, 8), shards=(32, 32), serializer="packbits")
    assert {len(chunk) for chunk in chunks.values()} == {16 * 8 + 16 * 16 + 4}
    np.testing.assert_array_equal(z[5:40, ::3], values[5:40, ::3])


def test_values_are_cast_scaled_and_rounded_before_they_are_stored() -> None:
    values = np.arange(12, dtype="f8").reshape(3, 4) * 0.5
    chain = [ScaleOffset(offset=1, scale=2), CastValue(data_type="int16", out_of_range="clamp")]
    z, chunks = stored(values, chunks=(3, 4), filters=chain)
    assert chunks["c/0/0"] == ((values - 1) * 2).astype("<i2").tobytes()
    np.testing.assert_array_equal(z[...], values)
    assert [repr(codec) for codec in z.filters] == [repr(codec) for codec in chain]
    rounding = {"name": "bitround", "configuration": {"keepbits": 4}}
    z, _ = stored(values, chunks=(2, 2), filters=rounding)
    np.testing.assert_array_equal(z[...], values)


def test_a_cast_before_a_transposition_is_the_same_as_after_it() -> None:
    values = np.arange(12, dtype="f4").reshape(3, 4)
    turn, cast = TransposeCodec(order=(1, 0)), CastValue(data_type="uint8")
    for chain in ([turn, cast], [cast, turn]):
        z, chunks = stored(values, chunks=(3, 4), filters=chain)
        assert chunks["c/0/0"] == values.T.astype("u1").tobytes()
        np.testing.assert_array_equal(z[...], values)


def test_not_a_number_is_mapped_where_the_map_says_so() -> None:
    values = np.array([1, np.nan, 3], "f4")
    mapped = {"encode": [["NaN", 255]], "decode": [[255, "NaN"]]}
    z, chunks = stored(values, filters=CastValue(data_type="uint8", scalar_map=mapped))
    assert chunks["c/0"] == bytes([1, 255, 3])
    np.testing.assert_array_equal(z[...], values)


def test_structures_in_big_endian_order_read_as_native_ones() -> None:
    dtype = np.dtype([("a", "<i2"), ("b", "S3"), ("c", "<c16"), ("d", [("x", "<U2"), ("y", "?")])])
    values = np.zeros(5, dtype)
    values["a"], values["b"], values["c"] = range(5), b"xy", 1 + 2j
    values["d"]["x"] = "é"
    z, chunks = stored(values, serializer=BytesCodec(endian="big"))
    assert z.dtype == dtype
    assert chunks["c/0"] == values.astype(dtype.newbyteorder(">")).tobytes()
    assert z[...].tobytes() == values.tobytes()


@pytest.mark.parametrize(
    ("dtype", "keywords", "words"),
    [
        ("c8", {"filters": ScaleOffset(scale=2)}, "not for complex64"),
        ("f4", {"filters": CastValue(data_type="text")}, "'text'"),
        ("f4", {"filters": {"name": "cast_value"}}, "lacks 'data_type'"),
        ("U3", {"serializer": "packbits"}, "not for <U3"),
    ],
)
def test_a_codec_that_is_not_for_the_data_type_says_so(
    dtype: str, keywords: dict[str, Any], words: str
) -> None:
    with pytest.raises(MetadataError) as caught:
        zarr.create_array({}, shape=3, dtype=dtype, **keywords)
    assert words in str(caught.value)
