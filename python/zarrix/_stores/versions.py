"""What tells one state of stored values from another, without reading them where that is possible.

Everything that goes on after an interruption asks it, so that old and new values are never mixed.
"""

from __future__ import annotations

import hashlib
import os
import time
from typing import Any

from zarrix import _engine
from zarrix._stores.identity import innermost, is_in_one_process
from zarrix._stores.keys import key_of

__all__ = ["state_below"]

# The clock by which file systems note a change has ticks of up to 10 ms: a file that is replaced
# twice within one could look the same.
_TICK_NS = 20_000_000
_TRIES = 10


def state_below(store: Any, path: str) -> str | None:
    """Changes with every value at and below a path that is stored, replaced or removed.

    It is the names of files, their inodes, sizes and times in a directory, those of the archive for
    one that is read-only, and the values themselves in memory.

    Parameters
    ----------
    store : Store
    path : str

    Returns
    -------
    str or None
        None for a store that cannot tell without reading all values.
    """
    inner = innermost(store)
    if inner is not store:
        # A wrapper may translate keys.
        path = ""
    engine = getattr(inner, "_engine", None)
    if isinstance(engine, _engine.LocalStore):
        return _of_files(engine.root, engine.list_prefix(inner.engine_path(path)))
    if isinstance(engine, _engine.ZipStore) and not inner.is_writeable():
        return _of_files(os.path.dirname(inner.path), [os.path.basename(inner.path)])
    if is_in_one_process(store) or isinstance(engine, _engine.ZipStore):
        return _of_values(store, path)
    return None


def _of_files(root: str, names: list[str]) -> str:
    for _ in range(_TRIES):
        now = time.time_ns()
        digest, newest = hashlib.blake2b(digest_size=16), 0
        for name in sorted(names):
            try:
                found = os.stat(os.path.join(root, name))
            except FileNotFoundError:
                continue
            newest = max(newest, found.st_mtime_ns, found.st_ctime_ns)
            times = (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
            digest.update(f"{name}\0{times}\n".encode("utf-8", "surrogateescape"))
        if not 0 <= now - newest < _TICK_NS:
            return digest.hexdigest()
        time.sleep(_TICK_NS / 1e9)
    # Something is written all the time: this state is equal to no other one.
    return os.urandom(16).hex()


def _of_values(store: Any, path: str) -> str:
    digest = hashlib.blake2b(digest_size=16)
    inside = key_of(path, "")
    for key in sorted(key for key in store if key.startswith(inside)):
        value = bytes(store[key])
        digest.update(f"{key}\0{len(value)}\n".encode("utf-8", "surrogateescape"))
        digest.update(value)
    return digest.hexdigest()
