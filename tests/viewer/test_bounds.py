"""What one request may take: chunks, requests, bytes and time, regardless of declared shapes."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import threading
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix.viewer import _calls
from zarrix.viewer._answers import Refused
from zarrix.viewer._app import root_of
from zarrix.viewer._calls import Room
from zarrix.viewer._roots import Roots
from zarrix.viewer._routes import ROUTES, answer


class Asked(dict):  # type: ignore[type-arg]
    """A store that counts how often it is asked for a value."""

    count = 0

    def __getitem__(self, key: str) -> Any:
        self.count += 1
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self.count += 1
        return super().__contains__(key)


SHAPES: dict[str, dict[str, Any]] = {
    "line": {"shape": (2**50,), "chunks": (1,)},
    "longest": {"shape": (2**63 - 1,), "chunks": (2**20,)},
    "planes": {"shape": (2**40, 2**10, 2**10), "chunks": (1, 1, 1)},
    "plane": {"shape": (2**31, 2**31), "chunks": (2**10, 2**10)},
    "shards": {"shape": (2**40, 2**20), "shards": (2**10, 2**10), "chunks": (1, 1)},
    "long shards": {"shape": (2**60,), "shards": (2**20,), "chunks": (1,)},
    "rectilinear": {"shape": (2**40,), "chunks": [[[2, 2**39]]]},
}


def sparse() -> tuple[Client, Asked]:
    store = Asked()
    root = zarr.group(store, zarr_format=3)
    for name, given in SHAPES.items():
        z = root.create_array(name, dtype="u1", **given)
        z[tuple(0 for _ in z.shape)] = 7
    return Client(viewer.app(zarr.open(store, mode="r"))), store


SELECTIONS = ("", "0", "::2", "::-1", "5:100000", "0,0,0", ":,0,:", ":1,:1000,:1000",
              ":3000,:3000")  # fmt: skip


def test_sparse_arrays_of_any_shape_are_bounded() -> None:
    """No route loops over what is declared: it is refused, or asks for some values."""
    client, store = sparse()
    statuses: dict[str, set[int]] = {}
    for path, given in SHAPES.items():
        axes = len(given["shape"])
        last = f"{axes - 2},{axes - 1}" if axes > 1 else "0,0"
        requests: list[tuple[str, dict[str, str]]] = [
            (route, {"path": path, "sel": sel})
            for route in ("tile", "plan", "stats", "stored", "cells")
            for sel in SELECTIONS
        ]
        requests += [("overview", {"path": path, "sel": sel, "axes": last}) for sel in SELECTIONS]
        if axes > 2:
            depth = {"path": path, "axes": last, "along": str(axes - 3)}
            corner = ",".join(["0"] * (axes - 3) + [":2", ":4", ":4"])
            requests += [("projection", {**depth, "sel": sel}) for sel in (*SELECTIONS, corner)]
        requests += [("value", {"path": path, "index": sel}) for sel in SELECTIONS]
        zeros = ",".join("0" * axes)
        requests += [("series", {"path": path, "axis": str(axes - 1), "index": zeros}),
                     ("series", {"path": path, "index": zeros}),
                     ("chunk", {"path": path, "coords": zeros}),
                     ("crops", {"path": path, "shape": "1,1"}),
                     ("crops", {"path": path, "shape": "1000,1000", "n": "4"}),
                     ("node", {"path": path}), ("related", {"path": path})]  # fmt: skip
        for route, parameters in requests:
            store.count = 0
            found = client.get(f"/api/{route}", **parameters)
            statuses.setdefault(route, set()).add(found.status)
            assert found.status in (200, 400, 413), (route, parameters, found.body[:300])
            assert store.count < 300_000, (route, parameters, store.count)
    # Each of them answers something, and those that read refuse something.
    assert all(200 in found for route, found in statuses.items() if route != "crops")
    for route in ("tile", "plan", "stored", "cells", "crops"):
        assert 413 in statuses[route], route


def test_elements_that_are_few_may_be_in_too_many_chunks() -> None:
    root = zarr.group()
    root.create_dataset("a", shape=(2**22,), chunks=1, dtype="u1")
    root.create_dataset("b", shape=(2**40,), chunks=2**18, dtype="u1")
    client = Client(viewer.app(root))
    for route in ("tile", "npy", "plan", "stored"):
        found = client.get(f"/api/{route}", path="a")
        assert (found.status, found.json()["kind"]) == (413, "too-large"), route
    assert client.get("/api/series", path="a", index="0").status == 413
    found = client.get("/api/stats", path="a").json()
    assert (found["exact"], found["count"]) == (False, found["sampled"])
    assert client.get("/api/tile", path="a", sel=":1000").status == 200
    assert client.get("/api/plan", path="b", sel=f"::{2**24}").json()["chunks"] == 2**16


@pytest.mark.parametrize("route", ["tile", "npy", "stats", "series", "stored", "overview"])
def test_a_route_ends_with_its_connection(route: str) -> None:
    """The client leaves while the first part is read; no further one is."""

    class Leaving(dict):  # type: ignore[type-arg]
        asked = 0
        leaves = threading.Event()
        has_left = threading.Event()

        def __getitem__(self, key: str) -> Any:
            if key[:1].isdigit():
                self.asked += 1
                self.leaves.set()
                self.has_left.wait(60)
            return super().__getitem__(key)

        __contains__ = dict.__contains__

    store = Leaving()
    zarr.zeros((60_000, 2), chunks=(1, 2), store=store, dtype="u1")
    application = viewer.app(zarr.open(store, mode="r"), token=False)
    more = {"series": "&index=0,0", "overview": "&axes=0,1&side=4096"}.get(route, "")

    async def ask() -> None:
        client = Client(application)
        gone, first = asyncio.Event(), True

        async def receive() -> Any:
            nonlocal first
            if not first:
                await gone.wait()
                return {"type": "http.disconnect"}
            first = False
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Any) -> None:
            raise AssertionError(message)

        scope = {"type": "http", "method": "GET", "path": f"/api/{route}", "root_path": "",
                 "raw_path": b"", "query_string": f"path={more}".encode(),
                 "headers": [(b"host", client.host.encode())]}  # fmt: skip
        task = asyncio.create_task(application(scope, receive, send))
        assert await asyncio.to_thread(store.leaves.wait, 60)
        gone.set()
        await asyncio.wait_for(task, 60)
        store.has_left.set()

    asyncio.run(ask())
    assert all(calls.wait(60) for calls in application.state.calls)
    assert 0 < store.asked <= 8192 + 100


# Texts that are almost what a parameter may be.
TEXTS = ("", "0", "-1", "+1", "+-5", "--5", "5-", "1e3", "0x10", "1_0", " 1", "1 ", "٣", "²", "½",
         "9223372036854775807", "9223372036854775808", "-9223372036854775809", "9" * 40, "9" * 4096,
         "0,0", "0,0,0", ",", ",,", "0:2:9223372036854775808", "::-9223372036854775809", "::0",
         "9223372036854775808:", ":::", "5:1", "...", "...,...", "0,...", "t=1", "x=0", "y=0:2",
         "=", "y=", "y=y=0", "nan,1", "inf,-inf", "0,1", "1,0", "-1e308,1e308", "0,1e-320",
         "1e400,2", "..", "../a", "/", "a//b", "a\0", "a" * 5000, "\ud800", "\U0001f600", "é",
         "e\u0301",
         "<script>", "%00", "%2e%2e", "a/b/c/d/e/f", "None", "true", "raw", "label", "f", "r", "\n",
         "\r\nX: 1", "'", '"', "\\", "nan", "1,nan", "0.5", "256,256", "1,1",
         "0,1,2,3")  # fmt: skip


def kinds() -> Any:
    root = zarr.group(zarr_format=3)
    root.create_array("a", shape=(4, 6), chunks=(2, 3), dtype="f8", dimension_names=["y", "x"])[
        :
    ] = np.arange(24).reshape(4, 6)
    root.create_array("shards", shape=(8, 8), shards=(4, 4), chunks=(2, 2), dtype="i8")[:] = 2**60
    root.create_array("rect", shape=(8, 9), chunks=[[1, 4, 3], [9]], dtype="u2")[:] = 3
    root.create_array("none", shape=(0, 3), chunks=(1, 1), dtype="u1")
    root.create_array("one", shape=(), dtype="f4")[...] = np.inf
    extreme = root.create_array("extreme", shape=(9,), chunks=(4,), dtype="f8")
    extreme[:] = [np.nan, np.inf, -np.inf, 1.7e308, -1.7e308, 5e-324, 0.0, -0.0, 1]
    root.create_array("text", shape=(5,), chunks=(2,), dtype=str)[:] = [
        "<b>",
        "\0",
        "a" * 9,
        "",
        "é",
    ]
    struct = np.dtype([("f", "f4"), ("r", "u1", (2,))])
    old = zarr.group()
    old.create_dataset("struct", shape=(6,), chunks=4, dtype=struct)
    old.create_dataset("time", shape=(6,), chunks=4, dtype="M8[ns]")
    old.create_dataset("bool", shape=(6, 7), chunks=4, dtype="?")
    old.create_dataset("complex", shape=(6, 7), chunks=4, dtype="c16")
    return [root_of(root), root_of(old)]


def test_every_parameter_of_every_route_is_checked(caplog: pytest.LogCaptureFixture) -> None:
    """A text that is not a value gets a 400, and never an error of another kind."""
    roots = Roots(kinds())
    first, second = roots.roots
    paths = [
        f"{first}/{name}" for name in ("a", "shards", "rect", "none", "one", "extreme", "text")
    ]
    paths += [f"{second}/{name}" for name in ("struct", "time", "bool", "complex")]
    known = {"sel": "0", "index": "0,0", "coords": "0,0", "axis": "0", "axes": "0,1", "n": "2",
             "bins": "4", "shape": "2,2", "seed": "1", "width": "10", "side": "4"}  # fmt: skip
    seen: set[int] = set()
    with caplog.at_level(logging.ERROR, "zarrix.viewer"):
        for name, route in ROUTES.items():
            for path, parameter in itertools.product(paths, route.parameters):
                given = {one: known[one] for one in route.parameters if one in known}
                for text in TEXTS:
                    found = answer(roots, name, {"path": path, **given, parameter: text})
                    status, asked = found.status, (name, path, parameter, text)
                    seen.add(status)
                    assert status in (200, 400, 404, 413), (asked, bytes(found.body)[:300])
                    if status != 200:
                        assert set(json.loads(bytes(found.body))) == {"error", "kind"}, asked
                        assert len(found.body) < 2000, asked
                    # 404 is for paths, and 413 for sizes.
                    assert status != 404 or parameter == "path", asked
    assert caplog.records == []
    assert seen == {200, 400, 404, 413}


@pytest.mark.parametrize(
    "given", [None, [], "path", {"path": 1}, {"path": None}, {1: "a"}, {"path": []}]
)
def test_parameters_that_are_no_texts_are_refused(given: Any) -> None:
    found = answer(Roots([root_of(zarr.zeros(3))]), "tile", given)
    assert found.status == 400


def test_room_is_given_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async def ask() -> None:
        room, order = Room(100), []
        held = asyncio.Event()

        async def use(name: str, size: int, kept: int = 0) -> None:
            async with room.taken(size) as taken:
                taken.keep(kept)
                order.append(name)
                await held.wait()

        first = asyncio.create_task(use("large", 1000, 60))
        await asyncio.sleep(0)
        others = [asyncio.create_task(use(name, 50, 50)) for name in ("b", "c")]
        small = asyncio.create_task(use("small", 1, 1))
        while len(order) < 1:
            await asyncio.sleep(0)
        for _ in range(10):
            await asyncio.sleep(0)
        # A later one does not pass those who wait for more.
        assert order == ["large"]
        others[0].cancel()
        held.set()
        await asyncio.gather(first, others[1], small)
        assert order == ["large", "c", "small"]
        monkeypatch.setattr(_calls, "PATIENCE_S", 0.01)
        async with room.taken(100):
            with pytest.raises(Refused, match="memory"):
                await use("late", 1)
        async with room.taken(100):
            pass

    asyncio.run(ask())
