"""A small server that speaks enough of S3, in memory, and goes wrong as it is told.

`FaultyServer.mode` says how, `count` how many requests more (None: all), and `only` which methods.
Signatures are not checked. Every request is written down in `requests`, and
`rounds` asserts which of them come together.
"""

from __future__ import annotations

import functools
import hashlib
import http.server
import itertools
import socket
import struct
import threading
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from waiting import PATIENCE_S

OPTIONS = {"key": "faulty-key", "secret": "faulty-secret", "timeout": 20}

# How a request can go wrong, by what is sent instead of the answer.
MODES = (
    "500",
    "503",
    "503 slow down",
    "429",
    "reset",
    "reset in the body",
    "short body",
    "short body, wrong length",
    "no answer",
    "endless trickle",
    "delay",
    "ranges ignored",
    "wrong etag",
    "403",
    "garbage",
    "error in a 200",
    "quotes the request",
)


_LARGE = 1 << 20


def _tag(value: bytes) -> str:
    return f'"{hashlib.md5(value).hexdigest()}"'


# A range of a value of a gigabyte would otherwise take seconds.
_tag_of_large = functools.lru_cache(maxsize=4)(_tag)


@dataclass
class FaultyServer:
    """What is stored, what goes wrong, and what was asked."""

    url: str = "s3://bucket"
    options: dict[str, Any] = field(default_factory=dict)
    values: dict[str, tuple[bytes, dict[str, str]]] = field(default_factory=dict)
    requests: list[tuple[str, str]] = field(default_factory=list)
    mode: str = ""
    count: int | None = None
    only: tuple[str, ...] = ("GET", "HEAD", "PUT", "DELETE", "POST")
    # How copies that the server makes go wrong: "unknown", "without conditions".
    copies: str = ""
    # Whether listings go through folders: all of `a/` before `a-b`.
    by_folder: bool = False
    # What the server calls itself.
    name: str = "faulty"
    # By access key: how many requests of a client are answered before it is cut off; and how many
    # until one rests, which then waits for `go`.
    cut_off: dict[str, int] = field(default_factory=dict)
    rests: dict[str, int] = field(default_factory=dict)
    resting: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)
    # How many requests each round trip to come has: none of it is answered before all are there.
    rounds: list[int] = field(default_factory=list)

    def __enter__(self) -> FaultyServer:
        made = {"faulty": self, "server_version": self.name}
        handler = type("Handler", (self.handler(),), made)
        self._server = _Quiet(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._lock = threading.Lock()
        self._arrived = threading.Condition(self._lock)
        host, port = self._server.server_address[:2]
        self.options = {**OPTIONS, "endpoint_url": f"http://{host!s}:{port}"}
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handler(self) -> type[_Handler]:
        """The class that answers a request."""
        return _Handler

    def arrive(self, method: str, key: str) -> None:
        """Write a request down, and wait for the others of its round trip."""
        with self._arrived:
            self.requests.append((method, key))
            number = len(self.requests)
            ends = itertools.accumulate(self.rounds)
            due = next((end for end in ends if end >= number), number)
            self._arrived.notify_all()
            if not self._arrived.wait_for(lambda: len(self.requests) >= due, PATIENCE_S):
                self.rounds = []
                self.requests.append(("", "a round trip was not complete"))

    def admits(self, client: str) -> bool:
        """Whether a client is not cut off; the request that is to rest waits here."""
        with self._lock:
            left = self.cut_off.get(client)
            if left is not None:
                self.cut_off[client] = max(0, left - 1)
            turn = self.rests.get(client, -1)
            if turn >= 0:
                self.rests[client] = turn - 1
        if turn == 0:
            self.resting.set()
            assert self.go.wait(PATIENCE_S)
        return left != 0

    def fault(self, method: str) -> str:
        """The mode for this request."""
        with self._lock:
            if not self.mode or method not in self.only or self.count == 0:
                return ""
            if self.count is not None:
                self.count -= 1
            return self.mode


class _Quiet(http.server.ThreadingHTTPServer):
    # A loader connects many times at once; a connection beyond the queue waits for a second.
    request_queue_size = 1024

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients give up on what goes wrong here; that is what is tested, and no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    faulty: FaultyServer
    protocol_version = "HTTP/1.1"
    # Otherwise the body waits 40 ms for the client's word that it has the head.
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._serve()

    do_HEAD = do_PUT = do_DELETE = do_POST = do_GET  # noqa: N815

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        url = urllib.parse.urlsplit(self.path)
        key = urllib.parse.unquote(url.path).removeprefix("/bucket").strip("/")
        self.faulty.arrive(self.command, key)
        fault = self.faulty.fault(self.command)
        named = self.headers.get("Authorization", "").partition("Credential=")[2]
        if not self.faulty.admits(named.partition("/")[0]):
            fault = "403"
        if fault == "delay":
            time.sleep(0.3)
        if fault == "quotes the request":
            # As S3 explains a signature that is not right.
            quoted = {f"<{name}>{value}</{name}>" for name, value in self.headers.items()}
            body = f"<Error><Code>Signature</Code><Message>No</Message>{quoted}</Error>".encode()
            self._fault = ""
            return self._send(403, body)
        if fault in ("500", "503", "429", "403"):
            return self._error(int(fault), "Fault")
        if fault == "503 slow down":
            return self._error(503, "SlowDown", {"Retry-After": "1"})
        if fault == "reset":
            return self._reset()
        if fault == "no answer":
            time.sleep(600)
            return None
        if fault == "garbage":
            self.wfile.write(b"\x00\x01 this is no HTTP\r\n\r\n")
            self.close_connection = True
            return None
        self._fault = fault
        query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        if self.command == "PUT":
            return self._put(key, body)
        if self.command == "DELETE":
            self.faulty.values.pop(key, None)
            return self._send(204, b"")
        if self.command == "POST":
            return self._delete_many(body)
        if "list-type" in query:
            return self._list(query)
        return self._get(key)

    def _etag(self, value: bytes) -> str:
        return _tag(value) if len(value) < _LARGE else _tag_of_large(value)

    def _copied(self) -> bytes | None:
        """The value that a copy is of; None after an answer that says no."""
        source, _, query = self.headers["x-amz-copy-source"].partition("?")
        found = self._source(
            urllib.parse.unquote(source).strip("/").partition("/")[2],
            urllib.parse.unquote(query).removeprefix("versionId="),
        )
        if found is None:
            self._error(404, "NoSuchKey")
            return None
        wanted = self.headers.get("x-amz-copy-source-if-match")
        if wanted and wanted != self._etag(found) and self._fault != "ignore conditions":
            self._error(412, "PreconditionFailed")
            return None
        return found

    def _source(self, key: str, version: str) -> bytes | None:
        found = self.faulty.values.get(key)
        return None if found is None else found[0]

    def _put(self, key: str, body: bytes) -> None:
        if "x-amz-copy-source" in self.headers:
            if self.faulty.copies == "unknown":
                return self._error(501, "NotImplemented")
            if self.faulty.copies == "without conditions":
                self._fault = "ignore conditions"
            found = self._copied()
            if found is None:
                return None
            body = found
        return self._store(key, body)

    def _store(self, key: str, body: bytes) -> None:
        with self.faulty._lock:
            if self._fault == "deleted before a put":
                self.faulty.values.pop(key, None)
            stored = self.faulty.values.get(key)
            if self._fault != "ignore conditions":
                wanted = self.headers.get("If-Match")
                if wanted and stored is None:
                    return self._error(404, "NoSuchKey")
                if wanted and stored is not None and self._etag(stored[0]) != wanted:
                    return self._error(412, "PreconditionFailed")
                if self.headers.get("If-None-Match") and stored is not None:
                    return self._error(412, "PreconditionFailed")
            kept = {
                name: value
                for name, value in self.headers.items()
                if name.lower().startswith("x-amz-meta-")
            }
            self.faulty.values[key] = (body, kept)
            self._kept(key, body)
        if self._fault == "answer to a put":
            return self._error(500, "InternalError")
        if self._fault == "connection after a put":
            return self._reset()
        told = b""
        if "x-amz-copy-source" in self.headers:
            told = f"<CopyObjectResult><ETag>{self._etag(body)}</ETag></CopyObjectResult>".encode()
        self._send(200, told, {"ETag": self._etag(body)})
        return None

    def _kept(self, key: str, body: bytes) -> None:
        """Note that a value was stored: before the answer is sent, and under the lock."""

    def _stored(self, key: str) -> tuple[bytes, dict[str, str]] | None:
        return self.faulty.values.get(key)

    def _get(self, key: str) -> None:
        stored = self._stored(key)
        if stored is None:
            return self._error(404, "NoSuchKey")
        value, kept = stored
        etag = self._etag(value)
        if self._fault == "wrong etag":
            etag = f'"{time.monotonic_ns()}"'
        headers = {"ETag": etag, "Last-Modified": "Sat, 21 Nov 2026 12:00:00 GMT", **kept}
        if self.headers.get("If-None-Match") == etag:
            return self._send(304, b"", headers)
        asked = self.headers.get("Range")
        if asked is None or self._fault == "ranges ignored":
            return self._send(200, value, headers)
        first, _, last = asked.removeprefix("bytes=").partition("-")
        total = len(value)
        if self._fault == "part of nothing" and not total:
            return self._send(206, b"", {**headers, "Content-Range": "bytes 0--1/0"})
        begin = int(first) if first else max(0, total - int(last))
        end = min(int(last) + 1, total) if first and last else total
        if begin >= end:
            return self._error(416, "InvalidRange")
        headers["Content-Range"] = f"bytes {begin}-{end - 1}/{total}"
        return self._send(206, value[begin:end], headers)

    def _order(self, key: str) -> Any:
        return key.split("/") if self.faulty.by_folder else key

    def _list(self, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys, prefixes = [], set()
        for key in sorted(self.faulty.values, key=self._order):
            if not key.startswith(prefix):
                continue
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                prefixes.add(prefix + rest.split(delimiter)[0] + delimiter)
            else:
                keys.append(key)
        after = query.get("continuation-token", query.get("start-after", ""))
        if not delimiter and not self._fault:
            keys = [key for key in keys if self._order(key) > self._order(after)]
        keys, rest_of_keys = (keys, []) if delimiter else (keys[:1000], keys[1000:])
        contents = "".join(
            f"<Contents><Key>{key}</Key><LastModified>2026-11-21T12:00:00.000Z</LastModified>"
            f"<ETag>{self._etag(self.faulty.values[key][0])}</ETag>"
            f"<Size>{len(self.faulty.values[key][0])}</Size></Contents>"
            for key in keys
        )
        common = "".join(
            f"<CommonPrefixes><Prefix>{one}</Prefix></CommonPrefixes>" for one in sorted(prefixes)
        )
        more = ""
        if rest_of_keys:
            more = (
                "<IsTruncated>true</IsTruncated>"
                f"<NextContinuationToken>{keys[-1]}</NextContinuationToken>"
            )
        if self._fault in ("one token for ever", "new tokens for ever"):
            token = "again" if "one" in self._fault else len(self.faulty.requests)
            more = (
                "<IsTruncated>true</IsTruncated>"
                f"<NextContinuationToken>{token}</NextContinuationToken>"
            )
        self._send(200, f"<ListBucketResult>{contents}{common}{more}</ListBucketResult>".encode())

    def _delete_many(self, body: bytes) -> None:
        keys = [part.split("</Key>")[0] for part in body.decode().split("<Key>")[1:]]
        for key in keys:
            self.faulty.values.pop(key, None)
        found = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self._send(200, f"<DeleteResult>{found}</DeleteResult>".encode())

    def _error(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        text = f"<Error><Code>{code}</Code><Message>as told</Message></Error>".encode()
        self._fault = ""
        self._send(status, text, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        fault = self._fault
        if fault == "error in a 200" and self.command == "GET":
            body = b"<Error><Code>InternalError</Code></Error>"
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        sent = body
        length = len(body)
        if fault == "short body, wrong length" and self.command == "GET":
            sent = body[: len(body) // 2]
            length = len(sent)
        elif fault in ("short body", "reset in the body") and self.command == "GET":
            sent = body[: len(body) // 2]
        if status not in (204, 304):
            self.send_header("Content-Length", str(length))
        self.end_headers()
        if self.command == "HEAD":
            return
        if fault == "endless trickle":
            for index in range(len(body)):
                self.wfile.write(body[index : index + 1])
                self.wfile.flush()
                time.sleep(1)
            return
        self.wfile.write(sent)
        if len(sent) < length:
            self.wfile.flush()
            if fault == "reset in the body":
                self._reset()
            self.close_connection = True

    def _reset(self) -> None:
        # Closing with this option sends a reset instead of an end.
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()
        self.wfile = self.rfile = _Closed()  # type: ignore[assignment]


class _Closed:
    closed = True

    def __getattr__(self, name: str) -> Any:
        return lambda *_, **__: b""
