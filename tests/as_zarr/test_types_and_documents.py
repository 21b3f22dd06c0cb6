"""Names of zarr-python by which programs ask about data types, fill values and documents."""

import asyncio
import dataclasses
import json
import math
import pickle
import struct
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._as_zarr import dialect
from zarrix._as_zarr.names.core import _json as documents
from zarrix._as_zarr.names.core import dtype as core
from zarrix._as_zarr.names.core.dtype import common as specs
from zarrix._as_zarr.names.core.dtype.npy import common as scalars
from zarrix._as_zarr.names.core.dtype.npy import time
from zarrix._as_zarr.names.core.metadata import v2, v3
from zarrix._as_zarr.names.dtype import DataTypeRegistry, data_type_registry
from zarrix.codecs import BytesCodec, GzipCodec, OtherCodec
from zarrix.core.metadata import ArrayMetadata, ArrayV2Metadata, ArrayV3Metadata
from zarrix.dtype import Bool, Int8, Int16, RawBytes, Struct, UInt8, VariableLengthUTF8, parse_dtype
from zarrix.errors import (
    DataTypeValidationError,
    MetadataValidationError,
    NodeTypeValidationError,
    UnknownCodecError,
)


@pytest.fixture
def as_zarr() -> Iterator[None]:
    dialect.enter()
    try:
        yield
    finally:
        dialect.leave()


# Data types


def test_a_registry_matches_the_classes_that_it_has() -> None:
    registry = DataTypeRegistry()
    with pytest.raises(ValueError, match="int8"):
        registry.match_dtype(np.dtype("i1"))
    registry.register("int8", Int8)
    registry.register("bool", Bool)
    assert registry.get("bool") is Bool
    assert registry.match_dtype(np.dtype("i1")) == Int8()
    assert registry.match_json("int8", zarr_format=3) == Int8()

    class Other(Int8):
        pass

    registry.register("other", Other)
    with pytest.raises(ValueError, match="Int8, Other"):
        registry.match_dtype(np.dtype("i1"))
    registry.unregister("int8")
    assert type(registry.match_dtype(np.dtype("i1"))) is Other
    for forget in (registry.get, registry.unregister):
        with pytest.raises(KeyError):
            forget("int8")
    assert data_type_registry.contents["int8"] is Int8


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", core.ANY_DTYPE)
def test_the_registry_of_all_classes_reads_what_they_write(kind: Any, zarr_format: Any) -> None:
    options: dict[str, Any] = {"length": 3} if issubclass(kind, specs.HasLength) else {}
    if kind is Struct:
        options = {"fields": [("a", Int8()), ("b", Struct(fields=[("c", Int16())]))]}
    one = kind(**options)
    document = one.to_json(zarr_format)
    assert core.get_data_type_from_json(document, zarr_format=zarr_format) == one
    if zarr_format == 2:
        assert specs.check_dtype_spec_v2(document)
        has_codec = isinstance(one, specs.HasObjectCodec)
        assert specs.check_dtype_spec_no_object_codec_v2(document) is not has_codec
        assert specs.unpack_dtype_json(document) == document["name"]
    else:
        assert specs.check_dtype_spec_v3(document)
        assert specs.unpack_dtype_json(document) is document


@pytest.mark.parametrize("name", ["<b1", ">u1", "<V4"])
def test_a_registry_reads_names_of_v2_whose_byte_order_means_nothing(name: str) -> None:
    found = data_type_registry.match_json({"name": name, "object_codec_id": None}, zarr_format=2)
    assert found.to_json(2)["name"] == f"|{name[1:]}"


def test_a_registry_names_the_place_of_a_field_that_it_does_not_know() -> None:
    registry = DataTypeRegistry()
    for kind in (Struct, Int8):
        registry.register(kind._zarr_v3_name, kind)
    inner = Struct(fields=[("x", Int8()), ("y", UInt8())])
    outer = Struct(fields=[("outer", inner)]).to_json(3)
    place = "/configuration/fields/0/data_type/configuration/fields/1/data_type"
    with pytest.raises(DataTypeValidationError, match=f"at {place}$"):
        registry.match_json(outer, zarr_format=3)
    with pytest.raises(DataTypeValidationError, match=r"at /1/1$"):
        registry.match_json(inner.to_json(2), zarr_format=2)


