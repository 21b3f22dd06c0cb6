"""Batches on servers: one request for each new node, and nothing of others is replaced."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer

FORMATS = (2, 3)
DOCUMENT = {2: ".zarray", 3: "zarr.json"}
NEW: dict[str, Any] = {"shape": 10, "chunks": 10, "dtype": "i4"}


def opened(server: FaultyServer, zarr_format: Any, mode: Any = "w", **more: Any) -> zarr.Group:
    return zarr.open_group(
        f"{server.url}/h",
        mode=mode,
        zarr_format=zarr_format,
        storage_options=server.options,
        **more,
    )


def consolidated(server: FaultyServer, zarr_format: Any) -> zarr.Group:
    root = opened(server, zarr_format)
    root.create_array("old", attributes={"n": 1}, **NEW)
    zarr.consolidate_metadata(root.store)
    return opened(server, zarr_format, "r+", use_consolidated=False)


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("attributes", [None, {"unit": "K"}])
@pytest.mark.parametrize("each", [400, 10])
def test_a_new_node_is_one_request(
    faulty: FaultyServer, zarr_format: int, attributes: Any, each: int
) -> None:
    root = consolidated(faulty, zarr_format)
    before = set(faulty.values)
    faulty.requests.clear()
    with root.batch():
        for number in range(400):
            path = f"g{number // each}/a{number:03}"
            root.create_array(path, attributes=attributes, **NEW)
    documents = len(set(faulty.values) - before)
    assert len(faulty.requests) <= 1.3 * documents
    assert len(zarr.open_consolidated(root.store)["g0"]) == each


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_groups_that_are_there_are_listed_once(faulty: FaultyServer, zarr_format: int) -> None:
    root = consolidated(faulty, zarr_format)
    root.create_hierarchy({f"g/{n}": root["old"].metadata for n in range(30)})
    group = root["g"]
    faulty.requests.clear()
    with root.batch():
        for number in range(300):
            group.create_array(f"new{number}", **NEW)
            root.create_group(f"g/groups/{number}")
    # 16 names are asked for before the listing, and a few documents at the beginning and the end.
    # A group of v2 may have consolidated metadata of its own, which is looked for.
    assert len(faulty.requests) <= 601 + 60 + (300 if zarr_format == 2 else 0)


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("listed", [False, True])
def test_what_another_process_creates_is_not_replaced(
    faulty: FaultyServer, zarr_format: int, listed: bool
) -> None:
    root = consolidated(faulty, zarr_format)
    name = DOCUMENT[zarr_format]
    theirs = faulty.values[f"h/old/{name}"]
    with root.batch():
        for number in range(40 if listed else 2):
            root.create_array(f"g/a{number}", **NEW)
        faulty.values[f"h/g/theirs/{name}"] = theirs
        with pytest.raises(zarr.errors.ContainsArrayError):
            root.create_array("g/theirs", shape=3, dtype="f8")
        with pytest.raises(zarr.errors.ContainsArrayError):
            root.create_group("g/theirs") if zarr_format == 3 else root.create_array(
                "g/theirs", shape=4, dtype="f8"
            )
    assert faulty.values[f"h/g/theirs/{name}"] == theirs


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_an_overwrite_replaces_what_came_meanwhile_with_its_chunks(
    faulty: FaultyServer, zarr_format: int
) -> None:
    root = consolidated(faulty, zarr_format)
    name = DOCUMENT[zarr_format]
    with root.batch():
        for number in range(40):
            root.create_array(f"g/a{number}", **NEW)
        faulty.values[f"h/g/theirs/{name}"] = faulty.values[f"h/old/{name}"]
        chunk = "h/g/theirs/0" if zarr_format == 2 else "h/g/theirs/c/0"
        faulty.values[chunk] = b"abc", {}
        z = root.create_array("g/theirs", overwrite=True, **NEW)
        assert chunk not in faulty.values
        again = root.create_array("g/a1", overwrite=True, **{**NEW, "shape": 20})
    assert z[:].tolist() == [0] * 10
    assert again.shape == zarr.open_consolidated(root.store)["g/a1"].shape == (20,)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_nodes_and_chunks_that_were_there_are_refused(
    faulty: FaultyServer, zarr_format: int
) -> None:
    root = consolidated(faulty, zarr_format)
    chunk = "0" if zarr_format == 2 else "c/0"
    for number in range(3):
        faulty.values[f"h/lost{number}/{chunk}"] = b"abc", {}
    faulty.values["h/gone/.zattrs"] = b'{"stale": 1}', {}
    with root.batch():
        for number in range(40):
            if number in (0, 10, 30):
                with pytest.raises(zarr.errors.ContainsArrayError, match="array that is gone"):
                    root.create_array(f"lost{number // 10 % 3}", **NEW)
            root.create_array(f"a{number}", **NEW)
        for path in ("old", "old/below", "a7", "a7/below", "a39"):
            with pytest.raises(zarr.errors.ContainsArrayError):
                root.create_array(path, **NEW)
        root.create_array("lost1", overwrite=True, **NEW)
        made = root.create_array("gone", **NEW)
    assert f"h/lost1/{chunk}" not in faulty.values
    assert f"h/lost2/{chunk}" in faulty.values
    assert opened(faulty, zarr_format, "r")["gone"].attrs.asdict() == {} == made.attrs.asdict()


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("is_consolidated", [False, True])
def test_a_group_that_another_process_removes_meanwhile_is_made_again(
    faulty: FaultyServer, zarr_format: int, is_consolidated: bool
) -> None:
    root = consolidated(faulty, zarr_format) if is_consolidated else opened(faulty, zarr_format)
    with root.batch():
        root.create_array("g/x/first", **NEW)
        for key in [key for key in faulty.values if key.startswith("h/g")]:
            del faulty.values[key]
        root.create_array("g/x/second", **NEW)
    assert list(root["g/x"]) == ["second"]
    if is_consolidated:
        assert list(zarr.open_consolidated(root.store)["g/x"]) == ["second"]


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("kinds", [6, 7])
def test_any_changes_leave_what_they_leave_without_a_batch(
    faulty: FaultyServer, zarr_format: int, seed: int, kinds: int
) -> None:
    random = np.random.default_rng(seed)
    names = ["a", "a/b", "a/b/c", "d", "d/e", "old"]
    steps = [(str(random.choice(names)), int(random.integers(kinds))) for _ in range(40)]

    def run(root: zarr.Group) -> list[str]:
        said = []
        for name, step in steps:
            try:
                _change(root, name, step)
            except (zarr.errors.ZarrixError, ValueError) as error:
                said.append(type(error).__name__)
            else:
                said.append("")
        return said

    plain = run(consolidated(faulty, zarr_format))
    expected = _stored(faulty)
    faulty.values.clear()
    root = consolidated(faulty, zarr_format)
    with root.batch():
        assert run(root) == plain
    assert _stored(faulty) == expected
    if kinds == 6:
        # All of them are changes of nodes, which consolidated metadata shows.
        before = _told(faulty)
        zarr.consolidate_metadata(root.store)
        assert before == _told(faulty)


def _told(server: FaultyServer) -> Any:
    """The consolidated metadata of the root."""
    documents = (
        json.loads(server.values[f"h/{name}"][0])
        for name in (".zmetadata", "zarr.json")
        if f"h/{name}" in server.values
    )
    return [one.get("consolidated_metadata", one.get("metadata")) for one in documents]


def _change(root: zarr.Group, name: str, step: int) -> None:
    if step == 0:
        root.require_group(name).attrs["n"] = 1
    elif step == 1:
        if name in root:
            del root[name]
    elif step == 2:
        root.create_array(f"{name}/z", overwrite=True, attributes={"a": 1}, **NEW)[:] = 1
    elif step == 3:
        root.create_group(name)
    elif step == 4:
        root.create_array(name, **NEW)[:] = 2
    elif step == 5:
        if name in root and "moved" not in root:
            root.move(name, "moved")
    else:
        zarr.storage.rmdir(root.store, name)


def _stored(server: FaultyServer) -> dict[str, Any]:
    def plain(key: str, value: bytes) -> Any:
        if not key.rpartition("/")[2].startswith((".z", "zarr")):
            return value
        # Keys that are deleted without a node stay in consolidated metadata, until it is made anew.
        document = json.loads(value)
        document.pop("consolidated_metadata", None)
        return document

    return {
        key: plain(key, value)
        for key, (value, _) in server.values.items()
        if not key.endswith(".zmetadata")
    }


@pytest.mark.filterwarnings("ignore::zarrix.errors.LostUpdateWarning")
def test_a_server_without_conditions_gets_reads_before_puts(faulty: FaultyServer) -> None:
    faulty.mode, faulty.only = "ignore conditions", ("PUT",)
    root = opened(faulty, 3)
    with root.batch():
        for number in range(5):
            root.create_array(f"g/a{number}", **NEW)
        faulty.values["h/g/theirs/zarr.json"] = faulty.values["h/g/a1/zarr.json"]
        with pytest.raises(zarr.errors.ContainsArrayError):
            root.create_array("g/theirs", **NEW)
    assert len(root["g"]) == 6


@pytest.mark.parametrize("fault", ["answer to a put", "connection after a put"])
def test_a_lost_answer_does_not_make_a_new_node_a_second_one(
    faulty: FaultyServer, fault: str
) -> None:
    root = opened(faulty, 3)
    with root.batch():
        root.create_array("g/first", **NEW)
        faulty.mode, faulty.only, faulty.count = fault, ("PUT",), 1
        root.create_array("g/second", **NEW)
        faulty.mode = ""
    assert sorted(root["g"]) == ["first", "second"]
