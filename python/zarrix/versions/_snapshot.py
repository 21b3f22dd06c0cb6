"""Making a version on disk: a copy of the hierarchy that shares its chunks, and then a document.

The folder is made under the name of a leftover, and renamed when it is complete. Its document is
stored last, and the version exists from then on. A process that is killed leaves a folder that
listings hide, or one without a document, which the next call of that name removes.
"""

from __future__ import annotations

import errno
import os
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, Literal, get_args

from zarrix import _engine
from zarrix._display.printable import counted
from zarrix._display.progress import Progress, phase
from zarrix._errors import NotAtomicError, StoreBusyError, VersionExistsError
from zarrix._metadata.literals import Durability
from zarrix._nodes.pending import intent_above
from zarrix._runtime.new_files import sync_folder
from zarrix._stores.keys import ARRAY_DOCUMENT, COMMIT_INTENT, JOB_FOLDER, ZARR_JSON, ZARRAY, key_of
from zarrix._stores.local import LocalStore
from zarrix.commits._lock import CommitLock
from zarrix.commits._recover import WAIT, settle
from zarrix.versions._catalogue import (
    How,
    Version,
    all_versions,
    locked,
    names_of,
    next_moment,
    store_pages,
    store_version,
)
from zarrix.versions._documents import KeySpace, node_of, read_documents, spaces_of
from zarrix.versions._home import Home, ServerHome, home_at, require_root
from zarrix.versions._names import check_name, partial_name
from zarrix.versions._objects import snapshot_objects
from zarrix.versions._pages import Page, made_pages

__all__ = ["SKIPPED", "discard", "snapshot"]

SKIPPED = (JOB_FOLDER, COMMIT_INTENT)
"""Names that no version has: what jobs and commits that have not ended keep."""

_Ways = Literal["auto", "clone", "link", "copy", "objects"]

_ATTEMPTS = 3
# Each is an open file.
_MOST_QUIET = 512
# Directories may take this part of what the values take before a warning says so.
_MOST_IN_DIRECTORIES = 0.2


def snapshot(
    store: Any,
    name: str,
    *,
    message: str = "",
    how: _Ways = "auto",
    versions: Any = None,
    digests: bool = False,
    quiesce: bool = False,
    durability: Durability | None = None,
    storage_options: Mapping[str, Any] | None = None,
    progress: bool | Progress = False,
) -> Version:
    """Keep the present state of a hierarchy as a version.

    A version is a Zarr hierarchy of its own beside this one, in a folder that ends in
    ``.versions``: any library opens it. It appears atomically. No later change of this
    hierarchy changes it, by any library that replaces files. Each chunk is one complete value from
    between begin and end of the call, and the document of an array was the same before and after
    its chunks.

    Parameters
    ----------
    store : Store, str, Path or Group
        The root of a hierarchy in a folder, or in a bucket of S3 that keeps versions.
    name : str
        Of letters, digits, ``.``, ``_`` and ``-``; two names differ by more than their case.
    message : str
        What the version is for.
    how : {'auto', 'clone', 'link', 'copy', 'objects'}
        ``'clone'`` shares the blocks of files (XFS, btrfs, APFS). ``'link'`` gives each chunk a
        second name, and takes the write permission of its file away: a program that writes in
        place, instead of replacing files, is refused, and does not change the version. ``'auto'``
        is the first of them that the file system has, else ``'copy'``. In a bucket it is
        ``'objects'``: a list of object versions, for which nothing is read or copied. If a rule of
        the bucket deletes them within 90 days, that is an error, unless ``'objects'`` is named.
    versions : str or Path, optional
        The folder of the versions; for clones and links on the same file system.
    digests : bool
        Keep the SHA-256 of every value; reads all of them.
    quiesce : bool
        Hold the locks of all arrays, 512 at most, at the end: calls of zarrix that were in flight
        are in the version as they ended, or as if they had not begun.
    durability : {'process', 'fsync'}, optional
        What the version survives; ``zarrix.config.durability`` when omitted.
    storage_options : dict, optional
        For stores named by a URL.
    progress : bool or callable
        True draws bars.

    Returns
    -------
    Version

    Raises
    ------
    VersionExistsError
        There is a version of that name.
    PathNotFoundError
        There is no hierarchy.
    ValueError
        The path is inside a hierarchy, its store keeps no versions, or its bucket does not keep
        those of objects.
    StoreBusyError
        Another process changed documents of arrays three times during the call.
    OSError
        ``how`` names what the file system does not have, or a symbolic link leads out of the
        hierarchy, or there is no space left; nothing remains of the version.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.open("data.zarr", mode="w", shape=4, dtype="i4")
    >>> z[:] = 1
    >>> version = zarr.snapshot("data.zarr", "before")
    >>> z[:] = 2
    >>> zarr.open("data.zarr", version="before")[:]
    array([1, 1, 1, 1], dtype=int32)
    """
    if how not in get_args(_Ways):
        raise ValueError(f"how is one of {', '.join(get_args(_Ways))}, not {how!r}")
    home = home_at(store, versions, storage_options, durability)
    require_root(home)
    _refuse_taken(home, check_name(name))
    tell = phase(progress, "steps")
    if isinstance(home, ServerHome):
        _require_objects(home, how, has_more=digests or quiesce)
        return snapshot_objects(home, name, message, is_named=how == "objects", tell=tell)
    if how == "objects":
        raise ValueError(f"how='objects' is for buckets, and {home.root!r} is a folder")
    os.makedirs(home.folder, exist_ok=True)
    folder = os.path.join(home.folder, partial_name(name))
    os.mkdir(folder)
    try:
        tree = _engine.CarriedTree(home.root, folder, how, skipped=SKIPPED, digests=digests)
        tell(0, 3)
        documents = _carry(home, tree, folder, quiesce)
        tell(1, 3)
        pages = made_pages(tree.pages())
        if home.versions.syncs:
            tree.sync()
            sync_folder(os.path.dirname(home.folder), fsync=True)
        store_pages(home.versions, pages)
        tell(2, 3)
        version = _finish(home, name, folder, _described(name, message, tree, documents, pages))
    except BaseException:
        discard(home, folder)
        raise
    tell(3, 3)
    _warn_of_directories(home, version, tree.counts)
    return version


