"""The steps of a sync, in the order that is safe for readers of the destination.

1. Chunks, while three sorted streams are merged.
2. Documents, the deepest first. If one has changed since the chunks of its node were listed, these
   are listed again, so that no document is stored without the chunks that it speaks of.
3. The documents of the root. If they have changed since the beginning, everything is listed again.
4. Deletions: documents, those of the upper nodes first, and then all other keys. What is stale in
   a node that the source has goes in any case; the rest if it is asked for.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field

from zarrix._display.printable import counted
from zarrix._display.progress import Progress
from zarrix._display.table import Printed
from zarrix._hierarchy.copy_log import Log
from zarrix._hierarchy.ledger import Ledger
from zarrix._hierarchy.sync_merge import Pair, Spools, merged
from zarrix._hierarchy.sync_moves import Moved, Mover, Pipeline
from zarrix._hierarchy.sync_pending import Pending, without_claim
from zarrix._stores.keys import (
    DOCUMENTS,
    NODE_DOCUMENTS,
    ZARR_JSON,
    ZARRAY,
    ZATTRS,
    ZMETADATA,
    is_document,
)

__all__ = ["SyncCounts", "SyncRun"]

# How often a node, or all of it, is listed because it changed meanwhile.
_TRIES = 3
_MOST_NAMED = 1000
# Attributes are stored before the node that has them, and consolidated metadata after all nodes.
_RANKS = {ZATTRS: 0, ZMETADATA: 2}
# The step of deletions that follows those of documents.
_OTHER_KEYS = 1 << 30


@dataclass
class SyncCounts(Printed):
    """What `sync_store` has done, or would do.

    Attributes
    ----------
    copied, replaced, deleted, unchanged : int
        Numbers of keys.
    nbytes : int
        The bytes of the values that were copied or replaced.
    n_kept : int
        How many keys, links and nodes were left as they are.
    kept : dict of str to str
        At most a thousand of them, and why.

    Examples
    --------
    >>> import zarrix as zarr
    >>> counts = zarr.sync_store({"a": b"1", "b": b"2"}, {"b": b"0"})
    >>> counts.copied, counts.replaced, counts.is_complete
    (1, 1, True)
    """

    copied: int = 0
    replaced: int = 0
    deleted: int = 0
    unchanged: int = 0
    nbytes: int = 0
    n_kept: int = 0
    kept: dict[str, str] = field(default_factory=dict)

    @property
    def is_complete(self) -> bool:
        """Whether nothing was kept: the destination has everything that the source had."""
        return not self.n_kept

    def to_json(self) -> str:
        """The counts as a JSON document.

        Returns
        -------
        str

        Examples
        --------
        >>> import zarrix as zarr
        >>> print(zarr.sync_store({"a": b"1"}, {}).to_json())
        {
          "version": 1,
          "copied": 1,
          "replaced": 0,
          "deleted": 0,
          "unchanged": 0,
          "nbytes": 1,
          "n_kept": 0,
          "kept": {}
        }
        """
        return json.dumps({"version": 1, **asdict(self)}, indent=2)

    def __str__(self) -> str:
        told = (
            f"{self.copied:,} copied, {self.replaced:,} replaced, {self.deleted:,} deleted, "
            f"{self.unchanged:,} unchanged; {self.nbytes:,} bytes"
        )
        kept = "".join(f"\n{key}: {reason}" for key, reason in self.kept.items())
        return f"{told}\n{counted(self.n_kept, 'key')} kept:{kept}" if self.n_kept else told


class SyncRun:
    """One sync.

    Parameters
    ----------
    mover : Mover
    ledger : Ledger
    counts : SyncCounts
        What is done is added to it.
    takes : callable
        Whether a key is copied and deleted.
    """

    def __init__(
        self, mover: Mover, ledger: Ledger, counts: SyncCounts, takes: Callable[[str], bool]
    ) -> None:
        self._mover, self._ledger, self._counts, self._takes = mover, ledger, counts, takes
        self._source, self._dest = mover.source, mover.dest
        self._documents, self._deletions = Spools(), Spools()
        self._nodes, self._deletes = mover.nodes, False
        self._pending = Pending(mover.source, {})
        # Whether keys are looked at that were counted before.
        self._again = False
        self._dry_run, self._done, self._found = False, 0, 0
        self._log: Callable[[str], object] = lambda _: None
        self._tell: Progress = lambda _, __: None
        # Nodes whose documents were not stored: what is below them stays.
        self._unstored: set[str] = set()
        # The last links in the destination, which are not followed.
        self._links: deque[str] = deque(maxlen=1000)
        reason = "a link that leads out, or to other links, is not followed"
        self._source.skipped = lambda key: self.keep(key, reason)
        self._dest.skipped = self._links.append

    def report(self, log: Log, tell: Progress, *, dry_run: bool) -> None:
        """Where lines and progress go."""
        self._log, self._tell, self._dry_run = log, tell, dry_run

    def settled(self, moved: Moved) -> None:
        """Count what was done with a key."""
        key, verb, nbytes, row, reason = moved
        counts = self._counts
        self._done += 1
        self._tell(min(self._done, self._found), self._found + 1)
        if row is not None:
            self._ledger.add(row)
        if verb == "kept":
            self.keep(key, reason)
            return
        counts.copied += verb == "copy"
        counts.replaced += verb == "replace"
        counts.deleted += verb == "delete"
        counts.unchanged += verb == "same" and not self._again
        counts.nbytes += nbytes
        if verb in ("copy", "replace", "delete"):
            self._log(f"{verb} {key}")

    def keep(self, key: str, reason: str) -> None:
        """Count a key that is left as it is; the document of its node is not stored, either."""
        counts = self._counts
        if key not in counts.kept:
            counts.n_kept += 1
        if len(counts.kept) < _MOST_NAMED:
            counts.kept[key] = reason
        document = key if is_document(key) else self._nodes.array_document(key)
        if document is not None:
            self._unstored.add(document.rpartition("/")[0])

    def all(self, pipeline: Pipeline, *, delete: bool) -> None:
        """All steps."""
        self._deletes = delete
        for _ in range(1 if self._dry_run else _TRIES):
            roots = self._roots()
            self._begin_again()
            self._chunks(pipeline)
            pipeline.finish()
            if self._dry_run:
                break
            self._documents_of_nodes(pipeline)
            if self._roots() == roots:
                self._documents_of_root(pipeline, roots)
                break
        else:
            for name in roots:
                self.keep(name, "it changed while everything else was copied, three times")
        if not self._dry_run:
            self._delete(pipeline)
        self._ledger.flush()
        self._tell(self._found, self._found)

    def close(self) -> None:
        """Drop what is put aside."""
        self._documents.close()
        self._deletions.close()

    def _begin_again(self) -> None:
        self._documents.close()
        self._deletions.close()
        self._counts.unchanged = 0

    def _roots(self) -> dict[str, tuple[bytes, str]]:
        """The documents of the root, with their tags; and the keys that are not part of it."""
        values = {name: self._source.read(name) for name in sorted(DOCUMENTS, key=_rank)}
        there = {name: value for name, value in values.items() if value is not None}
        documents = {name: value for name, (value, _) in there.items()}
        self._pending = Pending(self._source, documents)
        return there

    def _pairs(self, below: str = "") -> Iterator[Pair]:
        source, dest = self._source.below(below), self._dest.below(below)
        for pair in merged(source, dest, self._ledger.below(below)):
            # A key that is kept stays so if it is listed again.
            key = pair.key
            if not self._takes(key) or self._pending.has(key) or key in self._counts.kept:
                continue
            if pair.source is not None and pair.dest is None and self._is_in_link(key):
                self.keep(key, "the destination has a link there")
                continue
            yield pair

    def _is_in_link(self, key: str) -> bool:
        # A link is met before the keys behind its name.
        return any(f"{key}/".startswith(f"{link}/") for link in self._links)

    def _chunks(self, pipeline: Pipeline) -> None:
        """Step 1; documents and deletions are put aside."""
        for pair in self._pairs():
            key, source, dest, _ = pair
            self._found += 1
            if source is None and dest is None:
                self._ledger.remove(key)
            elif source is None:
                if not self._dry_run:
                    depth = key.count("/") if is_document(key) else _OTHER_KEYS
                    self._deletions.add(depth, pair)
                elif self._deletes or self._nodes.owns(key):
                    pipeline.add(Moved(key, "delete"))
            elif self._mover.knows(pair):
                pipeline.add(Moved(key, "same"))
            elif is_document(key) and not self._dry_run:
                self._documents.add(key.count("/"), pair)
            elif self._mover.gathers(pair):
                pipeline.gather(self._mover.settle_all, pair)
            else:
                pipeline.begin(self._mover.settle, pair)

    def _documents_of_nodes(self, pipeline: Pipeline) -> None:
        """Step 2."""
        for depth in reversed(self._documents.steps()):
            if depth == 0:
                continue
            for rank in range(3):
                for pair in self._documents.of(depth):
                    if _rank(pair.key) == rank:
                        self._document(pipeline, pair)
                pipeline.finish()

    def _document(self, pipeline: Pipeline, pair: Pair) -> None:
        key, source, _, _ = pair
        assert source is not None
        value = self._source.read(key)
        is_since = source.is_before and self._source.tag(key) == source.tag
        if value is not None and not is_since and _is_of_array(key, value[0]):
            for _ in range(_TRIES):
                self._chunks_again(pipeline, key.rpartition("/")[0])
                before, value = value, self._source.read(key)
                if value == before:
                    break
            else:
                self.keep(key, "it changed while its chunks were copied, three times")
                return
        if value is None:
            pipeline.add(Moved(key, "gone"))
        elif key.rpartition("/")[0] in self._unstored:
            self.keep(key, "a part of its node was not copied")
        elif self._would_mix(pair):
            reason = "a node of another kind or format is there"
            pipeline.add(Moved(key, "kept", reason=reason))
        else:
            pipeline.begin(self._mover.settle, pair, value)

    def _would_mix(self, pair: Pair) -> bool:
        """Whether a new document would lie beside one of another kind or format, which stays."""
        folder, _, name = pair.key.rpartition("/")
        if pair.dest is not None or self._deletes or name not in NODE_DOCUMENTS:
            return False
        others = [f"{folder}/{other}" for other in NODE_DOCUMENTS if other != name]
        return any(self._dest.has(one) and not self._source.has(one) for one in others)

    def _chunks_again(self, pipeline: Pipeline, node: str) -> None:
        """Copy the chunks of a node that differ now."""
        pipeline.finish()
        self._again = True
        for pair in self._pairs(node):
            if pair.source is None or is_document(pair.key) or self._mover.knows(pair):
                continue
            pipeline.begin(self._mover.settle, pair)
        pipeline.finish()
        self._again = False

    def _documents_of_root(self, pipeline: Pipeline, roots: dict[str, tuple[bytes, str]]) -> None:
        """Step 3."""
        put_aside = {pair.key: pair for pair in self._documents.of(0)}
        for name, value in roots.items():
            if name not in put_aside:
                continue
            if "" in self._unstored or (self._unstored and _is_consolidated(name, value[0])):
                self.keep(name, "a part of what it tells was not copied")
            else:
                stored = without_claim(name, value[0]), value[1]
                pipeline.begin(self._mover.settle, put_aside[name], stored)
                pipeline.finish()

    def _delete(self, pipeline: Pipeline) -> None:
        """Step 4."""
        for step in self._deletions.steps():
            for pair in self._deletions.of(step):
                key = pair.key
                if self._is_stored(key) and (self._deletes or self._nodes.owns(key)):
                    pipeline.begin(self._mover.delete, pair)
            pipeline.finish()

    def _is_stored(self, key: str) -> bool:
        """Whether no node above a key was left as it is."""
        if not self._unstored:
            return True
        names = key.split("/")
        return not any("/".join(names[:depth]) in self._unstored for depth in range(len(names)))


def _rank(key: str) -> int:
    return _RANKS.get(key.rpartition("/")[2], 1)


def _is_of_array(key: str, value: bytes) -> bool:
    """Whether a document is of an array, whose chunks it speaks of; also if it cannot be read."""
    name = key.rpartition("/")[2]
    if name != ZARR_JSON:
        return name == ZARRAY
    try:
        document = json.loads(value)
        return not isinstance(document, dict) or document.get("node_type") != "group"
    except (ValueError, RecursionError):
        return True


def _is_consolidated(name: str, value: bytes) -> bool:
    """Whether a document tells of other nodes."""
    return name == ZMETADATA or b"consolidated_metadata" in value
