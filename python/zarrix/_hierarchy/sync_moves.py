"""One value of a sync: whether it differs, and its copy, in any of many threads."""

from __future__ import annotations

import hashlib
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

from zarrix._errors import InvalidKeyError
from zarrix._hierarchy.ledger import Row
from zarrix._hierarchy.sync_merge import Pair
from zarrix._hierarchy.sync_nodes import NodesOf
from zarrix._hierarchy.sync_sides import Side
from zarrix._stores.bandwidth import Bandwidth
from zarrix._stores.keys import is_document
from zarrix._stores.ordered import Stored

__all__ = ["Compare", "Moved", "Mover", "Pipeline"]

Compare = Literal["auto", "size", "tag", "digest"]

# What one value in flight may take on average; larger ones leave less room for others.
VALUE_BYTES = 8 << 20
# Values are compared, and moved, in parts of this length.
_PART = 8 << 20
_TRIES = 8
_GROWTH = 1 << 20
# Files up to this length are copied many at once: so many, or so many bytes.
_SHORT, _GATHERED, _GATHERED_BYTES = 1 << 20, 128, 4 << 20
# A key has no place in the destination, or that of another kind of thing.
_REFUSED = (InvalidKeyError, NotADirectoryError, IsADirectoryError)
_CHANGED = "it was changed in the destination meanwhile"
_HEXADECIMAL = set("0123456789abcdef")


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
        self.nodes = NodesOf(source)
        # Documents of arrays that the destination has, whose writers lock them.
        self._locking: set[str] = set()

    def knows(self, pair: Pair) -> bool:
        """Whether listing and ledger are enough to tell that both values are the same."""
        _, source, dest, row = pair
        if source is None or dest is None or self._compare == "digest":
            return False
        if self._compare == "size":
            return source.size == dest.size
        if row is None or not source.size == dest.size == row.size:
            return False
        marks = self.source.mark(source.tag), self.dest.mark(dest.tag)
        return "" not in marks and marks == (row.source, row.dest)

    def settle(self, pair: Pair, value: tuple[bytes, str] | None = None) -> Moved:
        """Make the value of the destination that of the source, or ``value``, with its tag."""
        key, source, dest, _ = pair
        assert source is not None
        try:
            # What was read, and what the engine makes of it for the system or for a request.
            with self._budget.of(2 * source.size):
                if dest is not None and self._is_same(pair, value):
                    return Moved(key, "same", 0, self._row(source, source.tag, dest.tag))
                if self._dry_run:
                    return Moved(key, "replace" if dest is not None else "copy", source.size)
                return self._copy(pair, value)
        except _REFUSED as error:
            return Moved(key, "kept", reason=str(error))

    def gathers(self, pair: Pair) -> bool:
        """Whether a value is copied with others in one call: short files that are new."""
        source = pair.source
        is_new = source is not None and pair.dest is None and source.size <= _SHORT
        return is_new and self._are_files() and not (self._dry_run or self._bandwidth.is_limited)

    def settle_all(self, pairs: list[Pair]) -> list[Moved]:
        """`settle` of values that are gathered."""
        try:
            done = self._copied_together(pairs)
        except _REFUSED:
            done = {}
        return [self._copied(pair, done.get(pair.key)) for pair in pairs]

    def _copied_together(self, pairs: list[Pair]) -> dict[str, tuple[int, str, str] | None]:
        # Writers of an array in the destination take locks, and such a value has to take its own.
        documents = {pair.key: self.nodes.array_document(pair.key) for pair in pairs}
        there = {one for one in {*documents.values()} if one is not None and self.dest.has(one)}
        values, nbytes = {}, 0
        for key, source, *_ in pairs:
            assert source is not None
            if documents[key] not in there:
                values[key] = self.source.key(key), self.dest.key(key), source.size + _GROWTH
                nbytes += 2 * source.size
        with self._budget.of(nbytes):
            copied = self.dest.engine.copy_new(
                self.source.engine, [*values.values()], fsync=self.dest.store.syncs
            )
        return dict(zip(values, copied, strict=True))

    def _copied(self, pair: Pair, copied: tuple[int, str, str] | None) -> Moved:
        """What a call for many values has done with one; it is settled alone if nothing was."""
        if copied is None:
            return self.settle(pair)
        size, read, stored = copied
        assert pair.source is not None
        return Moved(pair.key, "copy", size, self._row(pair.source, read, stored))

    def _is_same(self, pair: Pair, value: tuple[bytes, str] | None) -> bool:
        """Whether the value of the destination is that of the source, or ``value``."""
        key, source, dest, _ = pair
        assert source is not None
        assert dest is not None
        length = source.size if value is None else len(value[0])
        if dest.size != length or self._compare in ("size", "tag"):
            return dest.size == length and self._compare == "size"
        sides = (self.source, source), (self.dest, dest)
        # Where no server tells a tag, reading both sides is better than to copy everything again.
        if self._compare == "auto" and any(s.store.is_remote and one.tag for s, one in sides):
            return self._have_equal_md5(key, source, dest, value)
        for start in range(0, length, _PART):
            end = min(start + _PART, length)
            part = value[0][start:end] if value else self.source.part(key, start, end)
            if part is None or part != self.dest.part(key, start, end):
                return False
        return True

    def _have_equal_md5(
        self, key: str, source: Stored, dest: Stored, value: tuple[bytes, str] | None
    ) -> bool:
        """Whether the tag that a server tells is the MD5 of the other side's value."""
        if value is not None:
            return _md5_in(dest.tag) == _md5(value[0])
        if self.source.store.is_remote and self.dest.store.is_remote:
            return _md5_in(source.tag) is not None and source.tag == dest.tag
        near, far = self.source, dest
        if self.source.store.is_remote:
            near, far = self.dest, source
        digest = _md5_in(far.tag)
        found = near.read(key, far.size) if digest else None
        return found is not None and _md5(found[0]) == digest

    def _copy(self, pair: Pair, value: tuple[bytes, str] | None) -> Moved:
        key, source, dest, _ = pair
        assert source is not None
        if value is None and source.size > _PART and self._are_files():
            return self._copy_file(pair)
        # It may have grown since it was listed; a server may also send without an end.
        most = max(2 * source.size, source.size + _GROWTH)
        found = self.source.read(key, most) if value is None else value
        if found is None:
            return Moved(key, "gone")
        size = len(found[0])
        if value is None and size > most:
            return Moved(key, "kept", reason=f"it is longer than its {source.size:,} listed bytes")
        self._bandwidth.take(size)
        tag = self._put(key, found[0], dest)
        if tag is None:
            return Moved(key, "kept", reason=_CHANGED)
        row = self._row(source, found[1], tag)
        return Moved(key, "copy" if dest is None else "replace", size, row)

    def _put(self, key: str, value: bytes, dest: Stored | None) -> str | None:
        """Store a value in place of that which was listed, and give its tag; None if another one
        is there.
        """
        condition = None if dest is None else dest.tag
        anchor = self._anchor(key) if self.dest.is_folder else None
        if self.dest.is_folder and anchor is None:
            # Nothing writes chunks where no array is; a lock would be that of the folder.
            return self.dest.put_alone(key, value, condition)
        result = ""
        for turn in range(_TRIES):
            result, told = self.dest.put(key, value, condition, anchor)
            if result == "stored":
                return told
            # The answer to a put that was made may be lost, and a second one is refused then.
            found = self.dest.read(key, len(value))
            if found is not None and found[0] == value:
                return found[1]
            if result == "refused":
                return None
            time.sleep(min(2.0, 0.05 * 2**turn))
        raise OSError(f"{key!r}: the server did not answer {_TRIES} puts")

    def _anchor(self, key: str) -> str | None:
        """The document in the destination whose lock the writers of ``key`` take, if it is there.

        Arrays of both sides are at the same paths.
        """
        document = key if is_document(key) else self.nodes.array_document(key)
        if document is None or document == key or document in self._locking:
            return document
        if not self.dest.has(document):
            return None
        self._locking.add(document)
        return document

    def _are_files(self) -> bool:
        return self.source.is_folder and self.dest.is_folder

    def _copy_file(self, pair: Pair) -> Moved:
        """Copy a long file by the system, without reading it into memory."""
        key, source, dest, _ = pair
        assert source is not None
        if self.dest.tag(key) != (None if dest is None else dest.tag):
            return Moved(key, "kept", reason=_CHANGED)
        self._bandwidth.take(source.size)
        pairs = [(self.source.key(key), self.dest.key(key))]
        count, size = self.dest.engine.copy_many(
            self.source.engine, pairs, fsync=self.dest.store.syncs
        )
        if not count:
            return Moved(key, "gone")
        row = self._row(source, self.source.tag(key) or "", self.dest.tag(key) or "")
        return Moved(key, "copy" if dest is None else "replace", size, row)

    def _row(self, source: Stored, read: str, stored: str) -> Row | None:
        """The row of a value that is on both sides; None if either may change unseen."""
        marks = self.source.mark(read), self.dest.mark(stored)
        if "" in marks or not source.is_settled or read != source.tag:
            return None
        return Row(source.key, source.size, *marks)

    def delete(self, pair: Pair) -> Moved:
        """Delete a key of the destination that the source does not have."""
        key, dest = pair.key, pair.dest
        assert dest is not None
        try:
            if self.source.has(key):
                return Moved(key, "kept", reason="it has come back in the source")
            tag = self.dest.tag(key)
            if tag is None:
                return Moved(key, "gone")
            if tag != dest.tag:
                return Moved(key, "kept", reason=_CHANGED)
            self.dest.engine.delete(self.dest.key(key), fsync=self.dest.store.syncs)
        except InvalidKeyError as error:
            return Moved(key, "kept", reason=str(error))
        return Moved(key, "delete")


