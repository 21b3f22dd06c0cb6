"""Connections with limits: how long one may be idle before its first request is complete.

uvicorn closes connections that are idle after a response, and counts all of them. One that never
sends a complete request would stay open.
"""

from __future__ import annotations

import asyncio
from typing import Any

# Optional package: uvicorn, of the extra "view", which only the server of this package imports.
from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["FIRST_REQUEST_S", "Connection"]

FIRST_REQUEST_S = 15.0
"""Seconds in which a new connection has to send its first request."""


class Connection(H11Protocol):
    """A connection that is closed if its first request does not arrive in time."""

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._deadline = self.loop.call_later(FIRST_REQUEST_S, self._close_if_silent)

    def connection_lost(self, exc: Exception | None) -> None:
        """End the wait."""
        if self._deadline is not None:
            self._deadline.cancel()
        super().connection_lost(exc)

    def _close_if_silent(self) -> None:
        # A cycle begins with the first complete request.
        if self.cycle is None and not self.transport.is_closing():
            self.transport.close()
