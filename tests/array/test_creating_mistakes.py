"""What a call that creates says to a wrong word, and where h5py's words stand in another order."""

import importlib
import inspect
import pickle
import typing
from typing import Any

import numpy as np
import pytest
import zarrix as zarr


def test_the_second_argument_of_create_dataset_is_the_shape_as_in_h5py() -> None:
    z = zarr.group().create_dataset("x", (100,), dtype="i4")
    assert (z.shape, z.dtype) == ((100,), np.dtype("i4"))
    assert z[:].tolist() == [0] * 100


def test_the_arguments_of_create_dataset_come_in_the_order_of_h5py() -> None:
    g = zarr.group()
    z = g.create_dataset("x", (2, 3), "f4", np.ones((2, 3)))
    assert (z.shape, z.dtype, z[:].sum()) == ((2, 3), np.dtype("f4"), 6.0)
    assert g.create_dataset("y", (3, 3), fillvalue=7)[:].tolist() == [[7] * 3] * 3
    assert g.create_dataset("z", data=[1, 2])[:].tolist() == [1, 2]


def test_create_dataset_takes_shape_dtype_and_data_by_name_as_zarr_2_does() -> None:
    g = zarr.group()
    z = g.create_dataset("x", shape=np.array([2, 2]), dtype="u1", data=np.ones((2, 2)))
    assert (z.dtype, z[:].tolist()) == (np.dtype("u1"), [[1, 1], [1, 1]])
    assert g.create_dataset(name="y", shape=np.array([2, 2])).shape == (2, 2)


@pytest.mark.parametrize("values", [np.arange(3), np.ones((2, 2)), np.array(["a"])])
def test_values_in_the_place_of_the_shape_are_refused(values: Any) -> None:
    g = zarr.group()
    with pytest.raises(TypeError, match=r"second argument is the shape.*pass data="):
        g.create_dataset("x", values)
    assert list(g) == []


CALLS: dict[str, Any] = {
    "zeros": lambda **k: zarr.zeros(**k),
    "create": lambda **k: zarr.create(**k),
    "create_array": lambda **k: zarr.create_array(**k),
    "full": lambda **k: zarr.full(fill_value=1, **k),
    "open": lambda **k: zarr.open(**k),
    "open_array": lambda **k: zarr.open_array(**k),
    "create_dataset": lambda **k: zarr.group().create_dataset("x", **k),
    "require_dataset": lambda **k: zarr.group().require_dataset("x", **k),
    "Group.zeros": lambda **k: zarr.group().zeros("x", **k),
    "Group.create_array": lambda **k: zarr.create_group().create_array("x", **k),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_misspelt_shape_is_what_the_error_speaks_of(name: str) -> None:
    with pytest.raises(TypeError, match="'shpae'; did you mean 'shape'"):
        CALLS[name](shpae=3)


@pytest.mark.parametrize(
    ("word", "advice"),
    [
        ("maxshape", "every array can be resized"),
        ("fletcher32", "use checksum=True"),
        ("track_order", "listed by name"),
    ],
)
def test_a_word_of_h5py_that_is_none_here_is_answered_with_the_word_here(
    word: str, advice: str
) -> None:
    with pytest.raises(TypeError, match=advice):
        zarr.group().create_dataset("x", (3,), **{word: True})


def test_a_group_is_not_stored_as_an_array_of_its_names() -> None:
    g = zarr.group()
    g.create_group("a").zeros("x", shape=3)
    with pytest.raises(TypeError, match=r"'d' cannot be a Group.*zarrix\.copy\(group"):
        g["d"] = g["a"]
    assert list(g) == ["a"]


def test_the_signatures_show_every_keyword() -> None:
    assert {"chunks", "compressor", "shards"} <= inspect.signature(zarr.zeros).parameters.keys()
    assert inspect.signature(zarr.zeros).parameters["chunks"].default is True
    bound = inspect.signature(zarr.group().create_dataset).parameters
    assert list(bound)[:4] == ["name", "shape", "dtype", "data"]


def test_the_types_of_keywords_are_those_that_functions_take() -> None:
    """What a checker of types allows is what the program takes, and the other way round."""
    keywords = importlib.import_module("zarrix._array.keywords")
    known = {
        *inspect.signature(zarr.create).parameters,
        *inspect.signature(zarr.create_array).parameters,
        *inspect.signature(zarr.open_array).parameters,
        *inspect.signature(zarr.open_group).parameters,
        # Code for h5py gives it to create_dataset, which warns.
        "shuffle",
    }
    for name in keywords.__all__:
        one = getattr(keywords, name)
        if typing.is_typeddict(one):
            assert one.__annotations__.keys() <= known, name


NAMES: dict[str, Any] = {
    "create_dataset": lambda g: g.create_datset,
    "images": lambda g: g["image"],
    "rgb": lambda g: g["lr/rbg"],
    "attrs": lambda g: g["images"].atrs,
    "nchunks": lambda g: g["images"].nchunk,
    "open": lambda g: zarr.opn,
    "Blosc": lambda g: zarr.Bolsc,
    "open_group": lambda g: zarr.open_grop,
}


@pytest.mark.parametrize("name", NAMES)
def test_a_misspelt_name_is_answered_with_the_closest(name: str) -> None:
    g = zarr.group()
    g.create_group("lr").zeros("rgb", shape=3)
    g.zeros("images", shape=3)
    with pytest.raises((AttributeError, KeyError), match=f"did you mean '{name}'") as caught:
        NAMES[name](g)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)


