"""Stores that want to harm: their names, attributes and sizes are data, and nothing else."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client, Reply
from zarrix import viewer

SCRIPT = "<script>alert(1)</script>"
NAMES = [
    "<script>alert(1)",
    "a&b=c#d",
    "x\u202egnp.exe",
    "%2e%2e",
    "it's",
    'q"uote',
    "emoji \U0001f600",
    "a b",
]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_kind_are_found_again(name: str) -> None:
    root = zarr.group()
    root[name] = np.arange(3, dtype="u1")
    root[name].attrs["<b>"] = SCRIPT
    client = Client(viewer.app(root))
    (member,) = client.get("/api/tree").json()["members"]
    assert (member["path"], member["name"]) == (name, name)
    found = client.get("/api/node", path=name)
    assert found.json()["attributes"] == {"<b>": SCRIPT}
    assert found.headers["content-type"] == "application/json"
    assert client.get("/api/tile", path=name).body == b"\0\1\2"
    assert client.get("/api/code", path=name).status == 200


def test_large_and_strange_attributes_are_bounded() -> None:
    root = zarr.group()
    root["large"] = [1]
    root["large"].attrs["text"] = "x" * 10**6
    root["strange"] = [1]
    root["strange"].attrs.put({"ome": 5, "multiscales": "x", "omero": [1], "_ARRAY_DIMENSIONS": 3})
    for attributes in (
        {"multiscales": [{"datasets": [{"path": "../x"}, {"path": 5}, 7], "axes": 3}]},
        {"ome": {"multiscales": [[]], "omero": {"channels": [1, {"window": 3, "color": 9}]}}},
        {"multiscales": [{"datasets": "x"}], "omero": {"channels": {"a": 1}}},
    ):
        root.attrs.put(attributes)
        client = Client(viewer.app(root))
        assert client.get("/api/node", path="").status == 200
        assert client.get("/api/node", path="strange").status == 200
        assert client.get("/api/related", path="strange").status == 200
    found = client.get("/api/node", path="large")
    assert (found.json()["attributes"], found.json()["attributes_truncated"]) == ({}, True)
    assert len(found.body) < 10_000


def test_a_member_that_cannot_be_opened_is_named_with_the_reason() -> None:
    root = zarr.group()
    root["good"] = [1]
    root.store["bad/.zarray"] = b'{"zarr_format": 2, "shape": "many"}'
    client = Client(viewer.app(root))
    bad, good = client.get("/api/tree").json()["members"]
    assert (bad["kind"], good["kind"]) == ("broken", "array")
    assert "shape" in bad["reason"]
    found = client.get("/api/node", path="bad")
    assert (found.status, found.json()["kind"]) == (422, "metadata")


def test_thousands_of_members_come_in_pages_and_by_name() -> None:
    store: dict[str, bytes] = {".zgroup": b'{"zarr_format": 2}'}
    document = json.dumps(zarr.zeros(3, dtype="u1").metadata.to_dict()).encode()
    for number in range(3000):
        store[f"a{number}/.zarray"] = document
    client = Client(viewer.app(zarr.open(store, mode="r")))
    page = client.get("/api/tree", offset=2990, limit=100).json()
    assert (page["total"], len(page["members"])) == (3000, 10)
    first = client.get("/api/tree", limit=12).json()["members"]
    assert [one["name"] for one in first] == [f"a{number}" for number in range(12)]
    found = client.get("/api/tree", filter="A299", limit=500).json()
    assert {one["name"] for one in found["members"]} == {"a299", *(f"a299{n}" for n in range(10))}
    found = client.get("/api/tree", filter="a", limit=5).json()
    assert (len(found["members"]), found["truncated"]) == (5, True)


def test_nothing_is_written_by_any_route() -> None:
    class Frozen(dict):
        def __setitem__(self, key: str, value: Any) -> None:
            raise AssertionError(f"{key} is written")

        __delitem__ = __setitem__

    store: dict[str, bytes] = {}
    root = zarr.group(store)
    root["a"] = np.arange(400.0).reshape(2, 10, 20)
    client = Client(viewer.app(zarr.open(Frozen(store), mode="r")))
    for target in ("hello", "tree", "node?path=a", "tile?path=a", "value?path=a&index=0,0,0",
                   "cells?path=a", "related?path=a", "overview?path=a&axes=1,2&side=4",
                   "stored?path=a", "chunk?path=a&coords=0,0,0", "plan?path=a", "stats?path=a",
                   "series?path=a&axis=2&index=0,0,0", "crops?path=a&shape=4,4", "code?path=a",
                   "npy?path=a", "verify?path="):  # fmt: skip
        assert client.get(f"/api/{target}").status == 200, target


def test_requests_at_the_same_time_get_their_own_answers() -> None:
    values = np.arange(64 * 64, dtype="u2").reshape(64, 64)
    client = Client(viewer.app(zarr.array(values, chunks=(8, 8))))

    async def ask() -> list[Reply]:
        headers = {"host": client.host, "x-zarrix-token": client.token}
        asked = (client.ask("GET", "/api/tile", f"sel={row}", headers) for row in range(64))
        return await asyncio.gather(*asked)

    for row, found in enumerate(asyncio.run(ask())):
        assert np.array_equal(found.array(), values[row])


@pytest.mark.parametrize("attributes", [b"{", b"[" * 10**5, b'{"a": "' + b"x" * 10**6 + b'"}'])
def test_attributes_of_a_member_do_not_hide_the_others(attributes: bytes) -> None:
    root = zarr.group(zarr_format=2)
    root["a"], root["b"] = [1], [2]
    root.create_group("c")
    root.store["c/.zattrs"] = attributes
    client = Client(viewer.app(root))
    for given in ({}, {"filter": "c"}):
        found = client.get("/api/tree", **given)
        assert found.status == 200
        kinds = {one["name"]: one["kind"] for one in found.json()["members"]}
        assert kinds["c"] == ("group" if attributes.endswith(b"}") else "broken")
        assert given or kinds["a"] == kinds["b"] == "array"
    assert client.get("/api/node", path="c").status in (200, 422)


@pytest.mark.parametrize("depth", [50, 200, 900])
def test_deep_and_large_attributes_are_cut(depth: int) -> None:
    root = zarr.group(zarr_format=2)
    root.store[".zattrs"] = b'{"a": ' + b"[" * depth + b"]" * depth + b"}"
    found = Client(viewer.app(root)).get("/api/node").json()
    assert found["attributes_truncated"] is (depth > 100)


def test_a_group_of_many_names_opens_only_those_that_are_shown() -> None:
    class Counting(dict):  # type: ignore[type-arg]
        documents = 0

        def __getitem__(self, key: str) -> Any:
            self.documents += key.endswith(".zarray")
            return super().__getitem__(key)

    store = Counting()
    root = zarr.group(store, zarr_format=2)
    root["a0"] = [1]
    for number in range(1, 5000):
        store[f"a{number}/.zarray"] = store["a0/.zarray"]
    store["other/file"] = b""
    client = Client(viewer.app(zarr.open(store, mode="r")))
    store.documents = 0
    found = client.get("/api/tree", offset=4990, limit=20).json()
    assert found["total"] == 5001
    assert [one["name"] for one in found["members"]] == [
        *(f"a{number}" for number in range(4990, 5000)), "other"]  # fmt: skip
    assert found["members"][-1]["kind"] == "broken"
    assert store.documents < 100