@pytest.mark.parametrize(
    "wrong",
    [
        *("|u1", None, {"name": "|u1"}, {"name": 1, "object_codec_id": None}),
        *({"name": [["a"]], "object_codec_id": None}, {"name": "|O", "object_codec_id": 3}),
    ],
)
def test_what_is_not_a_data_type_of_v2_is_told(wrong: Any) -> None:
    assert not specs.check_dtype_spec_v2(wrong)
    assert not specs.check_dtype_spec_no_object_codec_v2(wrong)


@pytest.mark.parametrize("wrong", [1, None, {"name": "x"}, {"name": "x", "configuration": 1}])
def test_what_is_not_a_data_type_of_v3_is_told(wrong: Any) -> None:
    assert not specs.check_dtype_spec_v3(wrong)


# Fill values


def test_numbers_are_read_and_written_as_json() -> None:
    for value, text in ((math.inf, "Infinity"), (-math.inf, "-Infinity"), (1.5, 1.5)):
        for write, read in (
            (scalars.float_to_json_v2, scalars.float_from_json_v2),
            (scalars.float_to_json_v3, scalars.float_from_json_v3),
        ):
            assert write(value) == write(np.float32(value)) == text
            assert read(text) == value
        pair = (text, text)
        assert scalars.complex_float_to_json_v3(complex(value, value)) == pair
        assert scalars.complex_float_from_json_v2(pair) == complex(value, value)
        assert scalars.complex_float_from_json_v3(pair) == complex(value, value)
    assert math.isnan(scalars.float_from_json_v3("NaN"))
    assert scalars.float_to_json_v2(math.nan) == "NaN"
    for code, value in (("e", 1.5), ("f", 0.1), ("d", 0.1)):
        packed = struct.pack(f">{code}", value)
        expected = struct.unpack(f">{code}", packed)[0]
        assert scalars.float_from_json_v3(f"0x{packed.hex()}") == expected
    for wrong in ("0x", "0x123", "3.5", "", "1x000000"):
        with pytest.raises(ValueError, match="hex digits"):
            scalars.float_from_json_v3(wrong)


def test_json_is_checked_as_zarr_python_checks_it() -> None:
    checks = {
        scalars.check_json_int: [1, True],
        scalars.check_json_bool: [True],
        scalars.check_json_str: ["a", "1", "1.5", "0x0", "NaN", "ab"],
        scalars.check_json_intish_float: [1.0],
        scalars.check_json_intish_str: ["1"],
        scalars.check_json_floatish_str: ["1", "1.5", "NaN"],
        scalars.check_json_float_v2: [1, True, 1.0, 1.5, "NaN"],
        scalars.check_json_float_v3: [1, True, 1.0, 1.5, "0x0", "NaN"],
        scalars.check_json_complex_float_v2: [[1.0, "NaN"]],
        scalars.check_json_complex_float_v3: [[1.0, "NaN"], [1, "0x0"]],
    }
    values: list[Any] = [1, True, 1.0, 1.5, "a", "1", "1.5", "0x0", "NaN", None, {}]
    values += [[1.0, "NaN"], [1, "0x0"], [1], "ab", {"a": 1, "b": 2}]
    for check, right in checks.items():
        told = [value for value in values if check(value)]
        assert [(type(one), one) for one in told] == [(type(one), one) for one in right]


