"""What a store does with all keys below a path: it lists, measures, deletes and moves them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from zarrix._stores.awaited_methods import AwaitedSize
from zarrix._stores.keys import NODE_DOCUMENTS, key_of
from zarrix._stores.listed_once import listed_once, names_below
from zarrix._stores.path import normalize_storage_path

if TYPE_CHECKING:
    from zarrix import _engine

__all__ = ["KeysBelow"]


class KeysBelow:
    """The methods of `Store` for which a path stands for everything below it."""

    if TYPE_CHECKING:
        is_remote: bool

        @property
        def _engine(self) -> _engine.Store: ...
        @property
        def syncs(self) -> bool: ...
        def engine_path(self, path: str) -> str: ...
        def _forbid_changes(self) -> None: ...

    def listdir(self, path: str | None = None) -> list[str]:
        """The names directly below ``path``, sorted.

        Parameters
        ----------
        path : str, optional
            The root of the store when omitted.

        Returns
        -------
        list of str
            Empty where nothing is stored below ``path``.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "a/c/d": b"2", "e": b"3"})
        >>> store.listdir(), store.listdir("a"), store.listdir("x")
        (['a', 'e'], ['b', 'c'], [])
        """
        files, directories = self._engine.list_dir(self.engine_path(normalize_storage_path(path)))
        return sorted({*files, *directories})

    def child_names(self, path: str) -> list[str]:
        """Names directly below ``path`` that have keys below them, sorted.

        Parameters
        ----------
        path : str
            Empty for the root.

        Returns
        -------
        list of str
            Names that may be groups and arrays.

        Raises
        ------
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "e": b"3"})
        >>> store.child_names("")
        ['a']
        """
        return sorted(names_below(self._engine, self.engine_path(path)))

    def listed_once(self) -> AbstractContextManager[None]:
        """List all keys once, and use that listing for `child_names` while the context is open.

        This saves time in a store that visits all keys for every listing, such as a mapping.
        Changes made meanwhile are not seen.

        Returns
        -------
        context manager

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.KVStore({"a/b": b"1", "c/d": b"2"})
        >>> with store.listed_once():
        ...     store.child_names(""), store.child_names("a")
        (['a', 'c'], [])
        """
        return listed_once(self._engine)

    def _names_after(self, path: str, after: str) -> Iterator[str]:
        """`child_names` behind ``after``, which may be looked for as they are asked for."""
        return (name for name in self.child_names(path) if name > after)

    def child_names_of(self, paths: Iterable[str]) -> list[list[str]]:
        """`child_names` of each of ``paths``; a remote store lists them concurrently.

        Parameters
        ----------
        paths : iterable of str

        Returns
        -------
        list of list of str
            In the order of ``paths``.

        Raises
        ------
        InvalidKeyError
            A path leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b/c": b"1", "d/e": b"2"})
        >>> store.child_names_of(["", "a", "d"])
        [['a', 'd'], ['b'], []]
        """
        if not self.is_remote:
            return [self.child_names(path) for path in paths]
        listings = self._engine.list_dirs([self.engine_path(path) for path in paths])
        return [sorted(directories) for _, directories in listings]

    def rmdir(self, path: str | None = None) -> None:
        """Delete every key below ``path``; all keys, for the root.

        The call waits for writers of chunks of the node. If the process is killed, a node is either
        complete or gone.

        Parameters
        ----------
        path : str, optional
            The root of the store when omitted.

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"1", "a/c": b"2", "e": b"3"})
        >>> store.rmdir("a")
        >>> list(store)
        ['e']
        """
        self._forbid_changes()
        prefix = self.engine_path(normalize_storage_path(path))
        self._engine.delete_node(prefix, NODE_DOCUMENTS, fsync=self.syncs)

    def rename(self, src_path: str, dst_path: str) -> None:
        """Move everything at and below ``src_path`` to ``dst_path``, which must not exist.

        The call waits for writers of chunks of the node.

        Parameters
        ----------
        src_path, dst_path : str

        Raises
        ------
        ReadOnlyError
            The store is read-only.
        FileNotFoundError
            Nothing is stored at ``src_path``.
        FileExistsError
            Something is stored at ``dst_path``.
        OSError
            ``dst_path`` lies inside ``src_path``.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"raw/0": b"1", "raw/1": b"2"})
        >>> store.rename("raw", "kept/raw")
        >>> list(store)
        ['kept/raw/0', 'kept/raw/1']
        """
        self._forbid_changes()
        source, target = normalize_storage_path(src_path), normalize_storage_path(dst_path)
        source, target = self.engine_path(source), self.engine_path(target)
        self._engine.move_node(source, target, NODE_DOCUMENTS, fsync=self.syncs)

    def getsize(self, path: str | None = None) -> int:
        """Bytes of the value at ``path``, or of the values directly below it; 0 if there are none.

        Parameters
        ----------
        path : str, optional
            A key or a prefix of keys; the root when omitted.

        Returns
        -------
        int
            Bytes as stored; 0 where nothing is. It can be awaited, as in zarr-python 3.

        Raises
        ------
        FileNotFoundError
            It is awaited, and no value is stored at ``path``.
        InvalidKeyError
            ``path`` leads out of the store.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/b": b"12345", "a/c/d": b"1"})
        >>> store.getsize("a/b"), store.getsize("a"), store.getsize("x")
        (5, 5, 0)
        """
        prefix = self.engine_path(normalize_storage_path(path))
        size = self._engine.size(prefix) if prefix else None
        if size is not None:
            return AwaitedSize(size)
        files, directories = self._engine.list_dir(prefix)
        names = [key_of(prefix, name) for name in files]
        size = AwaitedSize(
            sum(self._engine.size(name) or 0 for name in names)
            if directories
            else self._engine.size_prefix(prefix)
        )
        size.missing = normalize_storage_path(path)
        return size