class Counting(dict):  # type: ignore[type-arg]
    """A store that counts how often its keys are listed."""

    listings = 0

    def __iter__(self) -> Any:
        self.listings += 1
        return super().__iter__()


def test_asking_whether_there_is_a_member_lists_nothing() -> None:
    """Suggestions are looked for when a message is read, not when an error is only caught."""
    counting = Counting()
    g = zarr.group(counting)
    before = counting.listings
    assert g.get("nothing") is None
    assert not hasattr(g, "nothing")
    assert "nothing" not in g
    assert counting.listings == before


def test_assigning_to_an_unknown_attribute_of_a_group_stores_nothing_and_says_so() -> None:
    g = zarr.group()
    with pytest.raises(AttributeError, match=r"group\['foo'\] = value stores an array"):
        g.foo = np.arange(3)
    assert not hasattr(g, "foo")


def test_what_is_offered_at_the_top_level_is_public() -> None:
    offered = {name for name in dir(zarr) if not name.startswith("__")}
    assert not offered & {"Any", "TYPE_CHECKING", "annotations", "importlib", "suggestion"}
    assert [name for name in offered if name.startswith("_")] == []
    assert {"open", "Array", "codecs", "config"} <= offered


def test_functions_that_create_take_a_mode_as_zarr_3_does() -> None:
    store = zarr.MemoryStore()
    zarr.array(np.arange(3), store=store, mode="a")
    for mode in (None, "a", "r+", "w-", "x"):
        with pytest.raises(zarr.errors.ContainsArrayError):
            zarr.array(np.arange(2), store=store, mode=mode)
    with pytest.raises(ValueError, match="read-only and creates nothing"):
        zarr.zeros(3, store=store, mode="r")
    assert zarr.open_array(store).shape == (3,)
    assert zarr.array(np.arange(2), store=store, mode="w")[:].tolist() == [0, 1]
    assert zarr.zeros_like(np.ones(4), store=zarr.MemoryStore(), mode="r+").shape == (4,)


def test_what_is_made_like_an_array_takes_a_fill_value_and_a_store_by_name() -> None:
    source = zarr.full((4,), 7, chunks=2, dtype="i2")
    assert zarr.empty_like(source).fill_value == 7
    assert zarr.empty_like(source, fill_value=3)[:].tolist() == [3] * 4
    store = zarr.MemoryStore()
    made = zarr.open_like(source, "a/b", store=store)
    assert (made.path, made.fill_value, made.chunks) == ("a/b", 7, (2,))
    assert zarr.open_like(source, "a/b", store=store, mode="r+")[:].tolist() == [7] * 4


def test_the_settings_of_an_array_object_come_from_a_mapping() -> None:
    from zarrix.core.array import ArrayConfig

    wanted = ArrayConfig.from_dict({"order": "F", "read_missing_chunks": False})
    assert wanted == ArrayConfig("F", read_missing_chunks=False)
    assert ArrayConfig.from_dict(wanted.to_dict()) == wanted
    with zarr.config.set(write_empty_chunks=True):
        assert ArrayConfig.from_dict({}).write_empty_chunks
    with pytest.raises(TypeError, match="no setting 'ordr'; did you mean 'order'"):
        ArrayConfig.from_dict({"ordr": "F"})


@pytest.mark.parametrize("function", [zarr.open, zarr.open_array, zarr.open_group])
def test_a_mode_of_none_is_the_one_when_it_is_omitted(function: Any) -> None:
    shape = {"shape": (3,)} if function is not zarr.open_group else {}
    store = zarr.MemoryStore()
    made = function(store, mode=None, **shape)
    assert not made.read_only
    made.attrs["unit"] = "K"
    assert function(store, mode=None).attrs["unit"] == "K"
    assert function(store.with_read_only(True), mode=None).read_only
    with pytest.raises(ValueError, match="mode is one of"):
        function(store, mode="rw")