def _md5(value: bytes) -> str:
    return hashlib.md5(value, usedforsecurity=False).hexdigest()


def _md5_in(tag: str) -> str | None:
    """The tag if it may be an MD5: a value that was put in parts has another tag."""
    return tag if len(tag) == 32 and not set(tag) - _HEXADECIMAL else None


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
        self._running: deque[Future[Moved | list[Moved]] | Moved] = deque()
        self._most = max(64, workers * 4)
        self._gathered: list[Pair] = []
        self._gathered_bytes = 0
        self._settle_all: Callable[[list[Pair]], list[Moved]] = lambda _: []

    def begin(self, call: Callable[..., Moved], *arguments: Any) -> None:
        """Start a call, as soon as few enough are running."""
        self._begin_gathered()
        self._begin(call, *arguments)

    def gather(self, settle_all: Callable[[list[Pair]], list[Moved]], pair: Pair) -> None:
        """Settle a pair by one call with others, as soon as they are many, or something follows."""
        assert pair.source is not None
        self._settle_all = settle_all
        self._gathered.append(pair)
        self._gathered_bytes += pair.source.size
        if len(self._gathered) >= _GATHERED or self._gathered_bytes >= _GATHERED_BYTES:
            self._begin_gathered()

    def _begin_gathered(self) -> None:
        if self._gathered:
            pairs, self._gathered, self._gathered_bytes = self._gathered, [], 0
            self._begin(self._settle_all, pairs)

    def _begin(self, call: Callable[..., Moved | list[Moved]], *arguments: Any) -> None:
        self._drain(self._most)
        self._running.append(self._threads.submit(call, *arguments))

    def add(self, moved: Moved) -> None:
        """Pass on a result behind those of the calls that are running."""
        self._begin_gathered()
        if self._running:
            self._running.append(moved)
        else:
            self._settled(moved)

    def finish(self) -> None:
        """Wait for all calls."""
        self._begin_gathered()
        self._drain(0)

    def _drain(self, left: int) -> None:
        while self._running and (len(self._running) > left or _is_done(self._running[0])):
            self._tell(self._running.popleft())

    def _tell(self, ended: Future[Moved | list[Moved]] | Moved) -> None:
        result = ended.result() if isinstance(ended, Future) else ended
        for moved in [result] if isinstance(result, Moved) else result:
            self._settled(moved)

    def close(self) -> None:
        """End all threads; calls that have not begun are not made."""
        self._ended.set()
        self._threads.shutdown(cancel_futures=True)
        # What was done before the end is not forgotten.
        for one in self._running:
            if isinstance(one, Moved) or (
                one.done() and not one.cancelled() and one.exception() is None
            ):
                self._tell(one)
        self._running.clear()


def _is_done(running: Future[Moved | list[Moved]] | Moved) -> bool:
    return isinstance(running, Moved) or running.done()
