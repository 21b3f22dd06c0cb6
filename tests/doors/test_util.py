"""Arguments and sizes as zarr 2.18 normalises them."""

import numpy as np
import pytest
from zarrix import indexing, meta, util
from zarrix._errors import InvalidKeyError, MetadataError
from zarrix._runtime.config import config


@pytest.mark.parametrize(
    ("shape", "typesize", "expected"),
    [
        ((1000, 1000, 100), 8, (125, 125, 13)),
        ((1000, 1000), 8, (250, 250)),
        ((), 8, ()),
        ((0,), 8, (1,)),
        ((10**6,), 1, (250000,)),
        ((2, 10**9), 300, (1, 61036)),
        ((3, 4), 2**28, (1, 1)),
    ],
)
def test_guessed_chunks_are_those_of_zarr_2_18(shape, typesize, expected):
    assert util.guess_chunks(shape, typesize) == expected


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        (True, (100, 20)),
        (None, (100, 20)),
        ("auto", (100, 20)),
        (False, (100, 20)),
        (7, (7, 7)),
        (np.int64(7), (7, 7)),
        (-1, (100, 20)),
        ((7,), (7, 20)),
        ([7, 8], (7, 8)),
        ((None, 8), (100, 8)),
        ((7, -1), (7, 20)),
        ((50.0, 8), (50, 8)),
        ((1000, 1000), (1000, 1000)),
        ((), (100, 20)),
        (np.array([7, 8]), (7, 8)),
    ],
)
def test_every_form_of_chunks(chunks, expected):
    assert util.normalize_chunks(chunks, (100, 20), 1) == expected


@pytest.mark.parametrize(
    ("shape", "expected"),
    [(5, (5,)), ((5, 6), (5, 6)), ([5], (5,)), (np.int8(5), (5,)), ((), ()), (5.0, (5,))],
)
def test_every_form_of_shape(shape, expected):
    assert util.normalize_shape(shape) == expected


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [((7,), (7,)), (((7,),), (7,)), ((None,), (5,)), (([7],), (7,))],
)
def test_every_form_of_resize(arguments, expected):
    assert util.normalize_resize_args((5,), *arguments) == expected


def test_resizing_to_another_number_of_axes_is_refused():
    with pytest.raises(ValueError, match="has 1 axes, the array has 2"):
        util.normalize_resize_args((5, 5), 3)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (None, ""),
        ("", ""),
        ("/", ""),
        ("foo", "foo"),
        ("/foo//bar/", "foo/bar"),
        ("foo\\bar", "foo/bar"),
        (b"foo/bar", "foo/bar"),
        ("..foo/...", "..foo/..."),
    ],
)
def test_paths_inside_a_store(path, expected):
    assert util.normalize_storage_path(path) == expected


@pytest.mark.parametrize("path", ["..", "a/../b", "a/./b", "a\0b"])
def test_a_path_that_leads_elsewhere_is_refused(path):
    with pytest.raises(InvalidKeyError, match="not allowed"):
        util.normalize_storage_path(path)


@pytest.mark.parametrize(
    ("size", "expected"),
    [
        (0, "0"),
        (1023, "1023"),
        (1024, "1.0K"),
        (800_000_000, "762.9M"),
        (2**30 - 1, "1024.0M"),
        (2**30, "1.0G"),
        (2**40, "1.0T"),
        (2**60, "1024.0P"),
    ],
)
def test_sizes_for_people(size, expected):
    assert util.human_readable_size(size) == expected


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (..., True),
        (slice(None), True),
        ((slice(0, 3), slice(0, 4)), True),
        ((slice(0, 3),), True),
        ((slice(None), slice(0, 4, 1)), True),
        ((slice(0, 2), ...), False),
        ((..., slice(0, 3)), False),
        ((0, slice(None)), False),
        (slice(None, None, -1), False),
    ],
)
def test_whether_a_slice_is_everything(item, expected):
    assert util.is_total_slice(item, (3, 4)) is expected


def test_the_only_element_of_an_axis_is_everything():
    assert util.is_total_slice((0, slice(None)), (1, 4))
    with pytest.raises(TypeError, match="expected slices"):
        util.is_total_slice("x", (1,))


def test_lengths_of_buffers():
    assert util.buffer_size(b"abc") == 3
    assert util.buffer_size(np.zeros((2, 3), "f4")[:, ::2]) == 16
    assert util.buffer_size(np.zeros(2, "M8[ns]")) == 16


def test_json_over_the_limit_is_refused_unparsed():
    with (
        config(max_document_bytes=10),
        pytest.raises(MetadataError, match=r"x: more than 10 bytes, .* config.max_document_bytes"),
    ):
        util.json_loads(b'"123456789"', "x")


def test_metadata_as_plain_values():
    members = {
        "shape": (10,),
        "chunks": (5,),
        "dtype": np.dtype("(2,)<f4"),
        "compressor": None,
        "fill_value": np.float32("nan"),
        "order": "C",
        "filters": None,
    }
    members["chunks"] = (5, 2)
    decoded = meta.decode_array_metadata(meta.encode_array_metadata(members))
    assert decoded["shape"] == (10, 2)
    assert decoded["dtype"] == np.dtype("<f4")
    assert np.isnan(decoded["fill_value"])
    assert meta.decode_group_metadata(meta.encode_group_metadata()) == {"zarr_format": 2}


def test_names_of_the_indexing_module():
    assert indexing.is_integer(np.int8(3))
    assert not indexing.is_integer(True)
    assert indexing.is_slice(slice(3))
    assert indexing.is_scalar((1, 2), np.dtype("i4,i4"))
    assert indexing.is_scalar(np.array(3), np.dtype("i4"))
    assert not indexing.is_scalar([1, 2], np.dtype("i4,i4"))
    assert indexing.ceildiv(7, 2) == 4
    assert indexing.replace_ellipsis(0, (2, 3)) == (0, slice(None))
    assert indexing.check_fields(None, np.dtype("i4")) == np.dtype("i4")
    assert indexing.check_fields(["f0"], np.dtype("i4,i8")).names == ("f0",)
    with pytest.raises(IndexError, match="no field 'x' in dtype int32; it has no fields"):
        indexing.check_fields("x", np.dtype("i4"))
    with pytest.raises(IndexError, match="too many indices"):
        indexing.replace_ellipsis((0, 0, 0), (2, 3))


@pytest.mark.parametrize("module", [indexing, meta, util])
def test_every_listed_name_exists(module):
    assert [name for name in module.__all__ if not hasattr(module, name)] == []
