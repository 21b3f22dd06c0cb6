"""Arrays of text store text: what is not is refused by its index, in both formats."""

import math
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import MetadataError

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def text(shape: Any, zarr_format: int, **options: Any) -> Any:
    return zarr.zeros(shape, dtype=str, zarr_format=zarr_format, chunks=2, store={}, **options)


@FORMATS
@pytest.mark.parametrize(
    ("bad", "kind"),
    [(math.nan, "float"), (5, "int"), (b"x", "bytes"), (np.float32(1), "float32")],
    ids=str,
)
def test_what_is_not_text_is_refused_and_nothing_is_stored(
    bad: Any, kind: str, zarr_format: int
) -> None:
    z = text(3, zarr_format)
    before = dict(z.store)
    value = np.empty(3, object)
    value[:] = ["a", "b", ""]
    value[2] = bad
    for given in (value, value.tolist()):
        with pytest.raises((TypeError, ValueError), match=kind):
            z[:] = given
    with pytest.raises((TypeError, ValueError)):
        z[1] = bad
    assert dict(z.store) == before


@pytest.mark.parametrize("value", [["a", ["b", 5]], [["a", "b"], ["c", 5]]])
def test_the_index_of_what_is_not_text_is_named(value: Any) -> None:
    z = text((2, 2), 3)
    with pytest.raises((TypeError, ValueError)) as caught:
        z[:] = value
    assert "[1]" in str(caught.value) or "[1, 1]" in str(caught.value)


def test_a_missing_value_of_a_table_is_called_that() -> None:
    z = text(2, 3)
    with pytest.raises(TypeError, match=r"element \[1\] is a float \(nan\), a missing value"):
        z[:] = np.array(["a", math.nan], object)
    strings = np.array(["a", math.nan], np.dtypes.StringDType(na_object=math.nan))
    with pytest.raises(TypeError, match=r"element \[1\] is a float \(nan\), a missing value"):
        z[:] = strings
    with pytest.raises(TypeError, match="values of dtype float64 cannot be stored as text"):
        z[:] = np.arange(2.0)


@FORMATS
def test_none_is_the_empty_text(zarr_format: int) -> None:
    z = text(3, zarr_format)
    z[:] = np.array(["a", None, "c"], object)
    assert z[:].tolist() == ["a", "", "c"]
    z[0] = None
    assert z[0] == ""


@FORMATS
def test_text_that_was_never_written_is_empty(zarr_format: int) -> None:
    assert text(3, zarr_format)[:].tolist() == ["", "", ""]
    z = zarr.zeros(3, dtype=bytes, zarr_format=zarr_format, store={})
    assert z[:].tolist() == [b"", b"", b""]
    z = text(3, zarr_format)
    z[0] = "a"
    again = zarr.open(z.store, mode="r")
    assert again[:].tolist() == ["a", "", ""]
    assert again[2] == ""


@pytest.mark.parametrize("bad", [5, math.nan, b"x"])
def test_a_fill_value_of_text_is_text(bad: Any) -> None:
    with pytest.raises(MetadataError, match="fill_value"):
        text_full(bad)
    assert text_full("f")[:].tolist() == ["f", "f"]
    assert text_full(0)[:].tolist() == ["", ""]


def text_full(fill_value: Any) -> Any:
    return zarr.full(2, fill_value, dtype=str, zarr_format=3)


def test_creating_from_values_that_are_not_text_stores_nothing() -> None:
    for data in (np.array(["a", math.nan], object), np.array(["a", b"b"], object)):
        three, two = zarr.MemoryStore(), zarr.MemoryStore()
        with pytest.raises(TypeError, match=r"element \[1\]"):
            zarr.create_array(three, data=data, dtype=str)
        with pytest.raises(TypeError, match=r"is a str, not"):
            zarr.array(data, dtype=str, store=two)
        assert list(three) == list(two) == []


@pytest.mark.parametrize(
    "value",
    [
        ["a", "é", ""],
        np.array(["a", "é", ""]),
        np.array(["a", "é", ""], object),
        np.array(["a", "é", ""], np.dtypes.StringDType()),
        np.array(["a", "é", ""], np.dtypes.StringDType(na_object=None)),
        (np.str_("a"), "é", ""),
    ],
)
@FORMATS
def test_every_kind_of_text_is_taken(value: Any, zarr_format: int) -> None:
    z = text(3, zarr_format)
    z[:] = value
    assert z[:].tolist() == ["a", "é", ""]
    z[:] = "same"
    assert z[:].tolist() == ["same"] * 3
