"""What users hold is found under the name it prints, and pickles or says why it does not."""

from __future__ import annotations

import copy
import functools
import importlib
import inspect
import json
import pickle
import pkgutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import Any

import every_store
import numpy as np
import pytest
import zarrix as zarr
import zarrix.codecs.numcodecs
from optional import ABSENT
from zarrix import codecs, storage

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)

# Without subclasses of classes of zarr-python, which is not among the packages of the tests,
# without programs, and without the alias, which importing it would install.
LEFT_OUT = ("_zarr_python", ".__main__", "zarrix.as_zarr")


def imported() -> Iterator[ModuleType]:
    """Every module; the demo's need packages that some Pythons cannot have."""
    for found in pkgutil.walk_packages(zarr.__path__, "zarrix."):
        if not found.name.endswith(LEFT_OUT):
            try:
                yield importlib.import_module(found.name)
            except ModuleNotFoundError as error:
                if error.name not in ABSENT:
                    raise


MODULES = list(imported())


def classes() -> list[type]:
    found = {
        thing
        for module in MODULES
        for thing in vars(module).values()
        if inspect.isclass(thing) and thing.__module__.partition(".")[0] == "zarrix"
    }
    return sorted(found, key=lambda one: f"{one.__module__}.{one.__qualname__}")


def public(kind: type) -> bool:
    return not kind.__name__.startswith("_") and not any(
        part.startswith("_") for part in kind.__module__.split(".")
    )


