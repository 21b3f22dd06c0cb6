"""Pages of members: each member once, and no more opened than is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix.cli import main

NAMES = [f"a{number:03}" for number in range(23)]


class Counting(dict[str, Any]):
    """A mapping that keeps the documents of arrays that were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def __getitem__(self, key: str) -> Any:
        if key in self:
            self.read.append(key)
        return super().__getitem__(key)


def hierarchy(store: Any, zarr_format: int = 3) -> zarr.Group:
    root = zarr.create_group(store, zarr_format=zarr_format)
    for name in NAMES:
        root.create_array(name, shape=3, dtype="i4")
    for name in ("g", "z"):
        for inner in ("x", "y"):
            root.create_array(f"{name}/{inner}", shape=2, dtype="i4")
    return root


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("limit", [1, 2, 7, 24, 25, 26, 1000])
def test_pages_have_each_member_once_and_in_order(limit: int, zarr_format: int) -> None:
    root = hierarchy({}, zarr_format)
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        members, after = root.page(limit, after)
        assert 0 < len(members) <= limit
        assert after is None or after == members[-1][0]
        found += [name for name, _ in members]
    assert found == [*NAMES, "g", "z"]


def test_a_page_opens_what_it_shows_and_one_more() -> None:
    store = Counting()
    root = hierarchy(store)
    store.read.clear()
    members, after = root.page(5, "a009")
    assert [name for name, _ in members] == NAMES[10:15]
    assert after == "a014"
    assert len({key for key in store.read if key.startswith("a")}) == 6


def test_folders_that_are_no_members_do_not_shorten_a_page() -> None:
    store: dict[str, Any] = {}
    root = hierarchy(store)
    for number in range(40):
        store[f"a0{number:02}x/other.txt"] = b"1"
    members, after = root.page(20)
    assert len(members) == 20
    assert after == members[-1][0]
    assert root.page(100, after)[1] is None


def test_a_member_that_cannot_be_opened_is_left_out() -> None:
    store: dict[str, Any] = {}
    root = hierarchy(store)
    store["a001/zarr.json"] = b"{"
    with pytest.warns(zarr.errors.BrokenMemberWarning):
        members, after = root.page(3)
    assert [name for name, _ in members] == ["a000", "a002", "a003"]
    assert after == "a003"


def test_an_empty_group_has_one_empty_page() -> None:
    root = zarr.create_group({})
    assert root.page() == ((), None)
    with pytest.raises(ValueError, match="limit=0"):
        root.page(0)


def lines(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], str]:
    assert main(["ls", *arguments]) == 0
    told = capsys.readouterr()
    return told.out.splitlines(), told.err


@pytest.mark.parametrize("limit", [1, 3, 10, 100])
@pytest.mark.parametrize("deep", [[], ["-R"]])
def test_ls_goes_on_where_it_says(
    limit: int, deep: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    hierarchy(tmp_path / "h")
    whole, _ = lines(capsys, str(tmp_path / "h"), *deep)
    assert len(whole) == (29 if deep else 25)
    found: list[str] = []
    more: list[str] = []
    for _ in range(40):
        shown, note = lines(capsys, str(tmp_path / "h"), "--limit", str(limit), *deep, *more)
        found += shown
        assert len(shown) <= limit
        if "--after" not in note:
            break
        more = ["--after", note.split("--after ")[1].strip()]
    assert found == whole


def test_ls_sorts_before_it_cuts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = zarr.create_group(tmp_path / "h")
    for name, size in (("a", 1), ("b", 30), ("c", 20)):
        root.create_array(name, shape=size, dtype="i4")
    shown, note = lines(capsys, str(tmp_path / "h"), "-S", "--limit", "2")
    assert shown == ["b", "c"]
    assert "there are more" in note
    assert lines(capsys, str(tmp_path / "h"), "-r", "--limit", "1")[0] == ["c"]
    assert main(["ls", str(tmp_path / "h"), "--limit", "2", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["more"] is True
    assert [one["name"] for one in told["members"]] == ["a", "b"]


def test_a_tree_opens_what_it_shows_and_one_more() -> None:
    store = Counting()
    root = hierarchy(store)
    whole = str(root.tree()).splitlines()
    store.read.clear()
    shown = str(root.tree(max_nodes=4)).splitlines()
    assert shown[:5] == whole[:5]
    assert shown[5:] == [" ... and more: max_nodes is 4"]
    # Members are read by groups of 256.
    assert len([key for key in store.read if key.startswith("a")]) <= 256


def test_the_tree_of_the_tool_is_cut(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hierarchy(tmp_path / "h")
    assert main(["tree", "--limit", "3", str(tmp_path / "h")]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 5
