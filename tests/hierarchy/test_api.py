"""The front door: opening by mode, creating, saving and loading, and what it refuses."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import (
    ArrayNotFoundError,
    BadCompressorError,
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    PathNotFoundError,
    ReadOnlyError,
    UnknownCodecError,
)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "x.zarr")


def test_open_makes_an_array_where_a_shape_is_given_and_a_group_where_not(path: str) -> None:
    assert repr(zarr.open(path, "w", shape=100, dtype="i4")) == "<zarrix.core.Array (100,) int32>"
    assert repr(zarr.open(path, mode="a")) == "<zarrix.core.Array (100,) int32>"
    assert repr(zarr.open(path, mode="r")) == "<zarrix.core.Array (100,) int32 read-only>"
    assert repr(zarr.open(path, mode="w")) == "<zarrix.hierarchy.Group '/'>"
    assert repr(zarr.open(path)) == "<zarrix.hierarchy.Group '/'>"
    assert repr(zarr.open(path, "r")) == "<zarrix.hierarchy.Group '/' read-only>"


def test_a_path_may_lead_into_a_hierarchy(path: str) -> None:
    zarr.open(path, "w").create_dataset("group/array", data=np.arange(3))
    for opened in (
        zarr.open(f"{path}/group/array", "r"),
        zarr.open(Path(path) / "group" / "array", "r"),
        zarr.open(path, "r", path="group/array"),
        zarr.open_array(path, "r", path="/group/array/"),
        zarr.open(path)["group/array"],
    ):
        assert opened[:].tolist() == [0, 1, 2]


@pytest.mark.parametrize("mode", ["r", "r+"])
def test_opening_what_is_not_there_names_the_place(path: str, mode: str) -> None:
    for call, error in (
        (zarr.open, PathNotFoundError),
        (zarr.open_array, ArrayNotFoundError),
        (zarr.open_group, GroupNotFoundError),
    ):
        with pytest.raises(error, match=r"x\.zarr") as caught:
            call(path, mode)
        assert isinstance(caught.value, FileNotFoundError)
        assert isinstance(caught.value, KeyError)
        assert isinstance(caught.value, ValueError)
    with pytest.raises(FileNotFoundError):
        zarr.load(path)
    assert not os.path.exists(path)


def test_opening_the_other_kind_says_what_is_there(path: str) -> None:
    zarr.open(path, "w", shape=3)
    for mode in ("r", "r+", "a", "w-"):
        with pytest.raises(ContainsArrayError, match="open_array"):
            zarr.open_group(path, mode)
    zarr.open(path, "w")
    for mode in ("r", "r+", "a", "x"):
        with pytest.raises(ContainsGroupError, match="open_group"):
            zarr.open_array(path, mode, shape=3)


def test_creating_modes_fail_where_something_is(path: str) -> None:
    zarr.open(path, "w-", shape=3)
    for mode in ("w-", "x"):
        with pytest.raises(ContainsArrayError, match="creates only"):
            zarr.open(path, mode, shape=4)
    with pytest.raises(ContainsArrayError, match="overwrite=True"):
        zarr.create(4, store=path)
    assert zarr.open(path, "r").shape == (3,)
    zarr.open(path, "w")
    with pytest.raises(ContainsGroupError, match="creates only"):
        zarr.open_group(path, "x")


def test_a_mode_that_is_none_is_refused_before_anything_happens(path: str) -> None:
    for call in (zarr.open, zarr.open_array, zarr.open_group):
        with pytest.raises(ValueError, match="'w-', 'x', not 'q'"):
            call(path, mode="q")
    assert not os.path.exists(path)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"shape": None}, TypeError, "shape"),
        ({"shape": -3}, ValueError, "-3"),
        ({"shape": 3, "dtype": "nope"}, TypeError, "nope"),
        ({"shape": 3, "dtype": object}, ValueError, "missing object_codec"),
        ({"shape": 3, "chunks": (1, 2)}, ValueError, "too many dimensions"),
        ({"shape": 3, "chunks": 0}, ValueError, "length of 0"),
        ({"shape": 3, "order": "X"}, ValueError, "'X'"),
        ({"shape": 3, "compressor": 5}, BadCompressorError, "5"),
        ({"shape": 3, "compressor": {"id": "nope"}}, UnknownCodecError, "nope"),
        ({"shape": 3, "compressor": zarr.Blosc, "dtype": "i4"}, BadCompressorError, "Blosc"),
        ({"shape": 3, "filters": [3]}, BadCompressorError, "3"),
        ({"shape": 3, "fill_value": "x"}, ValueError, "'x'"),
        ({"shape": 3, "dimension_separator": "-"}, ValueError, "'-'"),
        ({"shape": 3, "zarr_format": 4}, ValueError, "zarr_format is 2 or 3, not 4"),
        ({"shape": 3, "zarr_version": 4}, ValueError, "4"),
        ({"shape": 3, "shards": 2, "zarr_format": 2}, ValueError, "zarr_format=3"),
        ({"shape": 3, "chunk": 2}, TypeError, "'chunk'; did you mean 'chunks'"),
        ({"shape": 3, "compression_opts": 2}, ValueError, "compression="),
    ],
)
def test_wrong_arguments_are_found_before_anything_is_deleted(
    path: str, arguments: dict[str, Any], error: Any, message: str
) -> None:
    zarr.save(path, np.arange(5))
    calls: list[Callable[[], Any]] = [
        lambda: zarr.open_array(path, "w", **arguments),
        lambda: zarr.create(store=path, overwrite=True, **arguments),
    ]
    if arguments["shape"] is not None:
        calls.append(lambda: zarr.open(path, "w", **arguments))
    for call in calls:
        with pytest.raises(error, match=message):
            call()
        assert zarr.load(path).tolist() == [0, 1, 2, 3, 4]


def test_a_misspelt_keyword_of_a_group_suggests_the_right_one(path: str) -> None:
    for call in (
        lambda: zarr.open_group(path, "w", synchroniser=None),
        lambda: zarr.group(path, overwrite=True, synchroniser=None),
        lambda: zarr.open(path, "w", synchroniser=None),
    ):
        with pytest.raises(TypeError, match="did you mean 'synchronizer'"):
            call()
    with pytest.raises(TypeError, match="does not accept chunks=; pass shape="):
        zarr.open(path, "w", chunks=3)
    assert not os.path.exists(path)


def foreign(path: str) -> list[Callable[[], Any]]:
    return [
        lambda: zarr.open(path, "w"),
        lambda: zarr.open(path, "w", shape=3),
        lambda: zarr.save(path, np.arange(3)),
        lambda: zarr.save(path, a=np.arange(3)),
        lambda: zarr.group(path, overwrite=True),
    ]


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        "thesis.tex",
        "run/1/log.txt",
        "0.0.tif",
        ".git/config",
        # They belong to other programs; only `KEY.partial` and `NAME.PROCESS-NUMBER.partial` are
        # ours.
        "backup.partial/thesis.txt",
        "movie.mp4.partial",
        "1/movie.mp4.a1b2c3d4.partial",
        "0.0.partial/thesis.txt",
        # What no key can name, and no listing of keys shows.
        "1/back\\slash",
        "1/\udcfc.txt",
    ],
)
def test_a_folder_that_holds_something_else_is_never_overwritten(
    path: str, name: str, inside: bool
) -> None:
    if inside:
        zarr.save(path, np.arange(3), b=np.arange(4))
    file = Path(path) / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("mine")
    before = sorted(Path(path).rglob("*"))
    shown = re.sub(r"\.partial/.*", ".partial", name)
    for call in foreign(path):
        with pytest.raises(ValueError, match=r"not part of a Zarr hierarchy.*delete it") as raised:
            call()
        assert f" holds {shown!r}, which" in str(raised.value)
    assert sorted(Path(path).rglob("*")) == before
    assert file.read_text() == "mine"


def test_what_zarr_and_killed_writers_leave_is_overwritten(path: str) -> None:
    root = zarr.open(path, "w")
    root.create_dataset("a/b", data=np.ones((4, 4)), chunks=2)
    root.create_dataset("n", data=np.ones((4, 4)), chunks=2, dimension_separator="/")
    root.zeros("scalar", shape=())[...] = 1
    root.attrs["x"] = 1
    folder = Path(path)
    (folder / "a" / "b" / "0.0.partial").write_bytes(b"half")
    (folder / ".zgroup.partial").write_bytes(b"")
    (folder / ".zmetadata").write_text("{}")
    (folder / "a" / "b" / ".zarray").unlink()
    (folder / "v3").mkdir()
    (folder / "v3" / "zarr.json").write_text("{}")
    (folder / "v3" / "c" / "0").mkdir(parents=True)
    (folder / "v3" / "c" / "0" / "1").write_bytes(b"x")
    zarr.open(path, "w", shape=3)
    assert sorted(os.listdir(path)) == [".zarray"]


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("suffix", ["", ".tiff", "/part"])
def test_an_array_with_any_chunk_keys_is_overwritten(
    path: str, separator: str, suffix: str
) -> None:
    encoding: object = ("default", separator)
    if suffix:
        base = {"name": "default", "configuration": {"separator": separator}}
        configuration = {"suffix": suffix, "base_encoding": base}
        encoding = {"name": "suffix", "configuration": configuration}
    root = zarr.open_group(path, mode="w", zarr_format=3)
    for _ in range(2):
        root.create_array(
            "a", data=np.ones((4, 4)), chunks=(2, 2), chunk_key_encoding=encoding, overwrite=True
        )
    zarr.open_group(path, mode="w", zarr_format=3)
    assert os.listdir(path) == ["zarr.json"]
    # The suffix of one array is not that of another.
    root.create_array("a", data=np.ones(4), chunk_key_encoding=encoding)
    (Path(path) / "0.mp4").write_text("mine")
    with pytest.raises(ValueError, match=r"holds '0.mp4', which is not part"):
        zarr.open_group(path, mode="w", zarr_format=3)


def test_links_below_the_root_are_unlinked_and_never_followed(tmp_path: Path, path: str) -> None:
    zarr.save(path, a=np.arange(3), b=np.arange(3))
    outside = tmp_path / "outside"
    zarr.save(str(outside), np.arange(3))
    (Path(path) / "link").symlink_to(outside, target_is_directory=True)
    zarr.open(path, "w")
    assert sorted(os.listdir(path)) == [".zgroup"]
    assert zarr.load(str(outside)).tolist() == [0, 1, 2]


def test_a_file_in_the_place_of_a_store_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for mode in ("r", "a", "w"):
        with pytest.raises(NotADirectoryError, match="file"):
            zarr.open(str(tmp_path / "file"), mode)


def test_creation_functions_have_the_defaults_of_zarr_2() -> None:
    z = zarr.create((1000, 1000, 100))
    assert (z.dtype, z.fill_value, z.order, z.chunks) == (np.float64, 0, "C", (125, 125, 13))
    assert z.compressor == zarr.Blosc(cname="lz4", clevel=5, shuffle=1)
    assert [f(3).fill_value for f in (zarr.empty, zarr.zeros, zarr.ones)] == [None, 0, 1]
    assert zarr.full(3, 7)[:].tolist() == [7, 7, 7]
    assert zarr.zeros(3, compressor="default").compressor == zarr.Blosc()
    assert zarr.zeros(3, compressor=None).compressor is None
    assert zarr.zeros(3, compressor={"id": "zstd", "level": 3}).compressor == zarr.Zstd(3)
    assert zarr.zeros((3, 4), chunks=False).chunks == (3, 4)
    assert zarr.zeros((30, 40), chunks=(10, -1)).chunks == (10, 40)


def test_the_words_of_h5py_are_understood() -> None:
    z = zarr.zeros(3, compression="gzip", compression_opts=7, dtype="i4")
    assert z.compressor == zarr.GZip(7)
    assert zarr.create(3, fillvalue=9)[0] == 9
    assert zarr.zeros(3, compression="none").compressor is None
    assert zarr.zeros(3, compression=zarr.Zlib(2)).compressor == zarr.Zlib(2)
    with pytest.warns(UserWarning, match="compression= is overridden"):
        assert zarr.zeros(3, compressor=zarr.LZ4(), compression="gzip").compressor == zarr.LZ4()
    with pytest.raises(UnknownCodecError, match="nope"):
        zarr.zeros(3, compression="nope")


def test_functions_that_make_one_array_like_another_take_its_storage(path: str) -> None:
    a = zarr.full(
        (20, 20), 3, chunks=(5, 5), dtype="i2", order="F", compressor=zarr.Zstd(3),
        filters=[zarr.Delta("i2")],
    )  # fmt: skip
    for made, fill in (
        (zarr.empty_like(a), 3),
        (zarr.empty_like(a, dtype=a.dtype), 3),
        (zarr.zeros_like(a), 0),
        (zarr.ones_like(a), 1),
        (zarr.full_like(a), 3),
        (zarr.full_like(a, fill_value=5), 5),
        (zarr.open_like(a, path), 3),
        (zarr.array(a), 3),
    ):
        assert (made.shape, made.chunks, made.dtype, made.order) == ((20, 20), (5, 5), a.dtype, "F")
        assert (made.compressor, made.filters, made.fill_value) == (a.compressor, a.filters, fill)
    like = zarr.zeros_like(np.ones((3, 4), "f4"), chunks=2)
    assert (like.shape, like.chunks, like.dtype) == ((3, 4), (2, 2), np.float32)


def test_array_takes_anything_array_like() -> None:
    assert zarr.array([[1, 2], [3, 4]], chunks=1)[1].tolist() == [3, 4]
    assert zarr.array(5)[()] == 5
    assert zarr.array([1.9, 2], dtype="i4")[:].tolist() == [1, 2]
    assert zarr.array(np.arange(3), read_only=True).read_only
    with pytest.raises(ValueError, match="'x'"):
        zarr.array(["x"], dtype="i4")


def test_data_that_cannot_be_stored_replace_nothing(path: str) -> None:
    zarr.save(path, np.arange(3))
    for call in (
        lambda: zarr.save(path, np.array([object()])),
        lambda: zarr.array(["x"], dtype="i4", store=path, overwrite=True),
        lambda: zarr.save_array(path, np.arange(3), compresor=None),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()
        assert zarr.load(path).tolist() == [0, 1, 2]


def test_an_array_can_be_saved_over_itself(path: str) -> None:
    zarr.save(path, np.arange(6))
    zarr.save(path, zarr.open(path, "r").astype("f4"))
    assert zarr.load(path).tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    zarr.save(path, a=zarr.open(path, "r"), b=np.ones(2))
    assert zarr.load(path)["a"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    memory = zarr.group()
    memory["x"] = [1, 2]
    zarr.array(memory["x"], store=memory.store, path="x", overwrite=True)
    assert memory["x"][:].tolist() == [1, 2]


def test_arrays_are_saved_and_loaded(store: Any) -> None:
    zarr.save(store, np.arange(3))
    assert zarr.load(store).tolist() == [0, 1, 2]
    zarr.save(store, np.arange(3), np.ones(2), name=np.zeros(1))
    loaded = zarr.load(store)
    assert repr(loaded) == "<LazyLoader: arr_0, arr_1, name>"
    assert (list(loaded), len(loaded), "name" in loaded) == (["arr_0", "arr_1", "name"], 3, True)
    assert {name: values.tolist() for name, values in loaded.items()} == {
        "arr_0": [0, 1, 2],
        "arr_1": [1.0, 1.0],
        "name": [0.0],
    }
    assert loaded["name"] is loaded["name"]
    with pytest.raises(ValueError, match="at least one array"):
        zarr.save(store)


def test_arrays_are_saved_and_loaded_at_a_path(path: str) -> None:
    zarr.save_array(path, np.arange(30), path="a/b", chunks=10, compressor=None)
    zarr.save_group(path, np.ones(2), path="c")
    assert zarr.load(path, path="a/b").tolist() == list(range(30))
    assert zarr.open(path)["a/b"].chunks == (10,)
    assert zarr.load(path, path="c")["arr_0"].tolist() == [1.0, 1.0]
    assert zarr.load(path, None, "c")["arr_0"].tolist() == [1.0, 1.0]


def test_groups_are_made_in_memory_where_no_store_is_given() -> None:
    for root in (zarr.group(), zarr.open_group(), zarr.open()):
        root.zeros("x", shape=3)
        assert list(root) == ["x"]
    assert zarr.group({})["/"].name == "/"


def test_separators_follow_the_array_then_the_store(tmp_path: Path) -> None:
    z = zarr.open_array(str(tmp_path / "a"), "w", shape=(4, 4), chunks=2, dimension_separator="/")
    z[:] = 1
    assert sorted(os.listdir(tmp_path / "a")) == [".zarray", "0", "1"]
    nested = zarr.NestedDirectoryStore(tmp_path / "b")
    zarr.create((4, 4), chunks=2, store=nested)[:] = 1
    assert (tmp_path / "b" / "1" / "0").is_file()
    assert zarr.open(str(tmp_path / "b"))[:].sum() == 16
    with pytest.raises(ValueError, match="conflicts"):
        zarr.create(4, store=zarr.NestedDirectoryStore(tmp_path / "c"), dimension_separator=".")


def test_the_format_that_can_be_stored_is_accepted_by_either_name(path: str) -> None:
    zarr.open(path, "w", shape=3, zarr_version=2)
    assert zarr.open(path, "r", zarr_format=2).shape == (3,)
    with pytest.raises(ValueError, match="neither an array nor a group"):
        zarr.open(path, "r", zarr_format=3)
    with zarr.config(default_zarr_format=3):
        assert zarr.zeros(3).zarr_format == 3


def test_a_tree_is_drawn_of_what_open_takes(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "x.zarr", mode="w")["a/b"] = [1, 2, 3]
    drawn = str(zarr.tree(zarr.open(tmp_path / "x.zarr")))
    assert drawn == "/\n └── a\n     └── b (3,) int64"
    for one in (
        str(tmp_path / "x.zarr"),
        tmp_path / "x.zarr",
        zarr.DirectoryStore(tmp_path / "x.zarr"),
    ):
        assert str(zarr.tree(one)) == drawn
    assert str(zarr.tree(dict(zarr.DirectoryStore(tmp_path / "x.zarr")))) == drawn
    with pytest.raises(FileNotFoundError, match="neither an array nor a group"):
        zarr.tree(tmp_path / "y.zarr")


def test_a_group_is_loaded_with_the_groups_in_it() -> None:
    root = zarr.group()
    root["a"], root["g/b"] = [1, 2], [3.0]
    loaded = zarr.load(root.store)
    assert sorted(loaded) == ["a", "g"]
    assert loaded["a"].tolist() == [1, 2]
    assert loaded["g"]["b"].tolist() == [3.0]
    assert loaded["g"] is loaded["g"]
    with pytest.raises(KeyError, match="missing"):
        loaded["g"]["missing"]


@pytest.mark.parametrize(
    "call",
    [
        lambda place, options: zarr.save(place, [1], storage_options=options),
        lambda place, options: zarr.save(place, a=[1], storage_options=options),
        lambda place, options: zarr.save_array(place, [1], storage_options=options),
        lambda place, options: zarr.save_group(place, a=[1], storage_options=options),
        lambda place, options: zarr.load(place, storage_options=options),
    ],
)
def test_storage_options_of_save_and_load_go_to_the_store(tmp_path: Path, call: Any) -> None:
    with pytest.raises(ValueError, match="storage_options need a URL"):
        call(str(tmp_path / "x"), {"anon": True})
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", ["a", "r", "r+"])
def test_an_array_that_a_read_only_store_lacks_is_not_found(mode: Any) -> None:
    store = zarr.MemoryStore(read_only=True)
    with pytest.raises(ArrayNotFoundError, match="no array at '/x'"):
        zarr.open_array(store, mode=mode, path="x")
    with pytest.raises(ReadOnlyError):
        zarr.open_array(store, mode="a", path="x", shape=3)
