"""The stored keys of one hierarchy over HTTP, for viewers that read Zarr themselves.

Those are pages of other sites, and cannot send a token. So this has none, and it says which sites
may read (CORS); requests that a browser marks as those of any other site are refused. What is
served is in `zarrix.viewer._served`. Byte ranges, HEAD and a 404 with CORS are what zarrita,
Neuroglancer and vizarr need. A value is sent window by window, so that a reader that does not read
takes no more memory than that.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from zarrix._engine import CancelToken
from zarrix._errors import ZarrixError
from zarrix.viewer._answers import Refused
from zarrix.viewer._calls import Calls, while_connected
from zarrix.viewer._guard import Guard
from zarrix.viewer._send import Send, begin, end, piecewise, whole
from zarrix.viewer._served import Served, Value

if TYPE_CHECKING:
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette
    from starlette.datastructures import Headers

__all__ = ["LINKED", "key_application", "links"]

LINKED = {
    "Neuroglancer": "https://neuroglancer-demo.appspot.com",
    "vizarr": "https://hms-dbmi.github.io",
    "ngff-validator": "https://ome.github.io",
}
"""The sites of the viewers that `links` has addresses of."""

_AT_ONCE = 16
# Bytes of a value that are in memory for one reader; each of a remote value is a request.
_WINDOW = {True: 2**20, False: 2**22}


def key_application(node: Any, hosts: Collection[str], origins: Collection[str]) -> Starlette:
    """An application that serves the documents and chunks at and below a node.

    Parameters
    ----------
    node : Array or Group
    hosts : collection of str
        The ``Host`` headers that are answered.
    origins : collection of str
        The sites whose pages may read; ``"*"`` is every one.
    """
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette
    from starlette.requests import Request

    keys = _Keys(node, Guard(None, hosts), origins)

    async def everything(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request, cancel = Request(scope), CancelToken()
        await while_connected(receive, cancel, lambda: keys.answer(request, cancel, send))

    made = Starlette()
    made.router.default = everything
    made.state.calls = (keys.calls,)
    return made


class _Keys:
    """The keys that are served, and the sites that may read them."""

    def __init__(self, node: Any, guard: Guard, origins: Collection[str]) -> None:
        self._served, self._guard, self._origins = Served(node), guard, origins
        self.calls = Calls(_AT_ONCE)

    async def answer(self, request: Any, cancel: CancelToken, send: Send) -> None:
        """Answer a request with a value, or with the reason why not."""
        headers, scope = _base_headers(), request.scope
        try:
            method = "GET" if request.method == "OPTIONS" else request.method
            target = scope.get("raw_path") or b""
            self._guard.check_form(method, target, request.headers.raw)
            headers |= _shared(request.headers, self._origins)
            if request.method == "OPTIONS":
                await whole(send, 204, headers)
                return
            below = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
            value = await self.calls.run(self._served.find, below, cancel=cancel)
            try:
                await _answered(request, value, headers, self.calls, cancel, send)
            finally:
                value.close()
        except Refused as error:
            headers |= {**error.headers, "content-type": "text/plain; charset=utf-8"}
            sentence = error.sentence.encode("utf-8", "replace")
            is_head = request.method == "HEAD"
            await whole(send, error.status, headers, sentence, is_head=is_head)


def _base_headers() -> dict[str, str]:
    return {
        "accept-ranges": "bytes",
        "x-content-type-options": "nosniff",
        "cross-origin-resource-policy": "same-origin",
        "vary": "Origin",
    }


def _shared(headers: Headers, origins: Collection[str]) -> dict[str, str]:
    """What lets a page of another site read; nothing for a request of no page.

    Raises
    ------
    Refused
        The request comes from a site that may not read.
    """
    sent = headers.getlist("origin")
    if not sent:
        site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
        foreign = site not in (None, "same-origin", "none") and mode != "navigate"
        if foreign and "*" not in origins:
            raise Refused(403, "the request comes from another site; --cors names those that may")
        return {}
    if "*" not in origins and (len(sent) > 1 or sent[0] not in origins):
        raise Refused(403, "the request comes from another site; --cors names those that may")
    return {
        "access-control-allow-origin": "*" if "*" in origins else sent[0],
        "access-control-allow-headers": "range, if-none-match",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-expose-headers": "content-range, content-length, accept-ranges, etag",
        # Chrome asks for it before a page of the network reads this machine.
        "access-control-allow-private-network": "true",
        "cross-origin-resource-policy": "cross-origin",
    }


async def _answered(
    request: Any,
    value: Value,
    headers: dict[str, str],
    calls: Calls,
    cancel: CancelToken,
    send: Send,
) -> None:
    """Send a value, or the range of it that was asked for."""
    if value.tag is not None:
        headers = {**headers, "etag": value.tag}
        if request.headers.get("if-none-match") == value.tag:
            await whole(send, 304, headers)
            return
    wanted = request.headers.get("range")
    # The rest of a value that was another one is not wanted.
    if request.headers.get("if-range") not in (None, value.tag):
        wanted = None
    first, last = _range(wanted, value.size)
    headers = {
        **headers,
        "content-type": "application/octet-stream",
        "content-length": str(last - first),
    }
    if wanted is not None:
        headers["content-range"] = f"bytes {first}-{last - 1}/{value.size}"
    await begin(send, 200 if wanted is None else 206, headers)
    if request.method != "HEAD":
        window = _WINDOW[value.is_local]
        for at in range(first, last, window):
            there = min(at + window, last)
            try:
                found = await calls.run(value.read, at, there, cancel=cancel)
            except (ZarrixError, OSError, Refused):
                found = b""
            if cancel.is_cancelled or len(found) != there - at:
                # Without its end, the answer is broken off.
                return
            await piecewise(send, found)
    await end(send)


def _range(header: str | None, size: int) -> tuple[int, int]:
    """The bytes that a ``Range`` header asks for: one range."""
    if header is None:
        return 0, size
    unit, _, spec = header.partition("=")
    first, dash, last = spec.partition("-")
    numbers = [one for one in (first, last) if one]
    good = unit.strip() == "bytes" and dash and numbers and len(header) < 64
    beyond = {"content-range": f"bytes */{size}"}
    if not good or not all(one.isascii() and one.isdecimal() for one in numbers):
        raise Refused(416, "a range is one of bytes, such as bytes=0-99", headers=beyond)
    if not first:
        begin, end = max(0, size - int(last)), size
    else:
        begin, end = int(first), min(size, int(last) + 1) if last else size
    if begin >= end:
        raise Refused(416, f"the value has {size} bytes", headers=beyond)
    return begin, end


def links(address: str, node: Any, origins: Collection[str] = ("*",)) -> dict[str, str]:
    """Addresses of web viewers that show what is served.

    Parameters
    ----------
    address : str
        Of the hierarchy, without a trailing slash.
    node : Array or Group
    origins : collection of str, optional
        The sites that may read; others have no address.
    """
    kind = "zarr2" if node.zarr_format == 2 else "zarr3"
    layers = [{"type": "auto", "source": f"{kind}://{address}", "name": "zarr"}]
    state = json.dumps({"layers": layers}, separators=(",", ":"))
    place = quote(address, safe="")
    pages = {
        "Neuroglancer": f"/#!{quote(state)}",
        "vizarr": f"/vizarr/?source={place}",
        "ngff-validator": f"/ome-ngff-validator/?source={place}",
    }
    allowed = {name: site for name, site in LINKED.items() if {"*", site} & set(origins)}
    return {name: f"{site}{pages[name]}" for name, site in allowed.items()}
