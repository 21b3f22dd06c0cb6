"""Streams of events, and the widget, whose requests and answers are messages."""

from __future__ import annotations

import base64
import io
import itertools
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix.viewer import _streams
from zarrix.viewer._app import root_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._streams import events_of


def events(body: bytes) -> list[tuple[str, Any]]:
    """The events of a body of `text/event-stream`."""
    found = []
    for block in body.decode().split("\n\n"):
        lines = dict(line.split(": ", 1) for line in block.splitlines() if line[:1] != ":")
        if lines:
            found.append((lines["event"], json.loads(lines["data"])))
    return found


def damaged() -> Any:
    """A group with two arrays, one chunk of which is damaged."""
    root = zarr.group()
    root.create_dataset("a", data=np.arange(100), chunks=10)
    root.create_dataset("in/b", data=np.arange(36).reshape(6, 6), chunks=(3, 3))
    root.store["in/b/1.0"] = b"damaged"
    return root


def test_a_check_names_broken_chunks_and_where_they_are() -> None:
    client = Client(viewer.app(damaged()))
    found = client.get("/api/verify", path="")
    assert (found.status, found.headers["content-type"]) == (
        200,
        "text/event-stream; charset=utf-8",
    )
    assert found.headers["content-security-policy"]
    told = events(found.body)
    assert told[-1][0] == "end"
    assert {name: one for name, one in told[-1][1].items() if name != "seconds"} == {
        "ok": False, "chunks": 14, "broken": 1}  # fmt: skip
    assert [one for name, one in told if name == "progress"][-1] == {"done": 14, "total": 14}
    (broken,) = (one for name, one in told if name == "broken")
    assert (broken["path"], broken["key"], broken["coords"]) == ("in/b", "in/b/1.0", [1, 0])
    assert broken["reason"]
    only = events(client.get("/api/verify", path="a").body)
    assert only[-1][1]["ok"] is True


def test_streams_need_the_token_and_a_node() -> None:
    client = Client(viewer.app(damaged()))
    assert client.get("/api/verify", token=None).status == 401
    assert client.get("/api/verify", path="none").status == 404
    assert client.get("/api/verify", path="../a").status == 400
    assert client.get("/api/verify", other="x").status == 400
    assert client.get("/api/verify", method="HEAD").status == 503


def test_a_change_of_the_shown_array_is_an_event(tmp_path: Path) -> None:
    z = zarr.open(str(tmp_path / "a"), mode="w", shape=(20,), chunks=(5,), dtype="i4")
    told = events_of(Roots([root_of(str(tmp_path / "a"))]), "events", {"path": ""})
    assert next(told) == ("", None)
    z[3] = 7
    z.resize(30)
    name, value = next(one for one in itertools.islice(told, 200) if one[0] == "changed")
    assert (name, value["path"]) == ("changed", "")


class Sent:
    """What a widget sends, in the order in which it comes."""

    def __init__(self, widget: Any) -> None:
        self.messages: list[tuple[dict[str, Any], bytes]] = []
        self._more = threading.Condition()
        widget.send = self

    def __call__(self, content: dict[str, Any], buffers: Any = ()) -> None:
        with self._more:
            self.messages.append((content, b"".join(map(bytes, buffers))))
            self._more.notify_all()

    def wait(self, number: int, last: str = "status") -> list[tuple[dict[str, Any], bytes]]:
        """The messages about a request, as soon as the last one is there."""

        def found() -> list[tuple[dict[str, Any], bytes]]:
            return [one for one in self.messages if one[0]["id"] == number]

        with self._more:
            assert self._more.wait_for(lambda: any(last in one for one, _ in found()), 60)
            return found()


def test_a_widget_answers_as_the_server_does() -> None:
    pytest.importorskip("anywidget")
    root = damaged()
    client = Client(viewer.app(root))
    widget = root.viewer()
    try:
        sent = Sent(widget)
        for number, (route, given) in enumerate(
            [
                ("tile", {"path": "a", "sel": "3:9"}),
                ("node", {"path": "in/b"}),
                ("value", {"path": "a", "index": "3"}),
                ("tile", {"path": "../a"}),
                ("tile", {"path": "in/b"}),
                ("none", {}),
            ]
        ):
            widget._receive(None, {"id": number, "route": route, "params": given}, [])
            ((message, body),) = sent.wait(number)
            expected = client.get(f"/api/{route}", **given)
            assert (message["status"], body) == (expected.status, expected.body), route
        for name in ("x-zarrix-shape", "x-zarrix-type", "etag"):
            assert sent.wait(0)[0][0]["headers"][name] == client.get(
                "/api/tile", path="a", sel="3:9").headers[name]  # fmt: skip
    finally:
        widget.close()


def test_a_widget_streams_and_its_selection_is_values() -> None:
    pytest.importorskip("anywidget")
    root = damaged()
    widget = root.viewer()
    try:
        sent = Sent(widget)
        widget._receive(None, {"id": 1, "route": "verify", "params": {"path": "in/b"}}, [])
        told = [one for one, _ in sent.wait(1, "end")]
        assert [one["event"] for one in told if "event" in one].count("broken") == 1
        widget._receive(None, {"id": 2, "route": "events", "params": {"path": "a"}}, [])
        widget._receive(None, {"id": 2, "cancel": True}, [])
        widget._receive(None, {"id": 3, "route": "verify", "params": {"path": "none"}}, [])
        assert sent.wait(3)[0][0]["status"] == 404
        for nonsense in (None, [], {}, {"id": "x"}, {"id": 4, "cancel": True}):
            widget._receive(None, nonsense, [])
        assert widget.region is None
        widget.selection = {"path": "a", "sel": "3:9"}
        assert widget.region.tolist() == [3, 4, 5, 6, 7, 8]
    finally:
        widget.close()


