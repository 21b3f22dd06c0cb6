"""Answers over ASGI: a status, headers, and octets in pieces, between which a slow reader is waited
for.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

__all__ = ["Send", "begin", "end", "piecewise", "whole"]

Send = Callable[[Any], Awaitable[None]]

_PIECE = 2**16


async def begin(send: Send, status: int, headers: Mapping[str, str]) -> None:
    """Send the status and the headers."""
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
    await send({"type": "http.response.start", "status": status, "headers": raw})


async def piecewise(send: Send, body: bytes | memoryview) -> None:
    """Send octets, after which there may be others."""
    view = memoryview(body)
    for at in range(0, len(view), _PIECE):
        part = bytes(view[at : at + _PIECE])
        await send({"type": "http.response.body", "body": part, "more_body": True})


async def end(send: Send) -> None:
    """End the answer; one without an end is broken off."""
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def whole(
    send: Send,
    status: int,
    headers: Mapping[str, str],
    body: bytes | memoryview = b"",
    *,
    is_head: bool = False,
) -> None:
    """Send an answer that is in memory; of a HEAD request without its octets."""
    if status not in (204, 304):
        headers = {**headers, "content-length": str(len(body))}
    await begin(send, status, headers)
    if not is_head:
        await piecewise(send, body)
    await end(send)
