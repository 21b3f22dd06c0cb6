"""Data types as objects: which JSON, dtypes and values each class accepts."""

import datetime

import numpy as np
import pytest
import zarrix as zarr
from zarrix import dtype as types
from zarrix.dtype import (
    Bool,
    Complex64,
    DateTime64,
    FixedLengthUTF32,
    Float32,
    Float64,
    Int8,
    Int16,
    Int32,
    NullTerminatedBytes,
    RawBytes,
    Struct,
    Structured,
    TimeDelta64,
    UInt8,
    VariableLengthBytes,
    VariableLengthUTF8,
    ZDType,
    parse_dtype,
)
from zarrix.errors import DataTypeValidationError

PLAIN = (
    *(types.Bool, types.Int8, types.Int16, types.Int32, types.Int64),
    *(types.UInt8, types.UInt16, types.UInt32, types.UInt64),
    *(types.Float16, types.Float32, types.Float64, types.Complex64, types.Complex128),
)
EXAMPLES = [
    *(one() for one in PLAIN),
    *(FixedLengthUTF32(length=3), NullTerminatedBytes(length=3), RawBytes(length=3)),
    *(DateTime64(unit="s", scale_factor=10), TimeDelta64(unit="ns")),
    *(VariableLengthUTF8(), VariableLengthBytes()),
    Struct(fields=[("a", Int16()), ("b", Struct(fields=[("c", Float32())]))]),
]
OF_ONE_BYTE = ("b1", "i1", "u1", "S3", "V3")


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("one", EXAMPLES, ids=repr)
def test_a_class_reads_its_own_json_and_no_other_class_does(one, zarr_format):
    document = one.to_json(zarr_format)
    for other in EXAMPLES:
        if type(other) is type(one):
            assert type(other).from_json(document, zarr_format=zarr_format) == one
        else:
            with pytest.raises(DataTypeValidationError):
                type(other).from_json(document, zarr_format=zarr_format)
    assert parse_dtype(document, zarr_format=zarr_format) == one


@pytest.mark.parametrize("one", EXAMPLES, ids=repr)
def test_a_class_has_its_own_dtypes_and_no_other_class_has_them(one):
    dtype = one.to_native_dtype()
    for other in EXAMPLES:
        if type(other) is type(one):
            assert type(other).from_native_dtype(dtype) == one
            assert isinstance(dtype, type(one).dtype_cls)
        else:
            with pytest.raises(DataTypeValidationError):
                type(other).from_native_dtype(dtype)


@pytest.mark.parametrize(
    "name",
    [
        "|i2",
        "|f4",
        "|U1",
        "|M8[ns]",
        "=u1",
        "=i2",
        "int16",
        "i2",
        "<i9",
        "<V",
        "<V-1",
        "<V4x",
        "<V٤",
        *("<O", "", "<i2 ", "<M8[x]", "<M8[0s]", f"<M8[{2**40}s]"),
        *([["a", "|i2"]], [["a", "i2"]], None, 3, {}, [["a"]], []),
    ],
)
def test_what_is_not_a_name_of_v2_is_refused(name):
    for document in (name, {"name": name, "object_codec_id": None}):
        with pytest.raises(DataTypeValidationError):
            ZDType.from_json(document, zarr_format=2)


@pytest.mark.parametrize(
    "document",
    [
        {"name": "|i1", "object_codec_id": "vlen-utf8"},
        {"name": "|O", "object_codec_id": None},
        {"name": "|O", "object_codec_id": "pickle"},
        {"name": "|i1"},
        {"name": "|i1", "object_codec_id": None, "more": 1},
        "|O",
    ],
    ids=repr,
)
def test_a_name_of_v2_with_a_wrong_object_codec_is_refused(document):
    with pytest.raises(DataTypeValidationError):
        ZDType.from_json(document, zarr_format=2)


@pytest.mark.parametrize("code", OF_ONE_BYTE)
@pytest.mark.parametrize("order", "<>|")
def test_the_byte_order_of_a_v2_name_without_one_is_written_as_a_bar(code, order):
    read = ZDType.from_json(f"{order}{code}", zarr_format=2)
    assert read.to_json(2) == {"name": f"|{code}", "object_codec_id": None}


