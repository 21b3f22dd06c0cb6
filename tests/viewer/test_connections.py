"""Connections of peers that want to keep the server from others: slow, half, silent, too many."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("uvicorn")

from viewer.serving import LONGEST_S, answered, head, peers, rest, served
from viewer.test_server import start
from zarrix import viewer
from zarrix.viewer import _connections
from zarrix.viewer._limits import MOST_CONNECTIONS
from zarrix.viewer._serve import key_application

PAGE = b"GET /icon.svg HTTP/1.1\r\nHost: a\r\n\r\n"
needs_signals = pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM")
HALF = b"GET /icon.svg HTTP/1.1\r\nHos"


def page() -> Any:
    return viewer.app(zarr.zeros(3), hosts=["a"])


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_connections, "REQUEST_S", 0.05)
    monkeypatch.setattr(_connections, "STALL_S", 0.05)


@pytest.mark.parametrize("separately", [True, False])
def test_half_of_a_second_request_is_closed(soon: None, separately: bool) -> None:
    async def ask() -> bytes:
        async with served(page()) as connect:
            reader, writer = await connect(PAGE if separately else PAGE + HALF)
            assert (await answered(reader))[0] == 200
            if separately:
                writer.write(HALF)
            return await rest(reader)

    assert asyncio.run(ask()) == b""


def test_a_request_that_comes_byte_by_byte_is_closed(soon: None) -> None:
    async def ask() -> None:
        async with served(page()) as connect:
            reader, writer = await connect(PAGE)
            await answered(reader)

            async def trickle() -> None:
                for byte in HALF * 10**6:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0.001)

            sending = asyncio.create_task(trickle())
            assert await rest(reader) == b""
            sending.cancel()

    asyncio.run(ask())


def test_a_body_that_never_ends_is_refused_and_closed(soon: None) -> None:
    async def ask() -> list[bytes]:
        found = []
        async with served(page()) as connect:
            for header in (b"Content-Length: 9999999999", b"Transfer-Encoding: chunked"):
                request = b"GET /icon.svg HTTP/1.1\r\nHost: a\r\n" + header + b"\r\n\r\n5\r\nabc"
                reader, _ = await connect(request)
                found.append(await rest(reader))
        return found

    for answer in asyncio.run(ask()):
        assert answer.startswith(b"HTTP/1.1 413 ")


def test_pipelined_requests_are_answered_in_order(soon: None) -> None:
    async def ask() -> list[int]:
        async with served(page()) as connect:
            other = PAGE.replace(b"icon.svg", b"none")
            reader, _ = await connect((PAGE + other) * 20)
            return [(await answered(reader))[0] for _ in range(40)]

    assert asyncio.run(ask()) == [200, 404] * 20


def test_silent_connections_do_not_keep_others_out() -> None:
    async def ask() -> int:
        async with served(page()) as connect:
            for sent in (b"", HALF, PAGE):
                for _ in range(MOST_CONNECTIONS):
                    reader, _ = await connect(sent)
                    if sent == PAGE:
                        await answered(reader)
            # Many of them at once, before the server looks again.
            await asyncio.gather(*(connect(HALF) for _ in range(3 * MOST_CONNECTIONS)))
            reader, _ = await connect(PAGE)
            return (await answered(reader))[0]

    assert asyncio.run(ask()) == 200


def large(tmp_path: Path, size: int) -> Any:
    """A store with one chunk of so many bytes, which takes no space."""
    z = zarr.create(
        shape=(size,), chunks=(size,), dtype="u1", compressor=None, store=str(tmp_path / "large")
    )
    with open(tmp_path / "large" / "0", "wb") as file:
        file.truncate(size)
    return z


def test_a_reader_that_does_not_read_is_closed(soon: None, tmp_path: Path) -> None:
    async def ask() -> int:
        application = key_application(large(tmp_path, 2**28), ["a"], [])
        async with served(application) as connect:
            reader, writer = await connect(b"GET /0 HTTP/1.1\r\nHost: a\r\n\r\n")
            await head(reader)
            writer.transport.pause_reading()
            async with asyncio.timeout(LONGEST_S):
                while True:
                    # Another one is answered meanwhile; then the first is gone.
                    other, _ = await connect(b"HEAD /0 HTTP/1.1\r\nHost: a\r\n\r\n")
                    assert (await head(other)).startswith(b"HTTP/1.1 200 ")
                    tasks = [one for one in asyncio.all_tasks() if "run_asgi" in repr(one)]
                    if not tasks:
                        break
                    await asyncio.sleep(0.01)
            writer.transport.resume_reading()
            return len(await rest(reader))

    assert asyncio.run(ask()) < 2**28


class Hanging(dict):  # type: ignore[type-arg]
    """A store whose chunks never come."""

    def __init__(self) -> None:
        super().__init__()
        self.hangs = threading.Event()
        self.goes_on = threading.Event()
        self.is_slow = False
        self.asked = 0

    def __getitem__(self, key: str) -> Any:
        if self.is_slow and key.rpartition("/")[2][:1].isdigit():
            self.asked += 1
            self.hangs.set()
            self.goes_on.wait()
        return super().__getitem__(key)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    store = Hanging()
    zarr.group(store)["a"] = np.arange(12, dtype="u1")
    store.is_slow = True
    yield store
    store.goes_on.set()


def test_the_end_does_not_wait_for_a_store_that_hangs(hanging: Hanging) -> None:
    async def ask() -> bool:
        application = viewer.app(zarr.open(hanging, mode="r"), token=False, hosts=["a"])
        async with served(application) as connect:
            await connect(b"GET /api/tile?path=a HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.to_thread(hanging.hangs.wait, LONGEST_S)
        return all(calls.wait(0.01) for calls in application.state.calls)

    # The thread is still in the store; the server has ended.
    assert asyncio.run(ask()) is False


def test_who_leaves_takes_no_time_of_others(hanging: Hanging) -> None:
    async def ask() -> tuple[int, bytes]:
        application = viewer.app(zarr.open(hanging, mode="r"), token=False, hosts=["a"])
        async with served(application) as connect:
            for _ in range(20):
                await connect(b"GET /api/tile?path=a HTTP/1.1\r\nHost: a\r\n\r\n")
            await asyncio.to_thread(hanging.hangs.wait, LONGEST_S)
            await connect.close()
            while connect.server.server_state.connections:
                await asyncio.sleep(0.001)
            hanging.goes_on.set()
            reader, _ = await connect(b"GET /api/tile?path=a&sel=3:5 HTTP/1.1\r\nHost: a\r\n\r\n")
            return await answered(reader)

    assert asyncio.run(ask()) == (200, b"\3\4")
    # Only those that had begun were read.
    assert hanging.asked <= 7


@needs_signals
def test_sigterm_ends_a_server_whose_store_hangs(tmp_path: Path) -> None:
    """A thread that never comes back does not keep the process."""
    code = """
import sys, threading
import zarrix as zarr
from zarrix.viewer._serve import key_application
from zarrix.viewer._server import leave_if_stuck, listen, server_of

class Hanging(dict):
    def __getitem__(self, key):
        if key == "0":
            print("hangs", flush=True)
            threading.Event().wait()
        return super().__getitem__(key)

store = Hanging()
zarr.array([1, 2], store=store)
application = key_application(zarr.open(store, mode="r"), ["a"], [])
with listen("127.0.0.1", 0) as opened:
    print(opened.getsockname()[1], flush=True)
    server_of(application).run(sockets=[opened])
leave_if_stuck(application)
"""
    words = [sys.executable, "-c", code]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())

        async def ask() -> None:
            async with peers(port) as connect:
                await connect(b"GET /0 HTTP/1.1\r\nHost: a\r\n\r\n")
                assert process.stdout is not None
                assert await asyncio.to_thread(process.stdout.readline) == "hangs\n"
                process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(process.wait, LONGEST_S)

        try:
            asyncio.run(ask())
        finally:
            process.kill()
        assert process.returncode == 0


@needs_signals
@pytest.mark.parametrize("verb", ["serve", "view"])
def test_sigterm_ends_a_server_whose_readers_do_not_read(tmp_path: Path, verb: str) -> None:
    large(tmp_path, 2**29)
    words = [verb, "large", *(["--no-browser"] if verb == "view" else [])]
    with start(*words, folder=tmp_path) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        port = int(address.rpartition(":")[2].split("/")[0])
        token = address.rpartition("token=")[2]

        async def ask() -> None:
            # An answer that is larger than what the system takes.
            target = "/0" if verb == "serve" else "/api/npy?sel=0:67108864"
            request = f"GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Zarrix-Token: {token}"
            async with peers(port) as connect:
                for number in range(10):
                    reader, writer = await connect(f"{request}\r\n\r\n".encode())
                    if not number:
                        assert (await head(reader)).startswith(b"HTTP/1.1 200 ")
                    writer.transport.pause_reading()
                process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(process.wait, LONGEST_S)

        try:
            asyncio.run(ask())
        finally:
            process.kill()
        assert process.returncode == 0
