"""Operations on whole trees cost what is stored: four times the nodes, four times the calls.

What is counted are the calls of a store, the keys they ask for, and the keys they list; no clock.
Every function that takes a store, and every method of a group, is here or said to be of one node.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from store_functions import FUNCTIONS
from zarrix.storage import WrapperStore


class Counting(WrapperStore):
    """Counts what is asked of the store inside."""

    def __init__(self, store: Any) -> None:
        super().__init__(store)
        self.asked = 0

    def _read(self, key: str) -> bytes | None:
        self.asked += 1
        return super()._read(key)

    def _fetch(self, keys: Any) -> Any:
        self.asked += 1 + len(keys)
        return super()._fetch(keys)

    def _updated(self, key: str) -> None:
        self.asked += 1
        super()._updated(key)

    def _size(self, key: str) -> int | None:
        self.asked += 1
        return super()._size(key)

    def _put(self, key: str, value: bytes, fsync: bool) -> None:
        self.asked += 1
        super()._put(key, value, fsync)

    def _drop(self, key: str, fsync: bool) -> bool:
        self.asked += 1
        return super()._drop(key, fsync)

    def _drop_below(self, prefix: str, fsync: bool) -> int:
        gone = super()._drop_below(prefix, fsync)
        self.asked += 1 + gone
        return gone

    def _list(self, prefix: str) -> list[str]:
        found = super()._list(prefix)
        self.asked += 1 + len(found)
        return found

    def _list_dir(self, prefix: str) -> tuple[list[str], list[str]]:
        found = super()._list_dir(prefix)
        self.asked += 1 + len(found[0]) + len(found[1])
        return found


class Trees:
    """Hierarchies of a size: each makes a group, of which the operations are counted."""

    @staticmethod
    def wide(size: int, zarr_format: Any) -> Any:
        """A group with arrays in it."""
        root = zarr.open_group(zarr.MemoryStore(), zarr_format=zarr_format)
        for number in range(size):
            z = root.create_dataset(f"g/a{number:03}", data=np.arange(1, 4), chunks=1)
            z.attrs["number"] = number
        return root

    @staticmethod
    def groups(size: int, zarr_format: Any) -> Any:
        """Groups with an array each, in groups."""
        root = zarr.open_group(zarr.MemoryStore(), zarr_format=zarr_format)
        for number in range(size):
            root.create_dataset(f"g/{number % 4}/{number:03}/a", data=np.arange(1, 3), chunks=1)
        return root

    @staticmethod
    def chunks(size: int, zarr_format: Any) -> Any:
        """One array with many chunks."""
        root = zarr.open_group(zarr.MemoryStore(), zarr_format=zarr_format)
        root.create_dataset("g/a", data=np.arange(1, 5 * size + 1), chunks=1)
        return root

    @staticmethod
    def sparse(size: int, zarr_format: Any) -> Any:
        """One array with a few of the 160,000 chunks that it could have."""
        root = zarr.open_group(zarr.MemoryStore(), zarr_format=zarr_format)
        z = root.create_dataset("g/a", shape=(400, 400), chunks=1, dtype="i4")
        for number in range(size):
            z[number * 7, number * 11] = 1
        return root


@functools.cache
def _stored(tree: Callable[..., Any], size: int, zarr_format: int) -> dict[str, bytes]:
    return dict(tree(size, zarr_format).store)


def counted(tree: Callable[..., Any], size: int, zarr_format: int) -> tuple[Any, Counting]:
    """Such a tree in a store that counts."""
    memory = zarr.MemoryStore()
    memory.update(_stored(tree, size, zarr_format))
    store = Counting(memory)
    return zarr.open_group(store, mode="r+"), store


def broken(root: Any) -> Any:
    for key in [key for key in root.store if key.rpartition("/")[2][:1].isdigit()]:
        root.store[key] = b"broken"
    return root


def _repair(root: Any) -> None:
    assert zarr.repair(broken(root)).set_aside


def _elsewhere(root: Any) -> Any:
    return zarr.open_group(zarr.MemoryStore(), zarr_format=root.zarr_format)


def _create_hierarchy(root: Any) -> None:
    group: dict[str, Any] = {"zarr_format": root.zarr_format}
    if root.zarr_format == 3:
        group |= {"node_type": "group", "attributes": {}}
    paths = [path for path, _ in root.members(max_depth=None)]
    root.create_hierarchy({f"new/{path}": group for path in paths})


def _batch(root: Any) -> None:
    with root.batch():
        for path in root["g"]:
            root.create_group(f"new/{path}")


def _consolidated(root: Any) -> Any:
    zarr.consolidate_metadata(root.store)
    return zarr.open_consolidated(root.store)


def _pop(root: Any) -> None:
    root.pop("g")


def _arrays(root: Any) -> list[Any]:
    return [array for _, array in root["g"].arrays(recurse=True)]


# By name: of functions, of methods of a group, and of what else goes over a whole tree.
WHOLE: dict[str, Callable[[Any], Any]] = {
    "verify": lambda root: zarr.verify(root),
    "verify with digests": lambda root: zarr.verify(root, digests=zarr.digests(root)),
    "repair": _repair,
    "diff": lambda root: zarr.diff(root, root),
    "digests": lambda root: zarr.digests(root),
    "copy": lambda root: zarr.copy(root["g"], _elsewhere(root), name="c"),
    "copy within": lambda root: zarr.copy(root["g"], root, name="c"),
    "copy_all": lambda root: zarr.copy_all(root, _elsewhere(root)),
    "copy_store": lambda root: zarr.copy_store(root.store, {}),
    "copy_store within": lambda root: zarr.copy_store(root.store, root.store, "g", "h"),
    "consolidate_metadata": lambda root: zarr.consolidate_metadata(root.store),
    "open_consolidated": lambda root: _consolidated(root).members(max_depth=None),
    "migrate": lambda root: zarr.migrate(root.store, to=5 - root.zarr_format, rewrite=True),
    "create_hierarchy": _create_hierarchy,
    "batch": _batch,
    "load": lambda root: [zarr.load(root.store, path=one.path) for one in _arrays(root)],
    "rmdir": lambda root: zarr.storage.rmdir(root.store, "g"),
    "rename": lambda root: zarr.storage.rename(root.store, "g", "h"),
    "overwrite": lambda root: zarr.open_group(root.store, mode="w"),
    "page": lambda root: root.page(2),
    "tree": lambda root: (str(root.tree()), root.tree()._repr_html_()),
    "info": lambda root: (str(root.info), str(root["g"].info)),
    "info of arrays": lambda root: [str(array.info) for array in _arrays(root)],
    "members": lambda root: root.members(max_depth=None),
    "nmembers": lambda root: root.nmembers(max_depth=None),
    "visit": lambda root: root.visit(lambda _: None),
    "visitkeys": lambda root: root.visitkeys(lambda _: None),
    "visitvalues": lambda root: root.visitvalues(lambda _: None),
    "visititems": lambda root: root.visititems(lambda *_: None),
    "array_keys": lambda root: list(root.array_keys(recurse=True)),
    "arrays": lambda root: list(root.arrays(recurse=True)),
    "array_values": lambda root: list(root["g"].array_values()),
    "group_keys": lambda root: list(root["g"].group_keys()),
    "groups": lambda root: list(root["g"].groups()),
    "group_values": lambda root: list(root["g"].group_values()),
    "keys": lambda root: list(root["g"].keys()),
    "values": lambda root: list(root["g"].values()),
    "items": lambda root: list(root["g"].items()),
    "len": lambda root: len(root["g"]),
    "dir": lambda root: dir(root["g"]),
    "clear": lambda root: root["g"].clear(),
    "pop": _pop,
    "move": lambda root: root.move("g", "h"),
    "del": lambda root: root.__delitem__("g"),
    "digest": lambda root: [array.digest() for array in _arrays(root)],
    "nchunks_initialized": lambda root: [array.nchunks_initialized for array in _arrays(root)],
    "resize": lambda root: [array.resize(*[0] * array.ndim) for array in _arrays(root)],
}
# For one node, or for as many as the call names.
OF_ONE = {
    *(
        "array",
        "array_like",
        "async_group",
        "as_store",
        "attrs",
        "basename",
        "chunk_store",
        "create",
    ),
    *("create_array", "create_dataset", "create_group", "create_groups", "empty", "empty_like"),
    *("contains_array", "contains_group", "from_array", "from_store", "full", "full_like", "get"),
    *("get_array", "get_group", "getsize", "group", "info_complete", "info_items", "init_array"),
    *("init_group", "init_store", "listdir", "metadata", "name", "normalize_store_arg", "ones"),
    *("ones_like", "open", "open_array", "open_group", "open_like", "path", "popitem", "read_only"),
    *("require_array", "require_dataset", "require_group", "require_groups", "save"),
    *("save_array", "save_group", "setdefault", "store", "store_path", "synchronizer", "update"),
    *("update_attributes", "update_attributes_async", "zarr_format", "zeros", "zeros_like"),
    *("check_store", "isel", "meta_array", "sel", "to_xarray", "viewer"),
    # A version is of all of a hierarchy, whose files the engine walks.
    "snapshot",
    # Their requests are counted in tests/stores/remote.
    *("sync_store", "build_index", "open_indexed"),
}
# Making a tree costs time; growth from 6 to 24 tells a square from a line.
SIZE = 6


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    ("name", "tree"),
    [
        (name, tree)
        for name in WHOLE
        for tree in (Trees.wide, Trees.groups, Trees.chunks, Trees.sparse)
        # Loading an array loads all of its elements.
        if (name, tree) != ("load", Trees.sparse)
    ],
)
def test_the_calls_of_the_store_grow_with_what_is_stored(
    name: str, tree: Callable[..., Any], zarr_format: int
) -> None:
    asked = []
    for size in (SIZE, 4 * SIZE):
        root, store = counted(tree, size, zarr_format)
        before = store.asked
        WHOLE[name](root)
        asked.append(store.asked - before)
    assert asked[1] <= 4.4 * asked[0] + 16
    assert asked[1] <= 4000


class CountingMapping(dict[str, Any]):
    """A plain mapping, which can only list all of its keys."""

    listed = 0

    def __iter__(self) -> Any:
        CountingMapping.listed += len(self)
        return super().__iter__()


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "name",
    [
        *("tree", "members", "nmembers", "consolidate_metadata", "verify", "diff"),
        *("digests", "copy_store"),
    ],
)
def test_the_keys_of_a_plain_mapping_are_listed_a_few_times_and_not_for_each_group(
    name: str, zarr_format: int
) -> None:
    listed = []
    for size in (SIZE, 4 * SIZE):
        mapping = CountingMapping(_stored(Trees.groups, size, zarr_format))
        root = zarr.open_group(mapping, mode="r+")
        before = CountingMapping.listed
        WHOLE[name](root)
        listed.append(CountingMapping.listed - before)
    assert listed[1] <= 4.4 * listed[0] + 16


def test_copying_a_part_of_a_store_lists_that_part() -> None:
    store = Counting(Trees.wide(50, 2).store)
    zarr.copy_store(store, {}, "g/a007")
    assert store.asked < 30


def test_every_function_and_method_is_of_one_node_or_counted() -> None:
    methods = {name for name, _ in inspect.getmembers(zarr.Group) if not name.startswith("_")}
    assert {*FUNCTIONS, *methods} - {*WHOLE} - OF_ONE == set()


class Listed(dict[str, bytes]):
    """A mapping that counts how often its keys are gone over."""

    times = 0

    def __iter__(self) -> Any:
        self.times += 1
        return super().__iter__()


@pytest.mark.parametrize("arrays", [3, 24])
def test_the_migration_of_a_mapping_goes_over_its_keys_twice(arrays: int) -> None:
    mapping = Listed()
    root = zarr.group(zarr.storage.KVStore(mapping))
    for number in range(arrays):
        root.array(f"a{number}", np.arange(8), chunks=2, fill_value=0)
    mapping.times = 0
    assert zarr.migrate(mapping, to=3).done
    assert mapping.times == 2
    migrated = zarr.open_group(mapping, mode="r")
    assert (migrated.metadata.zarr_format, len(migrated)) == (3, arrays)
    assert migrated["a2"][:].tolist() == [*range(8)]