@pytest.mark.parametrize("name", ["int8", "float64", "string", "bool", "variable_length_utf8"])
def test_a_configuration_that_a_data_type_does_not_have_is_refused(name):
    ZDType.from_json({"name": name}, zarr_format=3)
    with pytest.raises(DataTypeValidationError, match="does not have a configuration"):
        ZDType.from_json({"name": name, "configuration": {"endianness": "little"}}, zarr_format=3)


@pytest.mark.parametrize("endianness", ["little", "big"])
def test_a_data_type_has_the_byte_order_that_it_is_made_with(endianness):
    sign = {"little": "<", "big": ">"}[endianness]
    for one in (
        Int16(endianness=endianness),
        Float64(endianness=endianness),
        FixedLengthUTF32(length=2, endianness=endianness),
        DateTime64(unit="s", scale_factor=3, endianness=endianness),
    ):
        dtype = one.to_native_dtype()
        assert dtype.str[0] == sign
        assert repr(dtype) == repr(np.dtype(dtype.str))
        assert one.endianness == endianness
        assert type(one).from_native_dtype(dtype) == parse_dtype(dtype) == one
        assert one.to_json(2)["name"] == dtype.str
        assert type(one).from_json(one.to_json(2), zarr_format=2) == one
        assert type(one).from_json(one.to_json(3)).to_native_dtype().isnative
    record = Struct(fields=[("a", Int16(endianness=endianness)), ("b", Int8())])
    assert record.fields == (("a", Int16(endianness=endianness)), ("b", Int8()))


def test_an_array_of_v2_has_the_data_type_of_its_byte_order():
    z = zarr.create_array({}, shape=2, dtype=Int16(endianness="big"), zarr_format=2)
    z[:] = [1, -2]
    assert z.dtype == np.dtype(">i2")
    assert z.metadata.data_type == Int16(endianness="big")
    assert z[:].tolist() == [1, -2]
    assert zarr.create_array({}, shape=2, dtype=Int16(endianness="big")).dtype == np.dtype("i2")


@pytest.mark.parametrize("wrong", ["middle", ">", None])
def test_a_byte_order_that_does_not_exist_is_refused(wrong):
    with pytest.raises(ValueError, match="endianness"):
        Int32(endianness=wrong)


@pytest.mark.parametrize("kind", [NullTerminatedBytes, RawBytes, FixedLengthUTF32])
@pytest.mark.parametrize("length", [0, -1])
def test_elements_without_bytes_are_refused(kind, length):
    with pytest.raises(ValueError, match="at least 1"):
        kind(length=length)


@pytest.mark.parametrize("kind", [DateTime64, TimeDelta64])
def test_units_and_factors_of_time_are_checked(kind):
    for unit in ("invalid", "", None):
        with pytest.raises(ValueError, match="unit"):
            kind(unit=unit)
    for factor in (0, -1, 2**31):
        with pytest.raises(ValueError, match="scale_factor"):
            kind(unit="s", scale_factor=factor)
    assert kind(unit="μs") == kind(unit="us")
    generic = kind(unit="generic", scale_factor=2)
    assert (generic.unit, generic.scale_factor) == ("generic", 2)
    for zarr_format in (2, 3):
        document = generic.to_json(zarr_format)
        assert kind.from_json(document, zarr_format=zarr_format) == generic