def test_a_widget_keeps_the_bounds_of_the_server() -> None:
    """Requests that wait are bounded, each ends when it is cancelled, and texts are checked."""
    pytest.importorskip("anywidget")

    class Slow(dict):  # type: ignore[type-arg]
        asked = 0
        goes_on = threading.Event()

        def __getitem__(self, key: str) -> Any:
            if key[:1].isdigit():
                self.asked += 1
                self.goes_on.wait(60)
            return super().__getitem__(key)

    store = Slow()
    zarr.array(np.arange(4), store=store, chunks=4)
    widget = zarr.open(store, mode="r").viewer()
    try:
        sent = Sent(widget)
        for number in range(100):
            widget._receive(None, {"id": number, "route": "tile", "params": {}}, [])
        assert sent.wait(99)[0][0]["status"] == 503
        for number in range(100):
            widget._receive(None, {"id": number, "cancel": True}, [])
        store.goes_on.set()
        for number, given in enumerate(([1], "path", {"path": 1}, {"sel": None}), 200):
            widget._receive(None, {"id": number, "route": "tile", "params": given}, [])
            assert sent.wait(number)[0][0]["status"] == 400
        # Four had begun; those that waited were not read, and none was answered.
        assert store.asked <= 4
        answered = {one["id"] for one, _ in sent.messages if one.get("status") == 200}
        assert answered == set()
        widget._threads.shutdown()
        assert widget._requests == widget._waiting == {}
    finally:
        widget.close()


@pytest.mark.parametrize("route", ["verify", "events"])
def test_a_stream_of_a_damaged_member_is_refused(route: str) -> None:
    root = damaged()
    root.store["bad/.zarray"] = b'{"zarr_format": 2, "shape": "many"}'
    found = Client(viewer.app(root)).get(f"/api/{route}", path="bad")
    assert (found.status, found.json()["kind"]) == (422, "metadata")


def test_a_store_that_fails_in_a_check_is_its_last_event() -> None:
    """The status has been sent; the connection is not broken off without a word."""

    class Failing(dict):  # type: ignore[type-arg]
        fails = False

        def __iter__(self) -> Any:
            if self.fails:
                raise OSError("the disk is gone")
            return super().__iter__()

        keys = __iter__  # type: ignore[assignment]

    store = Failing()
    zarr.array(np.arange(4), store=store, chunks=2)
    client = Client(viewer.app(zarr.open(store, mode="r")))
    store.fails = True
    found = client.get("/api/verify")
    assert found.status == 200
    ((name, value),) = events(found.body)
    assert (name, value["kind"]) == ("error", "store")
    assert "the disk is gone" in value["error"]


def test_a_check_names_members_that_cannot_be_opened() -> None:
    root = damaged()
    root.store["in/bad/.zarray"] = b'{"zarr_format": 2, "shape": "many"}'
    told = events(Client(viewer.app(root)).get("/api/verify").body)
    broken = {value["path"]: value["key"] for name, value in told if name == "broken"}
    assert broken == {"in/b": "in/b/1.0", "in/bad": "in/bad"}
    assert (told[-1][1]["ok"], told[-1][1]["broken"]) == (False, 2)


def test_a_check_of_more_members_than_it_looks_at_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(_streams, "_MOST_MEMBERS", 2)
    told = events(Client(viewer.app(damaged())).get("/api/verify").body)
    assert (told[-1][0], told[-1][1]["kind"]) == ("error", "too-large")


def test_changes_of_an_array_whose_metadata_is_damaged_go_on(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "g", mode="w", zarr_format=2)
    root["a"] = [1, 2]
    told = events_of(Roots([root_of(str(tmp_path / "g"))]), "events", {"path": "a"})
    assert next(told) == ("", None)
    document = tmp_path / "g/a/.zarray"
    good = document.read_bytes()
    document.write_bytes(b"{")
    first = next(value for name, value in itertools.islice(told, 200) if name == "changed")
    document.write_bytes(good)
    second = next(value for name, value in itertools.islice(told, 200) if name == "changed")
    assert first["etag"] != second["etag"]


def test_a_widget_leaves_a_picture_in_a_notebook_that_is_exported() -> None:
    """A notebook without a kernel has the PNG beside the widget; what has no plane has none."""
    pytest.importorskip("anywidget")
    image = pytest.importorskip("PIL.Image", reason="pillow is not installed")
    root = zarr.group()
    data = np.linspace(0, 255, 600).astype("u1").reshape(20, 30)
    root.create_array("a/image", shape=data.shape, dtype="u1")[:] = data
    widget = root.viewer()
    try:
        bundle, _ = widget._repr_mimebundle_()
    finally:
        widget.close()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    with image.open(io.BytesIO(base64.b64decode(bundle["image/png"]))) as opened:
        found = np.asarray(opened.convert("RGB"))
    assert found.shape == (*data.shape, 3)
    # From the first to the last colour of viridis, and equal values have equal colours.
    assert (found[0, 0].tolist(), found[-1, -1].tolist()) == ([68, 1, 84], [253, 231, 36])
    pairs = zip(data.reshape(-1).tolist(), found.reshape(-1, 3).tolist(), strict=True)
    colours = {(value, tuple(pixel)) for value, pixel in pairs}
    assert len(colours) == len(np.unique(data))
    alone = zarr.zeros((5,), dtype="f4").viewer()
    try:
        assert "image/png" not in alone._repr_mimebundle_()[0]
    finally:
        alone.close()
