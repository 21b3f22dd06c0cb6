"""Stores of values in the memory of this process.

Only pickles of these stores contain the values.
"""

from __future__ import annotations

import warnings
import weakref
from abc import ABCMeta
from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any

from zarrix import _engine
from zarrix._runtime.buffers import Buffer
from zarrix._runtime.cached_property import cached_property
from zarrix._stores.base import Store
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.foreign_sites import of_object
from zarrix._stores.mapping_values import engine_of
from zarrix._stores.path import normalize_dimension_separator
from zarrix._stores.sites import Site

__all__ = ["Buffers", "DictStore", "MemoryStore", "is_open", "of_url"]


class _InMemory(ABCMeta):
    """The class of `MemoryStore`, of which a `KVStore` of a dict is an instance, too.

    Programs ask ``isinstance(store, MemoryStore)`` to learn that other processes do not see what is
    written. dask.distributed refuses such a store; otherwise each worker would write to a copy.
    """

    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (
            cls is MemoryStore and isinstance(instance, Store) and instance._is_in_memory
        )


class MemoryStore(EngineStore, metaclass=_InMemory):
    """Values in the memory of this process.

    Pickles contain the values. Two stores are equal if their contents are equal.

    Parameters
    ----------
    root : mapping, optional
        Initial content: keys to bytes, or nested mappings of these; it is copied.
    cls : type
        Of the nested mappings that `root` returns.
    dimension_separator : {".", "/"}, optional
        Default separator in the chunk keys of arrays created here.
    store_dict : mapping, optional
        The mapping of keys to bytes that has the values, as in zarr-python 3: it is referenced, and
        not copied.
    read_only : bool
        Make the store, and everything opened from it, read-only.

    Raises
    ------
    InvalidKeyError
        A key of ``root`` is not one that stores accept.
    TypeError
        A value is not bytes-like.

    Examples
    --------
    >>> import zarrix as zarr
    >>> store = zarr.MemoryStore({"a": {"b": b"1"}, "c": b"2"})
    >>> list(store)
    ['a/b', 'c']
    >>> store.root
    {'a': {'b': b'1'}, 'c': b'2'}
    """

    _opened_with = frozenset({"_given", "_store_dict"})

    def __init__(
        self,
        root: Mapping[str, Any] | None = None,
        cls: type[Any] = dict,
        dimension_separator: str | None = None,
        *,
        store_dict: Mapping[str, Any] | None = None,
        read_only: bool = False,
    ) -> None:
        self.cls = cls
        self._dimension_separator = normalize_dimension_separator(dimension_separator)
        if root is not None and store_dict is not None:
            raise ValueError("give root=, which is copied, or store_dict=, which is not")
        if store_dict is not None and not isinstance(store_dict, MutableMapping):
            root, store_dict = store_dict, None
        self._given = store_dict
        for key, value in _flatten(root or {}):
            self[key] = value
        self._writeable = not read_only

    _is_in_memory = True
    # Whether programs see the mapping that was given itself, which may have bytes for buffers.
    _shows_given = True

    def _open_engine(self) -> _engine.Store:
        return _engine.MemoryStore() if self._given is None else engine_of(self._given)

    def _sites(self, path: str) -> list[Site]:
        given = self._given
        return super()._sites(path) if given is None else of_object(given, path)

    @property
    def _store_dict(self) -> MutableMapping[str, Any]:
        """The mapping that has the values: a name of zarr-python 3, which programs use."""
        return self._given if self._given is not None and self._shows_given else self._buffers

    @_store_dict.setter
    def _store_dict(self, values: MutableMapping[str, Any]) -> None:
        self._given = values

    @cached_property
    def _buffers(self) -> Buffers:
        return Buffers(weakref.proxy(self))

    @property
    def root(self) -> Any:
        """A copy of the content as nested mappings, one level for each ``/`` in the keys."""
        tree = self.cls()
        for key, value in self.items():
            *parents, name = key.split("/")
            node = tree
            for parent in parents:
                node = node.setdefault(parent, self.cls())
            node[name] = value
        return tree

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryStore):
            return NotImplemented
        return self is other or dict(self.items()) == dict(other.items())

    def __getstate__(self) -> Any:
        state = {**super().__getstate__(), "content": dict(self.items())}
        state.pop("_buffers", None)
        if self._given is not None:
            state["_given"] = {}
        return state

    def __setstate__(self, state: Any) -> None:
        content = state.pop("content")
        # The name of earlier pickles.
        state.setdefault("_given", state.pop("_store_dict", None))
        writeable = state.pop("_writeable", True)
        super().__setstate__(state)
        for key, value in content.items():
            self[key] = value
        self._writeable = writeable

    def _url(self) -> str:
        return f"memory://{id(self._store_dict)}"

    def __repr__(self) -> str:
        return f"<zarrix.storage.{type(self).__name__}: {len(self)} keys at {id(self):#x}>"


class Buffers(MutableMapping[str, Any]):
    """The values of a mapping as the buffers that zarr-python 3 keeps."""

    def __init__(self, mapping: Any) -> None:
        self.mapping = mapping

    def __getitem__(self, key: str) -> Any:
        return Buffer.from_bytes(self.mapping[key])

    def __setitem__(self, key: str, value: Any) -> None:
        self.mapping[key] = value.to_bytes() if isinstance(value, Buffer) else value

    def __delitem__(self, key: str) -> None:
        del self.mapping[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.mapping)

    def __len__(self) -> int:
        return len(self.mapping)


class DictStore(MemoryStore):
    """The name of `MemoryStore` before zarr 2.4.

    Parameters
    ----------
    *args, **kwargs
        Those of `MemoryStore`.

    Raises
    ------
    DeprecationWarning
        As a warning, at every use: write `MemoryStore` instead.

    Examples
    --------
    >>> import warnings, zarrix as zarr
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     store = zarr.DictStore()
    >>> str(caught[0].message)
    'DictStore is the old name of MemoryStore; use MemoryStore'
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "DictStore is the old name of MemoryStore; use MemoryStore",
            DeprecationWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)


def _flatten(tree: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


_by_name: dict[str, MemoryStore] = {}


def is_open(name: str) -> bool:
    """Whether a ``memory://`` URL of this name has been opened."""
    return name in _by_name


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> MemoryStore | None:
    """The store of a ``memory://`` URL; None with storage options, which fsspec supports."""
    if storage_options:
        return None
    return _by_name.setdefault(url.partition("://")[2], MemoryStore())


MemoryStore.__module__ = DictStore.__module__ = "zarrix.storage"