@pytest.mark.parametrize("kind", classes(), ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_a_class_is_found_where_it_says_that_it_is(kind: type) -> None:
    found = importlib.import_module(kind.__module__)
    assert functools.reduce(getattr, kind.__qualname__.split("."), found) is kind


def array() -> zarr.Array:
    return zarr.array(np.arange(24).reshape(4, 6), chunks=(2, 3))


def migrated(folder: Path) -> Any:
    zarr.save(folder / "x.zarr", np.arange(3))
    return zarr.migrate(folder / "x.zarr", to=3)


def consolidated(folder: Path) -> zarr.Group:
    path = group_on(folder)
    zarr.consolidate_metadata(path)
    return zarr.open_consolidated(path)


def versions(folder: Path) -> zarr.Versions:
    path = group_on(folder)
    zarr.snapshot(path, "v1")
    return zarr.Versions(path)


def subset(folder: Path) -> Any:
    root = zarr.group(zarr_format=3)
    root.create_array("x", shape=(4,), dtype="f4", dimension_names=["x"])
    return root.isel(x=slice(0, 2))


def pieces() -> Any:
    return zarr.virtual.pieces(zarr.virtual.concat([array(), array()]))


# How one of each public class is made, unless its kind below says it.
MAKERS: dict[str, Callable[[Path], Any]] = {
    "zarrix.hierarchy.Subset": subset,
    "zarrix.versions.Restored": lambda folder: versions(folder).restore("v1", dry_run=True),
    "zarrix.versions.Version": lambda folder: versions(folder)["v1"],
    "zarrix.versions.VersionCheck": lambda folder: versions(folder).verify(),
    "zarrix.versions.VersionDiff": lambda folder: versions(folder).diff("v1", "live"),
    "zarrix.versions.Versions": versions,
    "zarrix.AsyncArray": lambda folder: zarr.AsyncArray(array()),
    "zarrix.AsyncGroup": lambda folder: zarr.AsyncGroup(zarr.group()),
    "zarrix.Migration": migrated,
    "zarrix.attrs.Attributes": lambda folder: array().attrs,
    "zarrix.convenience.LazyLoader": lambda folder: zarr.load(group_on(folder)),
    "zarrix.core.Array": lambda folder: array(),
    "zarrix.core.ChunkMap": lambda folder: array().chunk_map(),
    "zarrix.core.LazyArray": lambda folder: array().lazy[1:, ::2].T,
    "zarrix.hierarchy.Group": lambda folder: zarr.group(),
    "zarrix.indexing.BlockIndex": lambda folder: array().blocks,
    "zarrix.indexing.OIndex": lambda folder: array().oindex,
    "zarrix.indexing.VIndex": lambda folder: array().vindex,
    "zarrix.storage.NeedsFsspec": lambda folder: storage.NeedsFsspec("an option"),
    "zarrix.sync.FileLock": lambda folder: zarr.ProcessSynchronizer(folder)["0"],
    "zarrix.sync.ProcessSynchronizer": lambda folder: zarr.ProcessSynchronizer(folder),
    "zarrix.sync.ThreadSynchronizer": lambda folder: zarr.ThreadSynchronizer(),
    "zarrix.codecs.NativeCodec": lambda folder: codecs.NativeCodec({"id": "pcodec"}),
    "zarrix.codecs.OtherCodec": lambda folder: codecs.OtherCodec({"name": "reshape"}),
    "zarrix.core.ReadPlan": lambda folder: array().plan(np.s_[1:3]),
    "zarrix.core.array.ArrayConfig": lambda folder: array().config,
    "zarrix.core.group.ConsolidatedMetadata": lambda folder: (
        consolidated(folder).metadata.consolidated_metadata
    ),
    "zarrix.core.group.ConsolidatedStore": lambda folder: consolidated(folder).store,
    "zarrix.core.metadata.ArrayMetadata": lambda folder: array().metadata,
    "zarrix.core.metadata.ArrayV2Metadata": lambda folder: array().metadata,
    "zarrix.core.metadata.ArrayV3Metadata": lambda folder: array().metadata,
    "zarrix.core.metadata.ChunkGrid": lambda folder: array().metadata.chunk_grid,
    "zarrix.core.metadata.ChunkKeyEncoding": lambda folder: array().metadata.chunk_key_encoding,
    "zarrix.util.InfoReporter": lambda folder: array().info,
    "zarrix.util.TreeViewer": lambda folder: zarr.group().tree(),
    "zarrix.codecs.CastValue": lambda folder: codecs.CastValue(data_type="int16"),
    "zarrix.codecs.ShardingCodec": lambda folder: codecs.ShardingCodec(chunk_shape=(2, 2)),
    "zarrix.codecs.TransposeCodec": lambda folder: codecs.TransposeCodec(order=(1, 0)),
    "zarrix.dtype.FixedLengthUTF32": lambda folder: zarr.dtype.FixedLengthUTF32(length=3),
    "zarrix.dtype.NullTerminatedBytes": lambda folder: zarr.dtype.NullTerminatedBytes(length=3),
    "zarrix.dtype.RawBytes": lambda folder: zarr.dtype.RawBytes(length=3),
    "zarrix.dtype.Struct": lambda folder: zarr.dtype.Struct(fields=[("a", zarr.dtype.Int8())]),
    "zarrix.dtype.Structured": lambda folder: zarr.dtype.Structured(
        fields=[("a", zarr.dtype.Int8())]
    ),
    "zarrix.dtype.ZDType": lambda folder: zarr.dtype.parse_dtype("i4", zarr_format=3),
    "zarrix.codecs.numcodecs.NumcodecsCodec": lambda folder: zarrix.codecs.numcodecs.GZip(level=1),
}


def rows() -> Any:
    return zarr.ml.Rows({"x": array()})


def conversion(folder: Path) -> Any:
    np.save(folder / "x.npy", np.arange(3))
    return zarr.import_(folder / "x.npy", folder / "x.zarr")


def planned(folder: Path) -> Any:
    source = zarr.open(folder / "x.zarr", mode="w", shape=4, dtype="i4")
    return zarr.jobs.copy(source, folder / "y.zarr", run=False)


def sparse() -> Any:
    group = zarr.group()
    for name, values in {"data": [1.0, 2.0], "indices": [0, 1], "indptr": [0, 1, 2]}.items():
        group.create_dataset(name, data=np.array(values))
    return zarr.ml.CSR(group, shape=(2, 2))


MAKERS |= {
    "zarrix.ml.CSR": lambda folder: sparse(),
    "zarrix.convert.Conversion": conversion,
    "zarrix.virtual.Piece": lambda folder: pieces()[0],
    "zarrix.virtual.Pieces": lambda folder: pieces(),
    "zarrix.virtual.Problem": lambda folder: zarr.virtual.Problem("a", 3, OSError("gone")),
    "zarrix.ingest.Appended": lambda folder: zarr.ingest.Appended("all.zarr", "time"),
    "zarrix.operate.Difference": lambda folder: zarr.diff(zarr.zeros(3), zarr.ones(3)).differences[
        0
    ],
    "zarrix.operate.Problem": lambda folder: zarr.operate.Problem("chunk", "a/0", "it is cut"),
    "zarrix.convert.Format": lambda folder: next(iter(zarr.convert.formats())),
    "zarrix.jobs.Job": planned,
    "zarrix.ml.Clips": lambda folder: zarr.ml.Clips({"x": array()}, dims="tx", frames=2),
    "zarrix.ml.Grid": lambda folder: zarr.ml.Grid({"x": array()}, (2, 2), dims="yx"),
    "zarrix.ml.jax.Sharded": lambda folder: zarr.ml.jax.Sharded(None),
    "zarrix.ml.torch.BatchSampler": lambda folder: zarr.ml.torch.BatchSampler(rows()),
    "zarrix.ml.Crops": lambda folder: zarr.ml.Crops({"x": array()}, dims="yx", size=(2, 2)),
    "zarrix.ml.Field": lambda folder: zarr.ml.Field(array(), dtype="float32"),
    "zarrix.ml.Files": lambda folder: zarr.ml.Files(["x.npy"], np.load, shape=(), dtype="f4"),
    "zarrix.ml.Flip": lambda folder: zarr.ml.Flip("x"),
    "zarrix.ml.Resize": lambda folder: zarr.ml.Resize({"x": 2}, "area"),
    "zarrix.ml.Loader": lambda folder: zarr.ml.Loader(rows()),
    "zarrix.ml.Mix": lambda folder: zarr.ml.Mix({"x": rows()}),
    "zarrix.ml.Plan": lambda folder: zarr.ml.Loader(rows()).plan(),
    "zarrix.ml.Preview": lambda folder: zarr.ml.Loader(
        zarr.ml.Rows({"x": zarr.ones((2, 8, 8))})
    ).preview(),
    "zarrix.ml.Ragged": lambda folder: zarr.ml.Ragged({"x": array()}, offsets=[0, 1]),
    "zarrix.ml.Rows": lambda folder: rows(),
    "zarrix.ml.Table": lambda folder: zarr.ml.Table({"label": [1]}),
    "zarrix.ml.EncodedBlocks": lambda folder: zarr.ml.read_encoded(zarr.ones(4)),
    "zarrix.ml.Stage": lambda folder: zarr.ml.Stage(folder),
    "zarrix.ml.Stats": lambda folder: zarr.ml.Loader(rows()).stats(),
}
# Abstract, with members of their own that are tested; and the one that says why not.
NOT_MADE = {"zarrix.codecs.Codec", "zarrix.sync.Synchronizer", "zarrix.core.Writer"}


def group_on(folder: Path) -> str:
    zarr.save_group(folder / "group", a=np.arange(3))
    return str(folder / "group")


def made(kind: type, folder: Path) -> Any:
    name = f"{kind.__module__}.{kind.__qualname__}"
    if name in MAKERS:
        return MAKERS[name](folder)
    if issubclass(kind, Enum):
        return next(iter(kind))
    if issubclass(kind, (Exception, Warning)):
        return kind("one sentence")
    return kind()


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in classes()
        if public(kind)
        and kind.__module__ not in ("zarrix.storage", "zarrix.interop")
        and not kind.__module__.startswith("zarrix.cli")
        and f"{kind.__module__}.{kind.__qualname__}" not in NOT_MADE
    ],
    ids=lambda kind: f"{kind.__module__}.{kind.__name__}",
)
def test_one_of_each_public_class_pickles(kind: type, tmp_path: Path) -> None:
    thing = made(kind, tmp_path)
    for protocol in PROTOCOLS:
        twin = pickle.loads(pickle.dumps(thing, protocol))
        assert type(twin) is type(thing)
        assert str(twin) == str(thing) or type(thing).__repr__ is object.__repr__


