"""Icechunk repositories as stores: one snapshot, which the engine reads without their package.

A repository is values of another store. Python decides which snapshot is meant, and which places
outside of the repository may be read; the engine reads documents and chunks. Branches and tags are
in one file in version 2 of the format, which the engine reads, and each in a JSON document in
version 1.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import unquote

from zarrix import _engine
from zarrix._errors import (
    CorruptStoreError,
    PathNotFoundError,
    ReadOnlyError,
    VersionNotFoundError,
    suggestion,
)
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.engine_store import EngineStore
from zarrix._stores.local import DirectoryStore
from zarrix._stores.open import as_store
from zarrix._stores.path import is_url
from zarrix._stores.sites import Site

__all__ = ["IcechunkStore", "of_path", "of_url"]

# The version at the end of a URL.
_AT_END = re.compile(r"@((?:branch|tag|snapshot):.+)")
_MAGIC = "ICE🧊CHUNK".encode()


class IcechunkStore(EngineStore):
    """One snapshot of an Icechunk repository; read-only.

    The engine reads repositories of versions 1 and 2 of the format, without the package
    ``icechunk``. The store keeps the snapshot that its version named when it was opened, also when
    it is unpickled in another process. A chunk that cannot be read is an error, and never reads as
    the fill value. To write, open a session of ``icechunk`` and pass it as a store.

    Parameters
    ----------
    repository : str, Path or Store
        A folder, a URL, or any store that has the repository.
    version : str
        ``"branch:NAME"``, ``"tag:NAME"`` or ``"snapshot:ID"``.
    storage_options : mapping, optional
        Options for the URL, under fsspec's names.
    allowed : sequence of str, or mapping of str to str or Store
        Places outside of the repository whose files may have chunks (virtual chunks): folders and
        URLs. A repository may name any file, so that none is read by default. A mapping says where
        a place is by now: ``{"s3://old-bucket/": "/copy"}``, or what a container is:
        ``{"vcc://name/": "s3://bucket/prefix"}``.
    remote_options : mapping of str to mapping, optional
        Storage options for allowed URLs.

    Raises
    ------
    PathNotFoundError
        There is no repository.
    VersionNotFoundError
        It has no such version (also a ``KeyError`` and a ``FileNotFoundError``).
    CorruptStoreError
        A file of the repository is damaged, has an unknown version or feature, or is longer than
        ``config.max_document_bytes``.
    PermissionError
        On reading: a chunk is a part of a file that is not below ``allowed``.

    Examples
    --------
    >>> from zarrix.storage import IcechunkStore
    >>> IcechunkStore("no/repository", "tag:v1")
    Traceback (most recent call last):
        ...
    zarrix.errors.PathNotFoundError: there is no Icechunk repository at 'no/repository'
    """

    _writeable = _erasable = False
    _only_format = 3
    _opened_with = frozenset({"version", "snapshot_id"})

    def __init__(
        self,
        repository: Any,
        version: str = "branch:main",
        *,
        storage_options: Mapping[str, Any] | None = None,
        allowed: Iterable[str] | Mapping[str, Any] = (),
        remote_options: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        self._repository = _store_of(repository, storage_options)
        self.is_remote = self._repository.is_remote
        self._shown = repository if isinstance(repository, str) else repr(self._repository)
        self.version = version
        self._outside = _places(allowed, remote_options or {})
        self.is_remote |= any(store.is_remote for _, store in self._outside)
        self.snapshot_id = self._found(*_parsed(version))
        opened = self.__dict__["_engine"] = self._open_engine()
        refused, first = opened.refused
        if refused:
            warnings.warn(
                f"{refused} nodes of {self!r} have paths that are not keys of a store, and are "
                f"left out; the first is {first!r}",
                stacklevel=2,
            )

    def _open_engine(self) -> _engine.IcechunkStore:
        outside = [(place, store._engine) for place, store in self._outside]
        most = config.max_document_bytes
        opened = _engine.IcechunkStore.of(self._repository._engine, self.snapshot_id, most, outside)
        if opened is None:
            raise VersionNotFoundError(
                f"{self._repository!r} has no snapshot {self.snapshot_id!r}; it may have expired"
            )
        return opened

    def _found(self, kind: str, name: str) -> str:
        """The identifier of the snapshot with a version's name."""
        references = _engine.IcechunkStore.references(
            self._repository._engine, config.max_document_bytes
        )
        if references is None:
            return self._found_in_documents(kind, name)
        if kind == "snapshot":
            return name
        known = dict(references[0] if kind == "branch" else references[1])
        if name in known:
            return known[name]
        raise self._unknown(kind, name, known)

    def _found_in_documents(self, kind: str, name: str) -> str:
        """As `_found`, in version 1 of the format."""
        folder = f"refs/{kind}.{name}"
        document = None if kind == "snapshot" else self._repository.get(f"{folder}/ref.json")
        if document is None:
            references = self._repository.listdir("refs")
            if not references:
                raise PathNotFoundError(f"there is no Icechunk repository at {self._shown!r}")
            if kind == "snapshot":
                return name
            # On some stores, their package writes names as in URLs.
            known = {unquote(one): one for one in references if one.startswith(f"{kind}.")}
            folder = f"refs/{known.get(f'{kind}.{name}')}"
            document = self._repository.get(f"{folder}/ref.json")
            if document is None:
                raise self._unknown(kind, name, [one[len(kind) + 1 :] for one in known])
        if f"{folder}/ref.json.deleted" in self._repository:
            raise self._unknown(kind, name, ())
        try:
            snapshot = json.loads(bytes(document))["snapshot"]
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise CorruptStoreError(
                f"{folder}/ref.json of {self._repository!r} is not a reference of Icechunk: {error}"
            ) from None
        return str(snapshot)

    def _unknown(self, kind: str, name: str, known: Iterable[str]) -> VersionNotFoundError:
        near = suggestion(name, known)
        return VersionNotFoundError(f"{self._repository!r} has no {kind} {name!r}{near}")

    def _at_version(self, version: str) -> IcechunkStore:
        other = self._variant(version=version, snapshot_id=self._found(*_parsed(version)))
        other._engine = other._open_engine()
        return other

    @property
    def url(self) -> str | None:
        """The URL that opens this snapshot; None if its repository has none."""
        inner, at = self._repository, f"@snapshot:{self.snapshot_id}"
        if isinstance(inner, DirectoryStore):
            return f"icechunk://{inner.path}{at}"
        address = getattr(inner, "url", None)
        return f"icechunk+{address}{at}" if address else None

    def _sites(self, path: str) -> list[Site]:
        """The repository, and every place that may have chunks."""
        outside = [site for _, store in self._outside for site in store._sites("")]
        return [*self._repository._sites(""), *outside]

    def _forbid_changes(self) -> None:
        raise ReadOnlyError(
            f"{self!r} is read-only: write to Icechunk repositories through their own package, by "
            "passing repository.writable_session('main') of icechunk as the store"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, IcechunkStore):
            return NotImplemented
        same = self._repository == other._repository and self._outside == other._outside
        return same and self.snapshot_id == other.snapshot_id

    def __repr__(self) -> str:
        return f"<zarrix.storage.IcechunkStore {self._shown!r} {self.version!r}>"


