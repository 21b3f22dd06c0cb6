"""What tells one store from another in every process, and whether other processes see its values.

Task graphs need both: equal arrays get equal names, and no worker may write into a copy.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from zarrix import _engine
from zarrix._stores.redaction import public_url

__all__ = ["identity", "innermost", "is_in_one_process"]

# The attributes under which wrappers have the store, or the mapping, that they wrap.
_WRAPPED = ("_store", "_mutable_mapping", "_inner")


def _layers(store: Any) -> Iterator[Any]:
    """The store, then the one that it wraps, and so on."""
    while store is not None:
        yield store
        inside = getattr(store, "__dict__", {})
        store = next((inside[name] for name in _WRAPPED if name in inside), None)


def innermost(store: Any) -> Any:
    """The store that has the values of a wrapper, of a wrapper of it, and so on."""
    *_, found = _layers(store)
    return found


def identity(store: Any) -> tuple[str, ...]:
    """Equal for equal stores in all processes, and different for different stores.

    It has no credentials, and costs no request. A store without an address, such as a
    `MemoryStore`, gets a random number, which its pickles keep.
    """
    inner = innermost(store)
    options = [getattr(inner, name, None) for name in ("_options", "_public", "normalize_keys")]
    names = () if getattr(inner, "_is_in_memory", False) else ("url", "path", "root")
    for name in names:
        address = getattr(inner, name, None)
        if isinstance(address, str | os.PathLike):
            kind = type(inner).__qualname__
            filesystem = getattr(inner, "fs", None)
            # fsspec's own token: the class and all arguments, hashed.
            of_filesystem = str(getattr(filesystem, "_fs_token", ""))
            return kind, public_url(os.fspath(address)), repr(options), of_filesystem
    holder = store.__dict__
    return type(store).__qualname__, holder.setdefault("_identity_token", os.urandom(16).hex())


def is_in_one_process(store: Any) -> bool:
    """Whether a pickle of the store is a copy, so that what another process writes is lost."""
    return any(
        isinstance(layer, dict | _engine.MemoryStore)
        or type(layer).__name__ in ("MemoryStore", "ManagedMemoryStore")
        or isinstance(getattr(layer, "__dict__", {}).get("_engine"), _engine.MemoryStore)
        for layer in _layers(store)
    )
