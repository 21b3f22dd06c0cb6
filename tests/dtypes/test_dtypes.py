"""Dtypes and fill values, to JSON and back."""

import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from zarrix import util
from zarrix._dtypes.v2 import (
    decode_dtype,
    decode_fill_value,
    encode_dtype,
    encode_fill_value,
    fill_value_bytes,
    normalize_fill_value,
)
from zarrix._errors import MetadataError

SCALARS = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="?"),
    npst.floating_dtypes(endianness="?"),
    npst.complex_number_dtypes(endianness="?"),
    npst.datetime64_dtypes(endianness="?"),
    npst.timedelta64_dtypes(endianness="?"),
    npst.byte_string_dtypes(min_len=1),
    npst.unicode_string_dtypes(min_len=1, endianness="?"),
)


def through_json(value):
    return json.loads(util.json_dumps(value))


@given(st.one_of(SCALARS, npst.nested_dtypes(SCALARS).filter(lambda d: d.subdtype is None)))
def test_every_fixed_size_dtype_survives_its_document(dtype):
    decoded = decode_dtype(through_json(encode_dtype(dtype)))
    assert decoded == dtype
    assert decoded.itemsize == dtype.itemsize


def test_padding_of_an_aligned_structure_is_padding_again():
    dtype = np.dtype([("a", "i1"), ("b", "<f8"), ("c", "<i2")], align=True)
    decoded = decode_dtype(through_json(encode_dtype(dtype)))
    assert decoded.names == ("a", "b", "c")
    assert decoded == dtype


def test_titles_of_fields_survive():
    dtype = np.dtype([(("a title", "a"), "<i4"), ("b", "<i4")])
    assert decode_dtype(through_json(encode_dtype(dtype))) == dtype


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (["<f4"], "not [name, dtype]"),
        ([["a"]], "not [name, dtype]"),
        ([["a", "|O"]], "objects"),
        ("nonsense", "not a NumPy dtype"),
        (None, "not a NumPy dtype"),
        (5, "not a NumPy dtype"),
        ({"a": 1}, "not a NumPy dtype"),
        ("<M8", "generic units"),
        ("|S0", "no bytes"),
        ([], "no bytes"),
        ("(2,3)<f4", "its axes belong in 'shape'"),
        ("|V99999999999999999999", "not a NumPy dtype"),
        ([["a", "<f4", [-1]]], "not a NumPy dtype"),
        ([["a", "<f4", ["x"]]], "not a NumPy dtype"),
        ([["a", "<f4"], ["a", "<f4"]], "not a NumPy dtype"),
    ],
)
def test_a_document_that_names_no_usable_dtype_is_refused(document, words):
    with pytest.raises(MetadataError) as caught:
        decode_dtype(document, "x/.zarray: key 'dtype'")
    assert str(caught.value).startswith("x/.zarray: key 'dtype'")
    assert words in str(caught.value)


@given(st.data())
def test_every_fill_value_survives_its_document(data):
    dtype = data.draw(st.one_of(SCALARS, npst.array_dtypes(SCALARS).map(lambda d: d.base)))
    value = data.draw(npst.arrays(dtype, ()))[()]
    fill = normalize_fill_value(value, dtype)
    decoded = decode_fill_value(through_json(encode_fill_value(fill, dtype)), dtype)
    expected, found = np.array(value, dtype), np.array(decoded, dtype)
    if dtype.kind in "fc":
        # NaNs with any payload are one value in the document.
        assert np.array_equal(expected, found, equal_nan=True)
    else:
        assert expected.tobytes() == found.tobytes()


class Time(np.ndarray):
    """An element that warns about such a comparison as NumPy 2.5 does, with any NumPy."""

    def __eq__(self, other: object) -> bool:
        raise DeprecationWarning("the 'generic' unit for NumPy timedelta is deprecated")


@pytest.mark.parametrize("count", [0, 1, -5, np.iinfo("i8").min])
@pytest.mark.parametrize("kind", ["m", "M"])
def test_a_fill_value_that_is_a_time_is_not_compared_to_a_number(kind, count):
    dtype = np.dtype(f"{kind}8[s]")
    value = np.array(count, "i8").view(dtype)
    assert np.asarray(normalize_fill_value(value.view(Time), dtype)).view("i8") == count


