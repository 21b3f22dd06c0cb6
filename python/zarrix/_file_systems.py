"""File systems of fsspec in pickles: what makes one again, without its credentials.

Options that are secret stay in a table of this process, which forked children inherit. In another
process they have to be where fsspec or the service looks for them: in the environment, or in a file
of fsspec's configuration. Where they are not, opening is refused, rather than tried without.
"""

from __future__ import annotations

import importlib
import inspect
import secrets
from dataclasses import dataclass
from typing import Any

from zarrix._remote import of_filesystem
from zarrix._remote._options import apart, together

__all__ = ["KeptFileSystem", "kept", "without_password"]

# Secret options of file systems of this process, by a number that says nothing.
_given: dict[str, dict[str, Any]] = {}


@dataclass(frozen=True)
class KeptFileSystem:
    """A file system that can be pickled: its class, its public options, names of the others."""

    kind: Any
    # All that it was made with, in that order, and how many of it without a name.
    names: tuple[str, ...]
    positional: int
    options: dict[str, Any]
    secret_names: tuple[str, ...]
    token: str

    def opened(self) -> Any:
        """The file system.

        Raises
        ------
        PermissionError
            Its credentials are not in this process.
        """
        hidden = _given.get(self.token, {})
        found = together(self.options, hidden)
        options = {
            name: found[name].opened() if isinstance(found[name], KeptFileSystem) else found[name]
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
    """Whether a service that the engine knows has credentials without options."""
    remote = of_filesystem(fs, "bucket/path")
    try:
        return remote is not None and remote.address.has_credentials
    except (ValueError, PermissionError):
        return False


def kept(fs: Any) -> KeptFileSystem:
    """What makes ``fs`` again, its secrets in this process alone."""
    kind = type(fs)
    names = [*inspect.signature(kind.__init__).parameters][1:]
    # What has no name might be anything.
    names += [f"secret argument {number}" for number in range(len(names), len(fs.storage_args))]
    given = {**dict(zip(names, fs.storage_args, strict=False)), **fs.storage_options}
    inner = {
        name: kept(one) if hasattr(one, "storage_options") else one for name, one in given.items()
    }
    public, hidden = apart(inner)
    token = ""
    if hidden:
        token = secrets.token_hex(8)
        _given[token] = hidden
    return KeptFileSystem(
        kind, tuple(given), len(fs.storage_args), public, tuple(_names(hidden)), token
    )


def _names(options: dict[str, Any]) -> list[str]:
    return [
        f"{name}.{inner}" if inner else name
        for name, value in options.items()
        for inner in (_names(value) if isinstance(value, dict) else [""])
    ]


def without_password(place: str) -> str:
    """An address without what is before its host; a path as it is."""
    scheme, found, rest = place.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}" if found else place
