"""Credentials in options: which options are secret, and the one table that holds them.

Only the stores that use secret options hold them, so that rotated tokens are dropped with their
stores. A pickle contains only the names of the options and a random number. Unpickling finds the
options in the same process or in a forked child, as long as a store holds them or they were pickled
recently.
"""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any

__all__ = ["Secrets", "merge_secrets", "split_secrets"]

# Secrets that were pickled are kept without their store, because the pickle may outlive it.
_MOST_PICKLED = 256

_held: weakref.WeakValueDictionary[str, Secrets] = weakref.WeakValueDictionary()
_pickled: OrderedDict[str, Secrets] = OrderedDict()

# An option whose name contains one of these words is secret, unless it has one of those values.
_SECRET = ("key", "secret", "token", "password", "username", "credential", "sas", "auth")
_SECRET_WHOLE = ("connection_string", "cookies", "headers")
_NO_SECRETS = ("anon", "google_default", "cloud")


class Secrets:
    """Secret options of this process, shown and pickled as their names.

    Parameters
    ----------
    options : mapping
        The options; empty if there are none.
    """

    __slots__ = ("__weakref__", "_token", "names", "options")

    def __init__(self, options: Mapping[str, Any]) -> None:
        self.options = dict(options)
        self.names = tuple(_names(options))
        self._token = os.urandom(8).hex()
        if options:
            _held[self._token] = self

    @property
    def are_elsewhere(self) -> bool:
        """Whether the pickled object had options that this process does not have."""
        return bool(self.names) and not self.options

    def __bool__(self) -> bool:
        return bool(self.names)

    def __reduce__(self) -> Any:
        if self.options:
            _pickled[self._token] = self
            _pickled.move_to_end(self._token)
            if len(_pickled) > _MOST_PICKLED:
                _pickled.popitem(last=False)
        return _unpickled_secrets, (self._token, self.names)

    def __repr__(self) -> str:
        return f"<hidden options: {', '.join(self.names) or 'none'}>"


def _unpickled_secrets(token: str, names: tuple[str, ...]) -> Secrets:
    here = _held.get(token)
    if here is None:
        here = Secrets({})
        here.names = names
        here._token = token
    return here


# A pickle names this public module, so that this file can be renamed.
_unpickled_secrets.__module__ = "zarrix.storage"


def _names(options: Mapping[str, Any]) -> Iterator[str]:
    for name, value in options.items():
        if isinstance(value, Mapping) and value:
            yield from (f"{name}.{inner}" for inner in _names(value))
        else:
            yield str(name)


def split_secrets(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The public options and the secret ones; nested options are split, too."""
    public: dict[str, Any] = {}
    secret: dict[str, Any] = {}
    for name, value in options.items():
        hidden = name in _SECRET_WHOLE or any(word in name.lower() for word in _SECRET)
        if hidden and value not in _NO_SECRETS:
            secret[name] = value
        elif isinstance(value, Mapping):
            public[name], inner = split_secrets(value)
            if inner:
                secret[name] = inner
        else:
            public[name] = value
    return public, secret


def merge_secrets(public: Mapping[str, Any], secret: Mapping[str, Any]) -> dict[str, Any]:
    """The options of which `split_secrets` gave ``public`` and ``secret``."""
    both = {**secret, **public}
    for name in public.keys() & secret.keys():
        both[name] = merge_secrets(public[name], secret[name])
    return both
