"""Events as ``text/event-stream``: what `zarrix.viewer._streams` yields, over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from zarrix._errors import CallCancelledError
from zarrix.viewer._answers import plain
from zarrix.viewer._streams import Event

__all__ = ["steps_of"]


def steps_of(events: Iterator[Event]) -> Callable[[], bytes | None]:
    """A function that waits for the next event, and gives its octets; None after the last one."""

    def following() -> bytes | None:
        try:
            for name, value in events:
                if not name:
                    return b": still here\n\n"
                text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
                return f"event: {name}\ndata: {text}\n\n".encode("ascii")
        except CallCancelledError:
            pass
        return None

    return following
