"""Codecs that would lose what they are given are refused where an array is made, and only there."""

import json
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarrix as zarr
from zarrix.codecs import numcodecs as v3_codecs
from zarrix.errors import BadCompressorError, MetadataError

FIELDS = [("a", "<i4"), ("b", "<f4")]
DELTA, SCALE = numcodecs.Delta, numcodecs.FixedScaleOffset

REFUSED: list[tuple[Any, Any, str, str]] = [
    # Data type, codec, what the message says of it, the way out.
    ("u1", numcodecs.PackBits(), "'packbits' preserves bool only", "dtype=bool"),
    ("i4", numcodecs.PackBits(), "elements of data type int32", "dtype=bool"),
    ("M8[s]", numcodecs.PackBits(), "data type datetime64[s]", "leave it out"),
    ("i4", numcodecs.Quantize(2, "<f4"), "floating-point numbers only", "leave it out"),
    ("<f8", numcodecs.Quantize(2, "<f4"), "data type float32", "pass it dtype='<f8'"),
    ("?", numcodecs.Quantize(2, "<f4"), "data type bool", "leave it out"),
    ("M8[s]", numcodecs.Quantize(2, "<f8"), "data type datetime64[s]", "leave it out"),
    ("<f8", SCALE(0, 10, "<f4"), "data type float32", "pass it dtype='<f8'"),
    ("<i8", SCALE(0, 10, "<f8"), "data type float64", "pass it dtype='<i8'"),
    ("?", SCALE(0, 10, "?"), "numbers only", "leave it out"),
    ("M8[s]", SCALE(0, 10, "<i8"), "data type datetime64[s]", "leave it out"),
    ("S4", SCALE(0, 10, "<i4"), "data type |S4", "leave it out"),
    ("i4", numcodecs.BitRound(3), "float16, float32 and float64 only", "leave it out"),
    ("c8", numcodecs.BitRound(3), "data type complex64", "leave it out"),
    ("?", DELTA("?"), "differences of numbers", "pass it dtype='|i1'"),
    ("M8[s]", DELTA("<M8[s]"), "differences of numbers", "pass it dtype='<i8'"),
    ("m8[s]", DELTA("<m8[s]"), "data type timedelta64[s]", "pass it dtype='<i8'"),
    ("S3", DELTA("S3"), "differences of numbers", "leave it out"),
    ("<i4", DELTA("<f4"), "data type float32", "pass it dtype='<i4'"),
    ("<f8", DELTA("<f4"), "data type float32", "pass it dtype='<f8'"),
    ("<f8", numcodecs.AsType("<f2", "<f4"), "data type float32", "decode_dtype='<f8'"),
    ("<U4", numcodecs.Categorize(["a"], "<U3"), "data type <U3", "pass it dtype='<U4'"),
    ("i4", numcodecs.Categorize(["a"], "<U1"), "text only", "leave it out"),
    (FIELDS, DELTA("<f4"), "data type float32", "preserves all bits"),
    (FIELDS, numcodecs.PackBits(), "bool only", "leave it out"),
]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(("dtype", "codec", "what", "instead"), REFUSED)
def test_a_filter_that_would_lose_elements_is_refused(
    dtype: Any, codec: Any, what: str, instead: str, zarr_format: int
) -> None:
    store: dict[str, Any] = {}
    with pytest.raises(BadCompressorError) as caught:
        zarr.create_array(
            store, shape=8, dtype=dtype, filters=[codec], zarr_format=zarr_format, compressors=None
        )
    message = str(caught.value)
    assert message.startswith(f"codec {codec.codec_id!r} preserves ")
    assert what in message
    assert instead in message
    assert store == {}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "codec"),
    [
        ("?", numcodecs.PackBits()),
        ("<f4", numcodecs.Quantize(9, "<f4")),
        ("<f4", numcodecs.BitRound(23)),
        ("<i4", SCALE(0, 1, "<i4")),
        ("<c8", SCALE(0, 1, "<c8")),
        ("?", DELTA("|i1")),
        ("<M8[s]", DELTA("<i8")),
        ("S4", DELTA("<u4")),
        ("<c8", DELTA("<c8")),
        ("<f4", DELTA("<i4")),
        ("<M8[s]", numcodecs.AsType("<i8", "<M8[s]")),
        ("<U2", numcodecs.Categorize(["ab", "1"], "<U2")),
        (FIELDS, DELTA("<i8")),
    ],
)
def test_what_the_message_advises_keeps_every_bit(dtype: Any, codec: Any, zarr_format: int) -> None:
    values = np.zeros(8, dtype)
    if values.dtype.kind == "U":
        values[:] = ["ab", "1", "", "1"] * 2
    elif values.dtype.kind in "fc":
        values[:] = [0, 1, -2.5, 100, 7, 0.5, 3, 1e5]
        values = values if codec.codec_id != "fixedscaleoffset" else values.round()
    else:
        values[:4] = np.frombuffer(bytes(range(4 * values.itemsize)), dtype)
        values = values if values.dtype.kind != "b" else np.arange(8) % 3 == 0
    z = zarr.create_array(
        {}, data=values, filters=[codec], zarr_format=zarr_format, compressors=None
    )
    assert z[...].tobytes() == values.tobytes()


