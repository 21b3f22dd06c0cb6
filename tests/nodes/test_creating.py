"""What a creation asks of files, and what it finds there nonetheless."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix._nodes import nodes
from zarrix._stores.base import Store
from zarrix.errors import ContainsArrayError, ContainsGroupError


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_new_array_asks_for_the_group_and_not_for_its_own_names(
    tmp_path: Path, zarr_format: int
) -> None:
    root = zarr.open_group(tmp_path / "g", mode="w", zarr_format=zarr_format)
    root.create_array("first", shape=3, dtype="i4")
    with zarr.trace() as t:
        root.create_array("a", shape=3, dtype="i4")
    asked = {span.key for span in t.spans if span.name == "get"}
    # Its document may be read once more, under its lock.
    stored = "a/.zarray" if zarr_format == 2 else "a/zarr.json"
    assert {key for key in asked if key.startswith("a/")} <= {stored}
    assert t.requests["put"] == 1
    assert "list" not in t.requests
    assert root["a"].shape == (3,)


def test_a_folder_without_a_node_is_still_searched(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "g", mode="w", zarr_format=3)
    (tmp_path / "g" / "chunks" / "c").mkdir(parents=True)
    (tmp_path / "g" / "chunks" / "c" / "0").write_bytes(b"old")
    with pytest.raises(ContainsArrayError, match="'chunks/c/0'"):
        root.create_array("chunks", shape=3, dtype="i4")
    (tmp_path / "g" / "there").mkdir()
    (tmp_path / "g" / "link").symlink_to(tmp_path / "g" / "there")
    (tmp_path / "g" / "there" / "zarr.json").write_bytes((tmp_path / "g/zarr.json").read_bytes())
    for name in ("there", "link"):
        with pytest.raises(ContainsGroupError):
            root.create_array(name, shape=3, dtype="i4")
    (tmp_path / "g" / "empty").mkdir()
    root.create_array("empty", shape=3, dtype="i4")[:] = 1
    assert root["empty"][:].tolist() == [1, 1, 1]


def test_an_update_that_stores_nothing_leaves_no_folder(tmp_path: Path) -> None:
    store = zarr.DirectoryStore(tmp_path / "s")
    assert store.update_value("x/y/zarr.json", lambda old: None) is None
    assert not (tmp_path / "s").exists()

    def fails(old: bytes | None) -> bytes:
        raise OSError("refused")

    with pytest.raises(OSError, match="refused"):
        store.update_value("x/y/zarr.json", fails)
    assert not (tmp_path / "s").exists()
    assert store.update_value("x/y/zarr.json", lambda old: b"1") == b"1"
    # The second update finds what the first one stored, although that created the folder.
    seen: list[bytes | None] = []

    def note(old: bytes | None) -> bytes:
        seen.append(old)
        return b"2"

    for _ in range(2):
        store.update_value("x/z/zarr.json", note)
    assert seen == [None, b"2"]


def test_of_many_creations_of_one_array_one_succeeds(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "g", mode="w", zarr_format=3)
    for number in range(20):
        assert sorted(_created(root, f"a{number}")) == [False, False, False, True]


def _created(root: zarr.Group, name: str) -> list[bool]:
    """Whether each of four threads could create the array."""
    together = threading.Barrier(4)
    made: list[bool] = []

    def create() -> None:
        together.wait(60)
        try:
            root.create_array(name, shape=3, dtype="i4")
        except ContainsArrayError:
            made.append(False)
        else:
            made.append(True)

    threads = [threading.Thread(target=create) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return made


@pytest.mark.parametrize("makes", ["group", "array"])
def test_attributes_of_a_group_that_another_process_makes_meanwhile_stay(
    makes: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.open_group(tmp_path / "x", mode="w", zarr_format=2)
    create_above = nodes._create_above

    def late(store: Store, missing: list[str], zarr_format: Any) -> None:
        """The groups above were missing, and another process has made one since."""
        if missing and not (tmp_path / "x/g").exists():
            other = zarr.open_group(tmp_path / "x", mode="r+")
            other.create_group("g", attributes={"unit": "K"})
        create_above(store, missing, zarr_format)

    monkeypatch.setattr(nodes, "_create_above", late)
    root = zarr.open_group(tmp_path / "x", mode="r+")
    if makes == "array":
        root.create_array("g/new", shape=3, dtype="i4")
    else:
        root.create_group("g/new")
    assert zarr.open_group(tmp_path / "x/g", mode="r").attrs.asdict() == {"unit": "K"}


def test_attributes_of_a_deleted_node_do_not_come_back(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "x", mode="w", zarr_format=2)
    (tmp_path / "x/g").mkdir()
    (tmp_path / "x/g/.zattrs").write_text('{"unit": "K"}')
    root.create_group("g/new")
    assert root["g"].attrs.asdict() == {}
