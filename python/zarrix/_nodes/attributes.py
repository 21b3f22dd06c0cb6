"""User attributes of one array or group: a mapping of names to JSON values.

Every change is a locked read-merge-write of the document, so that two writers of different
attributes lose no update, in any threads and processes of a machine. A written document is parsed
again before it is cached: an attribute reads the same before and after reopening (a tuple is a
list).
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Iterator, KeysView, Mapping, MutableMapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any, cast

import numpy as np

from zarrix._errors import PathNotFoundError, ReadOnlyError
from zarrix._metadata import v2, v3
from zarrix._metadata.json import copied
from zarrix._nodes.consolidate import update_consolidated
from zarrix._nodes.long_documents import without_entries
from zarrix._nodes.put_new import put_new
from zarrix._nodes.spliced import most_spliced, shortened
from zarrix._runtime.caller import warn_caller
from zarrix._runtime.config import config
from zarrix._runtime.dialect import DIALECT
from zarrix._stores.base import Store
from zarrix._stores.keys import ATTRIBUTES_DOCUMENT, ZARR_JSON, ZATTRS, key_of
from zarrix._stores.labels import place
from zarrix._stores.open import as_store

__all__ = ["Attributes", "put_first_attributes", "require_json"]


class Attributes(MutableMapping[str, Any]):
    """The attributes of an array or group, available as ``.attrs``.

    Changes are stored at once and merged per name with those of other writers.

    Parameters
    ----------
    store : Store
    key : str
        Key of the JSON document: the complete ``.zattrs``, or a part of ``zarr.json``.
    read_only : bool
        Refuse every change.
    cache : bool
        Read the document once and cache it; ``refresh()`` reads it again.
    synchronizer : mapping of key to lock, optional
        Its lock is held during changes, in addition to the store's own.
    cached_dict : dict, optional
        The attributes, if the caller has read them already.

    Raises
    ------
    ReadOnlyError
        On a change, if they are read-only.
    TypeError
        On a change, if JSON cannot express a value.
    MetadataError
        On reading, if the stored document is not JSON.

    Notes
    -----
    NumPy numbers are stored as Python numbers, and arrays of them as lists.

    References
    ----------
    Zarr v2 specification, "Attributes"; Zarr v3 core specification, "Attributes".

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.zeros(10)
    >>> z.attrs["unit"] = "mm"
    >>> z.attrs.update(author="Ada", scale=(1, 2))
    >>> dict(z.attrs)
    {'author': 'Ada', 'scale': [1, 2], 'unit': 'mm'}
    """

    __module__ = "zarrix.attrs"
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        store: Any,
        key: str = ZATTRS,
        read_only: bool = False,
        cache: bool = True,
        synchronizer: Any = None,
        cached_dict: dict[str, Any] | None = None,
    ) -> None:
        self.store: Store = store if isinstance(store, Store) else as_store(store)
        self.key = key
        # In v3 they are a member of the node's document; its other members are kept.
        self._inside = key == ZARR_JSON or key.endswith(f"/{ZARR_JSON}")
        self.read_only = read_only
        self.cache = cache
        self.synchronizer = synchronizer
        self._cached: dict[str, Any] | None = cached_dict if cache else None
        self._unparsed: bytes | None = None

    @classmethod
    def _of_node(
        cls,
        store: Store,
        path: str,
        zarr_format: int,
        *,
        read_only: bool = False,
        cache: bool = True,
        synchronizer: Any = None,
        stored: bytes | None = None,
    ) -> Attributes:
        """The attributes of the node at ``path``: v2 has a separate document, v3 one document for
        all metadata.

        The other parameters are those of the class.

        Parameters
        ----------
        store : Store
        path : str
            Of the node; empty for the root.
        zarr_format : int
            2 or 3.
        read_only, cache : bool
            As of the class.
        synchronizer : mapping of key to lock, optional
            As of the class.
        stored : bytes, optional
            The document of v2 attributes, if it was read already; empty if there is none. It is
            parsed when the attributes are used.

        Returns
        -------
        Attributes

        Raises
        ------
        KeyError
            ``zarr_format`` is something else.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.array([1], attributes={"unit": "K"})
        >>> zarr.Attributes._of_node(z.store, "", 2)["unit"]
        'K'
        """
        key = key_of(path, ATTRIBUTES_DOCUMENT[zarr_format])
        new = cls(store, key, read_only, cache, synchronizer)
        if cache:
            new._unparsed = stored
        return new

    def asdict(self) -> dict[str, Any]:
        """All attributes, as a new dictionary.

        Returns
        -------
        dict of str to JSON value

        Examples
        --------
        >>> import zarrix as zarr
        >>> group = zarr.create_group(attributes={"site": "Kiel"})
        >>> copy = group.attrs.asdict()
        >>> copy["site"] = "Bonn"  # changes the copy only
        >>> group.attrs["site"]
        'Kiel'
        """
        return dict(self._current())

    def _as_opened(self, found: Mapping[str, Any] | None) -> dict[str, Any]:
        """All attributes, as a new dictionary; a copy of those that were ``found`` if none are
        cached.

        The document of a v3 node has them. Those that were read to open the node are not requested
        again.
        """
        if self._cached is None and self.cache and self._inside and found is not None:
            self._cached = {name: copied(value) for name, value in found.items()}
        return self.asdict()

    def refresh(self) -> None:
        """Drop the cached attributes and read the document again.

        Examples
        --------
        >>> import zarrix as zarr
        >>> store = zarr.MemoryStore()
        >>> mine = zarr.open_array(store, mode="w", shape=3)
        >>> "unit" in mine.attrs
        False
        >>> zarr.open_array(store).attrs["unit"] = "K"  # through another object
        >>> mine.attrs.refresh()
        >>> mine.attrs["unit"]
        'K'
        """
        if self.cache:
            self._cached = self._load()

    def put(self, d: Mapping[str, Any]) -> None:
        """Replace all attributes by those of ``d``, in one step.

        Parameters
        ----------
        d : mapping of str to JSON value

        Raises
        ------
        ReadOnlyError
            The attributes are read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(4)
        >>> z.attrs["draft"] = True
        >>> z.attrs.put({"version": 2})
        >>> z.attrs.asdict()
        {'version': 2}
        """
        new = dict(d)
        self._change(lambda _: new)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several attributes in one step; the others stay.

        Parameters
        ----------
        *args : mapping of str to JSON value, or iterable of (name, value)
            At most one, as for ``dict.update``.
        **kwargs
            More attributes, by name.

        Raises
        ------
        ReadOnlyError
            The attributes are read-only.
        TypeError
            JSON cannot express a value; nothing is changed.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(4)
        >>> z.attrs.update({"axis names": ["t"]}, unit="s")
        >>> z.attrs.update(sampled={1, 2})
        Traceback (most recent call last):
            ...
        TypeError: attribute 'sampled' is set, which JSON cannot express; store sorted(value)
        >>> sorted(z.attrs)
        ['axis names', 'unit']
        """
        new = dict(*args, **kwargs)
        self._change(lambda old: {**old, **new})

    def clear(self) -> None:
        """Remove all attributes.

        Raises
        ------
        ReadOnlyError
            The attributes are read-only.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(4)
        >>> z.attrs["a"] = 1
        >>> z.attrs.clear()
        >>> len(z.attrs)
        0
        """
        self._change(lambda _: {})

    def popitem(self) -> tuple[str, Any]:
        """Remove and return one attribute.

        Returns
        -------
        tuple of (str, JSON value)

        Raises
        ------
        KeyError
            There are no attributes.

        Examples
        --------
        >>> import zarrix as zarr
        >>> z = zarr.zeros(4)
        >>> z.attrs["unit"] = "mm"
        >>> z.attrs.popitem()
        ('unit', 'mm')
        """
        taken: list[tuple[str, Any]] = []

        def take(old: dict[str, Any]) -> dict[str, Any]:
            taken[:] = [old.popitem()]
            return old

        self._change(take)
        return taken[0]

    def __contains__(self, item: object) -> bool:
        return item in self._current()

    def __getitem__(self, item: str) -> Any:
        return self._current()[item]

    def __setitem__(self, item: str, value: Any) -> None:
        self._change(lambda old: {**old, item: value})

    def __delitem__(self, item: str) -> None:
        def remove(old: dict[str, Any]) -> dict[str, Any]:
            del old[item]
            return old

        self._change(remove)

    def keys(self) -> KeysView[str]:
        """The names of the attributes.

        Returns
        -------
        KeysView of str

        Examples
        --------
        >>> import zarrix as zarr
        >>> group = zarr.create_group(attributes={"b": 1, "a": 2})
        >>> sorted(group.attrs.keys())
        ['a', 'b']
        """
        return self._current().keys()

    def __iter__(self) -> Iterator[str]:
        return iter(self._current())

    def __len__(self) -> int:
        return len(self._current())

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__name__} {self._current()!r}>"

    def _ipython_key_completions_(self) -> list[str]:
        return sorted(self)

    def _current(self) -> dict[str, Any]:
        if self._cached is not None:
            return self._cached
        # One that is not valid is an error once; then the stored document is read again.
        document, self._unparsed = self._unparsed, None
        current = self._load() if document is None else self._parse(document or None)
        if self.cache:
            self._cached = current
        return current

    def _load(self) -> dict[str, Any]:
        document = self.store._value(self.key)
        return self._parse(document and without_entries(self.store, self.key, document))

    def _parse(self, document: bytes | None) -> dict[str, Any]:
        if document is None:
            return {}
        parse = v3.parse_attributes if self._inside else v2.parse_attributes
        return dict(parse(document, label=place(self.store, self.key)))

    def _change(self, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
        if self.read_only:
            raise ReadOnlyError(
                f"the attributes in {self.key!r} are read-only; open with mode='r+' to change them"
            )

        given: dict[str, Any] = {}
        most = most_spliced() if self._inside else config.max_document_bytes
        kept = None

        def rewrite(stored: bytes | None) -> bytes:
            nonlocal kept
            document, long = stored, None
            if self._inside:
                document, long = shortened(stored, 3, place(self.store, self.key))
            old = self._parse(document)
            new = change(dict(old))
            given.update((name, one) for name, one in new.items() if one is not old.get(name))
            plain = _as_json({_name(k): v for k, v in new.items()})
            if not self._inside:
                return v2.attributes_document(plain)
            if document is None:
                raise PathNotFoundError(f"{self.key!r} is gone, and its attributes with it")
            kept = v3.attributes_document(document, plain, self.key)
            return kept if long is None else long.spliced(kept, lambda _: False)

        with self._lock():
            stored = self.store._update_at_most(self.key, rewrite, most)
        update_consolidated(self.store, self.key.rpartition("/")[0], 3 if self._inside else 2)
        if self.cache:
            before, self._cached = self._cached or {}, self._parse(stored if kept is None else kept)
            if DIALECT.is_zarr3:
                self._keep_tuples(before, given)

    def _keep_tuples(self, before: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
        """Let a tuple be one until the attributes are read again, as in zarr-python 3.

        ``before`` has the attributes as they were cached, and ``changes`` those that were set now.
        """
        current = self._current()
        for name, value in current.items():
            if name in changes:
                current[name] = _with_tuples(value, changes[name])
            elif name in before and _plain(before[name], name) == value:
                current[name] = _with_tuples(value, before[name])

    def _lock(self) -> AbstractContextManager[Any]:
        if self.synchronizer is None:
            return nullcontext()
        return cast("AbstractContextManager[Any]", self.synchronizer[self.key])


def _name(key: Any) -> str:
    if isinstance(key, str):
        return key
    warn_caller(
        f"attribute names are strings: {key!r} is stored as {str(key)!r}", DeprecationWarning
    )
    return str(key)


def put_first_attributes(
    store: Store, path: str, attributes: Mapping[str, Any], documents: Mapping[str, bytes]
) -> None:
    """Store the attributes of a new v2 node, of which these are the documents so far; without any,
    those that another process has stored stay.
    """
    key = key_of(path, ATTRIBUTES_DOCUMENT[2])
    document = v2.attributes_document(_as_json({_name(k): v for k, v in attributes.items()}))
    if put_new(store, key, document, lambda old: old):
        update_consolidated(store, path, 2, documents={**documents, key: document})
    elif attributes:
        Attributes._of_node(store, path, 2).put(attributes)


def require_json(attributes: Mapping[str, Any] | None) -> None:
    """Raise ``TypeError`` if JSON cannot represent a value, before anything is stored."""
    if attributes:
        _as_json(dict(attributes))


def _as_json(attributes: dict[str, Any]) -> dict[str, Any]:
    """``attributes`` with NumPy numbers as Python numbers; an error names a value that JSON
    cannot represent.
    """
    return {name: _plain(value, f"attribute {name!r}") for name, value in attributes.items()}


def _plain(value: Any, label: str) -> Any:
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, dict):
        return {_member(k, label): _plain(v, f"{label}[{k!r}]") for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v, f"{label}[{i}]") for i, v in enumerate(value)]
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufUTO":
        return _plain(value.tolist(), label)
    kind = type(value)
    name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
    what = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else name
    raise TypeError(f"{label} is {what}, which JSON cannot express{_way_out(value)}")


