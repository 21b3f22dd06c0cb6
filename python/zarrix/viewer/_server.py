"""The viewer's own server: uvicorn on one socket, with limits on everything that a peer sends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from zarrix._errors import ZarrixError
from zarrix.viewer._calls import Calls
from zarrix.viewer._limits import MOST_CONNECTIONS

if TYPE_CHECKING:
    # Optional package: uvicorn, of the extra "view".
    from uvicorn import Config, Server

__all__ = ["LOOPBACK", "hosts_of", "leave_if_stuck", "listen", "server_of"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_IDLE_S = 60
_HEADER_BYTES = 16 * 1024
# How long an end waits for answers that are being sent, and then for calls that run.
_GRACE_S = 0.3
_LAST_S = 0.1


def listen(host: str, port: int) -> socket.socket:
    """A socket that accepts connections; port 0 is any free one.

    Raises
    ------
    ZarrixError
        The address is not one of this machine, or the port is in use.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
        try:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(address)
            found.listen(MOST_CONNECTIONS)
        except BaseException:
            found.close()
            raise
    except OSError as error:
        raise ZarrixError(f"cannot listen on {host} port {port}: {error.strerror}") from error
    return found


def hosts_of(host: str, port: int, more: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The ``Host`` headers that requests to this address have."""
    names = {"127.0.0.1", "localhost", "[::1]"}
    if host not in LOOPBACK and host not in ("0.0.0.0", "::", ""):
        names.add(f"[{host}]" if ":" in host else host)
    return (*(f"{name}:{port}" for name in sorted(names)), *more)


def server_of(application: Any) -> Server:
    """A server of this application; ``run(sockets=[...])`` runs it until Ctrl-C or SIGTERM."""
    # Optional package: uvicorn, of the extra "view".
    import uvicorn

    every: tuple[Calls, ...] = application.state.calls

    class Server(uvicorn.Server):
        """Ctrl-C is the usual end of a viewer, and not an error to raise again."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            with _ended_by(self.handle_exit):
                yield

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Cancel what runs, and let readers have a moment for what is there."""
            for calls in every:
                calls.end()
            last = asyncio.get_running_loop().call_later(_GRACE_S, self._break_off)
            try:
                await super().shutdown(sockets)
            finally:
                last.cancel()

        def _break_off(self) -> None:
            self.force_exit = True
            for connection in list(self.server_state.connections):
                connection.transport.abort()

    return Server(_config(application))


def _config(application: Any) -> Config:
    # Optional package: uvicorn, of the extra "view".
    import uvicorn

    # Import time: it subclasses uvicorn's.
    from zarrix.viewer._connections import Connection

    return uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        # Errors of the application are its own answers, and those of peers are their own.
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        # One more than there may be: it is told so.
        limit_concurrency=MOST_CONNECTIONS + 1,
        timeout_keep_alive=_IDLE_S,
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=_HEADER_BYTES,
    )


def leave_if_stuck(application: Any) -> None:
    """End the process if a call still runs, such as one in a store that hangs.

    An end of the interpreter would wait for its thread. All that was opened is closed before.
    """
    every: tuple[Calls, ...] = application.state.calls
    if not all(calls.wait(_LAST_S) for calls in every):
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        os._exit(0)


@contextlib.contextmanager
def _ended_by(handle: Callable[[int, Any], None]) -> Iterator[None]:
    """Ctrl-C and SIGTERM call ``handle``, in the main thread."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {one: signal.signal(one, handle) for one in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
