"""One value of a sync: whether it differs, and its copy, in any of many threads."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from zarrix._errors import InvalidKeyError
from zarrix._hierarchy.ledger import Row
from zarrix._hierarchy.sync_merge import Pair
from zarrix._hierarchy.sync_sides import Side
from zarrix._stores.bandwidth import Bandwidth
from zarrix._stores.ordered import Stored

__all__ = ["Compare", "Moved", "Mover", "Pipeline"]

Compare = Literal["auto", "size", "tag", "digest"]

# What one value in flight may take on average; larger ones leave less room for others.
VALUE_BYTES = 8 << 20
# Values that are compared with each other, in parts of this length.
_PART = 8 << 20


class Moved(NamedTuple):
    """What was done with a key.

    Attributes
    ----------
    key : str
    verb : str
        ``"same"``, ``"copy"``, ``"replace"``, ``"delete"``, ``"gone"`` or ``"kept"``.
    nbytes : int
        The length of what was copied.
    row : Row or None
        What the ledger may keep.
    reason : str
        Why it was kept.
    """

    key: str
    verb: str
    nbytes: int = 0
    row: Row | None = None
    reason: str = ""


class Budget:
    """Bytes of values in flight; a value that is longer than all of it goes alone."""

    def __init__(self, nbytes: int) -> None:
        self._most, self._left = nbytes, nbytes
        self._changed = threading.Condition()

    @contextmanager
    def of(self, nbytes: int) -> Iterator[None]:
        """Wait for room for a value, and hold it."""
        taken = min(nbytes, self._most)
        with self._changed:
            self._changed.wait_for(lambda: self._left >= taken)
            self._left -= taken
        try:
            yield
        finally:
            with self._changed:
                self._left += taken
                self._changed.notify_all()


class Mover:
    """Compares and copies values from one side to the other.

    Parameters
    ----------
    source, dest : Side
    compare : {"auto", "size", "tag", "digest"}
    bandwidth : Bandwidth
    budget : Budget
    dry_run : bool
    """

    def __init__(
        self,
        source: Side,
        dest: Side,
        compare: Compare,
        bandwidth: Bandwidth,
        budget: Budget,
        dry_run: bool,
    ) -> None:
        self.source, self.dest, self._compare = source, dest, compare
        self._bandwidth, self._budget, self._dry_run = bandwidth, budget, dry_run

    def knows(self, pair: Pair) -> bool:
        """Whether listing and ledger are enough to tell that both values are the same."""
        _, source, dest, row = pair
        if source is None or dest is None or self._compare == "digest":
            return False
        sizes = source.size, dest.size
        if self._compare == "size":
            return None not in sizes and sizes[0] == sizes[1]
        return (
            row is not None
            and "" not in (source.tag, dest.tag)
            and (row.source, row.dest) == (source.tag, dest.tag)
            and all(size in (None, row.size) for size in sizes)
        )

    def settle(self, pair: Pair, value: bytes | None = None) -> Moved:
        """Make the value of the destination that of the source, or ``value``."""
        key, source, dest, _ = pair
        assert source is not None
        try:
            size = source.size
            if size is None:
                size = self.source.engine.size(self.source.key(key))
            if size is None:
                return Moved(key, "gone")
            with self._budget.of(size):
                length = size if value is None else len(value)
                if dest is not None and self._is_same(pair, length, value):
                    return Moved(key, "same", 0, self._row(source, size, dest.tag))
                if self._dry_run:
                    return Moved(key, "replace" if dest is not None else "copy", size)
                return self._copy(pair, size, value)
        except (InvalidKeyError, NotADirectoryError, IsADirectoryError) as error:
            return Moved(key, "kept", reason=str(error))

    def _is_same(self, pair: Pair, length: int, value: bytes | None) -> bool:
        """Whether the value of the destination is that of the source, or ``value``."""
        key, source, dest, _ = pair
        assert source is not None
        assert dest is not None
        size = dest.size
        if size is None:
            size = self.dest.engine.size(self.dest.key(key))
        if size != length:
            return False
        if self._compare == "size":
            return True
        if self._compare == "tag":
            return False
        one, other = self.source.engine, self.dest.engine
        is_remote = self.source.store.is_remote or self.dest.store.is_remote
        if value is None and self._compare == "auto" and is_remote:
            return self._have_equal_tags(key, source, dest)
        start = 0
        while start < length:
            end = start + _PART
            part = value[start:end] if value is not None else None
            if part is None:
                part = one.get_slice(self.source.key(key), start, end)
            if part is None or part != other.get_slice(self.dest.key(key), start, end):
                return False
            start = end
        return True

    def _have_equal_tags(self, key: str, source: Stored, dest: Stored) -> bool:
        """Whether the MD5 that a server tells is that of the other side's value."""
        tags = _md5_of(source.tag), _md5_of(dest.tag)
        if None not in tags:
            return tags[0] == tags[1]
        for side, tag in ((self.dest, tags[0]), (self.source, tags[1])):
            if tag is not None and not side.store.is_remote:
                value = side.read(key)
                return value is not None and _md5(value) == tag
        return False

    def _copy(self, pair: Pair, size: int, value: bytes | None) -> Moved:
        key, source, dest, _ = pair
        assert source is not None
        verb = "copy" if dest is None else "replace"
        if self.dest.is_folder and (self.dest.tag(key) or "") != ("" if not dest else dest.tag):
            return Moved(key, "kept", reason="it was changed in the destination meanwhile")
        self._bandwidth.take(size)
        if value is None and size > _PART and self._both_inline():
            pairs = [(self.source.key(key), self.dest.key(key))]
            done = self.dest.engine.copy_many(
                self.source.engine, pairs, fsync=self.dest.store.syncs
            )
            if not done[0]:
                return Moved(key, "gone")
            size = done[1]
        else:
            copied = self.source.read(key) if value is None else value
            if copied is None:
                return Moved(key, "gone")
            size = len(copied)
            self.dest.engine.put(self.dest.key(key), copied, fsync=self.dest.store.syncs)
        return Moved(key, verb, size, self._row(source, size, self.dest.tag(key) or ""))

    def _both_inline(self) -> bool:
        return self.source.engine.is_inline and self.dest.engine.is_inline

    def _row(self, source: Stored, size: int, tag: str) -> Row | None:
        """The row of a value that is on both sides; None if either may change unseen."""
        if not (source.tag and tag and source.is_settled):
            return None
        if self.source.is_folder and self.source.tag(source.key) != source.tag:
            return None
        return Row(source.key, size, source.tag, tag)

    def delete(self, pair: Pair) -> Moved:
        """Delete a key of the destination that the source does not have."""
        key, dest = pair.key, pair.dest
        assert dest is not None
        try:
            if self.source.has(key):
                return Moved(key, "kept", reason="it has come back in the source")
            if self.dest.is_folder:
                tag = self.dest.tag(key)
                if tag is None:
                    return Moved(key, "gone")
                if tag != dest.tag:
                    return Moved(key, "kept", reason="it was changed in the destination meanwhile")
            if not self._dry_run:
                self.dest.engine.delete(self.dest.key(key), fsync=self.dest.store.syncs)
        except InvalidKeyError as error:
            return Moved(key, "kept", reason=str(error))
        return Moved(key, "delete")