def test_bytes_and_byte_orders_have_their_names() -> None:
    assert scalars.bytes_from_json("YWI=", zarr_format=3) == b"ab"
    assert scalars.bytes_to_json(b"ab", zarr_format=2) == "YWI="
    for name, sign in (("little", "<"), ("big", ">")):
        assert scalars.endianness_to_numpy_str(name) == sign
        assert scalars.endianness_from_numpy_str(sign) == name
        assert scalars.get_endianness_from_numpy_dtype(np.dtype(f"{sign}i4")) == name
    assert scalars.endianness_from_numpy_str("=") == sys.byteorder
    for wrong in ("|", "x"):
        with pytest.raises(ValueError, match="byte order"):
            scalars.endianness_from_numpy_str(wrong)
        with pytest.raises(ValueError, match="byte order"):
            scalars.endianness_to_numpy_str(wrong)
    with pytest.raises(ValueError, match="byte order"):
        scalars.get_endianness_from_numpy_dtype(np.dtype("i1"))
    moment = time.datetime_from_int(3, unit="s", scale_factor=10)
    assert (moment, time.datetimelike_to_int(moment)) == (np.datetime64(30, "s"), 3)


# Documents


@pytest.mark.usefixtures("as_zarr")
def test_members_of_metadata_are_those_of_zarr_python() -> None:
    for separator in (None, "/"):
        z = zarr.create((4, 4), chunks=2, zarr_format=2, dimension_separator=separator)
        members = z.metadata.to_dict()
        assert (members["shape"], members["chunks"]) == ((4, 4), (2, 2))
        assert (members["attributes"], members["dimension_separator"]) == ({}, separator or ".")
        assert ArrayV2Metadata.from_dict(members).to_dict() == members
    z = zarr.create_array({}, shape=(4, 4), chunks=(2, 2), dtype="f8", dimension_names=["x", "y"])
    members = z.metadata.to_dict()
    assert members["shape"] == (4, 4)
    assert members["chunk_grid"]["configuration"]["chunk_shape"] == (2, 2)
    assert (members["dimension_names"], members["storage_transformers"]) == (("x", "y"), ())
    assert [one["name"] for one in members["codecs"]] == ["bytes", "zstd"]
    assert isinstance(members["codecs"], tuple)
    assert ArrayV3Metadata.from_dict(members).to_dict() == members
    assert json.loads(json.dumps(members)) == json.loads(bytes(z.store["zarr.json"]))


@pytest.mark.usefixtures("as_zarr")
@pytest.mark.parametrize(
    ("stored", "separator"),
    [("default", "/"), ({"name": "v2"}, "."), ({"name": "default", "configuration": {}}, "/")],
)
def test_members_that_a_document_leaves_out_are_spelled_out(stored: Any, separator: str) -> None:
    z = zarr.create_array({}, shape=4, dtype="i4")
    document = {**z.metadata.to_dict(), "chunk_key_encoding": stored, "dimension_names": None}
    members = ArrayV3Metadata.from_dict(document).to_dict()
    name = stored if isinstance(stored, str) else stored["name"]
    spelled = {"name": name, "configuration": {"separator": separator}}
    assert members["chunk_key_encoding"] == spelled
    assert "dimension_names" not in members
    assert ArrayV3Metadata.from_dict(members).to_dict() == members


@pytest.mark.usefixtures("as_zarr")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_attributes_and_names_of_metadata_are_replaced(zarr_format: Any) -> None:
    names: Any = {"dimension_names": ["x", "y"]} if zarr_format == 3 else {}
    z = zarr.create_array(
        {}, shape=(4, 6), dtype="f4", zarr_format=zarr_format, attributes={"k": 1}, **names
    )
    named: Any = {"dimension_names": ("a", None)} if names else {}
    changed = dataclasses.replace(z.metadata, attributes={"new": 2}, **named)
    assert changed.attributes == changed.to_dict()["attributes"] == {"new": 2}
    assert z.metadata.attributes == {"k": 1}
    if names:
        assert changed.dimension_names == changed.to_dict()["dimension_names"] == ("a", None)
        assert dataclasses.replace(changed, dimension_names=None).dimension_names is None
        with pytest.raises(ValueError, match="1 dimension_names"):
            dataclasses.replace(changed, dimension_names=("a",))
    else:
        with pytest.raises(TypeError, match="v2 has no dimension_names"):
            dataclasses.replace(changed, dimension_names=("a", "b"))
    back = dataclasses.replace(changed, attributes={"k": 1}, **names)
    assert back == z.metadata
    assert pickle.loads(pickle.dumps(changed)) == changed


