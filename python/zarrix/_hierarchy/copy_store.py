"""Copying stored bytes from store to store, without decoding them.

Many values are in flight at once, because a remote store has a high latency. Metadata documents are
copied last: an interrupted copy may have chunks without an array, but never an array that lacks
some of its chunks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Literal

from zarrix._display.printable import counted
from zarrix._display.progress import Progress, phase
from zarrix._errors import CopyError, PathNotFoundError
from zarrix._hierarchy.copy_log import Counts, Log, check_choice, log_to
from zarrix._hierarchy.there_already import other_values, refuse_mixing
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.nodes import describe
from zarrix._runtime.caller import warn_caller
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZARRAY, is_document, key_of
from zarrix._stores.open import as_store
from zarrix._stores.overlap import refuse_overlap

__all__ = ["copied", "copy_store"]

_Pair = tuple[str, str]

# Between two calls of the engine, progress is told.
_AT_ONCE = 256


def copy_store(
    source: Any,
    dest: Any,
    source_path: str = "",
    dest_path: str = "",
    excludes: str | Iterable[str] | None = None,
    includes: str | Iterable[str] | None = None,
    flags: int = 0,
    if_exists: Literal["raise", "replace", "skip", "resume"] = "raise",
    dry_run: bool = False,
    log: Any = None,
    *,
    workers: int = 8,
    progress: bool | Progress = False,
) -> tuple[int, int, int]:
    """Copy keys and values from one store to another, encoded as they are.

    This is the fastest copy, and an exact one: nothing is decoded. Values are stored in ``dest``
    atomically, metadata documents after all chunks. The same call with ``if_exists="resume"``
    continues an interrupted copy.

    Parameters
    ----------
    source, dest : Store, mapping, URL, str or Path
    source_path, dest_path : str
        Copy the keys below ``source_path`` to below ``dest_path``.
    excludes, includes : str or iterable of str, optional
        Regular expressions searched in source keys; a key that matches ``excludes`` is left out,
        unless it also matches ``includes``.
    flags : int
        Flags of ``re`` for these expressions.
    if_exists : {'raise', 'replace', 'skip', 'resume'}
        What to do if a key exists in ``dest``: ``'resume'`` skips it if it has the value of the
        source, and raises an error if the source has changed since. ``'skip'`` keeps the old value,
        with a warning. Values are compared by their lengths, and then by their bytes: what is
        there already is read on both sides.
    dry_run : bool
        Log the changes without making them.
    log : function, path or file, optional
        Gets one line per key, in the order of the keys, before anything is copied.
    workers : int
        The number of values in flight at once, which are held in memory.
    progress : bool or callable
        True draws a bar on stderr; a callable gets the number of copied keys, and the total.

    Returns
    -------
    n_copied, n_skipped, n_bytes_copied : int

    Raises
    ------
    CopyError
        A key exists in ``dest`` and ``if_exists`` is ``'raise'``, or it has another value and
        ``if_exists`` is ``'resume'``; or a node would be mixed with one of another kind or format.
        Nothing was copied.
    OverlapError
        Source and destination overlap; nothing was copied.
    PathNotFoundError
        The path or URL ``source`` has no keys, or none below ``source_path``. A mapping or a store
        object may be empty.

    Examples
    --------
    >>> import zarrix as zarr
    >>> zarr.copy_store({"a/0": b"12", "b/0": b"3"}, {}, source_path="a")
    (1, 0, 2)
    """
    check_choice("if_exists", if_exists, ("raise", "replace", "skip", "resume"))
    if workers < 1:
        raise ValueError(f"workers is a positive number of threads, not {workers}")
    is_named = isinstance(source, str) or hasattr(source, "__fspath__")
    source, dest = as_store(source), as_store(dest)
    source_prefix, dest_prefix = _prefix(source_path), _prefix(dest_path)
    written = (dest, dest_prefix.rstrip("/"))
    refuse_overlap("copy", written, [(source, source_prefix.rstrip("/"))])
    # By its iterator: `sorted` asks a mapping for its length first, which lists all keys, too.
    keys = sorted(_listed(source, source_prefix) if source_prefix else iter(source))
    if not keys and (is_named or source_prefix):
        raise PathNotFoundError(
            f"nothing to copy at {describe(source, source_prefix.rstrip('/'))}: no key is stored "
            "there"
        )
    leave_out, keep = _patterns(excludes, flags), _patterns(includes, flags)
    if leave_out:
        keys = [key for key in keys if not _any_match(leave_out, key) or _any_match(keep, key)]
    pairs = [(key, dest_prefix + key[len(source_prefix) :]) for key in keys]
    existing = set() if if_exists == "replace" else {*_listed(dest, dest_prefix)}
    # Locks keep this copy from between the read and the write of a partial chunk. Where no array
    # is, nothing writes chunks, and a lock would be that of the folder: threads would take turns.
    locks = if_exists == "replace" or _has_array(dest, dest_prefix, existing)
    there = [pair for pair in pairs if dest.engine_path(pair[1]) in existing]
    if there and if_exists == "raise":
        raise CopyError(
            f"key {there[0][1]!r} exists in destination; pass if_exists='replace' or 'skip'"
        )
    refuse_mixing(source, dest, pairs)
    if there:
        _tell_changed(source, dest, there, if_exists, workers)
    with log_to(log) as logged:
        left = _announce(pairs, set(there), logged)
        tell = phase(progress, "keys")
        moved = 0 if dry_run else sum(_copy_all(source, dest, left, workers, tell, locks))
        _tell_groups_above(dest, dest_prefix.rstrip("/"), [] if dry_run else left)
        counts = Counts(len(left), len(there), moved)
        logged.summary(dry_run, counts)
    return counts.as_tuple()


def _tell_groups_above(dest: Store, path: str, copied: list[_Pair]) -> None:
    """Add what was copied to the consolidated metadata of the groups above, if they have any."""
    names = {target.rpartition("/")[2] for _, target in copied if is_document(target)}
    if path and names:
        update_consolidated(dest, path, 3 if ZARR_JSON in names else 2, deep=True)


def _tell_changed(
    source: Store, dest: Store, there: list[_Pair], if_exists: str, workers: int
) -> None:
    """Raise an error, or warn, if values of the destination are not those of the source."""
    changed = other_values(source, dest, there, workers)
    if not changed:
        return
    told = (
        f"{counted(len(changed), 'key')} in {describe(dest, '')} with other values than "
        f"{describe(source, '')}, {changed[0]!r} the first"
    )
    if if_exists == "resume":
        raise CopyError(
            f"{told}: the source has changed since the copy began, or it is not that of the "
            "destination; pass if_exists='replace' to copy all of it"
        )
    warn_caller(f"{told}, are kept; if_exists='replace' copies them")


def _listed(store: Store, prefix: str) -> list[str]:
    """Keys below ``prefix``, from one listing, because asking for each key costs a request."""
    return store._engine.list_prefix(store.engine_path(prefix.rstrip("/")))


def _has_array(store: Store, prefix: str, existing: set[str]) -> bool:
    """Whether an array may lie at, above or below ``prefix``, which has the ``existing`` keys."""
    above = prefix.split("/")[:-1]
    places = ["/".join(above[:depth]) for depth in range(len(above))]
    documents = (key_of(place, name) for place in places for name in (ZARRAY, ZARR_JSON))
    return any(map(is_document, existing)) or any(key in store for key in documents)


def _announce(pairs: list[_Pair], there: set[_Pair], log: Log) -> list[_Pair]:
    """The ``pairs`` to copy; all of them are logged."""
    if log.is_silent:
        return [pair for pair in pairs if pair not in there] if there else pairs
    left = []
    for pair in pairs:
        key, target = pair
        verb = "skip" if pair in there else "copy"
        log(f"{verb} {key}" if target == key else f"{verb} {key} -> {target}")
        if verb == "copy":
            left.append(pair)
    return left


def _copy_all(
    source: Store, dest: Store, pairs: list[_Pair], workers: int, tell: Progress, locks: bool
) -> Iterator[int]:
    """Copy ``pairs``, metadata documents last; yields the bytes of each."""
    done = 0
    chunks: list[_Pair] = []
    documents: list[_Pair] = []
    for pair in pairs:
        (documents if is_document(pair[0]) else chunks).append(pair)
    # Those of the root come last, so that the hierarchy does not exist before.
    documents.sort(key=lambda pair: pair[0].count("/"), reverse=True)
    for part in (chunks, documents):
        before = done
        for count, nbytes in copied(source, dest, part, workers, locks=locks):
            done += count
            tell(done, len(pairs))
            yield nbytes
        if done - before < len(part):
            # A key that was listed has been deleted since.
            source[next((key for key, _ in part if key not in source), part[-1][0])]


def copied(
    source: Store,
    dest: Store,
    pairs: Iterable[_Pair],
    workers: int,
    *,
    locks: bool = True,
) -> Iterator[tuple[int, int]]:
    """Copy values, several at once, and yield how many of them were there, and their bytes.

    Between files and memory, the engine copies; other stores have ``workers`` values in flight.
    """
    if source._has_origins:
        pairs, elsewhere = _apart(source, pairs)
        for origin, named in elsewhere:
            yield from copied(origin, dest, named, workers, locks=locks)
    if source._engine.is_inline and dest._engine.is_inline:
        dest._forbid_changes()
        rest = iter(pairs)
        while some := list(islice(rest, _AT_ONCE)):
            named = [(source.engine_path(key), dest.engine_path(target)) for key, target in some]
            yield dest._engine.copy_many(source._engine, named, fsync=dest.syncs, locks=locks)
        return
    # Imported on use, because every program that opens an array imports this module, and few copy
    # stores.
    from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

    def move(pair: _Pair) -> tuple[int, int]:
        value = source.get(pair[0])
        if value is None:
            return 0, 0
        dest[pair[1]] = value
        return 1, memoryview(value).nbytes

    waiting = iter(pairs)
    with ThreadPoolExecutor(workers) as threads:
        running: set[Future[tuple[int, int]]] = {
            threads.submit(move, one) for one in islice(waiting, workers)
        }
        while running:
            ended, running = wait(running, return_when=FIRST_COMPLETED)
            for future in ended:
                # An error ends the loop: no copy is started, and those in flight are waited for.
                yield future.result()
                running.update(threads.submit(move, one) for one in islice(waiting, 1))


def _apart(
    source: Store, pairs: Iterable[_Pair]
) -> tuple[list[_Pair], list[tuple[Store, list[_Pair]]]]:
    """The ``pairs`` whose values are those of ``source``, and those of other stores, by store."""
    own: list[_Pair] = []
    elsewhere: dict[int, tuple[Store, list[_Pair]]] = {}
    for key, target in pairs:
        origin = source._origin_of(key)
        if origin is None:
            own.append((key, target))
        else:
            elsewhere.setdefault(id(origin[0]), (origin[0], []))[1].append((origin[1], target))
    return own, list(elsewhere.values())


def _prefix(path: str) -> str:
    joined = "/".join(part for part in str(path).split("/") if part)
    return f"{joined}/" if joined else ""


def _patterns(patterns: str | Iterable[str] | None, flags: int) -> list[re.Pattern[str]]:
    listed = [patterns] if isinstance(patterns, str) else patterns or ()
    return [re.compile(pattern, flags) for pattern in listed]


def _any_match(patterns: list[re.Pattern[str]], key: str) -> bool:
    return any(pattern.search(key) for pattern in patterns)


for _function in (copy_store,):
    # The public module that exports them.
    _function.__module__ = "zarrix.convenience"