def _with_tuples(value: Any, source: Any) -> Any:
    """The stored ``value`` of ``source``, with a tuple where that has a tuple."""
    if isinstance(source, list | tuple) and isinstance(value, list):
        members = map(_with_tuples, value, source)
        return tuple(members) if isinstance(source, tuple) else list(members)
    if isinstance(source, dict) and isinstance(value, dict):
        names = {_member(name, ""): member for name, member in source.items()}
        return {name: _with_tuples(member, names.get(name)) for name, member in value.items()}
    return value


def _way_out(value: Any) -> str:
    """What to store instead of a value that JSON cannot represent."""
    kind = value.dtype.kind if isinstance(value, np.ndarray | np.generic) else ""
    if isinstance(value, bytes | bytearray | memoryview) or kind == "S":
        return "; store text: value.decode() for text in bytes, or base64"
    if kind in ("m", "M") or hasattr(value, "isoformat"):
        return "; store text, for example str(value) or value.isoformat()"
    if isinstance(value, complex) or kind == "c":
        return "; store the pair [value.real, value.imag]"
    if isinstance(value, set | frozenset):
        return "; store sorted(value)"
    return "; convert it with .tolist()" if hasattr(value, "tolist") else ""


def _member(key: Any, label: str) -> str:
    """Names inside a value, as ``json`` writes them."""
    if isinstance(key, str):
        return key
    if isinstance(key, bool) or key is None:
        return {True: "true", False: "false", None: "null"}[key]
    if isinstance(key, int | float):
        return repr(key)
    raise TypeError(f"{label} has the name {key!r}, and names in JSON are strings")
