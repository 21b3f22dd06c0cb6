"""Connections with limits: how long each request may take to arrive, and each answer to be read.

uvicorn closes connections that are idle after a response, as long as they send nothing. One that
sends a part of a request, or does not read its answer, would stay open, and it accepts any number.
"""

from __future__ import annotations

import asyncio
from typing import Any

# Optional packages: uvicorn and h11, of the extra "view", which only the server of this package
# imports.
import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from zarrix.viewer._limits import MOST_CONNECTIONS

__all__ = ["REQUEST_S", "STALL_S", "Connection"]

REQUEST_S = 15.0
"""Seconds in which a request has to be complete, from its first byte or the connection on."""

STALL_S = 60.0
"""Seconds in which a reader has to take `_LEAST_BYTES` of what waits for it."""

_LEAST_BYTES = 48 * 1024


class Connection(H11Protocol):
    """A connection that ends if a request does not arrive in time, or an answer is not read."""

    _deadline: asyncio.TimerHandle | None = None
    _stall: asyncio.TimerHandle | None = None
    _since = 0.0

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._make_room()
        self._deadline = self.loop.call_later(REQUEST_S, self._end)

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        super().data_received(data)
        self._watch()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._since = self.loop.time()
        super().on_response_complete()
        if self._is_waiting and self.conn.their_state is h11.SEND_BODY:
            # The application does not read bodies of requests, and its end may never come.
            self._end()
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waits."""
        for timer in (self._deadline, self._stall):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """The reader is slower than the answer: watch it."""
        super().pause_writing()
        self._look(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """The reader goes on."""
        if self._stall is not None:
            self._stall.cancel()
            self._stall = None
        super().resume_writing()

    def timeout_keep_alive_handler(self) -> None:
        """End an idle connection, also one that does not read the rest of its answer."""
        super().timeout_keep_alive_handler()
        self._end()

    @property
    def _is_waiting(self) -> bool:
        """Whether no request is being answered."""
        return self.cycle is None or bool(self.cycle.response_complete)

    def _watch(self) -> None:
        """A request that has begun has to end; one that is complete has."""
        if not self._is_waiting or self.transport.is_closing():
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None
        elif self._deadline is None and self.conn.trailing_data[0]:
            self._deadline = self.loop.call_later(REQUEST_S, self._end)

    def _look(self, before: int) -> None:
        self._stall = self.loop.call_later(STALL_S, self._abort_if_stalled, before)

    def _abort_if_stalled(self, before: int) -> None:
        left = self.transport.get_write_buffer_size()
        if before - left < _LEAST_BYTES:
            self.transport.abort()
        else:
            self._look(left)

    def _end(self) -> None:
        """Close, and do not wait long for a reader of what was sent."""
        self.transport.close()
        self.loop.call_later(STALL_S, self.transport.abort)

    def _make_room(self) -> None:
        """With too many connections, end the one that has waited longest for a request."""
        if len(self.connections) <= MOST_CONNECTIONS:
            return
        others = [one for one in self.connections if isinstance(one, Connection)]
        waiting = [one for one in others if one is not self and one._is_waiting]
        if waiting:
            oldest = min(waiting, key=lambda one: one._since)
            # At once, because many may be accepted before it is told that it is lost.
            self.connections.discard(oldest)
            oldest.transport.abort()
