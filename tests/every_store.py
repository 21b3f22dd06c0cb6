"""Every public store as two handles on one new place: what the conformance suite runs on.

The table "What ran where" of docs/stores.md has a row for each, and for each server of `servers`.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import logging
import threading
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from async_stores import Coroutines
from icechunk_files import GOLDEN, contents, files
from zarrix import storage

_numbers = itertools.count()


@dataclass(frozen=True)
class Kind:
    """How two handles on one place are made; what such a store holds if it is only read."""

    pair: Callable[[Path], tuple[Any, Any]]
    needs: str = ""
    holds: dict[str, bytes] | None = None

    @property
    def outcome(self) -> str:
        """What the table says."""
        return "passes" if self.holds is None else "passes, read only"

    @property
    def missing(self) -> bool:
        """Whether a package that it needs is not installed."""
        return bool(self.needs) and importlib.util.find_spec(self.needs) is None


def twice(make: Callable[[Path], Any]) -> Callable[[Path], tuple[Any, Any]]:
    """Two handles that know nothing of each other."""
    return lambda folder: (make(folder), make(folder))


def shared(make: Callable[[], Any], handle: Any) -> Callable[[Path], tuple[Any, Any]]:
    """Two handles on one object."""

    def pair(folder: Path) -> tuple[Any, Any]:
        inner = make()
        return handle(inner), handle(inner)

    return pair


def itself(make: Callable[[Path], Any]) -> Callable[[Path], tuple[Any, Any]]:
    """One handle, if there cannot be a second one."""

    def pair(folder: Path) -> tuple[Any, Any]:
        store = make(folder)
        return store, store

    return pair


class OwnStore(storage.Store):
    """What a user has to write: the five methods of a mapping."""

    def __init__(self) -> None:
        self.values_: dict[str, bytes] = {}

    def __getitem__(self, key: str) -> bytes:
        return self.values_[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.values_[key] = bytes(value)

    def __delitem__(self, key: str) -> None:
        del self.values_[key]

    def __iter__(self) -> Any:
        return iter(list(self.values_))

    def __len__(self) -> int:
        return len(self.values_)


def quiet(store: Any) -> storage.LoggingStore:
    """A `LoggingStore` that prints nothing."""
    return storage.LoggingStore(store, log_handler=logging.NullHandler())


HELD = {
    "zarr.json": b"{}",
    "a/b/0": bytes(range(200)),
    "a/b/1": b"",
    "a/c": b"12345",
    "b-c/x": b"y",
}


def _references(folder: Path) -> Any:
    (folder / "data.bin").write_bytes(b"head" + HELD["a/b/0"])
    refs: dict[str, Any] = {key: value.decode("latin-1") for key, value in HELD.items()}
    refs["a/b/0"] = [str(folder / "data.bin"), 4, len(HELD["a/b/0"])]
    (folder / "refs.json").write_text(json.dumps({"version": 1, "refs": refs}))
    return folder / "refs.json"


def _archive(folder: Path) -> Any:
    with zipfile.ZipFile(folder / "x.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for key, value in HELD.items():
            archive.writestr(key, value)
    return storage.ZipStore(folder / "x.zip", mode="r")


def _directory(folder: Path) -> Any:
    for key, value in HELD.items():
        (folder / "held" / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / "held" / key).write_bytes(value)
    return folder / "held"


def _read_only_coroutines() -> Coroutines:
    place = Coroutines(read_only=True)
    place.values.update(HELD)
    return place


def _fs(name: str, **options: Any) -> Any:
    return importlib.import_module("fsspec").filesystem(name, **options)


def _fs_store(folder: Path) -> tuple[Any, Any]:
    url = f"memory://zarrix-every/{next(_numbers)}"
    return storage.FSStore(url), storage.FSStore(url)


def _fsspec_store(folder: Path) -> tuple[Any, Any]:
    path = f"/zarrix-every/{next(_numbers)}"
    memory = _fs("memory")
    return storage.FsspecStore(memory, path=path), memory.get_mapper(path)


def _mongodb(folder: Path) -> tuple[Any, Any]:
    mongomock = importlib.import_module("mongomock")
    servers = mongomock.store.ServerStore()
    one_at_a_time = threading.RLock()

    class Mocked(storage.MongoDBStore):
        def _connect(self) -> Any:
            return mongomock.MongoClient(_store=servers)

        def _with_handle(self, function: Callable[[Any], Any]) -> Any:
            # As a server does. What the mock holds may not change while it is gone through, and it
            # empties a document before it fills it with another.
            with one_at_a_time:
                return super()._with_handle(function)

    return Mocked(), Mocked()


def _obstore(read_only: bool = False) -> Any:
    return importlib.import_module("obstore.store").MemoryStore()


def _icechunk(folder: Path) -> Any:
    (folder / "outside").mkdir(exist_ok=True)
    (folder / "outside" / "data file.bin").write_bytes(b"head" + contents.CLIMATE.tobytes())
    archive = storage.ZipStore(GOLDEN / "v2.zip", mode="r")
    allowed = {"file:///golden/outside": str(folder / "outside")}
    return storage.IcechunkStore(archive, "tag:v1", allowed=allowed)


def _held_by_icechunk() -> dict[str, bytes]:
    """What its documents, manifests and files say, one by one."""
    outside = {"data file.bin": b"head" + contents.CLIMATE.tobytes()}
    allowed = {"file:///golden/outside": storage.KVStore(outside)}
    store = storage.IcechunkStore(files("v2"), "tag:v1", allowed=allowed)
    return {key: store[key] for key in store}


def _normalized(folder: Path) -> Any:
    return storage.DirectoryStore(folder / "lower", normalize_keys=True)


# By the names of the table's rows.
KINDS: dict[str, Kind] = {
    "`DirectoryStore`": Kind(twice(lambda folder: storage.DirectoryStore(folder / "d"))),
    "`DirectoryStore(normalize_keys=True)`": Kind(twice(_normalized)),
    "`LocalStore`": Kind(twice(lambda folder: storage.LocalStore(folder / "l"))),
    "`LocalStore(read_only=True)`": Kind(
        twice(lambda folder: storage.LocalStore(_directory(folder), read_only=True)), holds=HELD
    ),
    "`NestedDirectoryStore`": Kind(
        twice(lambda folder: storage.NestedDirectoryStore(folder / "n"))
    ),
    "`TempStore`": Kind(itself(lambda folder: storage.TempStore(dir=str(folder)))),
    "`MemoryStore`": Kind(itself(lambda folder: storage.MemoryStore())),
    "`memory://name`": Kind(
        lambda folder: (f"memory://{folder.name}-every", f"memory://{folder.name}-every")
    ),
    "`ManagedMemoryStore`": Kind(
        twice(lambda folder: storage.ManagedMemoryStore(f"{folder.name}-managed", path="in/side"))
    ),
    "`KVStore`": Kind(shared(dict, storage.KVStore)),
    "a dict": Kind(shared(dict, lambda mapping: mapping)),
    "a subclass of `Store`": Kind(itself(lambda folder: OwnStore())),
    "`ZipStore`": Kind(
        lambda folder: (storage.ZipStore(folder / "x.zip"), storage.ZipStore(folder / "x.zip"))
    ),
    "`ZipStore(compression=ZIP_DEFLATED)`": Kind(
        itself(lambda folder: storage.ZipStore(folder / "x.zip", zipfile.ZIP_DEFLATED))
    ),
    '`ZipStore(mode="r")`': Kind(twice(_archive), holds=HELD),
    "`FSStore`": Kind(_fs_store, needs="fsspec"),
    "`FSStore` on local files": Kind(
        twice(lambda folder: storage.FSStore(f"file://{folder}/fs")), needs="fsspec"
    ),
    "`FsspecStore`": Kind(_fsspec_store, needs="fsspec"),
    "`LRUStoreCache`": Kind(
        # What another handle changes is seen after `invalidate`.
        itself(lambda folder: storage.LRUStoreCache(storage.MemoryStore(), 2**20))
    ),
    "`CacheStore`": Kind(
        # What another handle changes is seen when a value has its age.
        itself(
            lambda folder: storage.CacheStore(
                storage.MemoryStore(), cache_store=storage.MemoryStore()
            )
        )
    ),
    "`WrapperStore`": Kind(shared(storage.MemoryStore, storage.WrapperStore)),
    "`LoggingStore`": Kind(shared(storage.MemoryStore, quiet)),
    "`SQLiteStore`": Kind(twice(lambda folder: storage.SQLiteStore(folder / "x.sqlite"))),
    '`SQLiteStore(":memory:")`': Kind(itself(lambda folder: storage.SQLiteStore(":memory:"))),
    "`DBMStore`": Kind(twice(lambda folder: storage.DBMStore(folder / "x.dbm"))),
    "`LMDBStore`": Kind(
        itself(lambda folder: storage.LMDBStore(folder / "x.lmdb", map_size=2**28)), needs="lmdb"
    ),
    "`MongoDBStore` on mongomock": Kind(_mongodb, needs="mongomock"),
    "`AsyncStore`": Kind(shared(Coroutines, storage.AsyncStore)),
    "`AsyncStore` of one that is read-only": Kind(
        shared(_read_only_coroutines, storage.AsyncStore), holds=HELD
    ),
    "`ObjectStore`, in memory": Kind(shared(_obstore, storage.ObjectStore), needs="obstore"),
    "`ReferenceStore`": Kind(
        twice(lambda folder: storage.ReferenceStore(_references(folder))), holds=HELD
    ),
    "`IcechunkStore`": Kind(twice(_icechunk), holds=_held_by_icechunk()),
}