def test_a_structure_has_fields_and_its_older_name_has_pairs():
    with pytest.raises(ValueError, match="at least one field"):
        Struct(fields=[])
    fields = [("a", Int8()), ("b", Float64())]
    older = Structured(fields=fields)
    pairs = {"name": "structured", "configuration": {"fields": [["a", "int8"], ["b", "float64"]]}}
    assert older.to_json() == pairs
    assert Structured.from_json(pairs) == older
    assert Struct.from_json(pairs) == Struct(fields=fields)
    assert Struct(fields=fields).to_json()["name"] == "struct"
    assert older.to_json(2) == Struct(fields=fields).to_json(2)


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        (Int8(), -1, np.int8(-1)),
        (Int8(), "7", np.int8(7)),
        (Bool(), True, np.True_),
        (Float32(), "NaN", np.float32("nan")),
        (Complex64(), 1 + 2j, np.complex64(1 + 2j)),
        (NullTerminatedBytes(length=2), "abc", np.bytes_(b"ab")),
        (RawBytes(length=2), b"ab", np.void(b"ab")),
        (RawBytes(length=2), np.void(b"ab"), np.void(b"ab")),
        (FixedLengthUTF32(length=2), "abc", np.str_("ab")),
        (VariableLengthBytes(), "ab", b"ab"),
        (VariableLengthBytes(), bytearray(b"ab"), b"ab"),
        (VariableLengthUTF8(), "hi", "hi"),
        (DateTime64(unit="Y"), "2005", np.datetime64("2005", "Y")),
        (DateTime64(unit="D"), datetime.date(2005, 2, 3), np.datetime64("2005-02-03", "D")),
        (TimeDelta64(unit="s"), 4, np.timedelta64(4, "s")),
        (Struct(fields=[("a", Int8()), ("b", Float64())]), (1, 2.5), (1, 2.5)),
        (Struct(fields=[("a", Int8()), ("b", Float64())]), [1, 2.5], (1, 2.5)),
    ],
    ids=repr,
)
def test_a_value_becomes_an_element(kind, value, expected):
    element = kind.cast_scalar(value)
    shown = element.item() if isinstance(expected, tuple) else element
    np.testing.assert_equal(shown, expected)
    np.testing.assert_equal(kind.cast_scalar(element), element)
    if isinstance(expected, np.generic):
        assert element.dtype == kind.to_native_dtype()


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Int8(), {"set!"}),
        (Int8(), ("tuple",)),
        (Int8(), [1, 2]),
        (Float32(), "not a float"),
        (Complex64(), {"type": "dict"}),
        (NullTerminatedBytes(length=1), 1.0),
        (RawBytes(length=1), 1.0),
        (VariableLengthBytes(), 1.0),
        (DateTime64(unit="Y"), 1.3),
        (TimeDelta64(unit="Y"), [1.3]),
        (Struct(fields=[("a", Int8())]), "text"),
        (Struct(fields=[("a", Int8()), ("b", Int8())]), (1, 2, 3)),
        (Struct(fields=[("a", Int8())]), {"a": 1}),
    ],
    ids=repr,
)
def test_a_value_that_no_element_can_have_is_a_type_error(kind, value):
    with pytest.raises(TypeError, match="is not an element"):
        kind.cast_scalar(value)


@pytest.mark.parametrize("value", [128, -129, 300, 2**70])
def test_a_number_out_of_range_does_not_wrap(value):
    with pytest.raises(OverflowError):
        Int8().cast_scalar(value)
    with pytest.raises(OverflowError):
        UInt8().to_json_scalar(value - 2**71)


@pytest.mark.parametrize(
    ("kind", "value", "v2", "v3"),
    [
        (Struct(fields=[("a", UInt8()), ("b", UInt8())]), (1, 2), "AQI=", {"a": 1, "b": 2}),
        (Float64(), float("inf"), "Infinity", "Infinity"),
        (NullTerminatedBytes(length=3), b"ab", "YWIA", "YWI="),
        (VariableLengthBytes(), b"ab", "YWI=", "YWI="),
        (DateTime64(unit="s"), 5, 5, 5),
    ],
    ids=repr,
)
def test_an_element_is_written_as_each_format_writes_it(kind, value, v2, v3):
    for zarr_format, expected in ((2, v2), (3, v3)):
        written = kind.to_json_scalar(value, zarr_format=zarr_format)
        assert written == expected
        element = kind.from_json_scalar(written, zarr_format=zarr_format)
        assert element == kind.cast_scalar(value)


def test_not_a_time_is_read_in_both_formats():
    for zarr_format in (2, 3):
        assert np.isnat(DateTime64(unit="ns").from_json_scalar("NaT", zarr_format=zarr_format))


def test_fields_of_numpy_are_not_taken_for_those_of_a_document():
    for zarr_format in (2, 3):
        found = parse_dtype([("x", "f4"), ("y", np.int8)], zarr_format=zarr_format)
        assert found == Struct(fields=[("x", Float32()), ("y", Int8())])
        assert parse_dtype("int16", zarr_format=zarr_format) == Int16()
    assert parse_dtype([["x", "<f4"]], zarr_format=2) == Struct(fields=[("x", Float32())])
