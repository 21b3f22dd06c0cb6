"""The viewer in a notebook: the same front end and the same routes, over the kernel's messages.

No server runs, and nothing leaves the notebook. Requests are answered in threads, so that a tile
does not wait for another one; all of them wait while a cell runs, unless the kernel gives messages
a thread of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from typing import Any

# Optional packages: anywidget and traitlets, of the extra "notebook".
import anywidget
import traitlets

from zarrix._engine import CancelToken
from zarrix.viewer._answers import Answer, Refused, plain
from zarrix.viewer._app import root_of
from zarrix.viewer._roots import Root, Roots
from zarrix.viewer._routes import answer, failure
from zarrix.viewer._still import still_of
from zarrix.viewer._streams import STREAMS, Event, events_of

__all__ = ["Widget", "widget_of"]

_AT_ONCE = 4
# Requests that wait; a page has about six in flight.
_MOST_WAITING = 64
_MOST_STREAMS = 8
_STATIC = files("zarrix.viewer").joinpath("static")


class Widget(anywidget.AnyWidget):
    """A viewer in the output of a cell.

    Attributes
    ----------
    selection : dict or None
        The region that was outlined last: the ``path`` of the array, and ``sel``, as text.
    path : str
        The node that is shown first.
    state : dict
        What the page shows, for another session.
    """

    _esm = _STATIC.joinpath("view.js").read_text(encoding="utf-8")
    _css = _STATIC.joinpath("view.css").read_text(encoding="utf-8")

    path = traitlets.Unicode("").tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    selection = traitlets.Any(None).tag(sync=True)

    def __init__(self, root: Root, **traits: Any) -> None:
        super().__init__(**traits)
        self._roots = Roots([root])
        self._threads = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="zarrix-viewer")
        self._requests: dict[int, CancelToken] = {}
        self._waiting: dict[int, Future[None]] = {}
        self._streams: set[int] = set()
        self._lock = threading.Lock()
        self.on_msg(self._receive)

    @property
    def region(self) -> Any:
        """The values of the region that was outlined last; None before the first.

        It is read when it is asked for.
        """
        found = self.selection
        if not found:
            return None
        array = self._roots.array(str(found.get("path", "")))
        # Import time: only a selection needs it.
        from zarrix.viewer._parameters import Selected

        return array[Selected(str(found.get("sel", "")), array).key]

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        """The widget, and a picture for notebooks that are exported: it needs no kernel."""
        bundle = super()._repr_mimebundle_(**kwargs)
        still = still_of(self._roots, self.path)
        if bundle is None or still is None:
            return bundle
        data, metadata = bundle
        return {**data, "image/png": still}, metadata

    def _receive(self, _: Any, content: Any, __: Any) -> None:
        """Answer a message of the front end, in a thread."""
        if not isinstance(content, dict) or not isinstance(content.get("id"), int):
            return
        number = content["id"]
        if content.get("cancel"):
            with self._lock:
                known, waiting = self._requests.get(number), self._waiting.get(number)
            if known is not None:
                known.cancel()
            # One that has not begun gives its place to another one at once.
            if waiting is not None and waiting.cancel():
                self._end(number)
            return
        given = content.get("params") or {}
        route = str(content.get("route", ""))
        is_stream, token = route in STREAMS, CancelToken()
        with self._lock:
            others = len(self._requests) - len(self._streams)
            is_busy = len(self._streams) >= _MOST_STREAMS if is_stream else others >= _MOST_WAITING
            # A number that is in use is a mistake of the page.
            is_known = number in self._requests
            if not is_busy and not is_known:
                self._requests[number] = token
                if is_stream:
                    self._streams.add(number)
        if is_known:
            return
        if is_busy:
            many = "streams are open" if is_stream else "requests wait"
            self._reply(number, failure(Refused(503, f"too many {many}"), route))
        elif is_stream:
            # Not in the pool, whose threads it would occupy.
            arguments = (number, route, given, token)
            threading.Thread(target=self._stream, args=arguments, daemon=True).start()
        else:
            with self._lock:
                self._waiting[number] = self._threads.submit(
                    self._answer, number, route, given, token
                )

    def _end(self, number: int) -> None:
        with self._lock:
            self._requests.pop(number, None)
            self._waiting.pop(number, None)
            self._streams.discard(number)

    def _reply(self, number: int, response: Answer) -> None:
        message = {"id": number, "status": response.status, "headers": response.headers}
        self.send(message, [response.body])

    def _answer(
        self, number: int, route: str, parameters: Mapping[str, str], token: CancelToken
    ) -> None:
        try:
            if not token.is_cancelled:
                found = answer(self._roots, route, parameters, token)
                if not token.is_cancelled:
                    self._reply(number, found)
        finally:
            self._end(number)

    def _stream(
        self, number: int, route: str, parameters: Mapping[str, str], token: CancelToken
    ) -> None:
        try:
            events: Iterator[Event] = events_of(self._roots, route, parameters, token)
            for name, value in events:
                if token.is_cancelled:
                    return
                if name:
                    self.send({"id": number, "event": name, "data": plain(value)})
            self.send({"id": number, "end": True})
        except Exception as error:
            if not token.is_cancelled:
                self._reply(number, failure(error, route))
        finally:
            self._end(number)

    def close(self) -> None:
        """Close the widget, and end its threads."""
        with self._lock:
            for token in self._requests.values():
                token.cancel()
        self._threads.shutdown(wait=False, cancel_futures=True)
        super().close()


def widget_of(node: Any) -> Widget:
    """The viewer of an array or a group."""
    return Widget(root_of(node))