def _store_of(repository: Any, storage_options: Mapping[str, Any] | None) -> Store:
    """The store that has a repository; a folder is not opened by `as_store`, which knows them."""
    if isinstance(repository, str) or hasattr(repository, "__fspath__"):
        path = os.fsdecode(repository)
        if not is_url(path):
            return DirectoryStore(path)
    return as_store(repository, storage_options)


def _parsed(version: str) -> tuple[str, str]:
    kind, found, name = version.partition(":") if isinstance(version, str) else ("", "", "")
    if not found or kind not in ("branch", "tag", "snapshot") or not name:
        raise ValueError(
            f"a version of an Icechunk repository is 'branch:NAME', 'tag:NAME' or 'snapshot:ID', "
            f"not {version!r}"
        )
    return kind, name


def _places(
    allowed: Iterable[str] | Mapping[str, Any], options: Mapping[str, Mapping[str, Any]]
) -> list[tuple[str, Store]]:
    """Prefixes of locations outside of a repository, each with the store that has them."""
    if isinstance(allowed, str):
        raise ValueError(f"allowed is a sequence of folders and URLs, not {allowed!r}")
    pairs = allowed.items() if isinstance(allowed, Mapping) else ((one, one) for one in allowed)
    found = []
    for place, target in pairs:
        prefix = os.fspath(place)
        if not is_url(prefix):
            prefix = f"file://{os.path.abspath(prefix)}"
        found.append(
            (prefix, _store_of(target, None if isinstance(target, Store) else options.get(target)))
        )
    return found


def of_path(path: str, storage_options: object = None) -> IcechunkStore | None:
    """The store of a repository on this machine; None where ``path`` is something else."""
    return IcechunkStore(path) if _is_repository(path) else None


def _is_repository(path: str) -> bool:
    try:
        with open(os.path.join(path, "repo"), "rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return os.path.isfile(os.path.join(path, "refs", "branch.main", "ref.json"))


def of_url(url: str, storage_options: Mapping[str, Any] | None) -> IcechunkStore:
    """The store of ``icechunk:///path`` or ``icechunk+s3://bucket/path``.

    The URL may end in a version, such as ``@tag:v1``.
    """
    scheme, _, rest = url.partition("://")
    at_end = _AT_END.search(rest)
    if at_end is not None:
        rest = rest[: at_end.start()]
    inner = scheme.removeprefix("icechunk").removeprefix("+")
    given = {**(storage_options or {})}
    options: dict[str, Any] = {} if at_end is None else {"version": at_end[1]}
    options |= {name: given.pop(name) for name in ("allowed", "remote_options") if name in given}
    repository = f"{inner}://{rest}" if inner else rest
    return IcechunkStore(repository, storage_options=given or None, **options)


IcechunkStore.__module__ = "zarrix.storage"
