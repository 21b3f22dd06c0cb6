"""A web server that answers each request as a function says, and not as a service would."""

from __future__ import annotations

import http.server
import threading
import urllib.parse
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

# From a method, a path and its query: the status and the body.
Answer = Callable[[str, str, Mapping[str, str]], tuple[int, bytes]]


@dataclass
class Liar:
    """What answers, and how many requests there were."""

    answer: Answer
    requests: list[tuple[str, str]] = field(default_factory=list)

    def __enter__(self) -> Liar:
        handler = type("Handler", (_Handler,), {"liar": self})
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.01,), daemon=True
        )
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def store_of(self, service: str) -> tuple[str, dict[str, Any]]:
        """The URL and options of a place at this server, by the protocol of a service."""
        if service == "s3":
            keys = {"key": "liar", "secret": "liar"}
            return "s3://bucket/p", {**keys, "endpoint_url": self.endpoint, "timeout": 5}
        if service == "gs":
            return "gs://bucket/p", {"token": "any", "endpoint_url": self.endpoint, "timeout": 5}
        account = {"account_name": "liar", "account_key": "bGlhcg=="}
        return "az://bucket/p", {**account, "account_host": f"{self.endpoint}/liar", "timeout": 5}


class _Handler(http.server.BaseHTTPRequestHandler):
    liar: Liar
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *message: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.liar.requests.append((self.command, self.path))
        status, body = self.liar.answer(self.command, urllib.parse.unquote(url.path), query)
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("ETag", '"1"')
        self.send_header("Last-Modified", "Sat, 21 Nov 2026 12:00:00 GMT")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_PUT = do_DELETE = do_POST = do_GET  # noqa: N815
