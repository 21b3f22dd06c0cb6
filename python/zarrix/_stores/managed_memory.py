"""Stores in memory that have a name, as in zarr-python 3.4.

All handles of one name in this process have the same values, which are dropped with the last
handle. A path in the values is a store of its own.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from itertools import count
from typing import Any, Self

from zarrix import _engine
from zarrix._stores import memory
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.keys import key_of
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.memory import Buffers, MemoryStore
from zarrix._stores.path import normalize_storage_path
from zarrix._stores.sites import Site

__all__ = ["ManagedMemoryStore", "of_url"]

_named: weakref.WeakValueDictionary[str, Buffers] = weakref.WeakValueDictionary()
_numbers = count()
_mutex = threading.Lock()


class ManagedMemoryStore(MemoryStore):
    """Values in the memory of this process, under a name.

    Handles of one name share the values, in this process and for as long as one of them exists. The
    URL ``memory://name`` opens them, too. A pickle has only the name, and is refused in another
    process, where the values are missing.

    Parameters
    ----------
    name : str, optional
        Without a slash; a new one when omitted.
    path : str
        The store has the values below this path.
    read_only : bool
        Make the store, and everything opened from it, read-only.

    Raises
    ------
    ValueError
        ``name`` has a slash, or a URL opened a store of this name before.

    Examples
    --------
    >>> from zarrix.storage import ManagedMemoryStore
    >>> store = ManagedMemoryStore("results")
    >>> store["a/b"] = b"1"
    >>> ManagedMemoryStore("results", path="a")["b"]
    b'1'
    >>> str(store)
    'memory://results'
    """

    _opened_with = frozenset({"_given", "path"})
    _shows_given = False

    def __init__(self, name: str | None = None, *, path: str = "", read_only: bool = False) -> None:
        self._connect(name, path, read_only)

    def _connect(self, name: str | None, path: str, read_only: bool) -> None:
        with _mutex:
            if name is None:
                name = next(new for new in map(str, _numbers) if new not in _named)
            if "/" in name:
                raise ValueError(f"a name cannot contain '/', as {name!r} does; give path=, too")
            if memory.is_open(name):
                raise ValueError(f"'memory://{name}' is open as a store of its own: use its URL")
            values = _named.get(name)
            if values is None:
                values = _named[name] = Buffers({})
        self._name, self._buffers, self._pid = name, values, os.getpid()
        self.path = normalize_storage_path(path)
        inside = values.mapping
        super().__init__(
            store_dict=_Below(inside, self.path) if self.path else inside, read_only=read_only
        )

    @classmethod
    def from_url(cls, url: str, *, read_only: bool = False) -> Self:
        """The store of a name that exists.

        Parameters
        ----------
        url : str
            ``memory://name``, or ``memory://name/path``.
        read_only : bool

        Returns
        -------
        ManagedMemoryStore

        Raises
        ------
        ValueError
            The URL is another one, or the last handle of the name is gone.

        Examples
        --------
        >>> from zarrix.storage import ManagedMemoryStore
        >>> store = ManagedMemoryStore("shared")
        >>> ManagedMemoryStore.from_url("memory://shared/a").path
        'a'
        """
        scheme, _, rest = url.partition("://")
        if scheme != "memory":
            raise ValueError(f"Expected a 'memory://' URL, got {url!r}")
        name, _, path = rest.partition("/")
        if name not in _named:
            raise ValueError(f"Memory store not found for URL {url!r}; its last handle may be gone")
        return cls(name, path=path, read_only=read_only)

    @property
    def name(self) -> str:
        """The name, as in the URL."""
        return self._name

    def _open_engine(self) -> _engine.Store:
        return engine_of(self._mapping, f"mapping {id(self._buffers.mapping):#x}", self.path)

    @property
    def _mapping(self) -> MutableMapping[str, Any]:
        given: Any = self._given
        mapping: MutableMapping[str, Any] = given
        return mapping

    def _sites(self, path: str) -> list[Site]:
        return of_object(self._buffers.mapping, key_of(self.path, path))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ManagedMemoryStore):
            return NotImplemented
        return (
            self._buffers is other._buffers
            and self.path == other.path
            and self.read_only == other.read_only
        )

    def __reduce__(self) -> Any:
        state = {"path": self.path, "read_only": self.read_only, "created_pid": self._pid}
        return type(self), (self._name,), state

    def __setstate__(self, state: Any) -> None:
        if state["created_pid"] != os.getpid():
            raise RuntimeError(
                f"the store 'memory://{self._name}' was created in process "
                f"{state['created_pid']}, which alone has its values"
            )
        self._connect(self._name, state["path"], state["read_only"])

    def __str__(self) -> str:
        return f"memory://{key_of(self._name, self.path) if self.path else self._name}"

    def __repr__(self) -> str:
        return f"<zarrix.storage.ManagedMemoryStore {str(self)!r}>"


class _Below(MutableMapping[str, Any]):
    """The values of a mapping below a path."""

    def __init__(self, mapping: dict[str, Any], path: str) -> None:
        self._inside, self._prefix = mapping, f"{path}/"

    def __getitem__(self, key: str) -> Any:
        return self._inside[f"{self._prefix}{key}"]

    def __setitem__(self, key: str, value: Any) -> None:
        self._inside[f"{self._prefix}{key}"] = value

    def __delitem__(self, key: str) -> None:
        del self._inside[f"{self._prefix}{key}"]

    def __iter__(self) -> Iterator[str]:
        length = len(self._prefix)
        return iter([key[length:] for key in [*self._inside] if key.startswith(self._prefix)])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> MemoryStore | None:
    """The store of a ``memory://`` URL; None with storage options, which fsspec supports."""
    if not storage_options and url.partition("://")[2].partition("/")[0] in _named:
        return ManagedMemoryStore.from_url(url)
    return memory.of_url(url, storage_options)


ManagedMemoryStore.__module__ = "zarrix.storage"
