"""The viewer's own server: uvicorn on one socket, with limits on everything that a peer sends."""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from zarrix._errors import ZarrixError
from zarrix.viewer._limits import MOST_CONNECTIONS

if TYPE_CHECKING:
    # Optional package: uvicorn, of the extra "view".
    from uvicorn import Server

__all__ = ["LOOPBACK", "hosts_of", "listen", "server_of"]

LOOPBACK = ("127.0.0.1", "::1", "localhost")
_IDLE_S = 60
_HEADER_BYTES = 16 * 1024
# How long an end waits for answers that are being sent.
_GRACE_S = 1


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

    # Import time: it subclasses uvicorn's.
    from zarrix.viewer._connections import Connection

    class Server(uvicorn.Server):
        """Ctrl-C is the usual end of a viewer, and not an error to raise again."""

        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            with _ended_by(self.handle_exit):
                yield

    return Server(
        uvicorn.Config(
            application,
            http=Connection,
            ws="none",
            loop="asyncio",
            lifespan="off",
            log_config=None,
            log_level="error",
            access_log=False,
            proxy_headers=False,
            server_header=False,
            limit_concurrency=MOST_CONNECTIONS,
            timeout_keep_alive=_IDLE_S,
            timeout_graceful_shutdown=_GRACE_S,
            h11_max_incomplete_event_size=_HEADER_BYTES,
        )
    )


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