def test_attributes_of_metadata_are_not_replaced_without_the_alias() -> None:
    metadata: Any = zarr.zeros(3).metadata
    with pytest.raises(TypeError, match="attributes"):
        dataclasses.replace(metadata, attributes={})


def test_attributes_of_metadata_may_be_what_no_document_has() -> None:
    class Reference:
        def __reduce__(self) -> Any:
            raise TypeError("no copy")

    found = Reference()
    made = ArrayMetadata(3, (2,), (2,), np.dtype("i4"), 0, (), extra={"attributes": {"r": [found]}})
    attributes = made.attributes
    assert attributes["r"][0] is found
    attributes["r"].clear()
    assert made.attributes == {"r": [found]}


def test_metadata_has_the_data_type_that_it_was_made_of() -> None:
    z = zarr.create_array({}, shape=4, dtype=">i8")
    given = parse_dtype(np.dtype(">i8"), zarr_format=3)
    members = {k: one for k, one in z.metadata.to_dict().items() if k not in ("zarr_format",)}
    made = ArrayV3Metadata(**{**members, "data_type": given})
    assert made.data_type.to_native_dtype() == np.dtype(">i8")
    assert (made.dtype, made.to_dict()["data_type"]) == (np.dtype("i8"), "int64")
    assert ArrayV3Metadata(**members).data_type.to_native_dtype() == np.dtype("i8")


def test_a_number_as_an_element_of_bytes_is_its_digits() -> None:
    kind = parse_dtype(np.dtype("S2"), zarr_format=3)
    assert [kind.cast_scalar(one) for one in (0, 123)] == [b"0", b"12"]
    with pytest.raises(TypeError):
        kind.cast_scalar(1.5)


@pytest.mark.usefixtures("as_zarr")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_not_a_number_is_the_usual_one(zarr_format: Any) -> None:
    negative = np.copysign(np.float32(np.nan), np.float32(-1))
    for dtype, value in (("f4", negative), ("f8", negative), ("c8", complex(negative, 2))):
        z = zarr.create_array({}, shape=3, dtype=dtype, fill_value=value, zarr_format=zarr_format)
        expected = ["NaN", 2.0] if dtype == "c8" else "NaN"
        assert z.metadata.to_dict()["fill_value"] == expected
    stored = {**z.metadata.to_dict(), "fill_value": ["0xffc00000", 2.0]}
    if zarr_format == 3:
        assert ArrayV3Metadata.from_dict(stored).to_dict()["fill_value"][0] == "0xffc00000"


def test_not_a_number_keeps_its_bits_without_the_alias() -> None:
    negative = np.copysign(np.float32(np.nan), np.float32(-1))
    z = zarr.create_array({}, shape=3, dtype="f4", fill_value=negative, zarr_format=3)
    assert z.metadata.to_dict()["fill_value"] == "0xffc00000"


def test_members_of_metadata_are_json_without_the_alias() -> None:
    members = zarr.create((4, 4), chunks=2, zarr_format=2).metadata.to_dict()
    assert members["shape"] == [4, 4]
    assert "dimension_separator" not in members


def test_a_format_and_a_type_of_node_are_checked() -> None:
    assert (v2.parse_zarr_format(2), v3.parse_zarr_format(3)) == (2, 3)
    assert v3.parse_node_type_array("array") == "array"
    for wrong in (None, "3", 4, True, 2.5):
        with pytest.raises(ValueError, match="expected 2"):
            v2.parse_zarr_format(wrong)
        with pytest.raises(MetadataValidationError):
            v3.parse_zarr_format(wrong)
        with pytest.raises(NodeTypeValidationError):
            v3.parse_node_type_array(wrong)


