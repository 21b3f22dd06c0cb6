"""`Versions`: the versions of a hierarchy, as a mapping of their names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from zarrix._array.array import Array
from zarrix._display.progress import Progress
from zarrix._errors import VersionNotFoundError
from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import open as open_node
from zarrix._metadata.literals import Durability
from zarrix.versions._catalogue import Version, all_versions, find_version, names_of
from zarrix.versions._check import VersionCheck, check_versions
from zarrix.versions._diff import VersionDiff, compare
from zarrix.versions._expire import delete_version, expired_versions
from zarrix.versions._home import durable, home_at
from zarrix.versions._open import store_of
from zarrix.versions._restore import Restored, restore_version

__all__ = ["Versions"]


class Versions:
    """The versions of a hierarchy, the oldest first.

    Parameters
    ----------
    store : Store, str, Path or Group
        The root of a hierarchy; it need not exist any more.
    versions : str, Path or Store, optional
        The folder of the versions, if it is not the one beside the hierarchy.
    storage_options : dict, optional
        For stores named by a URL.

    Raises
    ------
    ValueError
        The path is inside a hierarchy, or its store keeps no versions.

    Examples
    --------
    >>> import zarrix as zarr
    >>> root = zarr.open_group("data.zarr", mode="w")
    >>> version = zarr.snapshot("data.zarr", "v1", message="empty")
    >>> history = zarr.Versions("data.zarr")
    >>> len(history), "v1" in history, history["v1"].message
    (1, True, 'empty')
    """

    def __init__(
        self,
        store: Any,
        *,
        versions: Any = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        self._home = home_at(store, versions, storage_options)
        self._folder = versions

    def __iter__(self) -> Iterator[Version]:
        return iter(all_versions(self._home.versions))

    def __len__(self) -> int:
        return len(names_of(self._home.versions))

    def __contains__(self, name: object) -> bool:
        try:
            self[str(name)]
        except VersionNotFoundError:
            return False
        return True

    def __getitem__(self, name: str) -> Version:
        return find_version(self._home.versions, name, self._home.folder)

    def __repr__(self) -> str:
        return f"<zarrix.Versions of {self._home.live.path!r}: {len(self)}>"

    def open(self, name: str, path: str | None = None) -> Array | Group:
        """Open a version, read-only.

        Parameters
        ----------
        name : str
        path : str, optional
            Of a node in it.

        Returns
        -------
        Array or Group

        Raises
        ------
        VersionNotFoundError
            There is no version of that name (also a ``KeyError`` and a ``FileNotFoundError``).

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> zarr.Versions("data.zarr").open("v1").read_only
        True
        """
        # Its own name keeps its case.
        found = self[name]
        return open_node(store_of(self._home, found), mode="r", path=path)

    def diff(self, first: str, second: str = "live") -> VersionDiff:
        """Compare two versions, or a version with the hierarchy as it is now.

        Pages that two versions share are not read: the work is that of the changes. ``"live"``
        lists the hierarchy.

        Parameters
        ----------
        first, second : str
            Names of versions, or ``"live"``.

        Returns
        -------
        VersionDiff

        Raises
        ------
        VersionNotFoundError
            There is no version of that name.
        VersionLostError
            A page of a version is missing.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.open("data.zarr", mode="w", shape=4, chunks=2, dtype="i4")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> z[3] = 1
        >>> zarr.Versions("data.zarr").diff("v1").added
        ['c/1']
        """
        return compare(self._home, first, second)

    def restore(
        self,
        name: str,
        *,
        paths: Collection[str] | None = None,
        keep: str | None = None,
        message: str | None = None,
        durability: Durability | None = None,
        dry_run: bool = False,
    ) -> Restored:
        """Make the content of a version the present content, by one commit.

        Readers see the state before or after, as with every `commit`, and the death of the process
        leaves one of the two. Open handles read the old content until its grace is over. Chunks
        become clones, hard links or copies of those of the version, which stays as it is; in a
        bucket, the server copies the versions of the objects. Files that are not Zarr's stay, too.

        If the hierarchy itself is gone, it is made from the version; in a bucket, it is an empty
        group until then. What others write meanwhile
        to arrays that did not differ is kept.

        Parameters
        ----------
        name : str
        paths : list of str, optional
            Restore these nodes and what is below them; everything when omitted. A node that the
            version does not have is deleted.
        keep : str, optional
            Keep the state before as a version of this name.
        message : str, optional
            Of the commit.
        durability : {'process', 'fsync'}, optional
            With ``'fsync'``, a loss of power leaves the state before or after, too, and what is
            restored when the call returns stays; ``zarrix.config.durability`` when omitted.
        dry_run : bool
            Only return what would be changed.

        Returns
        -------
        Restored

        Raises
        ------
        VersionNotFoundError
            There is no version of that name.
        PathNotFoundError
            A path is neither in the version nor in the hierarchy.
        NotAtomicError
            A node was an array and is a group, or the reverse; or its chunk keys have one spelling
            only (v2 with one axis); or the hierarchy in a bucket is one array.
        VersionLostError
            The version of an object is gone. Nothing is restored.
        ValueError
            A node that would be deleted holds files that are not Zarr's.
        CommitBusyError, CommitConflictError, CommitVisibleError
            As of `commit`.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.create_group("data.zarr").create_array("a", shape=4, chunks=2, dtype="i4")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> z[:] = 1
        >>> print(zarr.Versions("data.zarr").restore("v1", keep="v2"))
        replaced /a
        >>> zarr.open("data.zarr")["a"][:], zarr.open("data.zarr", version="v2")["a"][:]
        (array([0, 0, 0, 0], dtype=int32), array([1, 1, 1, 1], dtype=int32))
        """
        home = durable(self._home, durability)
        return restore_version(home, name, paths, keep=keep, message=message, dry_run=dry_run)

    def delete(self, name: str) -> None:
        """Delete a version; all others stay as they are.

        Parameters
        ----------
        name : str

        Raises
        ------
        VersionNotFoundError
            There is no version of that name.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> history = zarr.Versions("data.zarr")
        >>> history.delete("v1")
        >>> len(history)
        0
        """
        delete_version(self._home, self[name].name)

    def expire(
        self,
        *,
        keep_last: int | None = None,
        keep_daily: int | None = None,
        older_than: str | None = None,
        dry_run: bool = False,
    ) -> list[str]:
        """Delete the versions that no rule keeps, and what killed calls have left.

        The newest version is always kept.

        Parameters
        ----------
        keep_last : int, optional
            Keep so many of the newest.
        keep_daily : int, optional
            Keep the newest of each day, for so many days that have versions.
        older_than : str, optional
            Keep those that are younger, such as ``"90 d"``, ``"12 h"`` or ``"8 w"``.
        dry_run : bool
            Only return the names.

        Returns
        -------
        list of str
            The names of the deleted versions, the oldest first.

        Raises
        ------
        ValueError
            There is no rule, or one cannot be read.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> for name in ("v1", "v2", "v3"):
        ...     version = zarr.snapshot("data.zarr", name)
        >>> history = zarr.Versions("data.zarr")
        >>> history.expire(keep_last=2)
        ['v1']
        >>> [version.name for version in history]
        ['v2', 'v3']
        """
        return expired_versions(self._home, keep_last, keep_daily, older_than, dry_run)

    def verify(
        self, name: str | None = None, *, clean: bool = False, progress: bool | Progress = False
    ) -> VersionCheck:
        """Compare what is stored of versions with what was stored.

        Lengths and times of files are compared, and digests if the version has them. In a bucket,
        the length and tag of each object version are compared with what the bucket lists.

        Parameters
        ----------
        name : str, optional
            All versions when omitted.
        clean : bool
            Remove what killed calls have left an hour ago or before.
        progress : bool or callable
            True draws bars.

        Returns
        -------
        VersionCheck

        Raises
        ------
        VersionNotFoundError
            There is no version of that name.

        Examples
        --------
        >>> import zarrix as zarr
        >>> root = zarr.open_group("data.zarr", mode="w")
        >>> version = zarr.snapshot("data.zarr", "v1")
        >>> zarr.Versions("data.zarr").verify().ok
        True
        """
        return check_versions(self._home, name, clean=clean, progress=progress)
