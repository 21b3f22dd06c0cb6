"""`zarrix serve`: the keys of a store over HTTP, as other viewers ask for them."""

from __future__ import annotations

import signal
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("uvicorn")

from viewer.asgi import Client
from viewer.test_server import start
from zarrix.viewer._serve import key_application, links

ORIGIN = "https://neuroglancer-demo.appspot.com"


class Keys(Client):
    """A page of another site, which sends no token."""

    def __init__(self, node: object, *origins: str) -> None:
        made = key_application(node, ["127.0.0.1:8000"], origins or ["*"])
        made.state.token = None
        super().__init__(made)


@pytest.fixture
def root() -> zarr.Group:
    root = zarr.group()
    root["in/a"] = np.arange(100, dtype="u1")
    root["out"] = [1]
    return root


def test_values_ranges_and_heads_are_those_of_the_store(root: zarr.Group) -> None:
    client = Keys(root)
    value = bytes(root.store["in/a/0"])
    found = client.get("/in/a/0")
    assert (found.status, found.body) == (200, value)
    assert found.headers["accept-ranges"] == "bytes"
    assert client.get("/in/a/.zarray").body == bytes(root.store["in/a/.zarray"])
    size = len(value)
    ranges = {"bytes=2-5": (2, 6), "bytes=3-": (3, size), "bytes=-4": (size - 4, size)}
    ranges[f"bytes=1-{size + 9}"] = (1, size)
    for header, (begin, end) in ranges.items():
        found = client.get("/in/a/0", headers={"range": header})
        assert (found.status, found.body) == (206, value[begin:end]), header
        assert found.headers["content-range"] == f"bytes {begin}-{end - 1}/{size}"
    head = client.get("/in/a/0", method="HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(size))
    for header in (f"bytes={size}-", "bytes=5-2", "items=0-1", "bytes=0-1,3-4", "bytes=-", "x"):
        assert client.get("/in/a/0", headers={"range": header}).status == 416


def test_pages_of_other_sites_may_read_also_what_is_missing(root: zarr.Group) -> None:
    for target in ("/in/a/0", "/in/a/99", "/"):
        found = Keys(root).get(target, headers={"origin": ORIGIN})
        assert found.headers["access-control-allow-origin"] == "*"
    asked = Keys(root).get("/in/a/0", method="OPTIONS", headers={"origin": ORIGIN})
    assert (asked.status, asked.headers["access-control-allow-private-network"]) == (204, "true")
    some = Keys(root, ORIGIN)
    allowed = some.get("/in/a/0", headers={"origin": ORIGIN})
    assert allowed.headers["access-control-allow-origin"] == ORIGIN
    refused = some.get("/in/a/0", headers={"origin": "https://evil.example"})
    assert "access-control-allow-origin" not in refused.headers


@pytest.mark.parametrize(
    "target", ["/../out/0", "/../../etc/passwd", "//etc/passwd", "/%2e%2e/out", "/a/..", "/\0", "/"]
)
def test_keys_stay_below_the_served_node(root: zarr.Group, target: str) -> None:
    found = Keys(root["in"]).get(target)
    assert (found.status, b"root:" in found.body) == (404, False)
    assert Keys(root["in"]).get("/out/0").status == 404
    assert Keys(root["in"]).get("/a/0").status == 200


def test_another_host_and_changes_are_refused(root: zarr.Group) -> None:
    assert Keys(root).get("/in/a/0", headers={"host": "evil.example"}).status == 421
    for method in ("PUT", "POST", "DELETE"):
        assert Keys(root).get("/in/a/0", method=method).status == 405


def test_links_name_the_address(root: zarr.Group) -> None:
    found = links("http://localhost:8000", root)
    assert list(found) == ["Neuroglancer", "vizarr", "ngff-validator"]
    assert all("localhost" in link for link in found.values())
    assert "zarr2" in found["Neuroglancer"]


def test_the_example_serves_until_it_is_interrupted(tmp_path: Path) -> None:
    zarr.save(str(tmp_path / "data.zarr"), np.arange(3))
    with start("serve", "data.zarr", folder=tmp_path) as process:
        assert process.stdout is not None
        address, *shown = (process.stdout.readline().strip() for _ in range(4))
        with urllib.request.urlopen(f"{address}/.zarray", timeout=60) as answer:
            assert answer.status == 200
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert address.startswith("http://localhost:")
    assert [one.split()[0] for one in shown] == ["Neuroglancer", "vizarr", "ngff-validator"]
