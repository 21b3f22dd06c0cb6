"""Answers that go on: a check of all stored chunks, and changes of what is shown.

A stream is an iterator of events, each a name and a JSON value. A step takes about a second at
most, and between two steps the reader may close it. The application sends events as
``text/event-stream``, and the widget as messages.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from zarrix._array.access import io_of, metadata_of
from zarrix._display.printable import printable
from zarrix._engine import CancelToken
from zarrix._errors import ZarrixError
from zarrix._nodes import nodes
from zarrix._nodes.broken import BrokenMember
from zarrix._stores.keys import key_of
from zarrix.viewer._answers import Refused
from zarrix.viewer._cost import item_bytes
from zarrix.viewer._parameters import Parameters
from zarrix.viewer._parts import check_going
from zarrix.viewer._roots import Roots, is_array

__all__ = ["STREAMS", "Event", "events_of"]

Event = tuple[str, Any]

# A step of a check: decoded bytes, and chunks.
_STEP_BYTES = 64 * 2**20
_STEP_CHUNKS = 256
_MOST_MEMBERS = 100_000
_REASON = 500
_LOOK_S = 2.0
_TICK_S = 0.5
_NAPS = 5
# Folders of an array that are looked at for changes.
_MOST_FOLDERS = 500


class Stream(NamedTuple):
    """The function of a stream, and the names of its parameters."""

    function: Callable[[Roots, Parameters], Iterator[Event]]
    parameters: tuple[str, ...]


def events_of(
    roots: Roots, name: str, values: Mapping[str, str], cancel: CancelToken | None = None
) -> Iterator[Event]:
    """The events of a stream, until it ends or is cancelled.

    Raises
    ------
    Refused
        There is no such stream, or its parameters are false; before the first event.
    """
    if name not in STREAMS:
        raise Refused(404, f"{name[:40]!r} is not a stream", "route-not-found")
    parameters = Parameters(values, STREAMS[name].parameters, cancel)
    roots.find(parameters.text("path"))
    return STREAMS[name].function(roots, parameters)


def _verify(roots: Roots, parameters: Parameters) -> Iterator[Event]:
    """Decode every stored chunk of an array, or of all arrays below a group."""
    # Import time: the first picture does not need it.
    from zarrix.operate._verify import verify_keys

    begun = time.monotonic()
    listed = []
    total = done = broken = 0
    for path, array in _arrays(roots, parameters.text("path")):
        check_going(parameters.cancel)
        if isinstance(array, BrokenMember):
            broken += 1
            reason = printable(str(array.reason))[:_REASON]
            yield "broken", {"path": path, "key": path, "coords": None, "reason": reason}
            continue
        found = io_of(array).stored_chunks()
        total += len(found)
        listed.append((path, array, found))
        yield "progress", {"done": 0, "total": total}
    for path, array, found in listed:
        size = item_bytes(array)
        for length in metadata_of(array).chunk_shape:
            size *= length
        step = max(1, min(_STEP_CHUNKS, _STEP_BYTES // max(1, size)))
        for begin in range(0, len(found), step):
            check_going(parameters.cancel)
            part = dict(found[begin : begin + step])
            _, _, problems, _ = verify_keys(array, list(part))
            for problem in problems:
                broken += 1
                reason = printable(problem.message)[:_REASON]
                coords = part.get(problem.key)
                yield (
                    "broken",
                    {"path": path, "key": problem.key, "coords": coords, "reason": reason},
                )
            done += len(part)
            yield "progress", {"done": done, "total": total}
    seconds = round(time.monotonic() - begun, 3)
    yield "end", {"ok": not broken, "chunks": total, "broken": broken, "seconds": seconds}


def _arrays(roots: Roots, path: str) -> Iterator[tuple[str, Any]]:
    """All arrays below a node, and the members that cannot be opened."""
    node = roots.find(path)
    if is_array(node):
        yield path, node
        return
    waiting, left = [path], _MOST_MEMBERS
    while waiting:
        group = waiting.pop()
        names = roots.names(group)
        left -= len(names)
        if left < 0:
            most = f"more than {_MOST_MEMBERS} members; 'zarrix verify' checks all"
            raise Refused(413, f"{path or '/'} has {most}", "too-large")
        for name, member in roots.members(group, len(names), names):
            below = key_of(group, name)
            if is_array(member) or isinstance(member, BrokenMember):
                yield below, member
            else:
                waiting.append(below)


def _events(roots: Roots, parameters: Parameters) -> Iterator[Event]:
    """Changes of a node, and how much is being read."""
    path = parameters.text("path")
    local = not roots.is_remote(path)
    known, looked = _state(roots, path) if local else "", time.monotonic()
    octets, tiles = roots.served
    then = looked
    while True:
        for _ in range(_NAPS):
            check_going(parameters.cancel)
            time.sleep(_TICK_S / _NAPS)
        now = time.monotonic()
        if now - then >= 2 * _TICK_S:
            more, count = roots.served
            if more > octets:
                rates = {"bytes_per_s": (more - octets) / (now - then),
                         "tiles_per_s": (count - tiles) / (now - then)}  # fmt: skip
                yield "throughput", rates
            octets, tiles, then = more, count, now
        if local and now - looked >= _LOOK_S:
            state, looked = _state(roots, path), now
            if state != known:
                known = state
                yield "changed", {"path": path, "etag": state}
        # Without an event, whether the reader is still there would not be known.
        yield "", None


def _state(roots: Roots, path: str) -> str:
    """What tells one state of a node from the next: its metadata, and the times of its folders."""
    try:
        node = roots.find(path, anew=True)
    except Refused:
        return "gone"
    except (ZarrixError, OSError):
        return "damaged"
    found = hashlib.blake2b(digest_size=8)
    if is_array(node):
        found.update(nodes.array_document(metadata_of(node)))
    folder = getattr(getattr(node, "store", None), "path", None)
    if isinstance(folder, str) and os.path.isdir(folder):
        top = os.path.join(folder, *node.path.split("/"))
        for count, (name, below, _) in enumerate(os.walk(top)):
            if count >= _MOST_FOLDERS:
                break
            if not is_array(node):
                below.clear()
            try:
                found.update(f"{name} {os.stat(name).st_mtime_ns}".encode("utf-8", "replace"))
            except OSError:
                continue
    return found.hexdigest()


STREAMS = {
    "verify": Stream(_verify, ("path",)),
    "events": Stream(_events, ("path",)),
}
