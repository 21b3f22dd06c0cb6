"""A small web server whose answers are those of functions, and which records its requests."""

from __future__ import annotations

import http.server
import json
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Asked:
    """A request."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


# Status, headers, and the body: a text, or what becomes JSON.
Answer = tuple[int, dict[str, str], Any]


@dataclass
class Portal:
    """The function of each path, and the requests."""

    routes: dict[str, Callable[[Asked], Answer]] = field(default_factory=dict)
    requests: list[Asked] = field(default_factory=list)

    def __enter__(self) -> Portal:
        handler = type("Handler", (_Handler,), {"portal": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def url(self, path: str = "", host: str = "127.0.0.1") -> str:
        """The address of ``path``; ``host`` may be localhost, which is another name of it."""
        return f"http://{host}:{self._server.server_address[1]}{path}"


class _Handler(http.server.BaseHTTPRequestHandler):
    portal: Portal
    protocol_version = "HTTP/1.1"

    def log_message(self, *message: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        asked = Asked(
            self.command,
            url.path,
            dict(urllib.parse.parse_qsl(url.query)),
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(int(self.headers.get("Content-Length") or 0)),
        )
        self.portal.requests.append(asked)
        route = self.portal.routes.get(url.path, lambda asked: (404, {}, ""))
        status, headers, told = route(asked)
        body = told.encode() if isinstance(told, str) else json.dumps(told).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_GET  # noqa: N815
