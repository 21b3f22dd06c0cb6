"""Groups: a mapping of names to nodes, and everything that makes, moves and finds them."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import (
    ContainsArrayError,
    ContainsGroupError,
    GroupNotFoundError,
    ReadOnlyError,
)


@pytest.fixture
def root(store: Any) -> zarr.Group:
    made = zarr.group(store)
    made.create_dataset("foo/bar/baz", data=np.arange(4), chunks=2)
    made.create_dataset("foo/spam", shape=(3, 4), dtype="f4")
    made.create_group("empty")
    return made


def test_members_are_found_by_name_path_and_dot(root: zarr.Group) -> None:
    assert list(root) == ["empty", "foo"]
    assert len(root) == 2
    assert repr(root["foo/bar/baz"]) == "<zarrix.core.Array '/foo/bar/baz' (4,) int64>"
    assert repr(root.foo.bar) == "<zarrix.hierarchy.Group '/foo/bar'>"
    assert root["foo"]["/empty"] == root["empty"]
    assert root.foo.bar.baz[:].tolist() == [0, 1, 2, 3]
    assert [name in root for name in ("foo", "foo/bar/baz", "/foo/", "fo", "foo/nope")] == [
        True,
        True,
        True,
        False,
        False,
    ]
    assert root.get("nope") is None
    assert sorted(root.keys()) == ["empty", "foo"]
    assert [value.name for value in root.values()] == ["/empty", "/foo"]
    assert "foo" in dir(root)
    completions = ["empty", "foo", "foo/bar", "foo/bar/baz", "foo/spam"]
    assert sorted(root._ipython_key_completions_()) == sorted(completions)


def test_a_member_that_is_not_there_is_a_key_error_and_an_attribute_error(root: zarr.Group) -> None:
    with pytest.raises(KeyError, match="foo/nope"):
        root["foo/nope"]
    with pytest.raises(AttributeError, match="neither a method nor a member 'nope'"):
        root.nope  # noqa: B018
    with pytest.raises(KeyError, match="nope"):
        del root["nope"]


def test_paths_make_the_groups_between(store: Any) -> None:
    root = zarr.group(store, path="a/b")
    root.create_group("c/d")
    assert sorted(store.keys()) == [
        ".zgroup",
        "a/.zgroup",
        "a/b/.zgroup",
        "a/b/c/.zgroup",
        "a/b/c/d/.zgroup",
    ]
    assert (root.name, root.path, root.basename) == ("/a/b", "a/b", "b")


def test_groups_and_arrays_are_listed_apart(root: zarr.Group) -> None:
    foo = root.foo
    assert list(foo.group_keys()) == ["bar"]
    assert list(foo.array_keys()) == ["spam"]
    assert [name for name, _ in foo.groups()] == ["bar"]
    assert [(name, a.shape) for name, a in foo.arrays()] == [("spam", (3, 4))]
    assert list(root.array_keys(recurse=True)) == ["baz", "spam"]
    assert [a.path for _, a in root.arrays(recurse=True)] == ["foo/bar/baz", "foo/spam"]


def test_visits_go_from_parents_to_children_and_stop_at_a_result(root: zarr.Group) -> None:
    paths: list[str] = []
    assert root.visit(paths.append) is None
    assert paths == ["empty", "foo", "foo/bar", "foo/bar/baz", "foo/spam"]
    relative: list[str] = []
    root.foo.visitkeys(relative.append)
    assert relative == ["bar", "bar/baz", "spam"]
    assert (
        root.visititems(lambda path, node: node if path.endswith("baz") else None)
        == (root["foo/bar/baz"])
    )
    assert root.visitvalues(lambda node: node.name) == "/empty"


def test_create_group_refuses_what_is_there_and_overwrites_when_asked(root: zarr.Group) -> None:
    with pytest.raises(ContainsGroupError, match="overwrite=True"):
        root.create_group("foo")
    with pytest.raises(ContainsArrayError, match="contains an array"):
        root.create_group("foo/spam")
    with pytest.raises(ContainsArrayError, match=r"foo/spam.* is an array"):
        root.create_group("foo/spam/below")
    assert "foo/spam/below" not in root
    assert list(root.create_group("foo", overwrite=True)) == []
    assert [g.name for g in root.create_groups("x", "y/z")] == ["/x", "/y/z"]


def test_require_group_takes_what_is_there(root: zarr.Group) -> None:
    assert root.require_group("foo/bar") == root["foo/bar"]
    assert [g.name for g in root.require_groups("foo", "new/one")] == ["/foo", "/new/one"]
    with pytest.raises(ContainsArrayError):
        root.require_group("foo/spam")
    assert list(root.require_group("foo/spam", overwrite=True)) == []


def test_arrays_are_made_by_every_function_of_the_package(root: zarr.Group) -> None:
    like = root["foo/spam"]
    made = {
        "create": root.create("create", shape=3, fill_value=7),
        "empty": root.empty("empty2", shape=3),
        "zeros": root.zeros("zeros", shape=3),
        "ones": root.ones("ones", shape=3),
        "full": root.full("full", 5, shape=3),
        "array": root.array("array", [1, 2]),
        "empty_like": root.empty_like("empty_like", like),
        "zeros_like": root.zeros_like("zeros_like", like),
        "ones_like": root.ones_like("ones_like", like),
        "full_like": root.full_like("full_like", like, fill_value=9),
    }
    assert {name: z.fill_value for name, z in made.items()} == {
        "create": 7,
        "empty": None,
        "zeros": 0,
        "ones": 1,
        "full": 5,
        "array": 0,
        "empty_like": 0,
        "zeros_like": 0,
        "ones_like": 1,
        "full_like": 9,
    }
    assert {z.shape for name, z in made.items() if "like" in name} == {(3, 4)}
    assert {z.dtype for name, z in made.items() if "like" in name} == {np.dtype("f4")}


def test_create_dataset_refuses_what_is_there_and_a_misspelt_keyword(root: zarr.Group) -> None:
    with pytest.raises(ContainsArrayError):
        root.create_dataset("foo/spam", shape=3)
    with pytest.raises(ContainsGroupError):
        root.create_dataset("foo", shape=3)
    with pytest.raises(TypeError, match="'compresor'; did you mean 'compressor'"):
        root.create_dataset("new", shape=3, compresor=None)
    with pytest.raises(TypeError, match="path= is given by the group"):
        root.create_dataset("new", shape=3, path="x")
    with pytest.raises(ValueError, match=r"shape=\(7,\) differs"):
        root.create_dataset("new", shape=(7,), data=[1, 2])
    assert "new" not in root
    root.create_dataset("foo/spam", shape=3, overwrite=True)
    assert root["foo/spam"].shape == (3,)


def test_require_dataset_compares_shape_and_dtype(root: zarr.Group) -> None:
    assert root.require_dataset("foo/spam", shape=(3, 4), dtype="f8") == root["foo/spam"]
    assert root.require_array("foo/spam", shape=(3, 4), dtype="f8") == root["foo/spam"]
    assert root.require_dataset("new", shape=3, dtype="i4", chunks=2).chunks == (2,)
    for shape, dtype, exact, message in (
        (5, "f4", False, r"shape \(3, 4\), not 5"),
        ((3, 4), "f2", False, "float32, which cannot be cast safely to float16"),
        ((3, 4), "f2", True, "not exactly float16"),
    ):
        with pytest.raises(TypeError, match=message):
            root.require_dataset("foo/spam", shape=shape, dtype=dtype, exact=exact)


def test_assigning_to_a_name_stores_an_array(root: zarr.Group) -> None:
    root["new"] = [[1, 2], [3, 4]]
    root["new"] = root["new"].astype("f4")
    assert root["new"].dtype == np.float32
    assert root["new"][:].tolist() == [[1.0, 2.0], [3.0, 4.0]]
    root.update(a=[1], b=[2])
    assert root["b"][0] == 2


def test_deleting_removes_everything_below(root: zarr.Group) -> None:
    del root["foo/bar"]
    assert [key for key in root.store if key.startswith("foo/bar")] == []
    del root["foo"]
    assert list(root) == ["empty"]
    root.clear()
    assert list(root) == []


def test_pop_returns_what_it_deleted(root: zarr.Group) -> None:
    root.foo.attrs["k"] = 1
    popped = root.pop("foo")
    assert "foo" not in root
    assert popped["bar/baz"][:].tolist() == [0, 1, 2, 3]
    assert popped.attrs["k"] == 1
    assert root.pop("foo", None) is None
    with pytest.raises(KeyError):
        root.pop("foo")
    assert root.popitem()[0] == "empty"
    with pytest.raises(KeyError, match="empty"):
        root.popitem()


def test_moving_takes_everything_below_along(root: zarr.Group) -> None:
    root["foo/bar/baz"].attrs["k"] = 1
    root.move("foo/bar", "other/place")
    assert root["other/place/baz"][:].tolist() == [0, 1, 2, 3]
    assert root["other/place/baz"].attrs["k"] == 1
    assert "foo/bar" not in root
    with pytest.raises(ValueError, match='source, "nope", does not exist'):
        root.move("nope", "x")
    with pytest.raises(ValueError, match='dest, "empty", already exists'):
        root.move("foo", "empty")
    with pytest.raises(ValueError, match="is inside the source"):
        root.move("foo", "foo/x")


def test_a_group_opened_for_reading_refuses_every_change(root: zarr.Group) -> None:
    reader = zarr.open_group(root.store, "r")
    changes: list[Callable[[], Any]] = [
        lambda: reader.create_group("x"),
        lambda: reader.require_group("x"),
        lambda: reader.create_dataset("x", shape=3),
        lambda: reader.__setitem__("x", [1]),
        lambda: reader.__delitem__("foo"),
        lambda: reader.move("foo", "x"),
        lambda: reader["foo/spam"].__setitem__(0, 1),
        lambda: reader.attrs.update(a=1),
    ]
    for change in changes:
        with pytest.raises(ReadOnlyError, match="read-only"):
            change()
    assert repr(reader) == "<zarrix.hierarchy.Group '/' read-only>"
    assert reader["foo"].read_only


def test_chunks_can_have_a_store_of_their_own() -> None:
    metadata: dict[str, bytes] = {}
    chunks: dict[str, bytes] = {}
    root = zarr.group(metadata, chunk_store=chunks)
    root.create_dataset("x", data=np.arange(4), chunks=2)
    assert sorted(metadata) == [".zgroup", "x/.zarray"]
    assert sorted(chunks) == ["x/0", "x/1"]
    root["x"].resize(2)
    assert sorted(chunks) == ["x/0"]
    root.move("x", "y")
    assert root["y"][:].tolist() == [0, 1]
    del root["y"]
    assert (sorted(metadata), sorted(chunks)) == ([".zgroup"], [])


def test_with_closes_the_store() -> None:
    class Closing(zarr.MemoryStore):
        closed = False

        def close(self) -> None:
            self.closed = True

    store = Closing()
    with zarr.open_group(store, "w") as root:
        root.zeros("x", shape=3)
    assert store.closed


def test_a_group_survives_pickling(root: zarr.Group) -> None:
    foo = pickle.loads(pickle.dumps(root["foo"]))
    assert foo.name == "/foo"
    assert foo["bar/baz"][:].tolist() == [0, 1, 2, 3]


def test_groups_are_equal_where_they_are_the_same_place(root: zarr.Group) -> None:
    assert root["foo"] == root.foo
    assert root["foo"] != root
    assert root["foo"] != 3


def test_a_missing_group_and_an_array_in_its_place_are_told_apart(tmp_path: Path) -> None:
    with pytest.raises(GroupNotFoundError, match=r"no group at '.*/none'"):
        zarr.Group(str(tmp_path / "none"))
    zarr.save(str(tmp_path / "x"), np.arange(3))
    with pytest.raises(ContainsArrayError, match="not a group"):
        zarr.Group(str(tmp_path / "x"))


def test_names_that_leave_the_store_are_refused(root: zarr.Group) -> None:
    for name in ("../x", "a/../../x", "a\0b"):
        with pytest.raises(ValueError, match="not allowed"):
            root.create_group(name)


def test_what_another_process_creates_meanwhile_is_taken(
    root: zarr.Group, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2.18's test with a pool: one of ten calls for one name may come too late to create it."""
    root.create_group("g").attrs["a"] = 1
    root.create_dataset("x", data=[1, 2, 3])
    node, kind = type(root)._node, type(root)._kind
    asked: list[str] = []

    def late(answer: Any) -> Any:
        def asking(self: zarr.Group, path: str) -> Any:
            asked.append(path)
            return None if asked.count(path) == 1 else answer(self, path)

        return asking

    monkeypatch.setattr(type(root), "_node", late(node))
    assert root.require_dataset("x", shape=3, dtype="i8")[:].tolist() == [1, 2, 3]
    monkeypatch.setattr(type(root), "_node", node)
    monkeypatch.setattr(type(root), "_kind", late(kind))
    assert root.require_group("g").attrs["a"] == 1


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_requiring_an_array_applies_config_to_an_existing_one(zarr_format) -> None:
    root = zarr.group({}, zarr_format=zarr_format)
    for _ in range(2):
        z = root.require_array("a", shape=3, dtype="i4", config={"read_missing_chunks": False})
        assert not z.config.read_missing_chunks
    assert root["a"].config.read_missing_chunks
    with pytest.raises(TypeError, match="no setting 'order_'"):
        root.require_array("a", shape=3, dtype="i4", config={"order_": "F"})
