"""The stored keys of one hierarchy over HTTP, for viewers that read Zarr themselves.

Unlike the viewer this has CORS, because those are pages of other sites, and no token, because they
cannot send one: what is served can be read by every page that the user opens, so that it says which
origins may, and serves keys of one store alone. Byte ranges, HEAD and a 404 with CORS are what
zarrita, Neuroglancer and vizarr need.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarrix._errors import InvalidKeyError, ZarrixError
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._guard import Guard

if TYPE_CHECKING:
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette

__all__ = ["key_application", "links"]

_MOST_BYTES = 2**30


def key_application(node: Any, hosts: Collection[str], origins: Collection[str]) -> Starlette:
    """An application that serves the keys at and below a node.

    Parameters
    ----------
    node : Array or Group
    hosts : collection of str
        The ``Host`` headers that are answered.
    origins : collection of str
        The sites whose pages may read; ``"*"`` is every one.
    """
    # Optional packages: Starlette, of the extra "view", and anyio, which it needs.
    import anyio
    import anyio.to_thread
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

    guard = Guard(None, hosts)
    keys = _Keys(node)
    limiter = anyio.CapacityLimiter(16)

    def shared(origin: str | None) -> dict[str, str]:
        headers = {
            "accept-ranges": "bytes",
            "x-content-type-options": "nosniff",
            "cross-origin-resource-policy": "cross-origin",
            "vary": "Origin",
        }
        if "*" in origins or (origin is not None and origin in origins):
            headers |= {
                "access-control-allow-origin": "*" if "*" in origins else str(origin),
                "access-control-allow-headers": "range, if-none-match",
                "access-control-allow-methods": "GET, HEAD, OPTIONS",
                "access-control-expose-headers": "content-range, content-length, accept-ranges",
                # Chrome asks for it before a page of the network reads this machine.
                "access-control-allow-private-network": "true",
            }
        return headers

    async def reply(request: Request) -> Response:
        headers = shared(request.headers.get("origin"))
        try:
            method = "GET" if request.method == "OPTIONS" else request.method
            plain = [pair for pair in request.headers.raw if pair[0] == b"host"]
            guard.check(method, request.scope.get("raw_path", b""), plain)
            if request.method == "OPTIONS":
                return Response(b"", 204, headers)
            below = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
            wanted = request.headers.get("range")
            is_head = request.method == "HEAD"
            status, body, more = await anyio.to_thread.run_sync(
                keys.answer, below.removeprefix("/"), wanted, is_head, limiter=limiter
            )
        except Refused as error:
            return Response(error.sentence.encode(), error.status, headers)
        return Response(body, status, {**headers, **more}, media_type="application/octet-stream")

    async def everything(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        found = await reply(Request(scope, receive))
        await found(scope, receive, send)

    made = Starlette()
    made.router.default = everything
    return made


class _Keys:
    """The keys at and below a node."""

    def __init__(self, node: Any) -> None:
        self._stores = [node.store]
        if node.chunk_store is not node.store:
            self._stores.append(node.chunk_store)
        self._path = node.path

    def answer(
        self, key: str, wanted: str | None, is_head: bool
    ) -> tuple[int, bytes, dict[str, str]]:
        """Status, bytes and headers for a key, or for a range of its bytes."""
        if any(part in ("", ".", "..") or "\0" in part for part in key.split("/")):
            raise Refused(404, "there is no such key")
        for store in self._stores:
            engine, name = store._engine, store.engine_path(key_of(self._path, key))
            try:
                size = engine.size(name)
                if size is None:
                    continue
                begin, end = _range(wanted, size)
                more = (
                    {} if wanted is None else {"content-range": f"bytes {begin}-{end - 1}/{size}"}
                )
                status = 200 if wanted is None else 206
                if is_head:
                    return status, b"", {**more, "content-length": str(end - begin)}
                if end - begin > _MOST_BYTES:
                    raise Refused(413, f"more than {_MOST_BYTES >> 20} MiB; ask for ranges")
                found = engine.get(name) if wanted is None else engine.get_slice(name, begin, end)
            except InvalidKeyError as error:
                raise Refused(404, "there is no such key") from error
            except (ZarrixError, OSError) as error:
                raise Refused(502, f"the store cannot be read: {type(error).__name__}") from error
            if found is not None:
                return status, found, more
        raise Refused(404, "there is no such key")


def _range(wanted: str | None, size: int) -> tuple[int, int]:
    """The bytes that a ``Range`` header asks for: one range."""
    if wanted is None:
        return 0, size
    unit, _, spec = wanted.partition("=")
    first, dash, last = spec.partition("-")
    numbers = [one for one in (first, last) if one]
    good = unit.strip() == "bytes" and dash and numbers and len(wanted) < 64
    if not good or not all(one.isascii() and one.isdecimal() for one in numbers):
        raise Refused(416, "a range is one of bytes, such as bytes=0-99")
    if not first:
        begin, end = max(0, size - int(last)), size
    else:
        begin, end = int(first), min(size, int(last) + 1) if last else size
    if begin >= end:
        raise Refused(416, f"the value has {size} bytes")
    return begin, end


def links(address: str, node: Any) -> dict[str, str]:
    """Addresses of web viewers that show what is served.

    Parameters
    ----------
    address : str
        Of the hierarchy, without a trailing slash.
    node : Array or Group
    """
    kind = "zarr2" if node.zarr_format == 2 else "zarr3"
    layers = [{"type": "auto", "source": f"{kind}://{address}", "name": "zarr"}]
    state = json.dumps({"layers": layers}, separators=(",", ":"))
    place = quote(address, safe="")
    return {
        "Neuroglancer": f"https://neuroglancer-demo.appspot.com/#!{quote(state)}",
        "vizarr": f"https://hms-dbmi.github.io/vizarr/?source={place}",
        "ngff-validator": f"https://ome.github.io/ome-ngff-validator/?source={place}",
    }
