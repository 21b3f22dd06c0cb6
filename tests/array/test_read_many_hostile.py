"""The native `read_many` with arguments that Python would never pass, and what others change."""

import contextlib
import http.server
import json
import os
import random
import threading
from typing import Any

import numpy as np
import pytest
import waiting
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from selections import values_of, windows_of
from zarrix import _engine
from zarrix._array.access import io_of
from zarrix.errors import CallCancelledError

NAMES = ["u1", "<u2", ">i4", "f4", "f8", "bfloat16", "b1", "c8", "", "float32", "<"]
ARRAYS = [
    zarr.ones((5, 6), chunks=(2, 4), dtype="f4"),
    zarr.ones((4,), chunks=3, dtype="u1"),
    zarr.ones((3, 2, 3), chunks=2, dtype="f8"),
]
WEIRD = [0.0, -0.0, 1.5, float("inf"), float("-inf"), float("nan"), 1e308]


def drawn_buffer(draw: random.Random, array: Any) -> Any:
    """A window of a larger array, and what lies around it; most have the axes and the dtype."""
    axes = array.ndim + 1 if draw.random() < 0.8 else draw.randint(0, 4)
    shape = tuple(draw.randint(0, 3) for _ in range(axes))
    dtype = array.dtype if draw.random() < 0.6 else draw.choice(["u1", "f2", "f4", "f8", "c16"])
    around = np.full(tuple(length + 2 for length in shape), 77, dtype)
    inner = around[(*(slice(1, 1 + length) for length in shape), ...)]
    if axes and draw.random() < 0.5:
        inner = np.flip(inner, draw.randrange(axes))
    return around, inner


def drawn_conversion(draw: random.Random) -> Any:
    length = draw.randint(0, 3)
    return (
        draw.choice(NAMES),
        draw.choice(NAMES),
        [draw.choice(WEIRD) for _ in range(length)],
        [draw.choice(WEIRD) for _ in range(length if draw.random() < 0.9 else 1)],
        draw.randint(0, 5),
        *(draw.choice(WEIRD) for _ in range(3)),
    )


def drawn_way(draw: random.Random, inner: Any, array: Any) -> Any:
    """Turns and a size, of which half fit, so that the call gets beyond the first check."""
    axes, windows = array.ndim, inner.shape[0] if inner.ndim else 0
    turns: Any = None
    if draw.random() < 0.7:
        order = [2 * axis + draw.randint(0, 1) for axis in draw.sample(range(axes), axes)]
        turns = bytes(order * windows)
        if draw.random() < 0.3:
            turns = bytes(draw.choice([0, 1, 2, 3, 4, 5, 255]) for _ in range(draw.randint(0, 12)))
    if draw.random() < 0.5:
        return turns, None
    before = [draw.choice([0, 1, 2, 3, 7]) for _ in range(draw.choice([axes, axes, axes, 1]))]
    method = draw.choice(["nearest", "bilinear", "area", "area", "x"])
    return turns, (before, method, draw.choice([array.dtype.str, "f4", "u1", "<i8", ">u2", "x"]))


@settings(max_examples=400)
@given(st.integers(0, 2**64))
def test_the_engine_checks_all_that_memory_safety_needs(seed: int) -> None:
    draw = random.Random(seed)
    entries, frames = [], []
    for _ in range(draw.randint(1, 3)):
        array = draw.choice(ARRAYS)
        around, inner = drawn_buffer(draw, array)
        # Half of the shapes fit, so that the call gets beyond the first check.
        count = inner.shape[0] * array.ndim if inner.ndim and draw.random() < 0.8 else 5
        bounds = [0, 1, 2, -1, 5, 2**62, -(2**63), 2**63 - 1]
        starts = np.array([draw.choice(bounds) for _ in range(count)], "i8")
        border = draw.choice(["inside", "pad", "edge", "reflect", "pad", "edge", "x"])
        pad = draw.choice([None, b"", b"\1", b"\1" * 4, b"\1" * 8])
        conversion = drawn_conversion(draw) if draw.random() < 0.5 else None
        way = drawn_way(draw, inner, array) if draw.random() < 0.5 else None
        entries.append((io_of(array), starts, inner, border, pad, conversion, way))
        frames.append((around, inner))
    with contextlib.suppress(ValueError, BufferError):
        _engine.read_many(entries, tolerate=draw.random() < 0.5)
    for around, inner in frames:
        inner[...] = 77
        assert (around == 77).all()


