"""`sync_store`: makes one hierarchy equal to another by copying what differs.

Three sorted streams are merged: what the source has, what the destination has, and the ledger of
what was equal before. Chunks are copied while the streams run. Documents wait until the chunks are
there, those of the root until all others are, and deletions until the root is new.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from contextlib import closing
from typing import Any

from zarrix._display.progress import Progress, phase
from zarrix._errors import CopyError, PathNotFoundError
from zarrix._hierarchy.copy_log import check_choice, log_to
from zarrix._hierarchy.ledger import Ledger, open_ledger
from zarrix._hierarchy.sync_merge import merged
from zarrix._hierarchy.sync_moves import VALUE_BYTES, Budget, Compare, Mover, Pipeline
from zarrix._hierarchy.sync_nodes import is_of_zarr
from zarrix._hierarchy.sync_run import SyncCounts, SyncRun
from zarrix._hierarchy.sync_sides import Side
from zarrix._hierarchy.there_already import refuse_mixing
from zarrix._nodes.nodes import describe, missing_parents
from zarrix._runtime.sizes import parse_size
from zarrix._stores.bandwidth import Bandwidth
from zarrix._stores.identity import is_in_one_process
from zarrix._stores.keys import document_of, key_of
from zarrix._stores.open import as_store
from zarrix._stores.overlap import refuse_overlap
from zarrix._stores.path import normalize_storage_path

__all__ = ["sync_store"]


def sync_store(
    source: Any,
    dest: Any,
    *,
    source_path: str = "",
    dest_path: str = "",
    delete: bool = False,
    compare: Compare = "auto",
    dry_run: bool = False,
    workers: int = 32,
    bandwidth: float | str | None = None,
    includes: str | Iterable[str] | None = None,
    excludes: str | Iterable[str] | None = None,
    ledger: Any = None,
    allow_empty: bool = False,
    log: Any = None,
    progress: bool | Progress = False,
) -> SyncCounts:
    """Make ``dest`` equal to ``source`` by copying the stored values that differ.

    Readers of ``dest`` find the document of an array only when its chunks are there: chunks are
    copied first, then documents, the deepest first, those of the root last, and deletions follow.
    A call that was interrupted at any point continues when it is repeated.

    Parameters
    ----------
    source, dest : Store, mapping, URL, str or Path
    source_path, dest_path : str
        Only what lies below these paths.
    delete : bool
        Delete the nodes, and all other keys, of ``dest`` that ``source`` does not have. Chunks and
        attributes of nodes that it has are deleted in any case if it lacks them: they are values of
        an older version.
    compare : {"auto", "size", "tag", "digest"}
        How values are compared that the ledger does not know. ``"auto"``: by their lengths, then by
        the MD5 that a server tells or, between files and memory, by their bytes; what cannot be
        compared is copied. ``"size"``: by their lengths alone, without the ledger. ``"tag"``: by
        the ledger alone. ``"digest"``: by their bytes, which reads both sides.
    dry_run : bool
        Log what would be done, and change nothing.
    workers : int
        The number of values in flight at once; together they take at most 8 MiB for each.
    bandwidth : float or str, optional
        The most bytes to copy in a second, such as ``"50MiB"``.
    includes, excludes : str or iterable of str, optional
        Regular expressions searched in keys; a key that matches ``excludes`` is neither copied nor
        deleted, unless it also matches ``includes``.
    ledger : str or Path, optional
        The file that remembers which versions were equal; by default one in the user's cache
        folder. It only saves work.
    allow_empty : bool
        Delete even if the source has no root document, or nothing.
    log : function, path or file, optional
        Gets a line for each key that is copied, replaced or deleted.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of keys that are done, and of those
        that were found.

    Returns
    -------
    SyncCounts

    Raises
    ------
    CopyError
        ``delete``, and the source has no root document.
    OverlapError
        Source and destination overlap; nothing was copied.
    PathNotFoundError
        The path or URL ``source`` has no keys.

    Examples
    --------
    >>> import zarrix as zarr
    >>> source, dest = zarr.MemoryStore(), zarr.MemoryStore()
    >>> zarr.save_array(source, [1, 2, 3])
    >>> zarr.sync_store(source, dest).copied
    2
    >>> zarr.open(source, mode="a")[0] = 5
    >>> counts = zarr.sync_store(source, dest, delete=True)
    >>> counts.replaced, counts.unchanged, zarr.load(dest)
    (1, 1, array([5, 2, 3]))
    """
    check_choice("compare", compare, ("auto", "size", "tag", "digest"))
    if workers < 1:
        raise ValueError(f"workers is a positive number of threads, not {workers}")
    rate = None if bandwidth is None else float(parse_size(bandwidth, "bandwidth"))
    is_named = isinstance(source, str) or hasattr(source, "__fspath__")
    counts = SyncCounts()

    sides = (
        Side(as_store(source), normalize_storage_path(source_path), follows_links=True),
        Side(as_store(dest), normalize_storage_path(dest_path), follows_links=False),
    )
    refuse_overlap("sync", (sides[1].store, sides[1].path), [(sides[0].store, sides[0].path)])
    _check_source(sides[0], is_named=is_named)
    _check_kinds(*sides, delete=delete)
    if not dry_run:
        sides[1].store._forbid_changes()
    ended = threading.Event()
    budget, bucket = Budget(workers * VALUE_BYTES), Bandwidth(rate, ended)
    mover = Mover(*sides, compare, bucket, budget, dry_run)
    with log_to(log) as logged, closing(_ledger_of(ledger, *sides)) as rows:
        if delete and not allow_empty:
            _check_deletes(*sides, rows)
        run = SyncRun(mover, rows, counts, _taken(includes, excludes))
        run.report(logged, phase(progress, "keys"), dry_run=dry_run)
        pipeline = Pipeline(workers, ended, run.settled)
        try:
            run.all(pipeline, delete=delete)
        finally:
            pipeline.close()
            run.close()
    return counts


def _check_source(source: Side, *, is_named: bool) -> None:
    if is_named and next(source.below(), None) is None:
        raise PathNotFoundError(
            f"nothing to copy at {describe(source.store, source.path)}: no key is stored there"
        )


def _check_kinds(source: Side, dest: Side, *, delete: bool) -> None:
    """Raise an error if the destination is a node of another kind or format, or lies in one."""
    root = source.find()
    if root is not None and delete:
        missing_parents(dest.store, dest.path, root.zarr_format)
    elif root is not None:
        document = document_of(root.kind, root.zarr_format)
        pair = key_of(source.path, document), key_of(dest.path, document)
        refuse_mixing(source.store, dest.store, [pair])


def _check_deletes(source: Side, dest: Side, ledger: Ledger) -> None:
    """Raise an error if deleting what the source lacks may be a mistake."""
    if source.find() is None:
        raise CopyError(
            f"{describe(source.store, source.path)} has no root document, so that nothing is "
            "deleted after it: is this the right source? allow_empty=True (--allow-empty) deletes"
        )
    if dest.find() is None and next(dest.below(), None) is not None:
        name = dest.engine.foreign(dest.store.engine_path(dest.path))
        for pair in merged(source.below(), dest.below(), ledger.below("")):
            is_ours = pair.source is not None or pair.row is not None or is_of_zarr(pair.key)
            name = name or (None if is_ours else pair.key)
        if name is not None:
            raise CopyError(
                f"{describe(dest.store, dest.path)} holds {name!r} and no root document, so that "
                "nothing is deleted there; delete it yourself or choose another destination"
            )


def _ledger_of(path: Any, source: Side, dest: Side) -> Ledger:
    """The ledger of two places that other processes find again; else one that keeps nothing."""
    if is_in_one_process(source.store) or is_in_one_process(dest.store):
        return Ledger()
    return open_ledger(path, source.store._sites(source.path), dest.store._sites(dest.path))


def _taken(
    includes: str | Iterable[str] | None, excludes: str | Iterable[str] | None
) -> Callable[[str], bool]:
    """Whether a key is copied, by expressions."""

    def any_of(patterns: str | Iterable[str] | None) -> Callable[[str], bool]:
        listed = [patterns] if isinstance(patterns, str) else patterns or ()
        searches = [re.compile(pattern).search for pattern in listed]
        return lambda key: any(search(key) for search in searches)

    leave_out, keep = any_of(excludes), any_of(includes)
    return lambda key: not leave_out(key) or keep(key)
