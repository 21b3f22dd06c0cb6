"""Errors name what was found and what to write instead."""

import datetime
import decimal
from typing import Any

import numpy as np
import pytest
import zarrix as zarr


@pytest.mark.parametrize("asked", [2, 3])
@pytest.mark.parametrize("kind", ["array", "group"])
def test_what_is_there_in_the_other_format_is_named(kind: str, asked: int) -> None:
    store = zarr.MemoryStore()
    other = 5 - asked
    if kind == "array":
        zarr.zeros(3, store=store, zarr_format=other)
    else:
        zarr.open_group(store, mode="w", zarr_format=other)
    openers: list[Any] = [zarr.open, zarr.open_array if kind == "array" else zarr.open_group]
    made: list[Any] = [zarr.Array if kind == "array" else zarr.Group]
    words = rf"there is a v{other} {kind}: leave out zarr_format={asked}.*migrate\("
    for function in openers:
        with pytest.raises(FileNotFoundError, match=words):
            function(store, mode="r", zarr_format=asked)
    for one in made:
        with pytest.raises(FileNotFoundError, match=words):
            one(store, zarr_version=asked)


def test_what_is_nowhere_is_said_to_be_nowhere() -> None:
    with pytest.raises(FileNotFoundError, match="neither an array nor a group at"):
        zarr.open(zarr.MemoryStore(), mode="r", zarr_format=3)


class SoftLink:
    """As h5py names its links."""


class Categorical(np.ndarray):  # type: ignore[type-arg]
    """As pandas has categories."""

    categories = ("a", "b")


@pytest.mark.parametrize("create", [zarr.array, lambda data: zarr.create_array(data=data)])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        ([datetime.date(2020, 1, 1)], r"data\[0\] is a datetime.date .*'datetime64\[us\]'"),
        ([datetime.timedelta(1)], r"is a datetime.timedelta .*'timedelta64\[us\]'"),
        (np.array(["a", None], object), r"data\[0\] is a str .*pass dtype=str"),
        (np.array([[None, b"x"]], object), r"data\[0, 1\] is a bytes .*pass dtype=bytes"),
        ([{"a": 1}], r"data\[0\] is a dict .*object_codec=zarrix.JSON\(\)"),
        ([2**80], r"is a int .*more than 64 bits"),
        ([decimal.Decimal(1)], r"is a decimal.Decimal .*floats"),
        (np.array([SoftLink()], object), r"SoftLink .*there are no links"),
    ],
)
def test_values_that_become_objects_are_named_by_what_they_are(
    data: Any, words: str, create: Any
) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        create(data)
    assert "missing object_codec" in str(caught.value)


def test_categories_are_named_as_categories() -> None:
    data = np.array(["a", "b"], object).view(Categorical)
    with pytest.raises(ValueError, match="codes and labels"):
        zarr.array(data)


def test_a_pickle_is_refused_at_creation_with_words_for_creation() -> None:
    store = zarr.MemoryStore()
    with pytest.raises(ValueError, match="pass allow_pickle=True to create the array"):
        zarr.create(3, dtype=object, object_codec=zarr.Pickle(), store=store)
    assert list(store) == []


def test_the_setting_for_pickles_holds_for_creation_too() -> None:
    with zarr.config(allow_pickle=True):
        z = zarr.create(3, dtype=object, object_codec=zarr.Pickle(), store={})
        z[0] = {1, 2}
        assert z[0] == {1, 2}


@pytest.mark.parametrize("dtype", ["u8", np.uint8, np.dtype("u1")])
def test_a_dtype_in_the_place_of_the_shape_of_a_view_is_named(dtype: Any) -> None:
    with pytest.raises(TypeError, match=r"takes a shape first.*view\(dtype="):
        zarr.zeros(3).view(dtype)
