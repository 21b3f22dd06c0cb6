"""A server whose credentials live for a moment, and which gives them out itself.

It is the one of `faulty`. A request without credentials of now is refused as S3 does it, and its
refusal quotes them. `issue` is asked over HTTP, so that any process may ask, and `issued` has the
process and the moment of each answer.
"""

from __future__ import annotations

import http.client
import itertools
import json
import os
import time
import urllib.parse
from dataclasses import dataclass, field
from typing import Any

from servers.faulty import FaultyServer, _Handler


@dataclass
class TokenServer(FaultyServer):
    """What was given out, by process and moment, and how many requests were refused."""

    life_s: float = 2.0
    issued: list[tuple[int, float]] = field(default_factory=list)
    refused: int = 0
    # The status and the code of a refusal.
    refusal: tuple[int, str] = (400, "ExpiredToken")
    # Until when each token is good.
    ends: dict[str, float] = field(default_factory=dict)

    def __enter__(self) -> TokenServer:
        super().__enter__()
        self.options = {"endpoint_url": self.endpoint, "timeout": 20}
        return self

    @property
    def endpoint(self) -> str:
        """The address of the server."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def handler(self) -> type[_Handler]:
        """The class that answers a request."""
        return _TokenHandler

    def give(self, pid: int) -> dict[str, Any]:
        """New credentials for a process."""
        with self._lock:
            number = len(self.issued)
            self.issued.append((pid, time.time()))
            token = f"SEKRET-token-{number}"
            self.ends[token] = time.time() + self.life_s
        return {
            "key": f"SEKRET-key-{number}",
            "secret": f"SEKRET-secret-{number}",
            "token": token,
            "expires": self.ends[token],
        }

    def expire_all(self) -> None:
        """Refuses from now on all that was given out so far, before its end."""
        self.ends = dict.fromkeys(self.ends, 0.0)

    def processes(self) -> set[int]:
        """The processes that asked for credentials."""
        return {pid for pid, _ in self.issued}

    def least_gap_s(self) -> float:
        """The shortest time between two answers to one process."""
        gaps = [self.life_s]
        for pid in self.processes():
            moments = [moment for asked, moment in self.issued if asked == pid]
            gaps += [after - before for before, after in itertools.pairwise(moments)]
        return min(gaps)


def issue(endpoint: str) -> dict[str, Any]:
    """Credentials of the server at ``endpoint`` for this process."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(endpoint).netloc, timeout=30)
    connection.request("GET", f"/issue?pid={os.getpid()}")
    found: dict[str, Any] = json.loads(connection.getresponse().read())
    connection.close()
    return found


class _TokenHandler(_Handler):
    faulty: TokenServer

    def _serve(self) -> None:
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if url.path == "/issue":
            self._fault = ""
            return self._send(200, json.dumps(self.faulty.give(int(query["pid"]))).encode())
        token = self.headers.get("x-amz-security-token") or query.get("sig", "")
        token = token or self.headers.get("Authorization", "").removeprefix("Bearer ")
        signer = self.headers.get("Authorization", "")
        is_pair = token.replace("token", "key") in signer or not signer.startswith("AWS4")
        if is_pair and time.time() < self.faulty.ends.get(token, 0.0):
            return super()._serve()
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.faulty._lock:
            self.faulty.refused += 1
        status, code = self.faulty.refusal
        told = f"<Error><Code>{code}</Code><Message>not {token} of {signer}</Message></Error>"
        self._fault = ""
        return self._send(status, told.encode())
