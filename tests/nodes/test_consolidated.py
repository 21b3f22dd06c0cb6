"""Consolidated metadata: written as peers write it, kept true, and noticed where it is stale."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import StaleMetadataWarning

FORMATS = (2, 3)


def hierarchy(store: Any, zarr_format: int) -> zarr.Group:
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"r": 1})
    child = root.create_group("c", attributes={"k": 1})
    child.create_group("d")
    child.create_array("x", shape=6, chunks=3, dtype="i4")
    root.create_array("b", shape=2, dtype="i4", attributes={"q": 2})
    return root


def documents(store: Any, zarr_format: int) -> dict[str, Any]:
    """What the consolidated metadata of the root says, by key."""
    if zarr_format == 2:
        found: dict[str, Any] = json.loads(store[".zmetadata"])["metadata"]
        return found
    return dict(json.loads(store["zarr.json"])["consolidated_metadata"]["metadata"])


def is_true(store: Any, zarr_format: int) -> bool:
    before = documents(store, zarr_format)
    zarr.consolidate_metadata(store)
    return before == documents(store, zarr_format)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_all_documents_of_a_hierarchy_are_in_one(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    root = zarr.consolidate_metadata(store)
    assert root["c/x"].shape == (6,)
    keys = list(documents(store, zarr_format))
    if zarr_format == 2:
        names = ".zattrs .zgroup b/.zarray b/.zattrs c/.zattrs c/.zgroup c/d/.zgroup c/x/.zarray"
        assert keys == names.split()
    else:
        assert keys == ["b", "c", "c/d", "c/x"]
        names = list(json.loads(store["zarr.json"]))
        assert names == ["attributes", "zarr_format", "consolidated_metadata", "node_type"]


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_metadata_is_served_without_reading_the_members(zarr_format: int) -> None:
    asked: list[str] = []

    class Counting(dict[str, Any]):
        def __getitem__(self, key: str) -> Any:
            asked.append(key)
            return super().__getitem__(key)

    store = Counting()
    hierarchy(store, zarr_format)
    zarr.consolidate_metadata(store)
    asked.clear()
    root = zarr.open_consolidated(store, mode="r")
    assert sorted(root) == ["b", "c"]
    assert dict(root["b"].attrs) == {"q": 2}
    assert dict(root["c"].attrs) == {"k": 1}
    assert [name for name, _ in root.members(None)] == ["b", "c", "c/d", "c/x"]
    assert {key.rsplit("/", 1)[-1] for key in asked} <= {".zmetadata", "zarr.json"}
    assert not [key for key in asked if "/" in key]


@pytest.mark.parametrize("through", [False, True], ids=["plainly", "through it"])
@pytest.mark.parametrize("zarr_format", FORMATS)
def test_every_change_keeps_it_true(zarr_format: int, through: bool, tmp_path: Path) -> None:
    store = zarr.DirectoryStore(tmp_path / "x.zarr")
    hierarchy(store, zarr_format)
    zarr.consolidate_metadata(store)
    root = zarr.open_consolidated(store) if through else zarr.open_group(store)
    changes = {
        "an attribute of an array": lambda: root["b"].attrs.update(q=3),
        "an attribute of a group": lambda: root["c"].attrs.update(k=5),
        "an attribute of the root": lambda: root.attrs.update(r=7),
        "a resize": lambda: root["c/x"].resize(9),
        "an append": lambda: root["c/x"].append([1, 2]),
        "a fill value": lambda: setattr(root["b"], "fill_value", 9),
        "a new array": lambda: root.create_array("n/e/w", shape=3, dtype="u1"),
        "an array in place of another": lambda: root["c"].create_array(
            "x", shape=2, dtype="f4", overwrite=True
        ),
        "a new group": lambda: root["c"].create_group("g"),
        "a move": lambda: root.move("c", "moved/there"),
        "a removal": lambda: root.__delitem__("moved"),
    }
    for name, change in changes.items():
        change()
        assert is_true(store, zarr_format), name
    assert sorted(zarr.open_consolidated(store)) == ["b", "n"]
    assert root["b"].fill_value == 9


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_consolidated_metadata_of_an_inner_group_is_kept_true_too(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    root = hierarchy(store, zarr_format)
    zarr.consolidate_metadata(store, path="c")
    zarr.consolidate_metadata(store)
    root["c/x"].resize(11)
    for path in ("", "c"):
        inner = zarr.open_group(store, path=path, mode="r", use_consolidated=True)
        assert inner["c/x" if path == "" else "x"].shape == (11,)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_what_another_program_changed_is_noticed_and_read(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    zarr.consolidate_metadata(store)
    key = "b/.zarray" if zarr_format == 2 else "b/zarr.json"
    store[key] = (
        store[key].replace(b"2", b"5", 1)
        if zarr_format == 3
        else store[key].replace(b'"shape": [\n        2', b'"shape": [\n        5')
    )
    root = zarr.open_consolidated(store, mode="r")
    with pytest.warns(StaleMetadataWarning, match="'b/"):
        assert root["b"].shape == (5,)
    zarr.consolidate_metadata(store)
    assert zarr.open_consolidated(store, mode="r")["b"].shape == (5,)


def test_opening_without_it_says_how_to_make_it() -> None:
    store = zarr.MemoryStore()
    zarr.group(store)
    for error in (KeyError, ValueError, FileNotFoundError):
        with pytest.raises(error, match=r"consolidate_metadata\(\)"):
            zarr.open_consolidated(store)
    with pytest.raises(ValueError, match="'w'"):
        zarr.open_consolidated(store, mode="w")


def test_what_zarr_python_3_marks_inside_is_understood() -> None:
    store = zarr.MemoryStore()
    hierarchy(store, 2)
    zarr.consolidate_metadata(store)
    members = json.loads(store[".zmetadata"])
    members["metadata"]["c/.zgroup"]["consolidated_metadata"] = {
        "metadata": {},
        "must_understand": False,
        "kind": "inline",
    }
    store[".zmetadata"] = json.dumps(members).encode()
    assert sorted(zarr.open_consolidated(store, mode="r")["c"]) == ["d", "x"]


def test_consolidated_metadata_that_is_none_is_refused() -> None:
    store = zarr.MemoryStore()
    zarr.group(store)
    store[".zmetadata"] = b'{"zarr_consolidated_format": 2, "metadata": {}}'
    with pytest.raises(zarr.errors.MetadataError, match="zarr_consolidated_format"):
        zarr.open_consolidated(store)


@pytest.mark.parametrize("document", [b'{"zarr_format": 3, "node', b"[1, 2]"])
def test_consolidating_names_the_document_that_is_damaged(document):
    store = zarr.MemoryStore()
    root = zarr.open_group(store, mode="w", zarr_format=3)
    root.create_group("a")
    for key in ("a/zarr.json", "zarr.json"):
        good, store[key] = store[key], document
        with pytest.raises(zarr.errors.MetadataError, match=rf"\b{key}: "):
            zarr.consolidate_metadata(store, zarr_format=3)
        store[key] = good


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("near", [True, False])
def test_a_copy_without_the_documents_it_was_made_of_shows_its_members(
    zarr_format: int, near: bool, tmp_path: Path
) -> None:
    """As web servers have them: one document, and chunks."""
    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=zarr_format)
    root.create_group("g").create_dataset("a", data=np.arange(9), chunks=3)
    root.create_dataset("sparse", shape=9, chunks=3, dtype="i4", fill_value=7)
    root["g/a"].attrs["unit"] = "mm"
    zarr.consolidate_metadata(tmp_path / "x.zarr")
    kept = ".zmetadata" if zarr_format == 2 else "zarr.json"
    for name in (".zgroup", ".zarray", ".zattrs", "zarr.json"):
        for path in (tmp_path / "x.zarr").rglob(name):
            if path != tmp_path / "x.zarr" / kept:
                path.unlink()
    place: Any = str(tmp_path / "x.zarr")
    if not near:
        place = dict(zarr.DirectoryStore(place).items())
    opened = zarr.open_consolidated(place, mode="r")
    assert sorted(opened) == ["g", "sparse"]
    assert opened["g/a"][...].tolist() == list(range(9))
    assert dict(opened["g/a"].attrs) == {"unit": "mm"}
    assert opened["sparse"][...].tolist() == [7] * 9
    assert [name for name, _ in opened["g"].arrays()] == ["a"]


def test_members_that_another_program_deleted_are_not_served(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "x.zarr", mode="w")
    root.create_dataset("a", data=np.arange(9), chunks=3)
    zarr.consolidate_metadata(tmp_path / "x.zarr")
    shutil.rmtree(tmp_path / "x.zarr" / "a")
    opened = zarr.open_consolidated(tmp_path / "x.zarr", mode="r")
    with pytest.warns(zarr.errors.StaleMetadataWarning):
        assert "a" not in opened
    assert list(opened) == []


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("store", ["memory", "directory", "dict"])
def test_a_mirror_of_the_consolidated_metadata_alone_shows_its_members(
    zarr_format: int, store: str, tmp_path: Path
) -> None:
    made = zarr.MemoryStore()
    hierarchy(made, zarr_format)
    zarr.consolidate_metadata(made)
    key = ".zmetadata" if zarr_format == 2 else "zarr.json"
    mirror: Any = {
        "memory": zarr.MemoryStore,
        "directory": lambda: zarr.DirectoryStore(tmp_path / "m"),
        "dict": dict,
    }[store]()
    mirror[key] = made[key]
    root = zarr.open_consolidated(mirror, mode="r")
    assert sorted(root) == ["b", "c"]
    assert [name for name, _ in root.members(None)] == ["b", "c", "c/d", "c/x"]
    assert dict(root.attrs) == {"r": 1}
    assert root["c/x"].shape == (6,)
    assert dict(root["b"].attrs) == {"q": 2}


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_members_of_other_programs_in_it_stay(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    root = hierarchy(store, zarr_format)
    zarr.consolidate_metadata(store)
    key = ".zmetadata" if zarr_format == 2 else "zarr.json"
    document = json.loads(store[key])
    place = document if zarr_format == 2 else document["consolidated_metadata"]
    place["theirs"] = {"made by": "another program"}
    store[key] = json.dumps(document).encode()
    root.create_group("new")
    zarr.consolidate_metadata(store)
    document = json.loads(store[key])
    place = document if zarr_format == 2 else document["consolidated_metadata"]
    assert place["theirs"] == {"made by": "another program"}
    assert "new" in zarr.open_consolidated(store)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_member_that_is_not_json_is_named_by_its_path(zarr_format: int, tmp_path: Path) -> None:
    folder = tmp_path / "x.zarr"
    hierarchy(folder, zarr_format)
    zarr.consolidate_metadata(folder)
    name = ".zarray" if zarr_format == 2 else "zarr.json"
    (folder / "b" / name).write_bytes(b"{")
    root = zarr.open_consolidated(folder, mode="r")
    with pytest.warns(UserWarning, match=f"x.zarr/b/{name}: not JSON"):
        assert [one for one, _ in root.arrays()] == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_copy_store_adds_below_a_group_is_in_its_consolidated_metadata(
    zarr_format: Any,
) -> None:
    source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    made = zarr.create_group(source, zarr_format=zarr_format, attributes={"n": 1})
    made.create_array("a/b", shape=3, dtype="i4", attributes={"unit": "K"})
    zarr.create_group(dest, zarr_format=zarr_format).create_array("old", shape=2, dtype="i4")
    zarr.consolidate_metadata(dest)
    zarr.copy_store(source, dest, dest_path="new")
    document = json.loads(bytes(dest[".zmetadata" if zarr_format == 2 else "zarr.json"]))
    inside = document if zarr_format == 2 else document["consolidated_metadata"]
    name = "new/a/b/.zarray" if zarr_format == 2 else "new/a/b"
    assert inside["metadata"][name]["shape"] == [3]
    zarr.copy_store(source, dest, dest_path="dry", dry_run=True)
    root = zarr.open_consolidated(dest)
    assert sorted(root) == ["new", "old"]
    assert dict(root["new"].attrs) == {"n": 1}
    assert dict(root["new/a/b"].attrs) == {"unit": "K"}
