"""A hierarchy that changes step by step, and what there may be of it in the middle of a step.

Every step changes documents: nodes are created, replaced, moved and deleted, attributes set, arrays
resized and appended to, metadata consolidated. `look` gives all that a reader finds; `strays` says
what of it is neither from before a step nor from after it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix._nodes.consolidated_store import ConsolidatedStore
from zarrix._stores.engine_store import EngineStore

_CHUNK = 4
_DOCUMENTS = {2: (".zarray", ".zgroup"), 3: ("zarr.json",)}

Step = Callable[[Any], None]
"""Changes the hierarchy below an opened group."""


class Opened(EngineStore):
    """A store of Python's around an engine's."""

    def __init__(self, engine: Any) -> None:
        self.__dict__["_engine"] = engine


class Story:
    """Steps that follow from a number; each can be taken after those before it.

    Parameters
    ----------
    zarr_format : 2 or 3
    seed : int
    """

    def __init__(self, zarr_format: int, seed: int) -> None:
        self._format = zarr_format
        self._random = random.Random(seed)
        self._names = 0
        self._arrays: list[str] = []
        self._groups: list[str] = []
        self.kinds: dict[str, Callable[[], Step]] = {
            "create an array": self._new_array,
            "create a group": self._new_group,
            "set an attribute": self._attribute,
            "append": self._append,
            "shrink": self._shrink,
            "write": self._write,
            "move": self._move,
            "delete an array": self._delete,
            "delete a group": self._delete_group,
            "replace": self._replace,
            "consolidate": self._consolidate,
        }

    def begin(self, store: Any) -> Any:
        """The root group, made in ``store``, with two arrays and two groups in it."""
        root = zarr.open_group(store, mode="w", zarr_format=self._format)
        for kind in ("create a group", "create an array", "create an array", "consolidate"):
            self.kinds[kind]()(root)
        return root

    def steps(self, count: int) -> Iterator[Step]:
        """The next ``count`` steps, of any kinds."""
        kinds = list(self.kinds.values())
        for _ in range(count):
            yield self._random.choice(kinds)()

    def _name(self) -> str:
        self._names += 1
        parent = self._random.choice(["", *(f"{group}/" for group in self._groups)])
        return f"{parent}n{self._names}"

    def _new_array(self) -> Step:
        name, length = self._name(), self._random.randrange(1, 12)
        self._arrays.append(name)
        keywords = self._keywords(length)

        def create(root: Any) -> None:
            root.create_array(name, **keywords)[:] = np.arange(1, length + 1)

        return create

    def _keywords(self, length: int) -> dict[str, Any]:
        attributes = {"unit": "mm", "number": self._names}
        keywords: dict[str, Any] = {"shape": length, "chunks": _CHUNK, "dtype": "i4"}
        if self._format == 3 and self._random.random() < 0.5:
            keywords["shards"] = 2 * _CHUNK
        return {**keywords, "attributes": attributes}

    def _new_group(self) -> Step:
        name = self._name()
        self._groups.append(name)
        return lambda root: root.create_group(name, attributes={"kind": "group"})

    def _one(self) -> str:
        return self._random.choice(self._arrays)

    def _attribute(self) -> Step:
        name = self._random.choice([*self._arrays, *self._groups])
        key, value = self._random.choice("abc"), self._random.random()
        return lambda root: root[name].attrs.update({key: value, "text": "x" * 20})

    def _append(self) -> Step:
        name, rows = self._one(), self._random.randrange(1, 7)
        return lambda root: root[name].append(np.full(rows, rows, "i4"))

    def _shrink(self) -> Step:
        name, part = self._one(), self._random.random()
        return lambda root: root[name].resize(int(root[name].shape[0] * part))

    def _write(self) -> Step:
        name, value = self._one(), self._random.randrange(100)
        return lambda root: root[name].__setitem__(slice(None), value)

    def _move(self) -> Step:
        old, new = self._one(), self._name()
        self._arrays[self._arrays.index(old)] = new
        return lambda root: root.move(old, new)

    def _delete(self) -> Step:
        if len(self._arrays) < 2:
            return self._new_array()
        name = self._one()
        self._arrays.remove(name)
        return lambda root: root.__delitem__(name)

    def _delete_group(self) -> Step:
        inside = f"{self._groups[-1]}/" if self._groups else ""
        left = [name for name in self._arrays if not name.startswith(inside)]
        if not self._groups or not left:
            return self._new_group()
        name, self._arrays = self._groups[-1], left
        self._groups = [one for one in self._groups if not f"{one}/".startswith(inside)]
        return lambda root: root.__delitem__(name)

    def _replace(self) -> Step:
        self._names += 1
        name, keywords = self._one(), self._keywords(self._random.randrange(1, 9))
        return lambda root: root.create_array(name, overwrite=True, **keywords)

    def _consolidate(self) -> Step:
        return lambda root: zarr.consolidate_metadata(root.store, zarr_format=self._format)


def look(engine: Any, zarr_format: int) -> dict[str, Any]:
    """All that a reader finds: for each path its kind, attributes, shape and elements.

    What consolidated metadata says stands beside it, under ``path?``.
    """
    store = Opened(engine)
    keys = engine.list_prefix("")
    found: dict[str, Any] = {}
    for key in keys:
        path, _, name = key.rpartition("/")
        if name in _DOCUMENTS[zarr_format]:
            found[path] = _node(zarr.open(store, mode="r", path=path, zarr_format=zarr_format))
    place = ".zmetadata" if zarr_format == 2 else "zarr.json"
    if place in keys and b"metadata" in store[place]:
        root = zarr.open_consolidated(store, mode="r", zarr_format=zarr_format)
        view = root._location.store
        assert isinstance(view, ConsolidatedStore)
        for key, document in view.documents().items():
            found[f"{key}?"] = {**document, "consolidated_metadata": None}
    return found


def _node(node: Any) -> Any:
    attributes = node.attrs.asdict()
    if isinstance(node, zarr.Array):
        return "array", attributes, node[:]
    return "group", attributes, None


def strays(found: dict[str, Any], old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """The paths where there is neither what was before nor what is to be."""
    return [
        path
        for path in sorted({*found, *old, *new})
        if not _is_of(found.get(path), old.get(path), new.get(path))
    ]


def _is_of(found: Any, old: Any, new: Any) -> bool:
    if found is None:
        # Gone, or not there yet; what replaces an array deletes it first.
        return old is None or new is None or _is_another(old, new)
    sides = [side for side in (old, new) if type(side) is type(found)]
    if isinstance(found, dict):
        return found in sides
    kind, attributes, elements = found
    nodes = [side for side in sides if side[0] == kind]
    is_made = new is not None and (old is None or _is_another(old, new))
    # A node that is made is there before what is set and written in it. In v2 its attributes
    # are a document of their own.
    if attributes not in [side[1] for side in nodes] and not (is_made and not attributes):
        return False
    if elements is None:
        return bool(nodes)
    if len(elements) not in [len(side[2]) for side in nodes]:
        return False
    versions = [side[2] for side in nodes] + [elements[:0]] * is_made
    return all(
        any(np.array_equal(part, _chunk(version, begin, len(part))) for version in versions)
        for begin in range(0, len(elements), _CHUNK)
        for part in [elements[begin : begin + _CHUNK]]
    )


def _is_another(old: Any, new: Any) -> bool:
    """Whether a step has made something anew at a path."""
    if isinstance(old, dict) or isinstance(new, dict):
        return bool(old != new)
    return bool(old[1].get("number") != new[1].get("number"))


def _chunk(elements: Any, begin: int, length: int) -> Any:
    """A part of one version of an array; behind its end there is fill."""
    part = elements[begin : begin + length]
    return np.concatenate([part, np.zeros(length - len(part), part.dtype)])
