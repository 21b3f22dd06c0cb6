"""Events as ``text/event-stream``: what `zarrix.viewer._streams` yields, over HTTP.

The status is sent before the first event. Therefore an error after it is an event, the last one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from zarrix._errors import CallCancelledError
from zarrix.viewer._answers import plain
from zarrix.viewer._routes import failure
from zarrix.viewer._streams import Event

__all__ = ["steps_of"]


def steps_of(events: Iterator[Event], route: str) -> Callable[[], bytes | None]:
    """A function that waits for the next event, and gives its octets; None after the last one."""

    def following() -> bytes | None:
        try:
            for name, value in events:
                if not name:
                    return b": still here\n\n"
                text = json.dumps(plain(value), allow_nan=False, separators=(",", ":"))
                return _event(name, text.encode("ascii"))
        except CallCancelledError:
            pass
        except Exception as error:
            return _event("error", bytes(failure(error, route).body))
        return None

    return following


def _event(name: str, text: bytes) -> bytes:
    return b"event: %b\ndata: %b\n\n" % (name.encode("ascii"), text)
