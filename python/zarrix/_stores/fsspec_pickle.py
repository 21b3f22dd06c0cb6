"""File systems of fsspec in pickles: what makes one again, without its credentials.

Options that are secret stay in this process (`Secrets`), and in children that are forked from it.
In another process they have to be where fsspec or the service looks for them: in the environment,
or in a file of fsspec's configuration. If they are not, opening is an error, and is not tried
without them.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import weakref
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

from zarrix._stores.redaction import hiding, public_error, public_url
from zarrix._stores.remote.options import WITHOUT_EFFECT
from zarrix._stores.remote.store import of_filesystem
from zarrix._stores.secrets import Secrets, merge_secrets, split_secrets

__all__ = ["HidingMap", "has_secrets", "pickle_of", "identity_of", "secrets_of"]

# Secrets of pickled file systems, so that pickling one again uses the same secrets.
_known: weakref.WeakKeyDictionary[Any, Secrets] = weakref.WeakKeyDictionary()


@dataclass(frozen=True)
class _FileSystemPickle:
    """A file system that can be pickled: its class, its public options, names of the others."""

    kind: Any
    # All that it was made with, in that order, and how many of it without a name.
    names: tuple[str, ...]
    positional: int
    options: dict[str, Any]
    secret_names: tuple[str, ...]
    secrets: Secrets

    def opened(self) -> Any:
        """The file system.

        Raises
        ------
        PermissionError
            Its credentials are not in this process.
        """
        hidden = self.secrets.options
        found = merge_secrets(self.options, hidden)
        options = {
            name: found[name].opened()
            if isinstance(found[name], _FileSystemPickle)
            else found[name]
            for name in self.names
            if name in found
        }
        # As it was made, so that fsspec has one instance of it; by name where one is missing.
        first = self.names[: self.positional if options.keys() == {*self.names} else 0]
        positional = [options.pop(name) for name in first]
        fs = self.kind(*positional, **options)
        if not hidden and not set(self.secret_names) <= self._configured() and not _finds(fs):
            names = ", ".join(self.secret_names)
            protocol = self._protocol()
            raise PermissionError(
                f"{names} of a {self.kind.__name__} were given where it was made, and are never "
                f"pickled: set them for this process, as FSSPEC_{protocol.upper()}_<NAME> in its "
                "environment or in fsspec's configuration, or open the URL in it"
            )
        return fs

    def _protocol(self) -> str:
        protocol = self.kind.protocol
        return str(protocol if isinstance(protocol, str) else protocol[0])

    def _configured(self) -> set[str]:
        """Names of options that fsspec itself adds in this process."""
        configured = importlib.import_module("fsspec.config").conf
        return set(configured.get(self._protocol(), {}))


def _finds(fs: Any) -> bool:
    """Whether a service that the engine supports has credentials without options."""
    remote = of_filesystem(fs, "bucket/path")
    try:
        return remote is not None and remote.address.has_credentials
    except (ValueError, PermissionError):
        return False


def pickle_of(fs: Any) -> _FileSystemPickle:
    """The arguments that create ``fs`` again; its secrets stay in this process."""
    given = _arguments(fs)
    inner = {
        name: pickle_of(one) if hasattr(one, "storage_options") else one
        for name, one in given.items()
    }
    public, hidden = split_secrets(inner)
    secrets = _known.setdefault(fs, Secrets(hidden))
    return _FileSystemPickle(
        type(fs), tuple(given), len(fs.storage_args), public, secrets.names, secrets
    )


def _arguments(fs: Any) -> dict[str, Any]:
    """All arguments of ``fs``, by name."""
    names = [*inspect.signature(type(fs).__init__).parameters][1:]
    # Positional arguments have no name, and could be secrets.
    names += [f"secret argument {number}" for number in range(len(names), len(fs.storage_args))]
    return {**dict(zip(names, fs.storage_args, strict=False)), **fs.storage_options}


def identity_of(fs: Any) -> str:
    """Equal for file systems with the same files, as far as public options show.

    fsspec creates an instance for each thread, and compares instances by identity.
    """
    return f"files {hashlib.blake2b(_identity_text(fs).encode(), digest_size=16).hexdigest()}"


def _identity_text(value: Any) -> str:
    if hasattr(value, "storage_options"):
        given, _ = split_secrets(_arguments(value))
        told = {name: one for name, one in given.items() if name not in WITHOUT_EFFECT}
        return f"{type(value).__module__}.{type(value).__qualname__}({_identity_text(told)})"
    if isinstance(value, Mapping):
        return repr({name: _identity_text(value[name]) for name in sorted(value, key=str)})
    # Objects can be compared only by identity.
    is_plain = value is None or isinstance(value, str | bytes | int | float | list | tuple)
    return repr(value) if is_plain else f"{id(value):#x}"


def secrets_of(fs: Any) -> dict[str, Any]:
    """The secret options of ``fs``, and of file systems in them."""
    given = _arguments(fs)
    inner = [secrets_of(one) for one in given.values() if hasattr(one, "storage_options")]
    return {**split_secrets(given)[1], "inner": inner}


def has_secrets(fs: Any, path: str) -> bool:
    """Whether an error of ``fs`` about ``path`` could contain a secret."""
    hidden = secrets_of(fs)
    return public_url(path) != path or hidden != {"inner": []}


class HidingMap(MutableMapping[str, Any]):
    """A mapping of fsspec whose errors do not contain the secrets of its file system."""

    def __init__(self, inner: Any) -> None:
        self._inner, self.fs = inner, inner.fs

    def _hidden(self) -> dict[str, Any]:
        return secrets_of(self.fs)

    def getitems(self, keys: Sequence[str], on_error: str = "raise") -> dict[str, Any]:
        """The values of ``keys``, and with ``on_error="return"`` the errors of others."""
        with hiding(self._hidden):
            found = self._inner.getitems(keys, on_error=on_error)
        return {
            key: public_error(one, self._hidden()) if isinstance(one, Exception) else one
            for key, one in found.items()
        }

    def __getitem__(self, key: str) -> Any:
        with hiding(self._hidden):
            return self._inner[key]

    def __setitem__(self, key: str, value: Any) -> None:
        with hiding(self._hidden):
            self._inner[key] = value

    def __delitem__(self, key: str) -> None:
        with hiding(self._hidden):
            del self._inner[key]

    def __contains__(self, key: object) -> bool:
        with hiding(self._hidden):
            return key in self._inner

    def __iter__(self) -> Iterator[str]:
        with hiding(self._hidden):
            return iter(self._inner)

    def __len__(self) -> int:
        with hiding(self._hidden):
            return len(self._inner)


# A pickle names this public module, so that this file can be renamed.
_FileSystemPickle.__module__ = "zarrix.storage"
