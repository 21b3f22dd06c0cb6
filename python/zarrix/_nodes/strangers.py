"""What lies below a path and is not part of a Zarr hierarchy: an overwrite deletes none of it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

from zarrix._errors import MetadataError
from zarrix._metadata import v3
from zarrix._stores.base import Store
from zarrix._stores.keys import COMMIT_INTENT, DOCUMENTS, JOB_MARK, ZARR_JSON, is_litter, key_of
from zarrix._stores.labels import describe, place

__all__ = ["RESERVED", "clear", "require_ours", "stranger"]

# Names of files that no node has.
RESERVED = DOCUMENTS | {".DS_Store", COMMIT_INTENT, JOB_MARK}
_CHUNK_KEY = re.compile(r"(?:.*/)?(?:c[./])?\d+(?:[./]\d+)*|(?:.*/)?c")
# Partial files of killed writers, and keys that `repair` has renamed.
_BESIDE = re.compile(r"\.(?:partial|broken(?:-\d+)?)$")


def clear(store: Store, path: str) -> bool:
    """Delete everything below ``path`` if all of it is Zarr's; return whether there was any.

    Raises
    ------
    ValueError
        There is another file; nothing was deleted.
    """
    keys = require_ours(store, path)
    store.rmdir(path)
    return bool(keys)


def require_ours(store: Store, path: str) -> list[str]:
    """Raise the error of `clear` if there is any; return the keys that it would delete."""
    store._forbid_changes()
    keys = store._engine.list_prefix(store.engine_path(path))
    stranger = _stranger(store, path, keys)
    if stranger is not None:
        raise ValueError(
            f"{describe(store, path)} holds {stranger!r}, which is not part of a Zarr hierarchy, "
            "so it is not overwritten; delete it yourself or choose another path"
        )
    return keys


def stranger(store: Store, path: str, *, apart: str = "") -> str | None:
    """The name of a file below ``path`` that is not part of the Zarr format; None if there is none.

    The key ``apart``, and what lies in the folder of that name, does not count.
    """
    beside = store.engine_path(key_of(path, apart)) + "/" if apart else None
    keys = store._engine.list_prefix(store.engine_path(path))
    return _stranger(
        store, path, [one for one in keys if not beside or not f"{one}/".startswith(beside)]
    )


def _stranger(store: Store, path: str, stored: list[str]) -> str | None:
    """`stranger` among keys that are listed already."""
    top = store.engine_path(path)
    start = len(top) + 1 if top else 0
    keys = [key[start:] for key in stored]
    suffixes: dict[str, str] = {}
    for below in keys:
        whole = _BESIDE.sub("", below)
        name = whole.rpartition("/")[2]
        if name in RESERVED or is_litter(name) or _CHUNK_KEY.fullmatch(whole):
            continue
        if not suffixes:
            suffixes = {"": "", **dict(_suffixes(store, path, keys))}
        array = max((one for one in suffixes if whole.startswith(one)), key=len)
        if not (suffixes[array] and _CHUNK_KEY.fullmatch(whole.removesuffix(suffixes[array]))):
            return below
    return store._engine.foreign(top)


def _suffixes(store: Store, path: str, keys: list[str]) -> Iterator[tuple[str, str]]:
    """The prefixes of the keys of arrays below ``path``, and the suffixes of their chunk keys."""
    for key in keys:
        folder, _, name = key.rpartition("/")
        if name != ZARR_JSON:
            continue
        document, where = store._value(key_of(path, key)), place(store, key_of(path, key))
        with suppress(MetadataError):
            if document is not None and v3.node_type(document, where) == "array":
                suffix = v3.parse_array(document, where).key_suffix
                yield (f"{folder}/" if folder else ""), suffix