@pytest.mark.parametrize(
    ("document", "dtype", "expected"),
    [
        (0.0, "<i4", np.int32(0)),
        (1, "|b1", np.True_),
        (0, "|S3", b"0"),
        ("abc", "|S3", b"abc"),
        ("YWJj", "|S3", b"abc"),
        (0, "<U3", "0"),
        ("NaT", "<M8[ns]", np.datetime64("NaT", "ns")),
        (3.5, "<c8", np.complex64(3.5)),
        ([0, "Infinity"], "<c16", complex(0, math.inf)),
        (None, "<f4", None),
        ("AQ==", "|V3", np.void(b"\x01\x00\x00")),
    ],
)
def test_old_and_foreign_forms_of_fill_values_are_understood(document, dtype, expected):
    found = decode_fill_value(document, np.dtype(dtype))
    assert np.array(found).tobytes() == np.array(expected).tobytes()


@pytest.mark.parametrize("name", ["NaN", "Infinity", "-Infinity"])
def test_named_floats_have_the_dtype_of_the_array(name):
    value = decode_fill_value(name, np.dtype("<f2"))
    assert type(value) is np.float16
    assert encode_fill_value(value, np.dtype("<f2")) == name


@pytest.mark.parametrize(
    ("document", "dtype"),
    [
        (300, "|u1"),
        (-1, "<u4"),
        (1.5, "<i4"),
        (5, "|b1"),
        ("NaN", "<i4"),
        ([1, 2], "<i4"),
        ([1, 2], "<f4"),
        ("text", "<f4"),
        (1e300, "<f4"),
        (70000, "<f2"),
        ([1, 2, 3], "<c8"),
        ({}, "<f8"),
        (2**70, "<M8[ns]"),
        (2**70, "<f8"),
        ("AAAAAAAA", "|V3"),
        ("not base64!", "|V3"),
        (0, "|V3"),
    ],
)
def test_a_fill_value_that_does_not_fit_is_refused(document, dtype):
    if (document, dtype) == (2**70, "<f8"):
        assert decode_fill_value(document, np.dtype(dtype)) == 2.0**70
        return
    with pytest.raises(MetadataError) as caught:
        decode_fill_value(document, np.dtype(dtype))
    assert str(caught.value).startswith(f"key 'fill_value' is {document!r}, which does not fit")


@pytest.mark.parametrize(
    ("value", "dtype"), [("x", "<i4"), (math.nan, "<i4"), (300, "|u1"), (5, "<U3"), ({}, "<f4")]
)
def test_a_fill_value_that_numpy_cannot_cast_is_refused(value, dtype):
    if dtype == "<U3":
        with pytest.raises(MetadataError, match="not a str"):
            normalize_fill_value(value, np.dtype(dtype))
        return
    with pytest.raises(MetadataError, match=r"fill_value .* does not fit dtype"):
        normalize_fill_value(value, np.dtype(dtype))


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [
        (None, "<f4", None),
        (0, "<f4", None),
        (np.float32(1), "<f4", b"\x00\x00\x80\x3f"),
        (np.float32(1), ">f4", b"\x3f\x80\x00\x00"),
        (-0.0, "<f8", b"\x00" * 7 + b"\x80"),
        ("a", "<U2", b"a\x00\x00\x00\x00\x00\x00\x00"),
        ("", "<U2", None),
    ],
)
def test_the_engine_gets_one_element_in_the_byte_order_of_the_array(value, dtype, expected):
    assert fill_value_bytes(value, np.dtype(dtype)) == expected


@pytest.mark.parametrize(
    ("dtype", "codec"),
    [
        (str, {"id": "vlen-utf8"}),
        ("str", {"id": "vlen-utf8"}),
        (bytes, {"id": "vlen-bytes"}),
        ("array:i4", {"id": "vlen-array", "dtype": "<i4"}),
        (object, None),
        (np.object_, None),
        ("O", None),
    ],
)
def test_dtypes_without_a_size_are_objects_with_the_codec_of_their_name(dtype, codec):
    assert util.normalize_dtype(dtype) == (np.dtype(object), codec)
    assert util.normalize_dtype(dtype, "another") == (np.dtype(object), "another")


def test_the_bytes_between_the_fields_of_a_fill_value_are_zero():
    # NumPy copies a structure field by field, and leaves the bytes in between as they were.
    dtype = np.dtype([("a", "u1"), ("b", "f8")], align=True)
    value = np.frombuffer(b"\xff" * 16, dtype)[0]
    for _ in range(100):
        assert fill_value_bytes(value, dtype) == b"\xff" + bytes(7) + b"\xff" * 8
