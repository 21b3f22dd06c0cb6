"""A small web server that records what it is asked, and can answer without end or redirect.

``values`` maps a path to its bytes, to `ENDLESS`, or to the URL that a request is redirected to.
Ranges of bytes are served; of an endless value they are ignored. ``refuse`` answers requests
without the given header with 401.
"""

from __future__ import annotations

import contextlib
import http.server
import threading
from dataclasses import dataclass, field
from typing import Any

ENDLESS = object()


@dataclass
class Recorder:
    """What is stored, and the path and headers of each request."""

    values: dict[str, Any] = field(default_factory=dict)
    requests: list[tuple[str, dict[str, str]]] = field(default_factory=list)
    # The port of the client of each request, which tells connections apart.
    connections: list[int] = field(default_factory=list)
    refuse: str = ""
    port: int = 0
    sent_bytes: int = 0

    def __enter__(self) -> Recorder:
        handler = type("Handler", (_Handler,), {"recorder": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str = "", host: str = "127.0.0.1") -> str:
        """The address of ``path``; ``host`` may be localhost, which is another name of it."""
        return f"http://{host}:{self.port}{path}"

    def headers(self, name: str) -> list[str | None]:
        """The value of a header in each request."""
        return [headers.get(name.lower()) for _, headers in self.requests]


class _Handler(http.server.BaseHTTPRequestHandler):
    recorder: Recorder
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *message: Any) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer(has_body=False)

    def do_GET(self) -> None:
        self._answer(has_body=True)

    def _answer(self, has_body: bool) -> None:
        here = self.recorder
        headers = {name.lower(): value for name, value in self.headers.items()}
        here.requests.append((self.path, headers))
        here.connections.append(self.client_address[1])
        value = here.values.get(self.path)
        if here.refuse and here.refuse.lower() not in headers:
            self._send(401, b"", has_body)
        elif value is None:
            self._send(404, b"", has_body)
        elif isinstance(value, str):
            self._send(302, b"", has_body, {"Location": value})
        elif value is ENDLESS:
            self._send_endless(has_body)
        else:
            self._send_part(value, headers.get("range"), has_body)

    def _send(self, status: int, body: bytes, has_body: bool, more: dict[str, str] = {}) -> None:  # noqa: B006
        self.send_response(status)
        for name, text in {"Content-Length": str(len(body)), **more}.items():
            self.send_header(name, text)
        self.end_headers()
        if has_body:
            self.wfile.write(body)

    def _send_part(self, value: bytes, wanted: str | None, has_body: bool) -> None:
        if wanted is None:
            return self._send(200, value, has_body)
        first, last = wanted.removeprefix("bytes=").split("-")
        start = int(first) if first else max(len(value) - int(last), 0)
        end = min(int(last) + 1, len(value)) if first and last else len(value)
        if start >= len(value):
            return self._send(416, b"", has_body)
        told = {"Content-Range": f"bytes {start}-{end - 1}/{len(value)}"}
        return self._send(206, value[start:end], has_body, told)

    def _send_endless(self, has_body: bool) -> None:
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        piece = b" " * (1 << 16)
        # Until the client has had enough and closes the connection.
        with contextlib.suppress(OSError):
            while has_body:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(piece), piece))
                self.recorder.sent_bytes += len(piece)
