"""Requests to an ASGI application, without a server and without a client's rules."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

import numpy as np

TYPES = {"u1": "u1", "i1": "i1", "u2": "<u2", "i2": "<i2", "f2": "<f2", "f4": "<f4", "u4": "<u4"}


@dataclass
class Reply:
    """An answer of the application."""

    status: int
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)

    def array(self) -> Any:
        """The octets of a tile as an array."""
        text = self.headers["x-zarrix-shape"]
        shape = tuple(int(one) for one in text.split(",")) if text else ()
        return np.frombuffer(self.body, TYPES[self.headers["x-zarrix-type"]]).reshape(shape)


class Client:
    """Sends requests with the token, as the page of the viewer does."""

    def __init__(self, application: Any, host: str = "127.0.0.1:8000") -> None:
        self.application, self.host = application, host
        self.token = application.state.token

    def get(
        self,
        target: str,
        *,
        method: str = "GET",
        headers: dict[str, str] | None = None,
        token: str | None = "",
        **parameters: Any,
    ) -> Reply:
        path, _, query = target.partition("?")
        if parameters:
            query = urlencode({name.rstrip("_"): one for name, one in parameters.items()})
        sent = {"host": self.host, **(headers or {})}
        secret = self.token if token == "" else token
        if secret:
            sent["x-zarrix-token"] = secret
        return asyncio.run(self.ask(method, path, query, sent))

    async def ask(self, method: str, path: str, query: str, headers: dict[str, str]) -> Reply:
        """The answer to a request, within a running event loop."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode("utf-8", "surrogateescape"),
            "query_string": query.encode("utf-8", "surrogateescape"),
            "root_path": "",
            "headers": [(name.lower().encode(), one.encode()) for name, one in headers.items()],
            "client": ("127.0.0.1", 50000),
            "server": ("127.0.0.1", 8000),
        }
        found: dict[str, Any] = {"body": b"", "asked": False}
        never = asyncio.Event()

        async def receive() -> dict[str, Any]:
            if found["asked"]:
                # The client stays until the answer is complete.
                await never.wait()
            found["asked"] = True
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                found["status"], found["headers"] = message["status"], message["headers"]
            else:
                found["body"] += bytes(message.get("body", b""))

        await self.application(scope, receive, send)
        headers = {name.decode(): one.decode() for name, one in found["headers"]}
        return Reply(found["status"], headers, found["body"])
