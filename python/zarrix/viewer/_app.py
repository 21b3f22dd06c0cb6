"""The ASGI application: HTTP around `zarrix.viewer._routes.answer`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from zarrix._hierarchy.open import open as open_any
from zarrix.viewer._answers import Answer, Refused, refusal
from zarrix.viewer._event_stream import octets_of
from zarrix.viewer._guard import HEADERS, Guard, new_token
from zarrix.viewer._roots import Root, Roots
from zarrix.viewer._routes import answer
from zarrix.viewer._static import static_file
from zarrix.viewer._streams import STREAMS, events_of

if TYPE_CHECKING:
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette

__all__ = ["app", "application", "root_of"]

# Requests that are answered at the same time; others wait.
_AT_ONCE = 6
_STREAMS_AT_ONCE = 8


def app(
    *roots: Any,
    token: str | bool = True,
    hosts: Collection[str] | None = None,
) -> Starlette:
    """An ASGI application that shows arrays and groups in a browser; it reads, and never writes.

    Any ASGI server runs it, and any program on Starlette or FastAPI mounts it, below any path.
    A request for data is answered only if it has the token, names one of the hosts, and does not
    come from another site.

    Parameters
    ----------
    *roots : Array, Group, or anything that `zarrix.open` takes
        What is shown; everything below can be seen.
    token : str or bool
        What requests carry in the header ``X-Zarrix-Token``, and the page in its address as
        ``#token=...``. True makes a new one, which is ``app.state.token``. False leaves it out:
        then the program in front has to check who asks.
    hosts : collection of str, optional
        The ``Host`` headers that are answered, with or without a port; by default
        ``127.0.0.1``, ``localhost`` and ``[::1]``.

    Returns
    -------
    Starlette

    Raises
    ------
    PathNotFoundError
        Nothing is at one of the paths.
    ValueError
        There is no root, or the token is empty.
    ImportError
        Starlette is not installed: ``pip install "zarrix[view]"``.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import viewer
    >>> z = zarr.array([[1, 2], [3, 4]])
    >>> page = viewer.app(z)
    >>> len(page.state.token)
    43
    """
    if not roots:
        raise ValueError("app() needs an array, a group or a path to show")
    if isinstance(token, str) and not token:
        raise ValueError("the token is empty; pass False to leave it out")
    secret = new_token() if token is True else token or None
    return application([root_of(one) for one in roots], Guard(secret, hosts), secret)


def root_of(source: Any) -> Root:
    """What `app` was given, opened."""
    if hasattr(source, "attrs") and hasattr(source, "store_path"):
        node, place = source, None
    else:
        node = open_any(source, mode="r")
        place = os.fspath(source) if isinstance(source, str | os.PathLike) else None
    name = node.basename or "root"
    if place is not None:
        name = place.rstrip("/").rpartition("/")[2] or place
    return Root(name, node, "" if place is None else f"zarrix.open({place!r}, mode='r')", place)


def application(roots: Sequence[Root], guard: Guard, token: str | None) -> Starlette:
    """The application for these roots."""
    # Optional packages: Starlette, of the extra "view", and anyio, which it needs.
    import anyio
    import anyio.to_thread
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response, StreamingResponse

    opened = Roots(roots)
    at_once = anyio.CapacityLimiter(_AT_ONCE)
    listening = anyio.CapacityLimiter(_STREAMS_AT_ONCE)

    def response(found: Answer, method: str) -> Response:
        headers = {"cache-control": "no-store", **HEADERS, **found.headers}
        if method == "HEAD":
            headers["content-length"] = str(len(found.body))
        return Response(b"" if method == "HEAD" else found.body, found.status, headers)

    async def stream(name: str, given: dict[str, str], method: str) -> Response:
        if method == "HEAD" or listening.available_tokens < 1:
            busy = Refused(503, f"{_STREAMS_AT_ONCE} streams are open already")
            return response(refusal(busy), method)
        try:
            events = events_of(opened, name, given)
        except Refused as error:
            return response(refusal(error), method)
        headers = {"cache-control": "no-store", **HEADERS}
        body = octets_of(events, listening)
        return StreamingResponse(body, 200, headers, media_type="text/event-stream")

    def asked(request: Request) -> dict[str, str]:
        pairs = request.query_params.multi_items()
        if len({name for name, _ in pairs}) != len(pairs):
            raise Refused(400, "a parameter is there twice")
        return dict(pairs)

    async def reply(request: Request) -> Response:
        headers = request.headers.raw
        below = request.scope["path"].removeprefix(request.scope.get("root_path", ""))
        path = below.removeprefix("/")
        target = request.scope.get("raw_path", b"") + request.scope.get("query_string", b"")
        try:
            guard.check(request.method, target, headers)
            if not path.startswith("api/"):
                return response(static_file(path), request.method)
            guard.check_token(headers)
            given = asked(request)
        except Refused as error:
            return response(refusal(error), request.method)
        name = path.removeprefix("api/")
        if name in STREAMS:
            return await stream(name, given, request.method)
        found = await anyio.to_thread.run_sync(answer, opened, name, given, limiter=at_once)
        tag = found.headers.get("etag")
        if tag is not None and request.headers.get("if-none-match") == tag:
            found = Answer(b"", 304, {"etag": tag})
        return response(found, request.method)

    async def everything(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        found = await reply(Request(scope, receive))
        await found(scope, receive, send)

    made = Starlette()
    # Not a route, because Starlette itself would answer what does not fit it.
    made.router.default = everything
    made.state.token = token
    return made
