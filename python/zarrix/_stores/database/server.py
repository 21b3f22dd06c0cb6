"""Base of stores in a database server: one client per process, and no secrets in pickles.

Processes of one user that write parts of one chunk coordinate through lock files in the user's
cache folder, because these servers have no locks that end with their holder. Among several machines
the last writer wins.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

from zarrix._stores.database.base import DatabaseStore
from zarrix._stores.path import normalize_dimension_separator
from zarrix._stores.redaction import hiding
from zarrix._stores.secrets import Secrets, merge_secrets, split_secrets
from zarrix._stores.sites import Site, names_of

__all__ = ["DatabaseServerStore"]

T = TypeVar("T")


class DatabaseServerStore(DatabaseStore):
    """Keys in a database on a server."""

    # The module and the name of its client, and the extra of this package that installs it.
    _package: str
    _client: str
    _extra: str

    def __init__(self, path: str, options: dict[str, Any], separator: str | None) -> None:
        try:
            importlib.import_module(self._package)
        except ImportError:
            raise ImportError(
                f"a {type(self).__name__} needs the package {self._package}: "
                f"pip install 'zarrix[{self._extra}]'"
            ) from None
        self.path = path
        self._dimension_separator = normalize_dimension_separator(separator)
        addresses = {name: value for name, value in options.items() if "@" in str(value)}
        self._public, hidden = split_secrets(
            {name: value for name, value in options.items() if name not in addresses}
        )
        self._hidden = tuple({**hidden, **addresses})
        self._credentials = Secrets({**hidden, **addresses})
        self._prepare()

    @property
    def _options(self) -> dict[str, Any]:
        """All arguments of the client; in another process, with secrets from its environment."""
        hidden = self._credentials.options
        if self._credentials.are_elsewhere:
            start = f"ZARRIX_{type(self).__name__.removesuffix('Store').upper()}_"
            names = {name: f"{start}{name.upper()}" for name in self._hidden}
            lacking = [variable for variable in names.values() if variable not in os.environ]
            if lacking:
                raise PermissionError(
                    f"{', '.join(self._hidden)} of {self!r} are secrets of the process that "
                    f"created it, and are never pickled: set {', '.join(lacking)} in this "
                    "process's environment"
                )
            hidden = {name: os.environ[variable] for name, variable in names.items()}
        return merge_secrets(self._public, hidden)

    def _sites(self, path: str) -> list[Site]:
        named = ("host", "port", "db", "path", "unix_socket_path", "uri")
        told = {name: str(self._public[name]) for name in named if name in self._public}
        told["host"] = told.get("host", "localhost").replace("127.0.0.1", "localhost")
        system = (type(self).__name__, *(f"{name}={told[name]}" for name in sorted(told)))
        # A prefix of Redis has no end of its own: "a" also lists the keys of "a:b".
        return [Site(system, (*re.split("[:/]", self.path), *names_of(path)))]

    def _locks(self) -> str:
        name = hashlib.blake2b(repr((self.path, self._public)).encode(), digest_size=12)
        # Not a folder that other users can write to, because they could then block this user.
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return os.path.join(cache, "zarrix", f"{name.hexdigest()}.locks")

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, DatabaseServerStore):
            return NotImplemented
        mine, others = (self.path, self._public), (other.path, other._public)
        return type(self) is type(other) and mine == others

    def _with_handle(self, function: Callable[[Any], T]) -> T:
        with hiding(lambda: self._credentials.options):
            return super()._with_handle(function)

    def _connect(self) -> Any:
        return getattr(importlib.import_module(self._package), self._client)(**self._options)

    def _disconnect(self, handle: Any) -> None:
        handle.close()