def _require_objects(home: ServerHome, how: str, *, has_more: bool) -> None:
    """Raise `ValueError` for what only versions in folders have."""
    if how not in ("auto", "objects"):
        raise ValueError(
            f"how={how!r} is for folders, and {home.root} is in a bucket: a version is a list of "
            "object versions there; zarrix.copy_store copies the hierarchy"
        )
    if has_more:
        raise ValueError(
            f"digests and quiesce are for folders, and {home.root} is in a bucket: a version there "
            "has the ETags of its objects, and no lock keeps writers of other machines out"
        )


@contextmanager
def no_commits(home: Home) -> Iterator[None]:
    """End what a killed commit has left, and keep commits from happening."""
    lock = CommitLock(home.root)
    try:
        lock.acquire(WAIT)
    except (PermissionError, NotAtomicError):
        # No program commits here, or this user may not, and so ends none that was killed.
        if intent_above(home.live, "") is not None:
            raise
        yield
        return
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        yield
        return
    try:
        settle(home.live, lock)
        yield
        lock.end(fsync=home.live.syncs)
    finally:
        lock.release()


def _refuse_taken(home: Home | ServerHome, name: str) -> None:
    for other in names_of(home.versions):
        if other.casefold() == name.casefold():
            raise VersionExistsError(
                f"there is a version {other!r} in {home.folder!r} already; delete it first: "
                f"zarrix.Versions({home.live.path!r}).delete({other!r})"
            )


def _carry(home: Home, tree: _engine.CarriedTree, folder: str, quiesce: bool) -> dict[str, bytes]:
    """Carry everything, and again what was changed meanwhile; returns the documents.

    Commits are kept out only while documents are read, and while what changed is carried again.
    """
    with no_commits(home):
        before = read_documents(home.live)
    moment = _moment(home)
    tree.take("", spaces_of(before))
    had_commits = moment is None or moment != _moment(home)
    with no_commits(home):
        if had_commits:
            # Keys that no document names yet may have been carried, and may be gone.
            tree.take("", spaces_of(read_documents(home.live)))
        before = _settled(home, tree, folder, before)
        return _quiet(home, tree, folder, before) if quiesce else before


def _moment(home: Home) -> int | None:
    """A number that each commit changes, by the file of its lock; None while there is one."""
    if intent_above(home.live, "") is not None:
        return None
    return os.stat(home.root).st_mtime_ns


def _quiet(
    home: Home, tree: _engine.CarriedTree, folder: str, before: dict[str, bytes]
) -> dict[str, bytes]:
    """Carry again what was changed, while no call writes to any array."""
    arrays = _arrays(spaces_of(before), before)
    if len(arrays) > _MOST_QUIET:
        raise ValueError(
            f"quiesce holds the locks of at most {_MOST_QUIET} arrays, and there are {len(arrays)}"
        )

    def again() -> dict[str, bytes]:
        # What has not changed is only looked at.
        after = read_documents(home.live)
        tree.take("", spaces_of(after))
        return _settled(home, tree, folder, after)

    found: dict[str, bytes] = home.live._engine.while_locked(sorted(arrays), again)
    return found


