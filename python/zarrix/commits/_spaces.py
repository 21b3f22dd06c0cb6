"""The key spaces of an array: the spellings of its chunk keys, of which its document names one.

All libraries read all of them: four in v3, two in v2. A new content is stored under a spelling that
is not in use, and the document then names it.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
from typing import Any, NamedTuple

from zarrix._metadata.array import ArrayMetadata
from zarrix._metadata.json import json_loads
from zarrix._metadata.merged import encoded
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARRAY, is_document, key_of

__all__ = [
    "KeySpace",
    "delete_keys",
    "has_many_folders",
    "keys_beside",
    "keys_in",
    "parse_space",
    "remove_chunks",
    "space_of",
    "spaces_of",
    "with_space",
]

_CHUNK = re.compile(r"(?:c[./])?\d+(?:[./]\d+)*|c")
# A folder costs up to twenty times as much as a link: with fewer chunks in each of so many folders,
# they cost more than the chunks.
_FEW_CHUNKS, _MANY_FOLDERS = 8, 1000
_ORDER = (("default", "/"), ("v2", "/"), ("default", "."), ("v2", "."))


class KeySpace(NamedTuple):
    """One spelling of chunk keys.

    Attributes
    ----------
    name : {"default", "v2"}
    separator : {"/", "."}
    """

    name: str
    separator: str

    def __str__(self) -> str:
        return f"{self.name}{self.separator}"

    def keys(self, ndim: int) -> re.Pattern[str]:
        """What matches the keys of chunks, relative to the array."""
        separator = re.escape(self.separator)
        numbers = separator.join([r"\d+"] * ndim)
        if self.name == "v2":
            return re.compile(numbers or "0")
        return re.compile(separator.join(["c", numbers] if numbers else ["c"]))

    def any_keys(self) -> re.Pattern[str]:
        """What matches the keys of chunks of arrays with any number of axes."""
        first = "c" if self.name == "default" else r"\d+"
        return re.compile(rf"{first}(?:{re.escape(self.separator)}\d+)*")

    def respelled(self, name: str, to: KeySpace, ndim: int) -> str:
        """The key of the same chunk in another key space; ``name`` is one of this one."""
        parts = name.split(self.separator)
        numbers = parts[-ndim:] if ndim else []
        if to.name == "v2":
            return to.separator.join(numbers) or "0"
        return to.separator.join(["c", *numbers])


def parse_space(text: str) -> KeySpace | None:
    """The key space that is written as ``default/``; None if there is none of that name."""
    found = KeySpace(text[:-1], text[-1:])
    return found if found in _ORDER else None


def space_of(metadata: ArrayMetadata) -> KeySpace:
    """The key space that an array's metadata names."""
    return _canonical(metadata.key_encoding[0], metadata.dimension_separator, metadata.ndim)


def _canonical(name: str, separator: str, ndim: int) -> KeySpace:
    # With one number, or none, these keys have no separator.
    has_separator = ndim > 1 if name == "v2" else ndim > 0
    return KeySpace(name, separator if has_separator else "/")


def spaces_of(metadata: ArrayMetadata) -> list[KeySpace]:
    """All key spaces that an array can have, in their order of use."""
    if metadata.key_suffix:
        return [space_of(metadata)]
    named = [
        _canonical(name, separator, metadata.ndim)
        for name, separator in _ORDER
        if metadata.zarr_format == 3 or name == "v2"
    ]
    return list(dict.fromkeys(named))


def has_many_folders(space: KeySpace, metadata: ArrayMetadata) -> bool:
    """Whether an array has many folders, with few chunks in each, in a key space."""
    if space.separator != "/" or metadata.ndim < 2:
        return False
    pairs = zip(metadata.shape, metadata.chunk_shape, strict=True)
    *above, last = (-(-length // max(chunk, 1)) for length, chunk in pairs)
    return last < _FEW_CHUNKS and math.prod(above) > _MANY_FOLDERS


def with_space(document: bytes, key: str, space: KeySpace) -> bytes:
    """The document of an array with another key space."""
    members: dict[str, Any] = dict(json_loads(document, key))
    if key.rpartition("/")[2] == ZARRAY:
        members["dimension_separator"] = space.separator
    else:
        configuration = {"separator": space.separator}
        members["chunk_key_encoding"] = {"name": space.name, "configuration": configuration}
    return encoded(members, key)


def keys_in(store: Store, path: str, space: KeySpace, ndim: int) -> list[str]:
    """The stored chunks of a key space: complete keys, sorted."""
    top = store.engine_path(path)
    start = len(top) + 1 if top else 0
    is_key = space.keys(ndim).fullmatch
    nested = space.separator == "/" and (ndim > 1 or (space.name == "default" and ndim > 0))
    if not nested:
        names = store._engine.list_dir(top)[0]
        return [key_of(top, name) for name in names if is_key(name)]
    below = key_of(top, "c") if space.name == "default" else top
    return [key for key in store._engine.list_prefix(below) if is_key(key[start:])]


def delete_keys(store: Store, path: str, keys: list[str]) -> int:
    """Delete chunks of an array that no reader looks at, and the folders that they leave empty.

    What is behind a symbolic link in the array's folder stays: no commit has stored it.
    """
    folder = store._folder_at(path) or ""
    top = store.engine_path(path)
    start = len(top) + 1 if top else 0
    names = {key[start:].rpartition("/")[0] for key in keys}
    above = {"/".join(name.split("/")[:depth]) for name in names for depth in range(1, 33) if name}
    ordered = sorted(above, key=len, reverse=True) if folder else []
    links = tuple(f"{name}/" for name in ordered if os.path.islink(os.path.join(folder, name)))
    own = [key for key in keys if not key[start:].startswith(links)] if links else keys
    deleted = sum(store._engine.delete(key, fsync=store.syncs, locks=False) for key in own)
    for name in ordered:
        with contextlib.suppress(OSError):
            os.rmdir(os.path.join(folder, name))
    return deleted


def keys_beside(store: Store, path: str, space: KeySpace, metadata: ArrayMetadata) -> list[str]:
    """The stored keys of a key space, of any number of axes, that are not those of the array."""
    top = store.engine_path(path)
    start = len(top) + 1 if top else 0
    is_key = space.any_keys().fullmatch
    is_own = space_of(metadata).keys(metadata.ndim).fullmatch
    names, folders = store._engine.list_dir(top)
    keys = [key_of(top, name) for name in names]
    if space.separator == "/":
        # The folders of the other key spaces are not read.
        if space.name == "default":
            keys += store._engine.list_prefix(key_of(top, "c")) if "c" in folders else []
        elif any(map(str.isdecimal, folders)):
            keys = store._engine.list_prefix(top)
    return [key for key in keys if is_key(key[start:]) and not is_own(key[start:])]


def remove_chunks(store: Store, path: str) -> None:
    """Delete the chunks of an array that has no document, and nothing else."""
    engine, top = store._engine, store.engine_path(path)
    start = len(top) + 1
    keys = engine.list_prefix(top)
    apart = {key.rpartition("/")[0] + "/" for key in keys if is_document(key)}
    chunks = [key for key in keys if _CHUNK.fullmatch(key[start:])]
    delete_keys(store, path, [key for key in chunks if not any(map(key.startswith, apart))])
    for name in engine.leftovers(top):
        engine.remove_leftover(name, None)
