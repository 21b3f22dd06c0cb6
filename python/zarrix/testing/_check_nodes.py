"""The conformance suite for stores that take the keys of Zarr hierarchies only.

Icechunk, the archives of VirtualiZarr and tifffile refuse any other key, so that they are asked by
nodes: what arrays and groups write is read again, and values are read whole and by parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

from zarrix._errors import ReadOnlyError
from zarrix._hierarchy.open import open_group
from zarrix._stores.base import Store
from zarrix._stores.keys import ZARR_JSON, ZARRAY, ZGROUP, key_of

__all__ = ["check_nodes", "check_refusals", "check_values", "equal"]

_LENGTH = 64


def equal(what: str, found: object, expected: object) -> None:
    """Raise if an answer is wrong."""
    if found != expected:
        raise AssertionError(f"{what}: found {found!r}, expected {expected!r}")


def check_nodes(store: Store, twin: Store) -> None:
    """Write nodes, and compare what both handles read; delete them at the end."""
    root = open_group(store, mode="w", zarr_format=3)
    again: Any = open_group(twin, mode="r+", zarr_format=3)
    for name, shards in (("chunked", None), ("sharded", (_LENGTH,))):
        z = root.create_array(name, shape=_LENGTH, chunks=8, shards=shards, dtype="i4")
        equal(f"elements never written, {name}", z[:].tolist(), [0] * _LENGTH)
        _together(z, again[name])
        equal(f"elements written by threads, {name}", z[:].tolist(), list(range(_LENGTH)))
        equal(f"a part, {name}", again[name][5:20].tolist(), list(range(5, 20)))
        z.attrs["unit"] = "m"
        equal(f"attributes, {name}", dict(again[name].attrs), {"unit": "m"})
    root.create_group("deep/er")
    equal("names of members", sorted(again), ["chunked", "deep", "sharded"])
    root["chunked"].append(np.arange(3, dtype="i4"))
    equal("elements after appending", open_group(twin)["chunked"][-4:].tolist(), [63, 0, 1, 2])
    check_values(twin, dict(_held(twin)))
    for name in sorted(again):
        del root[name]
    equal("names of members after deleting", list(open_group(twin, mode="r")), [])
    store.rmdir("")


def _together(*arrays: Any) -> None:
    """Write all elements of one array from threads, each of several in every chunk."""
    with ThreadPoolExecutor(4) as threads:

        def write(start: int) -> None:
            for at in range(start, _LENGTH, 4):
                arrays[start % len(arrays)][at] = at

        list(threads.map(write, range(4)))


def _held(store: Store) -> Iterator[tuple[str, bytes]]:
    for key in store:
        yield key, bytes(store[key])


def check_values(store: Store, held: Mapping[str, bytes], lists: bool = True) -> None:
    """Read values whole, by parts and by many threads; missing documents are not errors."""
    engine = store._engine
    for key, value in held.items():
        name = store.engine_path(key)
        answers: dict[str, Callable[[], object]] = {
            "the value": partial(engine.get, name),
            "the size": partial(engine.size, name),
            "its first bytes": partial(engine.get_slice, name, 0, 3),
            "its middle": partial(engine.get_slice, name, 2, 7),
            "its end": partial(engine.get_slice, name, 3),
            "its last bytes": partial(engine.get_last, name, 4),
        }
        expected = [value, len(value), value[:3], value[2:7], value[3:], value[-4:]]
        for (what, ask), right in zip(answers.items(), expected, strict=True):
            equal(f"{what} of {key!r}", ask(), right)
    with ThreadPoolExecutor(4) as threads:
        for found in threads.map(lambda _: store.getitems(held), range(8)):
            equal("all values at once, in threads", found, dict(held))
    for path in ("", *{key.rpartition("/")[0] for key in held if key.endswith(ZARR_JSON)}):
        for document in (ZARRAY, ZGROUP):
            key = key_of(path, document)
            if key not in held:
                equal(f"the missing document {key!r}", store._value(key), None)
    if lists:
        equal("the keys", sorted(store), sorted(held))


def check_refusals(store: Store, key: str) -> None:
    """Check that changes of a read-only store are errors."""
    changes: dict[str, Callable[[], object]] = {
        "setting a value": lambda: store.__setitem__(key, b""),
        "deleting a value": lambda: store.__delitem__(key),
        "update_value": lambda: store.update_value(key, lambda old: b""),
        "rmdir": store.rmdir,
        "rename": lambda: store.rename(key, "moved"),
    }
    for name, change in changes.items():
        try:
            change()
        except ReadOnlyError:
            continue
        raise AssertionError(f"{name} is not refused, although the store is read-only")
