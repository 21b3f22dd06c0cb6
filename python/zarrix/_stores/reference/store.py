"""kerchunk's references as a store: keys whose values are parts of other files.

The stores of their folders read the targets (`zarrix._stores.reference.targets`), with their
guarantees about requests and credentials. References in JSON (`zarrix._stores.reference.document`)
are read completely when the store is created, those in parquet (`zarrix._stores.reference.parquet`)
on demand. Neither executes code.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from zarrix._errors import CorruptStoreError
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.keys import ZMETADATA
from zarrix._stores.local import DirectoryStore
from zarrix._stores.open import as_store
from zarrix._stores.python import PythonStore
from zarrix._stores.redaction import hiding, public_url
from zarrix._stores.reference.document import JsonReferences, parsed
from zarrix._stores.reference.parquet import ParquetReferences
from zarrix._stores.reference.targets import Targets
from zarrix._stores.registry import opener
from zarrix._stores.sites import Site, of_file

__all__ = [
    "PARQUET",
    "ReferenceStore",
    "holds_references",
    "is_of_parquet",
    "of_json",
    "of_path",
]

# How the list of a virtual array begins.
_VIRTUAL = b'{"zarrix_virtual":'
PARQUET = (".parq", ".parquet")
"""How the names of folders end that have references in parquet."""
_MARK = b'"record_size"'


def holds_references(path: str) -> bool:
    """Whether a local path is a file of references, by its name and its content."""
    if path.endswith(".json"):
        return os.path.isfile(path)
    document = os.path.join(path, ZMETADATA)
    if not path.endswith(PARQUET) or not os.path.isfile(document):
        return False
    with open(document, "rb") as file:
        return is_of_parquet(file.read(config.max_document_bytes))


def is_of_parquet(document: bytes) -> bool:
    """Whether consolidated metadata is that of references: a group may have such a name, too."""
    return _MARK in document


class ReferenceStore(PythonStore):
    r"""Keys as parts of other files, listed by kerchunk; read-only.

    A part that cannot be read, or is shorter than its reference says, is an error, and never reads
    as the fill value. References may name local files, ``memory://`` and servers that the engine
    supports (S3, Google Cloud Storage, Azure, HDFS, web servers). They are read with the
    permissions of the caller: open only references that you trust, or limit their targets with
    ``allowed``. Any other target, such as another scheme or a chain of fsspec, is an error unless
    ``allowed`` lists it.

    Parameters
    ----------
    references : str, Path or mapping
        A JSON document, or its content, of version 0 or 1, with templates and ``gen`` in version 1;
        or a folder of references in parquet, whose partitions are read on demand. Both may be URLs.
        A document has at most ``config.max_document_bytes``.
    storage_options : mapping, optional
        Options for the URL of the references and for targets, under fsspec's names. Credentials are
        sent to the host of the references and to hosts in ``allowed``; also to all buckets of a
        service, if the references are on the same service or not on a server.
    allowed : sequence of str, optional
        Folders and URLs that may contain targets; those above when omitted.
    remote_options : mapping of str to mapping, optional
        Storage options for targets below a URL: ``{"https://data.org": {"headers": {...}}}``.

    Raises
    ------
    CorruptStoreError
        The references are invalid, a template has code other than names, words and integers, or
        they expand to more than the limits (docs/stores.md).
    PermissionError
        On reading: the target is not below ``allowed``, or references may not name it.
    ImportError
        References are in parquet, and pyarrow is not installed.

    References
    ----------
    fsspec, "ReferenceFileSystem", version 1.

    Examples
    --------
    >>> from zarrix.storage import ReferenceStore
    >>> with open("raw.bin", "wb") as file:
    ...     _ = file.write(bytes(range(12)))
    >>> references = {"version": 1, "refs": {"x/0": ["raw.bin", 4, 3], "x/.zattrs": "{}"}}
    >>> store = ReferenceStore(references)
    >>> store["x/0"], store["x/.zattrs"]
    (b'\x04\x05\x06', b'{}')
    """

    _writeable = _erasable = False

    def __init__(
        self,
        references: str | os.PathLike[str] | Mapping[str, Any],
        storage_options: Mapping[str, Any] | None = None,
        *,
        allowed: Sequence[str] | None = None,
        remote_options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        options = dict(storage_options or {})
        path = "" if isinstance(references, Mapping) else os.fspath(references)
        self._shown = repr(public_url(path)) if path else "of a mapping"
        is_url = "://" in path
        self._path = public_url(path) if is_url else path and os.path.realpath(path)
        self._targets = Targets(
            self._shown, path if is_url else "", options, allowed, remote_options or {}
        )
        self._references: JsonReferences | ParquetReferences
        if isinstance(references, Mapping):
            self._references = JsonReferences(references, self._shown)
        elif not path.endswith(".json") and (is_url or os.path.isdir(path)):
            # A path is not opened by `as_store`, which would return this class.
            folder = as_store(path, options) if is_url else DirectoryStore(self._path)
            self._references = ParquetReferences(folder, self._shown)
        else:
            document = self._document(path if is_url else self._path, options)
            self._references = JsonReferences(document, self._shown)

    def _document(self, path: str, options: Mapping[str, Any]) -> Any:
        folder, _, name = path.rpartition("/")
        store: Store
        store = as_store(folder, options) if "://" in path else DirectoryStore(folder or "/")
        most = config.max_document_bytes
        with hiding():
            value = store._engine.get(name, most=most)
        if value is None:
            raise FileNotFoundError(f"there are no references at {self._shown}")
        if len(value) > most:
            raise CorruptStoreError(
                f"{self._shown} has more than {most} bytes, which is config.max_document_bytes "
                "(ZARRIX_MAX_DOCUMENT_BYTES); raise it if this is intended"
            )
        return parsed(value, self._shown)

    def _read(self, key: str) -> bytes | None:
        found = self._references.find(key)
        if found is None or isinstance(found, bytes):
            return found
        return self._targets.read(key, found)

    def _fetch(self, keys: Sequence[str]) -> list[bytes | Exception | None]:
        if len(keys) < 2:
            return super()._fetch(keys)
        # The engine reads without the GIL.
        with ThreadPoolExecutor(min(len(keys), config.concurrent_requests)) as threads:
            return [*threads.map(self._answer, keys)]

    def _size(self, key: str) -> int | None:
        found = self._references.find(key)
        length = found[2] if isinstance(found, tuple) else None
        return super()._size(key) if length is None else length

    def _sites(self, path: str) -> list[Site]:
        """The references themselves, and every file that has a value below ``path``."""
        if not self._path:
            found = super()._sites(path)
        elif "://" in self._path:
            found = [*self._targets.sites(self._path)]
        else:
            found = of_file(self._path)
        parts = map(self._references.find, self._references.names(path))
        targets = {part[0] for part in parts if isinstance(part, tuple)}
        return [*found, *(site for url in sorted(targets) for site in self._targets.sites(url))]

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
        mine, theirs = self._targets.allowed, other._targets.allowed
        return self._references == other._references and mine == theirs

    def _label(self) -> str:
        return self._shown


def of_path(path: str, storage_options: object = None) -> ReferenceStore | None:
    """The store of references on this machine; None where ``path`` is something else."""
    return ReferenceStore(path) if holds_references(path) else None


def of_json(path: str, storage_options: object = None) -> Store | None:
    """The store of a JSON document on this machine: references, or the list of a virtual array."""
    if not os.path.isfile(path):
        return None
    with open(path, "rb") as file:
        is_virtual = file.read(len(_VIRTUAL)) == _VIRTUAL
    opens = opener("zarrix_virtual") if is_virtual else None
    return of_path(path) if opens is None else opens(path, None)


ReferenceStore.__module__ = "zarrix.storage"