@pytest.mark.parametrize("name", every_store.KINDS)
def test_each_store_pickles(name: str, tmp_path: Path) -> None:
    kind = every_store.KINDS[name]
    if kind.missing:
        pytest.skip(f"needs {kind.needs}")
    store = kind.pair(tmp_path)[0]
    if "mongomock" in name or "`ObjectStore`" in name:
        # The first is a class of the test, the second holds a memory store of obstore's, whose
        # values are in no other process.
        errors = (TypeError, AttributeError, pickle.PicklingError)
        with pytest.raises(errors, match=r"[Cc]an't|cannot pickle"):
            pickle.dumps(store)
        return
    assert type(pickle.loads(pickle.dumps(store))) is type(store)


def test_the_settings_of_a_process_are_one_object_to_a_pickle() -> None:
    assert [pickle.loads(pickle.dumps(zarr.config, p)) is zarr.config for p in PROTOCOLS] == (
        [True] * len(PROTOCOLS)
    )


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_pickled_view_reads_what_the_view_reads(protocol: int, tmp_path: Path) -> None:
    z = zarr.open(tmp_path / "x.zarr", mode="w", shape=(4, 6), chunks=(2, 3), dtype="i8")
    z[...] = np.arange(24).reshape(4, 6)
    for view in (z.lazy, z.lazy[3], z.lazy[1:, ::-2].T, z.lazy.oindex[[2, 0], :][:, None, 1:]):
        twin = pickle.loads(pickle.dumps(view, protocol))
        assert twin[...].tolist() == view[...].tolist()
        assert copy.deepcopy(view)[...].tolist() == view[...].tolist()
    pickle.loads(pickle.dumps(z.lazy[0], protocol))[...] = 7
    assert z[0].tolist() == [7] * 6


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_writer_says_why_it_cannot_be_pickled(protocol: int) -> None:
    with (
        array().writer() as writer,
        pytest.raises(TypeError, match=r"frames that are not stored yet.*pickle the array"),
    ):
        pickle.dumps(writer, protocol)


