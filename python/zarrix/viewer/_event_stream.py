"""Events as ``text/event-stream``: what `zarrix.viewer._streams` yields, over HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

from zarrix.viewer._answers import plain
from zarrix.viewer._streams import Event

__all__ = ["octets_of"]


async def octets_of(events: Iterator[Event], limiter: Any) -> AsyncIterator[bytes]:
    """The events as octets; each step runs in a thread.

    Parameters
    ----------
    events : iterator of Event
    limiter : anyio.CapacityLimiter
        Of the threads.
    """
    # Optional package: anyio, which Starlette needs.
    import anyio.to_thread

    def following() -> bytes | None:
        for name, value in events:
            if not name:
                return b": still here\n\n"
            text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
            return f"event: {name}\ndata: {text}\n\n".encode("ascii")
        return None

    while (found := await anyio.to_thread.run_sync(following, limiter=limiter)) is not None:
        yield found
