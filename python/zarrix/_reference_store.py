"""kerchunk's references as a store: keys whose values are parts of other files.

The targets are read by the stores of their folders, so what those promise of requests and
credentials holds here. References in JSON are read whole when the store is made, those in parquet
(`_reference_parquet`) as they are wanted; none runs a program (`_reference_templates`).
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from zarrix._called_store import CalledStore
from zarrix._config import config
from zarrix._errors import CorruptStoreError
from zarrix._reference_parquet import ParquetReferences
from zarrix._reference_templates import generated, rendered
from zarrix._store import Store
from zarrix._stores import DirectoryStore, as_store

__all__ = ["ReferenceStore", "holds_references"]

_PARQUET = (".parq", ".parquet")


def holds_references(path: str) -> bool:
    """Whether a path of this machine is references by its name, and by what is there."""
    if path.endswith(".json"):
        return os.path.isfile(path)
    document = os.path.join(path, ".zmetadata")
    if not path.endswith(_PARQUET) or not os.path.isfile(document):
        return False
    # An array or group may be called so, too.
    with open(document, "rb") as file:
        return b'"record_size"' in file.read(config.max_document_bytes)


class ReferenceStore(CalledStore):
    """Keys as parts of other files, listed by kerchunk; read only.

    A part that cannot be read, or is shorter than its reference says, is an error and never fill.
    References name files and URLs, which are read with the rights of whoever opens them: open only
    those that you trust, or say what they may name.

    Parameters
    ----------
    references : str, Path or mapping
        A JSON document, or its content, of version 0 or 1, with templates and ``gen`` in version 1;
        or a folder of references in parquet, whose partitions are read when they are wanted. Either
        may be a URL.
    storage_options : mapping, optional
        For URLs of the references and the targets, by the names that fsspec gives them.
    allowed : sequence of str, optional
        Folders and URLs below which targets may be; everything when omitted.

    Raises
    ------
    CorruptStoreError
        They are no such references.
    ValueError
        A template has more than names, words and whole numbers, which would have to be run.
    PermissionError
        On reading: the target is below none of ``allowed``.
    ImportError
        References are in parquet, and pyarrow is not installed.

    References
    ----------
    fsspec, "ReferenceFileSystem", version 1.
    """

    _writeable = _erasable = False

    def __init__(
        self,
        references: str | os.PathLike[str] | Mapping[str, Any],
        storage_options: Mapping[str, Any] | None = None,
        *,
        allowed: Sequence[str] | None = None,
    ) -> None:
        self._shown, self._path = "of a mapping", ""
        self._options = dict(storage_options or {})
        self._allowed = None if allowed is None else tuple(map(_normal, allowed))
        self._folders: dict[str, Store] = {}
        if not isinstance(references, Mapping):
            self._path = os.fspath(references)
            self._shown = repr(self._path)
            if "://" not in self._path:
                self._path = os.path.realpath(self._path)
        if self._is_folder():
            # A path not by `as_store`, to which it is what this is.
            folder = (
                as_store(self._path, self._options)
                if "://" in self._path
                else DirectoryStore(self._path)
            )
            self._references: _Listed | ParquetReferences = ParquetReferences(folder, self._shown)
        else:
            document = references if isinstance(references, Mapping) else self._document()
            self._references = _Listed(document, self._shown)

    def _is_folder(self) -> bool:
        if not self._path or self._path.endswith(".json"):
            return False
        return "://" in self._path or os.path.isdir(self._path)

    def _document(self) -> Any:
        folder, _, name = self._path.rpartition("/")
        value = self._folder(folder)._engine.get(name)
        if value is None:
            raise FileNotFoundError(f"there are no references at {self._shown}")
        try:
            return json.loads(value)
        except ValueError as error:
            raise CorruptStoreError(f"{self._shown} is no JSON: {error}") from None

    def _folder(self, folder: str) -> Store:
        store = self._folders.get(folder)
        if store is None:
            made = as_store(folder, self._options if "://" in folder else None)
            store = self._folders.setdefault(folder, made)
        return store

    def _read(self, key: str) -> bytes | None:
        place = self._references.find(key)
        if place is None or isinstance(place, bytes):
            return place
        url, start, length = place
        if self._allowed is not None and not _is_below(_normal(url), self._allowed):
            raise PermissionError(
                f"{key!r} of the references {self._shown} is a part of {url!r}, which is below "
                f"none of allowed={list(self._allowed)}"
            )
        folder, _, name = url.removeprefix("file://").rpartition("/")
        folder = folder or ("/" if "/" in url else ".")
        end = None if length is None else start + length
        value = self._folder(folder)._engine.get_slice(name, start, end)
        if value is None:
            raise FileNotFoundError(f"{key!r} is a part of {folder}/{name}, which is not there")
        if length is not None and len(value) < length:
            raise CorruptStoreError(
                f"{key!r} is {length} bytes of {folder}/{name} from {start} on, which has "
                f"{len(value)} there"
            )
        return value

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        if len(keys) < 2:
            return super()._fetch(keys)
        # The engine reads without the GIL.
        with ThreadPoolExecutor(min(len(keys), config.concurrent_requests)) as threads:
            return [*threads.map(self._answer, keys)]

    def _size(self, key: str) -> int | None:
        place = self._references.find(key)
        length = place[2] if isinstance(place, tuple) else None
        return super()._size(key) if length is None else length

    def _identity(self) -> str:
        return f"references {self._path}" if self._path else f"{id(self):#x}"

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self._forbid_changes()

    def _drop(self, key: str, fsync: bool) -> bool:
        self._forbid_changes()
        return False

    def _list(self, prefix: str) -> list[str]:
        return [*self._references.names(prefix)]

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        return self._references.names_directly(prefix) or super()._list_dir(prefix)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReferenceStore):
            return NotImplemented
        return self._references == other._references and self._allowed == other._allowed

    def _place(self) -> str:
        return self._shown


class _Listed:
    """References of a JSON document."""

    def __init__(self, document: Any, shown: str) -> None:
        self._shown = shown
        if not isinstance(document, Mapping):
            raise CorruptStoreError(f"{shown} has no references: it is no JSON object")
        listed = document.get("refs", document if "version" not in document else {})
        templates = document.get("templates") or {}
        pairs: Iterable[tuple[str, Any]] = listed.items()
        made = generated(document.get("gen") or (), templates, shown)
        self._values = {key: self._value(key, value, templates) for key, value in pairs}
        self._values |= {key: self._value(key, value, {}) for key, value in made}

    def _value(
        self, key: str, value: Any, templates: Mapping[str, str]
    ) -> bytes | tuple[str, int, int | None]:
        if isinstance(value, str):
            inline = value.removeprefix("base64:")
            return base64.b64decode(inline) if inline != value else value.encode()
        if isinstance(value, Mapping):
            return json.dumps(value).encode()
        if not isinstance(value, list) or len(value) not in (1, 3) or not isinstance(value[0], str):
            raise CorruptStoreError(f"{self._shown}: the reference of {key!r} is {value!r}")
        url = rendered(value[0], {}, templates)
        return (url, int(value[1]), int(value[2])) if len(value) == 3 else (url, 0, None)

    def find(self, key: str) -> bytes | tuple[str, int, int | None] | None:
        """A value, or the URL that has it, the first byte there and how many; None if absent."""
        return self._values.get(key)

    def names(self, prefix: str) -> Iterator[str]:
        """Every key below ``prefix``."""
        start = f"{prefix}/" if prefix else ""
        return (key for key in self._values if key.startswith(start))

    def names_directly(self, prefix: str) -> None:
        """Nothing is known of them that the keys do not tell."""

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, _Listed) else NotImplemented


def _normal(place: str) -> str:
    """A URL as it is, a path as an absolute one."""
    place = place.removeprefix("file://")
    return place if "://" in place else os.path.realpath(place)


def _is_below(place: str, allowed: Sequence[str]) -> bool:
    if "://" in place and ".." in (unquote(name) for name in place.split("/")):
        return False
    return any(place == one or place.startswith(f"{one.rstrip('/')}/") for one in allowed)


ReferenceStore.__module__ = "zarrix.storage"