LOADER = """
import json, multiprocessing, sys
import numpy as np
import zarrix as zarr

class Dataset:
    # As a dataset of PyTorch is: an object with rows, which a loader pickles to its workers.
    def __init__(self, view):
        self.view = view

    def __len__(self):
        return len(self.view)

    def __getitem__(self, row):
        return self.view[row][...].tolist()

def work(dataset, rows, answers):
    answers.put([(row, dataset[row]) for row in rows])

if __name__ == "__main__":
    folder, method = sys.argv[1:]
    z = zarr.open(folder + "/x.zarr", mode="w", shape=(8, 6), chunks=(2, 3), dtype="i8")
    z[...] = np.arange(48).reshape(8, 6)
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    data = Dataset(z.lazy[:, ::2])
    workers = [
        context.Process(target=work, args=(data, list(range(k, 8, 2)), answers)) for k in range(2)
    ]
    for worker in workers:
        worker.start()
    rows = dict(pair for _ in workers for pair in answers.get(timeout=60))
    for worker in workers:
        worker.join()
    print(json.dumps([rows[row] for row in range(8)]))
"""


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_a_loader_whose_dataset_holds_a_view_reads_in_its_workers(
    method: str, tmp_path: Path
) -> None:
    (tmp_path / "loader.py").write_text(LOADER)
    done = subprocess.run(
        [sys.executable, str(tmp_path / "loader.py"), str(tmp_path), method],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == np.arange(48).reshape(8, 6)[:, ::2].tolist()
