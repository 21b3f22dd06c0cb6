"""Private names of zarr-python that programs import mean the same under the alias.

One program is run with the alias, and with zarr-python itself where that is installed.
"""

import os
import subprocess
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest
import zarrix

SOURCES = str(Path(zarrix.__file__).parents[1])

PROGRAM = """
import asyncio, enum, json, pickle, sys
import numpy as np
import zarr
from zarr.abc.store import RangeByteRequest, SuffixByteRequest, _store_supports_sync_io
from zarr.core import common
from zarr.core._coalesce import coalesce_ranges, coalesced_get
from zarr.core.buffer import default_buffer_prototype
from zarr.core.sync import SyncError, _get_loop, sync
from zarr.errors import ContainsArrayError, UnknownCodecError
from zarr.registry import get_codec_class, get_numcodec
from zarr.storage import LocalStore, MemoryStore, StorePath
from zarr.storage._common import contains_array, contains_group, ensure_no_existing_node
from zarr.storage._common import make_store, make_store_path
from zarr.storage._utils import (
    _dereference_path, _join_paths, _normalize_path_keys, _normalize_paths, _relativize_path,
    normalize_path, parse_store_url,
)


def refused(kind, call, *args, **options):
    try:
        result = call(*args, **options)
        if asyncio.iscoroutine(result):
            result = sync(result)
    except kind:
        return True
    return result


def of_storage():
    from zarr.experimental.cache_store import CacheStore
    from zarr.storage._fsspec import FsspecStore
    from zarr.storage._local import LocalStore
    from zarr.storage._logging import LoggingStore
    from zarr.storage._memory import ManagedMemoryStore, MemoryStore
    from zarr.storage._obstore import ObjectStore
    from zarr.storage._wrapper import WrapperStore
    from zarr.storage._zip import ZipStore

    for kind in (
        FsspecStore, LocalStore, LoggingStore, ManagedMemoryStore, MemoryStore, ObjectStore,
        WrapperStore, ZipStore,
    ):
        assert kind is getattr(zarr.storage, kind.__name__), kind
    assert issubclass(CacheStore, WrapperStore)
    assert pickle.loads(pickle.dumps(zarr.storage)) is zarr.storage


def of_paths():
    assert parse_store_url("s3://bucket/a/b") == ("s3", "bucket", "a/b", "s3://bucket/a/b")
    assert parse_store_url("memory:///a") == ("memory", None, "/a", "memory:///a")
    assert parse_store_url("/a/b") == ("", None, "/a/b", "/a/b")
    assert normalize_path("//a///b/") == "a/b" and refused(ValueError, normalize_path, "a/../b")
    assert _join_paths(["", "a", "", "b"]) == "a/b"
    assert _normalize_paths(["a", "/b/"]) == ("a", "b")
    assert refused(ValueError, _normalize_paths, ["a", "/a"])
    assert _normalize_path_keys({"/a": 1}) == {"a": 1}
    for root, path, whole in (
        ("", "a", "a"), ("/", "a", "a"), ("/r/", "a/b", "/r/a/b"), ("r", "", "r"), ("", "", ""),
    ):
        assert _dereference_path(root, path) == whole, (root, path)
    assert _relativize_path(path="a/b/c", prefix="a/b") == "c"
    assert refused(ValueError, _relativize_path, path="ab/c", prefix="a")


async def of_nodes(folder):
    from zarr.core.buffer.cpu import Buffer

    store = LocalStore(folder)
    documents = {
        "v3/zarr.json": b'{"node_type": "array"}',
        "g3/zarr.json": b'{"node_type": "group"}',
        "v2/.zarray": b"{}",
        "g2/.zgroup": b"{}",
        "broken/zarr.json": b"{",
        "list/zarr.json": b"[1]",
    }
    for key, document in documents.items():
        await store.set(key, Buffer.from_bytes(document))
    for path, zarr_format, is_array, is_group in (
        ("v3", 3, True, False), ("g3", 3, False, True), ("v2", 2, True, False),
        ("g2", 2, False, True), ("v3", 2, False, False), ("none", 3, False, False),
        ("broken", 3, False, False), ("list", 3, False, False),
    ):
        at = StorePath(store, path)
        # zarr-python 3.4.2 raises an error for a v3 node of the other type.
        if path != "g3":
            assert await contains_array(at, zarr_format) is is_array, path
        if path != "v3":
            assert await contains_group(at, zarr_format) is is_group, path
    await ensure_no_existing_node(StorePath(store, "none"), 3)
    await ensure_no_existing_node(StorePath(store, "v3"), 3, "group")
    for path, zarr_format in (("v3", 3), ("v2", 2)):
        try:
            await ensure_no_existing_node(StorePath(store, path), zarr_format)
        except ContainsArrayError:
            continue
        raise AssertionError(path)
    assert (await make_store_path(folder, path="a", mode="r")).read_only
    assert isinstance(await make_store(None), MemoryStore)


def of_make_store(folder):
    assert refused(ValueError, make_store, {}, mode="x")
    assert refused(TypeError, make_store, {}, storage_options={"a": 1})
    assert refused(TypeError, make_store, folder, storage_options={"a": 1})
    assert str(LocalStore(folder)) == f"file://{folder}"
    assert str(MemoryStore()).startswith("memory://")


def of_common():
    assert common.ceildiv_int(2**62 + 1, 2) == 2**61 + 1 and common.ceildiv_int(-7, 3) == -2
    assert common.parse_int(3) == 3 and refused(ValueError, common.parse_int, True)
    assert common.parse_name("a", "a") == "a" and refused(ValueError, common.parse_name, "a", "b")
    assert refused(TypeError, common.parse_name, 1)
    assert common.parse_shapelike(np.uint8(3)) == (3,) and common.parse_shapelike([1, 2]) == (1, 2)
    for kind, wrong in ((TypeError, 1.5), (TypeError, (1.0,)), (TypeError, "1"), (ValueError, -1)):
        assert refused(kind, common.parse_shapelike, wrong), wrong
    kind = enum.Enum("Kind", {"a": "a"})
    assert common.parse_enum("a", kind) is kind.a
    assert refused(ValueError, common.parse_enum, "b", kind)


async def of_concurrent():
    running, most, seen = 0, 0, []

    async def work(number):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        seen.append(number)
        if number == 7:
            raise OSError("seven")
        return number

    assert await common.concurrent_map([(n,) for n in range(5)], work, limit=2) == [0, 1, 2, 3, 4]
    assert most == 2
    taken = iter([(n,) for n in range(100)])
    try:
        await common.concurrent_foreach(taken, work, 3)
    except OSError as error:
        assert str(error) == "seven"
    assert next(taken)[0] < 15


async def of_coalesce():
    ranges = [RangeByteRequest(8, 9), SuffixByteRequest(1), RangeByteRequest(0, 2),
              RangeByteRequest(3, 4), None]
    groups, singles = coalesce_ranges(ranges, max_gap_bytes=1, max_coalesced_bytes=100)
    assert [[at for at, _ in group] for group in groups] == [[2, 3], [0]]
    assert [at for at, _ in singles] == [1, 4]
    assert len(coalesce_ranges(ranges, max_gap_bytes=9, max_coalesced_bytes=4)[0]) == 2
    from zarr.core.buffer.cpu import Buffer

    store, asked = MemoryStore(), []
    await store.set("k", Buffer.from_bytes(b"0123456789"))

    async def fetch(request):
        asked.append(request)
        return await store.get("k", byte_range=request, prototype=default_buffer_prototype())

    options = {"max_concurrency": 2, "max_gap_bytes": 1, "max_coalesced_bytes": 100}
    found = [one async for batch in coalesced_get(fetch, ranges, **options) for one in batch]
    assert {at: part.to_bytes() for at, part in found} == {
        0: b"8", 1: b"9", 2: b"01", 3: b"3", 4: b"0123456789"
    }
    assert len(asked) == 4

    async def missing(request):
        return None

    try:
        [batch async for batch in coalesced_get(missing, ranges, **options)]
    except BaseExceptionGroup as group:
        assert isinstance(group.exceptions[0], FileNotFoundError)
    else:
        raise AssertionError("a missing value has no parts")


def of_sync():
    async def answer(seconds=0):
        await asyncio.sleep(seconds)
        return 42

    assert sync(answer()) == sync(answer(), loop=_get_loop()) == 42
    assert refused(TimeoutError, sync, answer(60), timeout=0.01)
    assert refused(TypeError, sync, answer(), loop=1)
    closed = asyncio.new_event_loop()
    closed.close()
    assert refused(RuntimeError, sync, answer(), loop=closed)

    async def inside():
        return refused(SyncError, sync, answer(), loop=asyncio.get_running_loop())

    assert asyncio.run(inside())


def of_registry():
    assert get_codec_class("zstd").__name__ == "ZstdCodec"
    assert get_numcodec({"id": "zlib", "level": 2}).level == 2
    assert refused(UnknownCodecError, get_codec_class, "nope")
    assert refused(UnknownCodecError, get_numcodec, {"id": "nope"})
    assert refused(ValueError, get_numcodec, {"level": 1})
    assert _store_supports_sync_io(MemoryStore()) and not _store_supports_sync_io(object())


def of_memory():
    from zarr.core.attributes import Attributes
    from zarr.core.buffer.cpu import NDBuffer

    group = zarr.create_group({}, attributes={"a": 1})
    assert isinstance(group.attrs, Attributes) and Attributes(group).asdict() == {"a": 1}
    data = np.arange(12).reshape(3, 4)
    item = NDBuffer.from_numpy_array(data)[1, 2].as_numpy_array()
    assert item.shape == () and np.shares_memory(item, data)
    for name in ("<M8[2generic]", ">m8[7generic]", ">M8[10s]", "<i4"):
        dtype = np.dtype(name)
        assert NDBuffer.create(shape=(2,), dtype=dtype).dtype == dtype
        assert NDBuffer.empty((2,), dtype=dtype).dtype == dtype


folder = sys.argv[1]
of_memory()
of_storage()
of_paths()
asyncio.run(of_nodes(folder))
of_make_store(folder)
of_common()
asyncio.run(of_concurrent())
asyncio.run(of_coalesce())
of_sync()
of_registry()
print("done")
"""


OPTIONS = {"the alias": ["-m", "zarrix.as_zarr"]}
if PathFinder.find_spec("zarr") is not None:
    OPTIONS["zarr-python"] = []


@pytest.mark.parametrize("package", OPTIONS)
def test_private_names_mean_what_they_do_in_zarr_python(tmp_path: Path, package: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *OPTIONS[package], str(program), str(tmp_path / "data")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCES},
    )
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr
