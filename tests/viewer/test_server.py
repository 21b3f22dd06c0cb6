"""The server itself, over sockets: `zarrix view` in a process of its own."""

from __future__ import annotations

import asyncio
import html
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr
from zarrix import viewer
from zarrix.cli import main
from zarrix.viewer._browser import redirect_file
from zarrix.viewer._server import listen, server_of

pytest.importorskip("uvicorn")

from zarrix.viewer import _connections


class Running:
    """A running `zarrix view`, and what it printed first."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        assert process.stdout is not None
        self.address = process.stdout.readline().strip()
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([\w-]{43})", self.address)
        assert found is not None, self.address
        self.port, self.token = int(found[1]), found[2]

    def send(self, request: bytes) -> bytes:
        """All bytes of the answer to raw bytes, until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall(request)
            parts = []
            while part := connection.recv(65536):
                parts.append(part)
            return b"".join(parts)

    def get(self, target: str, *headers: str, token: bool = True) -> tuple[int, bytes]:
        """Status and body of an answer."""
        lines = [f"GET {target} HTTP/1.1", "Connection: close", *headers]
        if not any(one.lower().startswith("host:") for one in headers):
            lines.append(f"Host: 127.0.0.1:{self.port}")
        if token:
            lines.append(f"X-Zarrix-Token: {self.token}")
        head, _, body = self.send("\r\n".join([*lines, "", ""]).encode()).partition(b"\r\n\r\n")
        return int(head.split()[1]), body


def start(*words: str, folder: Path) -> subprocess.Popen[str]:
    environment = {name: one for name, one in os.environ.items() if name != "SSH_CONNECTION"}
    return subprocess.Popen(
        [sys.executable, "-m", "zarrix", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("view")
    root = zarr.open_group(str(folder / "data.zarr"), mode="w")
    root["rgb"] = np.arange(24, dtype="u1").reshape(2, 3, 4)
    np.save(folder / "x.npy", np.arange(5.0))
    with start("view", "data.zarr/rgb", "x.npy", "--no-browser", folder=folder) as process:
        try:
            yield Running(process)
        finally:
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert out == ""
    lines = err.splitlines()
    assert lines[0].startswith("zarrix: from another machine: ssh -L ")
    assert lines[1:] == ["zarrix: Ctrl-C ends it"]


def test_the_example_shows_an_array_and_a_file_of_another_format(running: Running) -> None:
    status, body = running.get("/api/hello")
    assert status == 200
    assert json.loads(body)["roots"] == ["data.zarr/rgb", "x.npy"]
    assert json.loads(body)["first"] == "rgb"
    assert running.get("/api/tile?path=rgb&sel=1,2,:")[1] == bytes(range(20, 24))
    assert running.get("/api/tile?path=x.npy")[1] == np.arange(5, dtype="<f4").tobytes()
    assert running.get("/api/tile?path=y.npy")[0] == 404


def test_another_port_is_another_server(running: Running) -> None:
    assert running.get("/api/hello", f"Host: 127.0.0.1:{running.port + 1}")[0] == 421
    assert running.get("/api/hello", "Host: 127.0.0.1")[0] == 421
    assert running.get("/api/hello", token=False)[0] == 401


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (b"GET /api/hello HTTP/1.1\r\nConnection: close\r\n\r\n", b"400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\nConnection: close\r\n\r\n", b"4"),
        (b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 70000 + b"\r\n\r\n", b"4"),
        (b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n", b"4"),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\r\n\r\n", b"400"),
        (b"GET http://evil.example/api/hello HTTP/1.1\r\nHost: evil.example\r\n"
         b"Connection: close\r\n\r\n", b"421"),
    ],
)  # fmt: skip
def test_false_requests_get_an_error_and_no_data(
    running: Running, request_: bytes, status: bytes
) -> None:
    try:
        answer = running.send(request_)
    except ConnectionResetError:
        # The server closes as soon as a request is too long, and does not read the rest.
        assert len(request_) > 65536
        return
    assert answer.startswith(b"HTTP/1.1 " + status), answer[:200]
    assert b"data.zarr" not in answer


@pytest.mark.parametrize("path", ["..", "%2e%2e", "rgb/%2e%2e/%2e%2e", "rgb%00", "%2Fetc%2Fpasswd"])
def test_encoded_paths_do_not_leave_the_opened_nodes(running: Running, path: str) -> None:
    assert running.get(f"/api/node?path={path}")[0] in (400, 404)
    assert running.get(f"/{path}")[0] == 404


def test_another_address_needs_a_second_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "a.zarr")
    zarr.save(path, np.arange(3))
    assert main(["view", path, "--host", "0.0.0.0"]) == 1
    assert "--allow-network" in capsys.readouterr().err
    assert main(["view", str(tmp_path / "none.zarr")]) == 1
    found = capsys.readouterr()
    assert (found.out, len(found.err.splitlines())) == ("", 1)


def test_only_the_user_can_read_the_redirect_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    address = 'http://127.0.0.1:1/#token=a"><script>&'
    with redirect_file(address) as page:
        assert page.stat().st_mode & 0o777 == 0o600
        assert page.parent.stat().st_mode & 0o777 == 0o700
        text = page.read_text()
        assert "<script>" not in text
        assert html.unescape(text).count(address) == 2
    assert list(tmp_path.iterdir()) == []


def test_a_silent_connection_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    async def closed() -> tuple[bytes, bytes]:
        monkeypatch.setattr(_connections, "REQUEST_S", 0.05)
        with listen("127.0.0.1", 0) as opened:
            server = server_of(viewer.app(zarr.zeros(3), hosts=["a"]))
            running = asyncio.create_task(server.serve(sockets=[opened]))
            port = opened.getsockname()[1]
            found = []
            for sent in (b"", b"GET / HTTP/1.1\r\nHos"):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(sent)
                found.append(await asyncio.wait_for(reader.read(), 60))
                writer.close()
                await writer.wait_closed()
            server.should_exit = True
            await running
        return found[0], found[1]

    assert asyncio.run(closed()) == (b"", b"")