def test_lists_of_documents_become_tuples() -> None:
    assert v3.parse_storage_transformers(None) == ()
    assert v3.parse_storage_transformers(iter([{"a": 1}])) == ({"a": 1},)
    for wrong in (5, "ab"):
        with pytest.raises(TypeError, match="iterable"):
            v3.parse_storage_transformers(wrong)
    codecs = v3.parse_codecs(
        [BytesCodec(), "crc32c", {"name": "gzip", "configuration": {"level": 1}}]
    )
    assert codecs[0] == BytesCodec()
    assert codecs[2] == GzipCodec(level=1)
    with pytest.raises(UnknownCodecError):
        v3.parse_codecs([{"name": "unknown"}])
    with pytest.raises(TypeError):
        v3.parse_codecs(3)
    assert isinstance(v3.parse_codecs(["packbits"])[0], OtherCodec)


def test_a_grid_is_made_of_numbers_of_at_least_one() -> None:
    document = {"name": "rectilinear", "configuration": {"kind": "inline"}}

    def listed(shapes: Any) -> Any:
        document["configuration"] = {"kind": "inline", "chunk_shapes": shapes}
        return v3.RectilinearChunkGridMetadata.from_dict(document)

    grid = listed([[4, 2], 3, [[5, 2], 1]])
    assert grid.chunk_shapes == ((4, 2), 3, (5, 5, 1))
    assert v3.RectilinearChunkGridMetadata.from_dict(grid.to_dict()) == grid
    assert listed([True]).chunk_shapes == (1,)
    regular = v3.RegularChunkGridMetadata(chunk_shape=(2, 3))
    assert v3.RegularChunkGridMetadata.from_dict(regular.to_dict()) == regular
    for wrong, error in ((0, ValueError), (-1, ValueError), (4.0, TypeError), (None, TypeError)):
        for make in (
            lambda one: v3.RegularChunkGridMetadata(chunk_shape=(one,)),
            lambda one: v3.RectilinearChunkGridMetadata(chunk_shapes=(one,)),
            lambda one: v3.RectilinearChunkGridMetadata(chunk_shapes=((4, one),)),
            lambda one: listed([one]),
            lambda one: listed([[4, one]]),
            lambda one: listed([[[one, 2]]]),
        ):
            with pytest.raises(error, match="of chunks"):
                make(wrong)
    shapes: list[Any] = [4, "44", {"4": 4}, None]
    for not_a_shape in shapes:
        with pytest.raises(TypeError, match="shape of chunks"):
            v3.RegularChunkGridMetadata(chunk_shape=not_a_shape)


@pytest.mark.usefixtures("as_zarr")
def test_documents_are_read_from_and_written_to_stores() -> None:
    async def program() -> None:
        store = zarr.storage.MemoryStore()
        await documents.set_json(store, "a/zarr.json", {"b": [1, None]})
        assert await documents.get_json(store, "a/zarr.json") == {"b": [1, None]}
        assert await documents.get_json(store, "other") is None

    asyncio.run(program())
    buffer = documents.json_to_buffer({"a": math.nan})
    assert math.isnan(documents.buffer_to_json_object(buffer)["a"])
    with pytest.raises(ValueError, match="Out of range"):
        documents.json_to_buffer(math.nan, allow_nan=False)
    with pytest.raises(TypeError, match="list"):
        documents.buffer_to_json_object(documents.json_to_buffer([1]))
    assert documents.json_to_buffer([1], indent=2).to_bytes() == b"[\n  1\n]"
    assert documents.json_equal({"a": 1}, {"a": 1})
    assert not documents.json_equal(True, 1)


def test_kinds_of_data_types_are_listed() -> None:
    assert RawBytes in core.BYTES_DTYPE
    assert VariableLengthUTF8 in core.STRING_DTYPE
    assert isinstance(Int8(), core.AnyDType)
    assert not isinstance("int8", core.AnyDType)
