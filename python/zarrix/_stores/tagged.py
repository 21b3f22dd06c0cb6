"""Values with tags: puts under a condition, and listings in the order of keys.

A tag tells one version of a value from the others: the ETag of a server; time and inode of a file.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from zarrix._runtime.config import config
from zarrix._stores.keys import is_document

if TYPE_CHECKING:
    from zarrix import _engine

__all__ = ["ALWAYS", "PutOutcome", "Row", "Tagged", "TaggedValues", "most_bytes"]

ALWAYS = "*"
"""The condition of a put that replaces any value."""


def most_bytes(key: str) -> int:
    """The maximum length that is read of a value; a longer document is an error before it takes
    memory.
    """
    return config.max_document_bytes if is_document(key) else 2**64 - 1


class Row(NamedTuple):
    """A value as a listing has it.

    Attributes
    ----------
    key : str
    size : int
        In bytes.
    tag : str
        Empty if the store has none.
    """

    key: str
    size: int
    tag: str


class Tagged(NamedTuple):
    """A value that was read together with its tag.

    Attributes
    ----------
    value : bytes
    tag : str
        Empty if the store has none.
    changes : str
        The names of the last changes, for the next `put_if` of this value.
    """

    value: bytes
    tag: str
    changes: str


class PutOutcome(NamedTuple):
    """The result of `put_if`.

    Attributes
    ----------
    result : "stored", "refused" or "unclear"
        Unclear: the server did not answer, and may or may not have stored the value.
    tag : str
        The tag of the stored value.
    name : str
        The name of this change. `Tagged.changes` of a later read has it if the change was made.
    reason : str
        Why the result is unclear.
    """

    result: Literal["stored", "refused", "unclear"]
    tag: str
    name: str
    reason: str

    @property
    def is_stored(self) -> bool:
        """Whether the value is stored."""
        return self.result == "stored"


class TaggedValues:
    """The methods of `Store` for tags."""

    if TYPE_CHECKING:

        @property
        def _engine(self) -> _engine.Store: ...
        @property
        def syncs(self) -> bool: ...
        def engine_path(self, path: str) -> str: ...
        def _forbid_changes(self) -> None: ...

    def keeps_conditions(self, key: str) -> bool:
        """Whether a `put_if` beside ``key`` is atomic, also while others write.

        A server that ignores conditions is found out by a probe that is written beside ``key`` and
        removed. Values that only this process sees, such as those of a dict, do not count.

        Parameters
        ----------
        key : str

        Returns
        -------
        bool

        Raises
        ------
        InvalidKeyError
            ``key`` is not one that stores accept.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.DirectoryStore("some.zarr").keeps_conditions("a")
        True
        """
        return self._engine.keeps_conditions(self.engine_path(key))

    def put_if(
        self,
        key: str,
        value: Any,
        condition: str | None,
        *,
        anchor: str | None = None,
        changes: str = "",
    ) -> PutOutcome:
        """Replace the value of ``key`` atomically if ``condition`` holds.

        Parameters
        ----------
        key : str
        value : bytes-like
        condition : str or None
            A tag: the stored value must have it. None: nothing may be stored. ``"*"``: any value is
            replaced.
        anchor : str, optional
            The document of the array that ``key`` is a chunk of: on disk, its writers wait. By
            default ``key`` itself.
        changes : str, optional
            `Tagged.changes` of the value that is replaced, so that its writers find theirs.

        Returns
        -------
        PutOutcome

        Raises
        ------
        NotAtomicError
            The store has no tags, or its server ignores conditions.
        ReadOnlyError
            The store is read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> first = store.put_if("a", b"1", None)
        >>> store.put_if("a", b"2", None).result
        'refused'
        >>> store.put_if("a", b"3", first.tag).result, store["a"]
        ('stored', b'3')
        """
        self._forbid_changes()
        name = os.urandom(8).hex()
        result, told = self._engine.put_if(
            self.engine_path(key),
            value,
            _of_engine(condition),
            anchor=None if anchor is None else self.engine_path(anchor),
            changes=changes,
            name=name,
            fsync=self.syncs,
        )
        if result == "unclear":
            return PutOutcome(result, "", name, told)
        return PutOutcome(result, told, name, "")

    def head(self, key: str) -> Row | None:
        """Length and tag of the value of ``key``, without reading it.

        Parameters
        ----------
        key : str

        Returns
        -------
        Row or None
            None if nothing is stored.

        Raises
        ------
        InvalidKeyError
            ``key`` is not one that stores accept.

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore({"a": b"12"}).head("a").size
        2
        """
        found = self._engine.head(self.engine_path(key))
        return None if found is None else Row(key, *found)

    def get_tagged(self, key: str) -> Tagged | None:
        """The value of ``key``, with the tag of the version that was read.

        Parameters
        ----------
        key : str

        Returns
        -------
        Tagged or None
            None if nothing is stored.

        Raises
        ------
        InvalidKeyError
            ``key`` is not one that stores accept.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"12"})
        >>> store.get_tagged("a").tag == store.head("a").tag
        True
        """
        found = self._engine.get_tagged(self.engine_path(key), most=most_bytes(key))
        return None if found is None else Tagged(*found)

    def list_pages(self, prefix: str = "", after: str = "") -> Iterator[list[Row]]:
        """The values below ``prefix`` in the order of their keys' bytes, in pages of at most 1000.

        On disk and on servers the memory of a listing is that of a page, and of the names of one
        directory. Keys that are added or removed meanwhile may be listed or not.

        Parameters
        ----------
        prefix : str, optional
            A path; the whole store when omitted.
        after : str, optional
            Only keys behind this one are listed, by their bytes.

        Yields
        ------
        list of Row
            Keys are whole, and begin with ``prefix``.

        Raises
        ------
        InvalidKeyError
            ``prefix`` is not one that stores accept.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a/c": b"1", "a-b": b"22", "a.d": b""})
        >>> [(row.key, row.size) for page in store.list_pages() for row in page]
        [('a-b', 2), ('a.d', 0), ('a/c', 1)]
        """
        for page in self._engine.list_pages(self.engine_path(prefix), self.engine_path(after)):
            yield [Row(*row) for row in page]


def _of_engine(condition: str | None) -> Literal["always", "absent"] | tuple[str, str]:
    if condition is None:
        return "absent"
    return "always" if condition == ALWAYS else ("tag", condition)
