"""The targets of references: which of them may be read, by which store, and with which credentials.

References are untrusted. A reference names a file, or a value on a server that the engine supports.
The store of its folder reads it, regardless of the name of the folder. Chains of fsspec, which can
execute programs, are opened only if the caller lists them. Credentials are sent to the server of
the references, and to servers that the caller lists.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

from zarrix._errors import CorruptStoreError
from zarrix._runtime.config import config
from zarrix._stores.base import Store
from zarrix._stores.fsspec import FsspecStore
from zarrix._stores.keys import is_document
from zarrix._stores.local import DirectoryStore
from zarrix._stores.open import as_store
from zarrix._stores.redaction import public_error, public_text, public_url
from zarrix._stores.registry import SERVER_SCHEMES
from zarrix._stores.remote import store as _remote
from zarrix._stores.secrets import Secrets, merge_secrets, split_secrets
from zarrix._stores.sites import Site

__all__ = ["Part", "Targets"]

# A URL, the first byte, and the number of bytes; None for all.
Part = tuple[str, int, int | None]

_SCHEMES = ("file", "memory", *SERVER_SCHEMES)
# References may name any number of folders.
_MOST_OPEN = 256
_MOST_KNOWN = 10_000


class Targets:
    """Reads parts of the targets of references.

    Parameters
    ----------
    shown : str
        Their name in errors.
    home : str
        The URL of the references; empty if they are not on a server.
    options : mapping
        Storage options for the server of ``home`` and for targets that the caller lists.
    allowed : sequence of str, optional
        Folders and URLs that may contain targets; all of our own schemes when omitted.
    elsewhere : mapping of str to mapping
        Storage options for targets below a URL.
    """

    def __init__(
        self,
        shown: str,
        home: str,
        options: Mapping[str, Any],
        allowed: Sequence[str] | None,
        elsewhere: Mapping[str, Mapping[str, Any]],
    ) -> None:
        self._shown, self._home = shown, public_url(home)
        self.allowed = None if allowed is None else tuple(map(_normal, allowed))
        self._options = _Options(options)
        self._elsewhere = {_normal(target): _Options(given) for target, given in elsewhere.items()}
        self._open: dict[str, Store] = {}
        # By URL: the store of its folder, and its name there.
        self._known: dict[str, tuple[Store, str]] = {}

    def read(self, key: str, part: Part) -> bytes:
        """The bytes of ``part``, which is the value of ``key``.

        Raises
        ------
        PermissionError
            References may not name the target, or access is denied.
        FileNotFoundError
            The file does not exist.
        CorruptStoreError
            The file is shorter than the reference says, or the part longer than the limits.
        """
        url, start, length = part
        most = _most(key)
        if length is not None and length > most:
            raise self._too_long(key, url, most)
        try:
            store, name = self._known.get(url) or self._found(url)
            if length is None:
                value = store._engine.get(name, most=most)
            else:
                value = store._engine.get_slice(name, start, start + length)
        except Exception as error:
            raise self._of(error, key, url) from None
        if value is not None and (len(value) <= most if length is None else len(value) == length):
            return value
        told = self._told(key, url)
        if value is None:
            raise FileNotFoundError(f"{told}, which is not there")
        if length is None:
            raise self._too_long(key, url, most)
        raise CorruptStoreError(
            f"{told}: {length} bytes from {start} on, of which {len(value)} are there"
        )

    def _too_long(self, key: str, url: str, most: int) -> CorruptStoreError:
        return CorruptStoreError(
            f"{self._told(key, url)}, which has more than {most} bytes; raise "
            "config.max_chunk_bytes, or for metadata config.max_document_bytes, if this is intended"
        )

    def sites(self, url: str) -> list[Site]:
        """Where the target ``url`` is; nothing for one that references may not name."""
        try:
            store, name = self._known.get(url) or self._found(url)
        except (_Refused, ValueError, ImportError):
            # A read of it is the same error, so that nothing depends on it.
            return []
        return store._sites(name)

    def _told(self, key: str, url: str) -> str:
        return f"{key!r} of the references {self._shown} is a part of {public_url(url)!r}"

    def _of(self, error: Exception, key: str, url: str) -> Exception:
        """An error for ``error`` that names the reference and contains no secret."""
        told, text = self._told(key, url), public_text(str(error))
        match error:
            case _Refused():
                return PermissionError(f"{told}, {text}")
            case PermissionError():
                return PermissionError(f"{told}: {text}{self._hint(url)}")
            case FileNotFoundError():
                return FileNotFoundError(f"{told}: {text}")
            case ValueError():
                return CorruptStoreError(f"{told}: {text}")
        return public_error(error, {})

    def _found(self, url: str) -> tuple[Store, str]:
        """The store of the folder of ``url``, and the name there, if references may name it."""
        # Links are followed before the target is compared.
        target = _normal(url, self.allowed is not None)
        if self.allowed is not None and not _is_below(target, self.allowed):
            shown = [public_url(one) for one in self.allowed]
            raise _Refused(
                f"which is below none of allowed={shown}; add its folder there if you trust it"
            )
        if self.allowed is None and not _is_ours(target):
            raise _Refused(
                f"and references name files and URLs of {', '.join(_SCHEMES)} only, without a "
                "chain '::'; name its folder in allowed= if you trust it"
            )
        scheme, found, rest = target.rpartition("://")
        folder, slash, name = rest.rpartition("/")
        if not name or not slash or not url or url.endswith("/"):
            raise ValueError("it does not name a file")
        known = self._store(f"{scheme}{found}{folder}" or "/"), name
        # The target of a path can change, and it may have to stay below a folder.
        if self.allowed is None or found:
            if len(self._known) >= _MOST_KNOWN:
                self._known = {}
            self._known[url] = known
        return known

    def store_at(self, url: str, root: str) -> Store:
        """The store at ``root``, which is the URL ``url`` or above it, if that may be read.

        Raises
        ------
        PermissionError
            The URL may not be named.
        """
        target = _normal(url, self.allowed is not None)
        if self.allowed is not None and not _is_below(target, self.allowed):
            shown = [public_url(one) for one in self.allowed]
            raise PermissionError(
                f"{public_url(url)} is below none of allowed={shown}; add its folder there if you "
                "trust it"
            )
        if self.allowed is None and not _is_ours(target):
            raise PermissionError(
                f"{public_url(url)} is not a URL of {', '.join(_SCHEMES)} without a chain '::'; "
                "name its folder in allowed= if you trust it"
            )
        return self._store(_normal(root, False))

    def _store(self, folder: str) -> Store:
        store = self._open.get(folder)
        if store is None:
            store = self._opened(folder)
            if len(self._open) >= _MOST_OPEN:
                self._open, self._known = {}, {}
            store = self._open.setdefault(folder, store)
        return store

    def _opened(self, folder: str) -> Store:
        if "://" not in folder:
            return DirectoryStore(folder)
        if folder.startswith("memory://"):
            return as_store(folder)
        options = self._options_for(folder)
        given = options.given
        if _is_ours(folder):
            try:
                store = _remote.RemoteStore(folder, given)
            except _remote.NeedsFsspec:
                pass
            else:
                if options.secrets.are_elsewhere and not store.address.has_credentials:
                    names = ", ".join(options.secrets.names)
                    raise PermissionError(
                        f"{names} are secrets of the process that opened the references, and "
                        "are never pickled: set credentials in the environment of this "
                        "process, or open the references in it"
                    )
                return store
        return FsspecStore.from_url(folder, given, read_only=True)

    def _options_for(self, target: str) -> _Options:
        """The storage options that may be sent to the server of ``target``."""
        named = [one for one in self._elsewhere if _is_below(target, (one,))]
        if named:
            return self._elsewhere[max(named, key=len)]
        # An entry without a host does not name a server.
        hosts = [one for one in self.allowed or () if _host(one)]
        if _is_below(target, hosts) or self._is_at_home(target):
            return self._options
        home, there = _service(self._home), _service(target)
        return _Options(self._options.public if home in ("", there) else {})

    def _is_at_home(self, target: str) -> bool:
        """Whether the references came from the server of ``target``, or cannot choose it."""
        home, there = _service(self._home), _service(target)
        if home == there and _host(self._home) == _host(target):
            return True
        if home not in ("", there):
            return False
        # The server is that of the service, or an endpoint in the options; a bucket is not a
        # server.
        account = urlsplit(target).netloc.rpartition("@")[2].partition(".")[0]
        is_accounts = "@" not in target or account == self._options.public.get("account_name")
        return there in ("s3", "gs") or (there == "az" and is_accounts)

    def _hint(self, url: str) -> str:
        target = _normal(url)
        if "://" not in target or not self._options.secrets:
            return ""
        if self._options_for(target).secrets:
            return ""
        return (
            f"; the credentials of storage_options are not sent to {_host(target)!r}, where the "
            "references are not: name it in allowed= or in remote_options="
        )

    def __getstate__(self) -> Any:
        return {**self.__dict__, "_open": {}, "_known": {}}


class _Refused(Exception):
    """References may not name this target."""


class _Options:
    """Storage options; the secret ones are never pickled."""

    def __init__(self, given: Mapping[str, Any]) -> None:
        self.public, hidden = split_secrets(given)
        self.secrets = Secrets(hidden)

    @property
    def given(self) -> dict[str, Any]:
        return merge_secrets(self.public, self.secrets.options)


def _most(key: str) -> int:
    return config.max_document_bytes if is_document(key) else config.max_chunk_bytes


def _normal(target: str, follow: bool = True) -> str:
    """A URL with its scheme in lower case; a path, or the URL of a file, as an absolute path."""
    scheme, found, rest = target.partition("://")
    if not found or scheme.lower() in ("file", "local"):
        path = rest if found else target
        return os.path.realpath(path) if follow else os.path.abspath(path)
    return f"{scheme.lower()}://{rest}"


def _is_ours(target: str) -> bool:
    """Whether the engine itself reads a result of `_normal`."""
    scheme, found, rest = target.partition("://")
    return not found or (scheme in _SCHEMES and "::" not in rest)


def _is_below(target: str, allowed: Sequence[str]) -> bool:
    is_url = "://" in target
    if is_url and ".." in (unquote(name) for name in target.split("/")):
        return False
    for one in allowed:
        folder = f"{one.rstrip('/')}/"
        if target == one:
            return True
        # The part after an allowed folder must not continue the chain.
        if target.startswith(folder) and not (is_url and "::" in target[len(folder) :]):
            return True
    return False


def _service(target: str) -> str:
    return _remote.service_of(target.partition("://")[0]) if "://" in target else ""


def _host(target: str) -> str:
    """The scheme, host and port of a URL; empty if it has no host."""
    scheme, found, rest = target.partition("://")
    host = rest.partition("/")[0].rpartition("@")[2].lower()
    return f"{scheme}://{host}" if found and host else ""
