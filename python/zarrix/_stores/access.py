"""What may be done with a store, and what its writes survive.

`StoreAccess` answers both, and gives the same open store with other rights or durability.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Self

from zarrix._errors import ReadOnlyError
from zarrix._runtime.config import check_durability, config

if TYPE_CHECKING:
    from zarrix import _engine

__all__ = ["StoreAccess"]


class StoreAccess:
    """The methods of `Store` about rights and durability."""

    if TYPE_CHECKING:

        @property
        def _engine(self) -> _engine.Store: ...

    _readable = True
    _writeable = True
    _erasable = True
    _listable = True
    _durability: str | None = None
    # What a message says about writing to a read-only array.
    _how_to_write = "open it with mode='r+' to change it"
    # What commits changes in the store, if it does so itself.
    _own_commits = ""
    # The one format of which the store can hold documents; None for any.
    _only_format: Literal[2, 3] | None = None

    def _format_of(self, asked: Literal[2, 3] | None) -> Literal[2, 3] | None:
        """The format of a new node for which this one was asked; None if the store has no say."""
        only = self._only_format
        if only is None:
            return asked
        if asked not in (None, only):
            raise ValueError(
                f"{self!r} holds only v{only}, so zarr_format={asked} needs another store"
            )
        return only

    def is_readable(self) -> bool:
        """Whether values can be read.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore().is_readable()
        True
        """
        return self._readable

    def is_writeable(self) -> bool:
        """Whether values can be written.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore(read_only=True).is_writeable()
        False
        """
        return self._writeable

    def is_listable(self) -> bool:
        """Whether keys can be listed.

        Returns
        -------
        bool
            False for web servers, which do not list the names below a URL.

        Examples
        --------
        >>> from zarrix.storage import RemoteStore
        >>> RemoteStore("https://example.org/data.zarr").is_listable()
        False
        """
        return self._listable

    def is_erasable(self) -> bool:
        """Whether values can be deleted.

        Returns
        -------
        bool

        Examples
        --------
        >>> import zarrix as zarr
        >>> zarr.MemoryStore().is_erasable()
        True
        """
        return self._erasable

    @property
    def syncs(self) -> bool:
        """Whether a finished write survives a loss of power, too."""
        return config.syncs if self._durability is None else self._durability == "fsync"

    def with_durability(self, durability: str | None) -> Self:
        """Return this store with its own durability, through the same open store.

        Parameters
        ----------
        durability : str or None
            What a finished write survives: "process" for the end of the process, "fsync" for the
            loss of power too. None gives this store itself, which follows ``zarrix.config``.

        Returns
        -------
        Store

        Raises
        ------
        ValueError
            ``durability`` is something else.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> safe = store.with_durability("fsync")
        >>> safe["a"] = b"1"
        >>> store["a"], store.syncs, safe.syncs
        (b'1', False, True)
        """
        if durability is None:
            return self
        return self._variant(_durability=check_durability(durability))

    def with_read_only(self, read_only: bool = False) -> Self:
        """Return this store as a read-only one or not, through the same open store.

        Parameters
        ----------
        read_only : bool

        Returns
        -------
        Store

        Raises
        ------
        ReadOnlyError
            ``read_only`` is false, and a store of this kind cannot be written.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore({"a": b"1"}).with_read_only(True)
        >>> store["a"], store.read_only
        (b'1', True)
        """
        if not read_only and not type(self)._writeable:
            raise ReadOnlyError(f"the store {self!r} cannot be written")
        return self._variant(_writeable=not read_only)

    def _variant(self, **changes: Any) -> Self:
        # The same values through the same open store; `copy` would copy those of a store in memory.
        opened, other = self._engine, object.__new__(type(self))
        other.__dict__.update(self.__dict__, _engine=opened)
        # As in zarr-python 3, the copy is opened by its first use.
        other.__dict__.pop("_is_open_flag", None)
        other.__dict__.update(changes)
        return other

    @property
    def read_only(self) -> bool:
        """Whether the store, and everything opened from it, is read-only."""
        return not self._writeable

    def _forbid_changes(self) -> None:
        if not self._writeable:
            raise ReadOnlyError(f"the store {self!r} is read-only; open it without read_only=True")