@pytest.mark.parametrize("codec", [DELTA("<i4"), numcodecs.PackBits(), SCALE(0, 1, "|u1")])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_typed_filters_are_not_for_elements_without_a_size(codec: Any, zarr_format: int) -> None:
    with pytest.raises((BadCompressorError, MetadataError)) as caught:
        zarr.create_array(
            {}, shape=3, dtype=str, filters=[codec], zarr_format=zarr_format, compressors=None
        )
    assert codec.codec_id in str(caught.value)
    assert "leave it out" in str(caught.value) or "|i1" in str(caught.value)


@pytest.mark.parametrize("codec", [numcodecs.Quantize(1, "<f4"), DELTA("<i4")])
def test_typed_filters_are_not_for_ragged_arrays(codec: Any) -> None:
    with pytest.raises(BadCompressorError, match=f"codec '{codec.codec_id}' preserves"):
        zarr.create(shape=3, dtype="array:f4", filters=[codec], store={})


def test_a_filter_inside_a_shard_is_asked_too() -> None:
    packbits = v3_codecs.PackBits()
    with pytest.raises(BadCompressorError, match="'packbits' preserves bool only"):
        zarr.create_array({}, shape=8, chunks=2, shards=4, dtype="u1", filters=[packbits])


def test_a_filter_is_asked_about_what_reaches_it() -> None:
    values = np.array([0.5, 2.25, -3], "<f8")
    chain = [numcodecs.AsType("<f4", "<f8"), DELTA("<f4")]
    assert zarr.array(values, filters=chain)[...].tolist() == values.tolist()
    with pytest.raises(BadCompressorError, match="data type float32, its input"):
        zarr.array(values, filters=[*chain, SCALE(0, 1, "<f8")])


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_others_stored_with_such_a_filter_opens(zarr_format: int) -> None:
    store: dict[str, Any] = {}
    make: dict[str, Any] = {"zarr_format": zarr_format, "compressors": None}
    make["filters"] = [numcodecs.PackBits()]
    zarr.create_array(store, data=np.array([True, False, True]), **make)
    key = ".zarray" if zarr_format == 2 else "zarr.json"
    document = json.loads(bytes(store[key]))
    document["dtype" if zarr_format == 2 else "data_type"] = "|u1" if zarr_format == 2 else "uint8"
    document["fill_value"] = 0
    store[key] = json.dumps(document).encode()
    z = zarr.open_array(store, mode="r+")
    assert z[...].tolist() == [1, 0, 1]
    z[1] = 1
    assert zarr.open_array(store, mode="r")[...].tolist() == [1, 1, 1]