def _md5(value: bytes) -> str:
    return hashlib.md5(value, usedforsecurity=False).hexdigest()


def _md5_of(tag: str) -> str | None:
    """The MD5 in an ETag; None for an ETag of several parts, and for all other tags."""
    digits = tag.strip('"')
    is_md5 = len(digits) == 32 and not set(digits) - set("0123456789abcdef")
    return digits if is_md5 and tag != digits else None


class Pipeline:
    """Calls in many threads, whose results come in the order in which they were begun.

    Parameters
    ----------
    workers : int
    ended : threading.Event
        Set when no more results are wanted, so that calls end early.
    settled : callable
        Called with each result, in the thread of the caller.
    """

    def __init__(
        self, workers: int, ended: threading.Event, settled: Callable[[Moved], object]
    ) -> None:
        self._threads = ThreadPoolExecutor(workers)
        self._ended, self._settled = ended, settled
        self._running: deque[Future[Moved] | Moved] = deque()
        self._most = max(64, workers * 4)

    def begin(self, call: Callable[..., Moved], *arguments: Any) -> None:
        """Start a call, as soon as few enough are running."""
        self._drain(self._most)
        self._running.append(self._threads.submit(call, *arguments))

    def add(self, moved: Moved) -> None:
        """Pass on a result behind those of the calls that are running."""
        if self._running:
            self._running.append(moved)
        else:
            self._settled(moved)

    def finish(self) -> None:
        """Wait for all calls."""
        self._drain(0)

    def _drain(self, left: int) -> None:
        while self._running and (len(self._running) > left or _is_done(self._running[0])):
            first = self._running.popleft()
            self._settled(first.result() if isinstance(first, Future) else first)

    def close(self) -> None:
        """End all threads; calls that have not begun are not made."""
        self._ended.set()
        self._threads.shutdown(cancel_futures=True)
        # What was done before the end is not forgotten.
        for one in self._running:
            if isinstance(one, Moved):
                self._settled(one)
            elif one.done() and not one.cancelled() and one.exception() is None:
                self._settled(one.result())
        self._running.clear()


def _is_done(running: Future[Moved] | Moved) -> bool:
    return isinstance(running, Moved) or running.done()