def test_buffers_that_lend_no_memory_are_refused() -> None:
    z = zarr.ones((5, 6), chunks=(2, 4), dtype="f4")
    starts = np.zeros((1, 2), "i8")
    out = np.zeros((1, 2, 2), "f4")
    for bad in (
        (io_of(z), starts.astype("i4"), out, "inside", None, None, None),
        (io_of(z), starts[:, ::-1].T, out, "inside", None, None, None),
        (io_of(z), starts, bytes(16), "inside", None, None, None),
        (io_of(z), starts, None, "inside", None, None, None),
        (io_of(z), starts, out, "inside", None),
        (object(), starts, out, "inside", None, None, None),
    ):
        with pytest.raises((TypeError, ValueError, BufferError)):
            _engine.read_many([bad])  # type: ignore[list-item]


def test_starts_that_another_thread_changes_do_not_lead_outside() -> None:
    model = values_of(np.dtype("u1"), (64, 64))
    z = zarr.array(model, chunks=(8, 8))
    starts = np.zeros((200, 2), "i8")
    frame = np.full((200, 18, 18), 99, "u1")
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            starts[...] = 2**62
            starts[...] = 5

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(30):
            buffer: Any = starts
            with contextlib.suppress(ValueError):
                entry = (io_of(z), buffer, frame[:, 1:17, 1:17], "pad", b"\0", None, None)
                _engine.read_many([entry])
    finally:
        stop.set()
        thread.join()
    frame[:, 1:17, 1:17] = 99
    assert (frame == 99).all()


def test_outs_of_several_threads_are_filled_while_the_store_changes() -> None:
    store: dict[str, bytes] = {}
    z = zarr.create((32, 32), chunks=(8, 8), dtype="i4", store=store, fill_value=1)
    z[:] = 1
    starts = np.array([[0, 0], [3, 5], [16, 9]])
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            z[:16] = 1
            for key in [key for key in store if key[-1].isdigit()][:3]:
                store.pop(key, None)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(50):
            (got,) = zarr.read_many([(z, starts, 16)])
            assert (got == 1).all()
    finally:
        stop.set()
        thread.join()


class Silent(http.server.BaseHTTPRequestHandler):
    """A server that gives metadata, and answers no request for a chunk until it is told to."""

    asked = threading.Event()
    answers = threading.Event()
    document = json.dumps(
        {"zarr_format": 2, "shape": [8, 8], "chunks": [4, 4], "dtype": "<i4", "order": "C"}
        | {"compressor": None, "fill_value": 7, "filters": None}
    ).encode()

    def do_GET(self) -> None:
        body = self.document if self.path.endswith(".zarray") else None
        if self.path[-1].isdigit():
            self.asked.set()
            self.answers.wait(waiting.PATIENCE_S)
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        if body and self.command == "GET":
            self.wfile.write(body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


def test_a_token_ends_a_wait_for_a_server() -> None:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Silent)
    serving = threading.Thread(target=server.serve_forever)
    serving.start()
    try:
        z = zarr.open(f"http://127.0.0.1:{server.server_port}/a.zarr", mode="r")
        token = zarr.CancelToken()
        raised: list[BaseException] = []

        def read() -> None:
            try:
                zarr.read_many([(z, [[0, 0]], 8)], cancel=token)
            except CallCancelledError as error:
                raised.append(error)

        reading = threading.Thread(target=read)
        reading.start()
        assert Silent.asked.wait(waiting.PATIENCE_S)
        token.cancel()
        reading.join(waiting.PATIENCE_S)
        assert len(raised) == 1
        Silent.answers.set()
        (got,) = zarr.read_many([(z, [[0, 0]], 8)])
        assert (got == 7).all()
    finally:
        Silent.answers.set()
        server.shutdown()
        serving.join()
        server.server_close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_child_that_was_forked_during_a_call_reads() -> None:
    model = values_of(np.dtype("u1"), (256, 256))
    z = zarr.array(model, chunks=(16, 16))
    starts = np.array([[0, 0], [100, 70], [31, 5]])
    want = windows_of(model, starts, (120, 120))
    stop = threading.Event()

    def read() -> None:
        while not stop.is_set():
            zarr.read_many([(z, starts, 120)])

    thread = threading.Thread(target=read)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                (got,) = zarr.read_many([(z, starts, 120)])
                os._exit(0 if (got == want).all() else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