def _settled(
    home: Home, tree: _engine.CarriedTree, folder: str, before: dict[str, bytes]
) -> dict[str, bytes]:
    """Repeat nodes whose documents were changed while their chunks were carried."""
    for _ in range(_ATTEMPTS):
        after, carried = read_documents(home.live), read_documents(LocalStore(folder))
        changed = {
            node_of(key)
            for key in before.keys() | after.keys() | carried.keys()
            if not before.get(key) == carried.get(key) == after.get(key)
        }
        if not changed:
            return after
        spaces = spaces_of(after)
        for path in _topmost(changed):
            tree.take(path, spaces)
        before = after
    raise StoreBusyError(
        f"documents in {home.live.path!r}, {sorted(changed)[0] or '/'!r} the first, were changed "
        "three times while chunks were carried; make the version when nothing resizes "
        "or replaces arrays"
    )


def _topmost(paths: set[str]) -> list[str]:
    """The paths that lie in none of the others."""
    if "" in paths:
        return [""]
    top: list[str] = []
    for path in sorted(paths):
        if not top or not path.startswith(f"{top[-1]}/"):
            top.append(path)
    return top


def _arrays(spaces: list[KeySpace], documents: dict[str, bytes]) -> list[str]:
    """The keys of the documents that arrays are locked by."""
    keys = ([key_of(path, name) for name in ARRAY_DOCUMENT.values()] for path, *_ in spaces)
    return [next(key for key in two if key in documents) for two in keys]


def _described(
    name: str,
    message: str,
    tree: _engine.CarriedTree,
    documents: dict[str, bytes],
    pages: list[Page],
) -> dict[str, Any]:
    """What the document says, except what depends on other versions."""
    cloned, linked, _, _ = tree.counts
    how: How = "link" if linked else "clone" if cloned else "copy"
    return {
        "name": name,
        "how": how,
        "message": message,
        "zarr_format": 3 if ZARR_JSON in documents and len(_roots(documents)) == 1 else 2,
        "keys": sum(page.row.rows for page in pages),
        "nbytes": sum(page.row.bytes for page in pages),
        "has_digests": any(b'"sha256:' in page.lines for page in pages),
        "pages": pages,
        "spaces": {
            path: space
            for path, _, space in spaces_of(documents)
            if space != ("v2." if key_of(path, ZARRAY) in documents else "default/")
        },
    }


def _roots(documents: dict[str, bytes]) -> list[str]:
    return [key for key in documents if "/" not in key]


def _finish(home: Home, name: str, folder: str, described: dict[str, Any]) -> Version:
    """Rename the folder, and store the document, while no other process changes versions."""
    pages: list[Page] = described["pages"]
    made: list[Version] = []

    def finish() -> None:
        _refuse_taken(home, name)
        # Another process may have removed pages that no document named.
        store_pages(home.versions, pages)
        others = all_versions(home.versions)
        dest = os.path.join(home.folder, name)
        if os.path.lexists(dest):
            # Its process was killed before the document was stored.
            discard(home, dest)
        os.rename(folder, dest)
        version = Version(
            **{**described, "pages": tuple(page.row for page in pages)},
            created=next_moment(others),
            parent=others[-1].name if others else None,
        )
        sync_folder(home.folder, fsync=home.versions.syncs)
        try:
            store_version(home.versions, version)
        except BaseException:
            os.rename(dest, folder)
            raise
        made.append(version)

    locked(home.versions, os.path.basename(home.root), finish)
    return made[0]


def discard(home: Home, folder: str) -> None:
    """Remove the folder of a version that does not exist (any more), and its guards."""
    name = os.path.basename(folder)
    if not name.endswith(".partial"):
        aside = partial_name(name)
        os.rename(folder, os.path.join(home.folder, aside))
        name, folder = aside, os.path.join(home.folder, aside)
    _engine.release_tree(home.root, folder)
    home.versions._engine.remove_leftover(name, timedelta(0))


def _warn_of_directories(home: Home, version: Version, counts: list[int]) -> None:
    directories = counts[3]
    # ext4 gives each directory a block; XFS, btrfs and APFS keep small ones in their inodes.
    each = getattr(os.stat(os.path.join(home.folder, version.name)), "st_blocks", 0) * 512
    if each * directories > _MOST_IN_DIRECTORIES * max(version.nbytes, 1) and directories > 1000:
        warnings.warn(
            f"the version {version.name!r} has {directories:,} directories "
            f"for {counted(version.keys, 'value')}, which take {each * directories} bytes beside "
            f"{version.nbytes} of values; larger chunks, shards, or keys with '.' between the "
            "numbers need fewer",
            stacklevel=3,
        )
