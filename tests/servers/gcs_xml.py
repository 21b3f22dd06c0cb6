"""fake-gcs-server with the puts and copies of Google's XML interface, which it refuses.

Usage: python gcs_xml.py FAKE_GCS_SERVER PORT PORT_BEHIND

Values are read, listed and deleted there as they are asked for. A put and a copy are made calls of
the JSON interface, with what they say of the generation that must be there; whether it is, the
server behind decides. Nothing else is changed.
"""

import http.client
import http.server
import json
import signal
import subprocess
import sys
import uuid
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote, unquote

# Headers of one connection, which a proxy must not forward.
OWN = {"connection", "content-length", "date", "host", "transfer-encoding", "server"}
META = "x-goog-meta-"
MATCH = "x-goog-if-generation-match"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    behind: int

    def setup(self) -> None:
        super().setup()
        self.server_behind = http.client.HTTPConnection("127.0.0.1", self.behind)

    def finish(self) -> None:
        self.server_behind.close()
        super().finish()

    def log_message(self, format: str, *args: Any) -> None:
        """The body is not read."""

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.command != "PUT":
            kept = {name: value for name, value in self.headers.items() if name.lower() not in OWN}
            return self._answer(*self._ask(self.command, self.path, body, kept))
        bucket, _, name = unquote(self.path).lstrip("/").partition("/")
        query = f"ifGenerationMatch={self.headers[MATCH]}" if MATCH in self.headers else ""
        if "x-goog-copy-source" in self.headers:
            source = unquote(self.headers["x-goog-copy-source"]).lstrip("/").partition("/")
            path = f"/storage/v1/{_object(*source[::2])}/rewriteTo/{_object(bucket, name)}?{query}"
            kept, content = {}, b""
        else:
            path = f"/upload/storage/v1/b/{quote(bucket)}/o?uploadType=multipart&{query}"
            kept, content = self._multipart(name, body)
        status, headers, answer = self._ask("POST", path, content, kept)
        if status != 200:
            return self._answer(status, headers, answer)
        made = json.loads(answer)
        made = made.get("resource", made)
        tags = {"ETag": f'"{made["etag"]}"', "x-goog-generation": str(made["generation"])}
        return self._answer(200, tags, b"")

    do_HEAD = do_PUT = do_POST = do_DELETE = do_GET  # noqa: N815

    def _multipart(self, name: str, body: bytes) -> tuple[dict[str, str], bytes]:
        described = {
            "name": name,
            "metadata": {
                header.lower().removeprefix(META): value
                for header, value in self.headers.items()
                if header.lower().startswith(META)
            },
        }
        edge = uuid.uuid4().hex.encode()
        json_part = b"Content-Type: application/json\r\n\r\n" + json.dumps(described).encode()
        bytes_part = b"Content-Type: application/octet-stream\r\n\r\n" + body
        parts = [b"--" + edge + b"\r\n" + part for part in (json_part, bytes_part)]
        content = b"\r\n".join([*parts, b"--" + edge + b"--\r\n"])
        return {"Content-Type": f"multipart/related; boundary={edge.decode()}"}, content

    def _ask(
        self, method: str, path: str, body: bytes, headers: Mapping[str, str]
    ) -> tuple[int, Mapping[str, str], bytes]:
        self.server_behind.request(method, path, body or None, dict(headers))
        answer = self.server_behind.getresponse()
        found = answer.read()
        kept = {name: value for name, value in answer.getheaders() if name.lower() not in OWN}
        if method == "HEAD":
            kept["Content-Length"] = answer.headers.get("Content-Length", "0")
        return answer.status, kept, found

    def _answer(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers and status != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _object(bucket: str, name: str) -> str:
    return f"b/{quote(bucket)}/o/{quote(name, safe='')}"


class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 256


def main() -> None:
    binary, port, behind = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    where = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(behind)]
    known_as = ["-public-host", f"127.0.0.1:{behind}", "-backend", "memory", "-log-level", "error"]
    Handler.behind = behind
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with subprocess.Popen([binary, *where, *known_as]) as fake:
        try:
            Server(("127.0.0.1", port), Handler).serve_forever()
        finally:
            fake.terminate()


if __name__ == "__main__":
    main()
