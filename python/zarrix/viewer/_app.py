"""The ASGI application: HTTP around `zarrix.viewer._routes.answer`."""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from zarrix._engine import CancelToken
from zarrix._hierarchy.open import open as open_any
from zarrix.viewer._answers import Answer, Refused, refusal
from zarrix.viewer._calls import Calls, Room, while_connected
from zarrix.viewer._event_stream import steps_of
from zarrix.viewer._guard import HEADERS, Guard, new_token
from zarrix.viewer._roots import Root, Roots
from zarrix.viewer._routes import ROUTES, answer, failure
from zarrix.viewer._send import Send, begin, end, piecewise, whole
from zarrix.viewer._static import static_file
from zarrix.viewer._streams import STREAMS, events_of

if TYPE_CHECKING:
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette
    from starlette.requests import Request

__all__ = ["app", "application", "root_of"]

# Requests that are answered at the same time; others wait.
_AT_ONCE = 6
_STREAMS_AT_ONCE = 8
# Memory of the requests that are answered, and of the answers that are being sent.
_MOST_HELD_BYTES = 256 * 2**20


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
    # Optional package: Starlette, of the extra "view".
    from starlette.applications import Starlette

    page = _Page(Roots(roots), guard)
    made = Starlette()
    # Not a route, because Starlette itself would answer what does not fit it.
    made.router.default = page.everything
    made.state.token = token
    made.state.calls = (page.calls, page.steps)
    return made


class _Page:
    """The application, and what its requests share.

    Parameters
    ----------
    roots : Roots
    guard : Guard
    """

    def __init__(self, roots: Roots, guard: Guard) -> None:
        self._roots, self._guard = roots, guard
        self.calls = Calls(_AT_ONCE)
        self.steps = Calls(_STREAMS_AT_ONCE)
        self._room = Room(_MOST_HELD_BYTES)
        self._streams = 0

    async def everything(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        # Optional package: Starlette, of the extra "view".
        from starlette.requests import Request

        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return
        request, cancel = Request(scope), CancelToken()

        async def work() -> None:
            try:
                await self._reply(request, cancel, send)
            except Refused as error:
                await _respond(send, refusal(error), request.method)

        await while_connected(receive, cancel, work)

    async def _reply(self, request: Request, cancel: CancelToken, send: Send) -> None:
        scope, headers = request.scope, request.headers.raw
        target = (scope.get("raw_path") or b"") + scope.get("query_string", b"")
        self._guard.check(request.method, target, headers)
        path = scope["path"].removeprefix(scope.get("root_path", "")).removeprefix("/")
        if not path.startswith("api/"):
            await _respond(send, static_file(path), request.method)
            return
        self._guard.check_token(headers)
        given, name = _parameters_of(request), path.removeprefix("api/")
        if name in STREAMS:
            await self._stream(name, given, request.method, cancel, send)
            return
        route = ROUTES.get(name)
        async with self._room.taken(0 if route is None else route.most_bytes) as taken:
            found = await self.calls.run(answer, self._roots, name, given, cancel, cancel=cancel)
            taken.keep(len(found.body))
            tag = found.headers.get("etag")
            if tag is not None and request.headers.get("if-none-match") == tag:
                found = Answer(b"", 304, {"etag": tag})
            await _respond(send, found, request.method)

    async def _stream(
        self, name: str, parameters: dict[str, str], method: str, cancel: CancelToken, send: Send
    ) -> None:
        if method == "HEAD" or self._streams >= _STREAMS_AT_ONCE:
            raise Refused(503, f"{_STREAMS_AT_ONCE} streams are open already")
        self._streams += 1
        try:
            try:
                events = await self.calls.run(
                    events_of, self._roots, name, parameters, cancel, cancel=cancel
                )
            except Exception as error:
                await _respond(send, failure(error, name), method)
                return
            step = steps_of(events, name)
            headers = {"content-type": "text/event-stream; charset=utf-8"}
            await begin(send, 200, {"cache-control": "no-store", **HEADERS, **headers})
            while (found := await self.steps.run(step, cancel=cancel)) is not None:
                await piecewise(send, found)
            await end(send)
        finally:
            self._streams -= 1


def _parameters_of(request: Request) -> dict[str, str]:
    pairs = request.query_params.multi_items()
    if len({name for name, _ in pairs}) != len(pairs):
        raise Refused(400, "a parameter is there twice")
    return dict(pairs)


async def _respond(send: Send, response: Answer, method: str) -> None:
    headers = {"cache-control": "no-store", **HEADERS, **response.headers}
    await whole(send, response.status, headers, response.body, is_head=method == "HEAD")
