"""Indexes beside hierarchies on servers: two requests find a node, and nothing wrong is shown."""

from __future__ import annotations

import gzip
import itertools
import json
import pickle
import random
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix._nodes import index_build, index_format, indexed_store
from zarrix.errors import StaleMetadataWarning

FORMATS = (2, 3)
KEY = {2: ".zmetadata", 3: "zarr.json"}
NEW: dict[str, Any] = {"chunks": 10, "dtype": "i4"}


def made(server: FaultyServer, zarr_format: Any, count: int = 60) -> zarr.Group:
    """A hierarchy with groups in groups, names that sort apart from paths, and an empty group."""
    root = zarr.open_group(
        f"{server.url}/h", mode="w", zarr_format=zarr_format, attributes={"title": "é\n\t"},
        storage_options=server.options,
    )  # fmt: skip
    with root.batch():
        for number in range(count):
            path = f"g{number % 3}/x-{number}"
            root.create_array(path, shape=number + 1, attributes={"n": number}, **NEW)
        for name in ("g0/x", "g0/x/deep/er", "g0-1", "é/\U0001f600", "empty"):
            root.create_group(name, attributes={"name": name})
    zarr.consolidate_metadata(root.store)
    return zarr.open_group(root.store, mode="r+", use_consolidated=False)


def opened(server: FaultyServer, path: str = "", **options: Any) -> Any:
    return zarr.open_indexed(f"{server.url}/h", path, storage_options=server.options, **options)


def shown(group: zarr.Group) -> dict[str, Any]:
    """What a hierarchy shows of each of its nodes."""
    found = {"": dict(group.attrs)}
    for path, node in group.members(max_depth=None):
        found[path] = (
            type(node).__name__,
            node.shape if isinstance(node, zarr.Array) else None,
            dict(node.attrs),
        )
    return found


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups of a few members are large ones."""
    monkeypatch.setattr(index_build, "_INLINE", 2000)
    monkeypatch.setattr(index_build, "_BLOCK", 900)
    monkeypatch.setattr(index_build, "_PER_SHARD", 4)
    monkeypatch.setattr(index_build, "_RUN", 8000)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_two_requests_open_an_array(faulty: FaultyServer, zarr_format: int) -> None:
    root = made(faulty, zarr_format)
    assert zarr.build_index(root.store) == 71
    faulty.requests.clear()
    z = opened(faulty, "g1/x-4")
    assert (z.shape, z.dtype, dict(z.attrs), z.read_only) == ((5,), np.int32, {"n": 4}, True)
    assert [method for method, _ in faulty.requests] == ["GET", "HEAD"]
    assert faulty.requests[1][1] == f"h/{KEY[zarr_format]}"


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_members_and_pages_are_those_of_the_store(faulty: FaultyServer, zarr_format: int) -> None:
    root = made(faulty, zarr_format)
    zarr.build_index(root.store)
    expected = shown(root)
    assert len(expected) == 71
    faulty.requests.clear()
    group = opened(faulty)
    assert shown(group) == expected
    # Elements of the groups, and no document.
    assert len(faulty.requests) <= 12
    assert not [key for _, key in faulty.requests[2:] if not key.startswith("h.index/")]


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_large_group_is_read_in_blocks(faulty: FaultyServer, zarr_format: int) -> None:
    root = made(faulty, zarr_format)
    zarr.build_index(root.store)
    shards = [key for key in faulty.values if key.startswith("h.index/blocks/c/")]
    assert len(shards) >= 3
    assert shown(opened(faulty)) == shown(root)
    faulty.requests.clear()
    assert opened(faulty, "g1/x-4").shape == (5,)
    assert [method for method, _ in faulty.requests] == ["GET", "HEAD", "GET"]
    group, names = opened(faulty)["g1"], sorted(root["g1"])
    for limit in (1, 7, 100):
        after, pages = "", []
        while after is not None:
            page, after = group.page(limit, after)
            pages += page
        assert [name for name, _ in pages] == names
    fresh = opened(faulty)
    faulty.requests.clear()
    page, _ = fresh["g1"].page(2, "x-22")
    assert [name for name, _ in page] == ["x-25", "x-28"]
    assert len(faulty.requests) <= 4
    assert [name for name, _ in group.page(2, "a")[0]] == names[:2]
    assert group.page(2, "z") == ((), None)


def test_zarr_python_reads_the_index_as_arrays(
    faulty: FaultyServer, small_blocks: None, tmp_path: Any
) -> None:
    peer = pytest.importorskip("zarr")
    root = made(faulty, 3)
    zarr.build_index(root.store)
    for key, (value, _) in faulty.values.items():
        if key.startswith("h.index/"):
            file = tmp_path / key
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(value)
    index = peer.open_group(str(tmp_path / "h.index"), mode="r")
    mine = zarr.open_group(str(tmp_path / "h.index"), mode="r")
    lines = []
    for name in ("groups", "blocks"):
        elements = [bytes(one) for one in index[name][:]]
        assert elements == [bytes(one) for one in mine[name][:]]
        lines += [line for one in elements for line in one.split(b"\n")[1:]]
    paths = {json.loads(line.split(b"\t")[0]) for line in lines}
    assert paths == {"", *(path for path, _ in root.members(max_depth=None))}


CHANGES = {
    "attribute": lambda root: root["g1/x-4"].attrs.update(n=-1),
    "attribute of the root": lambda root: root.attrs.update(title="new"),
    "new array": lambda root: root.create_array("g1/new", shape=3, **NEW),
    "resize": lambda root: root["g1/x-4"].resize(50),
    "delete": lambda root: root.__delitem__("g1/x-4"),
    "move": lambda root: root.move("g1", "h1"),
    "overwrite": lambda root: root.create_array("g1/x-4", shape=77, overwrite=True, **NEW),
}


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_stale_index_is_not_used(faulty: FaultyServer, zarr_format: int, change: str) -> None:
    root = made(faulty, zarr_format)
    zarr.build_index(root.store)
    CHANGES[change](root)
    expected = shown(zarr.open_group(root.store, mode="r", use_consolidated=False))
    if zarr_format == 2 and change == "attribute of the root":
        assert expected[""] == {"title": "new"}
    with pytest.warns(StaleMetadataWarning, match="has changed"):
        group = opened(faulty)
    assert shown(group) == expected
    zarr.build_index(root.store)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert shown(opened(faulty)) == expected


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_what_a_program_changes_behind_it_is_seen_by_verify(
    faulty: FaultyServer, zarr_format: int
) -> None:
    root = made(faulty, zarr_format)
    zarr.build_index(root.store)
    key = "h/g1/x-4/" + (".zarray" if zarr_format == 2 else "zarr.json")
    value, headers = faulty.values[key]
    faulty.values[key] = json.dumps({**json.loads(value), "shape": [6]}).encode(), headers
    del faulty.values["h/g1/x-7/" + (".zarray" if zarr_format == 2 else "zarr.json")]
    assert opened(faulty, "g1/x-4").shape == (5,)
    assert opened(faulty, "g1/x-4", verify=True).shape == (6,)
    with pytest.raises(zarr.errors.PathNotFoundError):
        opened(faulty, "g1/x-7", verify=True)
    # What the index does not have is looked for.
    new = faulty.values[key]
    faulty.values[key.replace("x-4", "theirs")] = new
    assert opened(faulty, "g1/theirs").shape == (6,)


def _dying(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """Let builders of indexes die at a request."""
    puts = iter(range(10**6))
    put = zarr.storage.RemoteStore.__setitem__

    def counted(self: Any, key: str, value: Any) -> None:
        if self.url.endswith(".index") and next(puts) == at:
            raise KeyboardInterrupt
        put(self, key, value)

    monkeypatch.setattr(zarr.storage.RemoteStore, "__setitem__", counted)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_builder_that_dies_leaves_nothing_wrong(
    faulty: FaultyServer, zarr_format: int, small_blocks: None, monkeypatch: pytest.MonkeyPatch,
    is_long: bool,
) -> None:  # fmt: skip
    root = made(faulty, zarr_format, 40)
    zarr.build_index(root.store)
    before = dict(faulty.values)
    root["g1/x-4"].attrs["n"] = -1
    del root["g1/x-7"]
    root.create_array("g1/new", shape=3, **NEW)
    changed = {k: v for k, v in faulty.values.items() if not k.startswith("h.index/")}
    expected = shown(root)
    last = len([key for key in before if key.startswith("h.index/")])
    for at in range(0, last, 1 if is_long else 7):
        faulty.values.clear()
        faulty.values.update({k: v for k, v in before.items() if k.startswith("h.index/")})
        faulty.values.update(changed)
        with monkeypatch.context() as patched:
            _dying(faulty, patched, at)
            with pytest.raises(KeyboardInterrupt):
                zarr.build_index(root.store)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleMetadataWarning)
            assert shown(opened(faulty)) == expected, at
            assert dict(opened(faulty, "g1/x-4").attrs) == {"n": -1}
            with pytest.raises(zarr.errors.PathNotFoundError):
                opened(faulty, "g1/x-7")


def _damaged(value: bytes, rng: random.Random) -> bytes:
    kind = rng.randrange(5)
    at = rng.randrange(max(len(value), 1))
    if kind == 0:
        return value[:at]
    if kind == 1:
        return value[:at] + bytes([value[at] ^ (1 << rng.randrange(8))]) + value[at + 1 :]
    if kind == 2:
        return value + value
    return b"" if kind == 3 else rng.randbytes(len(value))


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_index_shows_nothing_wrong(
    faulty: FaultyServer, seed: int, small_blocks: None, is_long: bool
) -> None:
    rng = random.Random(seed)
    root = made(faulty, 3, 40)
    zarr.build_index(root.store)
    expected = shown(root)
    good = {key: one for key, one in faulty.values.items() if key.startswith("h.index/")}
    for _ in range(60 if is_long else 6):
        for key in rng.sample(sorted(good), 60):
            value, headers = good[key]
            faulty.values[key] = _damaged(value, rng), headers
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleMetadataWarning)
            assert shown(opened(faulty)) == expected
        faulty.values.update(good)


def _claiming(head: list[Any], lines: list[bytes]) -> bytes:
    text = b"\n".join([json.dumps(head).encode(), *lines])
    return _gzipped(index_format._LENGTHS.pack(1, len(text)) + text)


def _gzipped(data: bytes) -> bytes:
    return gzip.compress(data)


def _of_blocks(rows: Any) -> Any:
    return lambda head, _: _claiming([*head[:4], rows], [])


def _documents(text: bytes) -> Any:
    def claim(head: list[Any], lines: list[bytes]) -> bytes:
        others = [line for line in lines if not line.startswith(b'"g1/x-4"')]
        return _claiming(head, [*others, b'"g1/x-4"\t' + text])

    return claim


FAR = 2**61
HOSTILE: dict[str, Any] = {
    "a bomb": lambda *_: _gzipped(b"\0" * (80 << 20)),
    "no lengths": lambda *_: _gzipped(b"\1"),
    "a length of 4 GB": lambda *_: _gzipped(b"\1\0\0\0\xff\xff\xff\xff{}"),
    "another version": lambda head, lines: _claiming([2, *head[1:]], lines),
    "another element": lambda head, lines: _claiming([*head[:3], head[3] + 1, {}], lines),
    "another document": lambda head, lines: _claiming([*head[:2], "../zarr.json", *head[3:]], []),
    "a head that is long": lambda head, lines: _claiming([*head, 1], lines),
    "deep": lambda *_: _gzipped(index_format._LENGTHS.pack(1, 10**5) + b"[" * 10**5),
    "deep documents": _documents(b"[" * 10**5),
    "documents that are a list": _documents(b"[]"),
    "a document that is a number": _documents(b'{"zarr.json": 5}'),
    "a path that is a number": lambda head, _: _claiming(head, [b"12\t{}"]),
    "blocks that are a list": _of_blocks([]),
    "blocks that are a number": _of_blocks({"g1": 5}),
    "a block of 2 EB": _of_blocks({"g1": [["g1/a", 0, 0, FAR]]}),
    "a block behind the end": _of_blocks({"g1": [["g1/a", 0, FAR, 10]]}),
    "a block before": _of_blocks({"g1": [["g1/a", 0, -5, 10]]}),
    "a shard of text": _of_blocks({"g1": [["g1/a", "../x", 0, 1]]}),
    "a shard that is not there": _of_blocks({"g1": [["g1/a", 10**9, 0, 1]]}),
    "a short row": _of_blocks({"g1": [["g1/a"]]}),
    "rows without order": _of_blocks({"g1": [["g1/z", 0, 9, 9], ["g1/a", 0, 0, 3]]}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_element_is_not_used(faulty: FaultyServer, name: str) -> None:
    root = made(faulty, 3)
    zarr.build_index(root.store)
    expected = shown(root)
    number = index_format.bucket_of("g1")
    key = f"h.index/{index_format.bucket_key(number)}"
    head, *lines = index_format._text(faulty.values[key][0]).split(b"\n")
    faulty.values[key] = HOSTILE[name](json.loads(head), lines), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StaleMetadataWarning)
        assert opened(faulty, "g1/x-4").shape == (5,)
        assert shown(opened(faulty)["g1"]) == shown(root["g1"])
        assert shown(opened(faulty)) == expected


def test_two_builders_at_once_and_a_change_between(
    faulty: FaultyServer, small_blocks: None, is_long: bool
) -> None:
    root = made(faulty, 3, 40)
    for number in range(20 if is_long else 3):
        both = [threading.Thread(target=zarr.build_index, args=(root.store,)) for _ in range(2)]
        both[0].start()
        root["g1/x-4"].attrs["n"] = number + 100
        both[1].start()
        for one in both:
            one.join()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StaleMetadataWarning)
            assert shown(opened(faulty)) == shown(root)


def test_a_hierarchy_without_an_index_is_opened_as_ever(faulty: FaultyServer) -> None:
    root = made(faulty, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert opened(faulty, "g1/x-4").shape == (5,)
        assert shown(opened(faulty)) == shown(root)
    zarr.build_index(root.store)
    faulty.mode, faulty.count, faulty.only = "500", None, ("HEAD",)
    with pytest.raises(OSError, match="500"):
        zarr.open_indexed(f"{faulty.url}/h", storage_options={**faulty.options, "max_retries": 0})


@pytest.mark.parametrize(
    "others",
    [
        {"zarr.json": b'{"zarr_format": 3, "node_type": "group", "attributes": {}}'},
        {"zarr.json": b"[]"},
        {".zgroup": b'{"zarr_format": 2}'},
        {"groups/.zarray": b"{}", "groups/0": b"x"},
        {"blocks/c/0": b"x", "notes.txt": b"mine"},
    ],
)
def test_what_is_not_an_index_is_kept(faulty: FaultyServer, others: dict[str, bytes]) -> None:
    root = made(faulty, 3)
    place = zarr.storage.RemoteStore(f"{faulty.url}/h.index", faulty.options)
    place.update(others)
    with pytest.raises(zarr.errors.ContainsGroupError, match="other than an index"):
        zarr.build_index(root.store)
    assert dict(place.items()) == others
    place.clear()
    # What a build that was killed leaves is replaced.
    place["groups/c/7"] = place["blocks/zarr.json"] = b"torn"
    zarr.build_index(root.store)
    zarr.build_index(root.store)
    assert opened(faulty, "g1/x-4").shape == (5,)


def test_a_store_without_versions_is_told(tmp_path: Path) -> None:
    root = zarr.create_group({}, zarr_format=3)
    zarr.consolidate_metadata(root.store)
    with pytest.raises(zarr.errors.MetadataError, match="does not tell versions"):
        zarr.build_index(root.store, index=tmp_path / "new.index")
    assert not (tmp_path / "new.index").exists()


def test_no_member_of_the_hierarchy_is_the_index(faulty: FaultyServer) -> None:
    root = made(faulty, 3)
    before = {key for key in faulty.values if key.startswith("h/")}
    zarr.build_index(root.store)
    assert {key for key in faulty.values if key.startswith("h/")} == before
    own = zarr.storage.RemoteStore(f"{faulty.url}/elsewhere.index", faulty.options)
    zarr.build_index(root.store, index=own)
    assert opened(faulty, "g1/x-4", index=own).shape == (5,)
    for wrong in (f"{faulty.url}/h/inside", f"{faulty.url}/h"):
        with pytest.raises(zarr.errors.OverlapError):
            zarr.build_index(root.store, index=zarr.storage.RemoteStore(wrong, faulty.options))
    whole = zarr.storage.RemoteStore(faulty.url, faulty.options)
    with pytest.raises(ValueError, match="no place beside"):
        zarr.build_index(whole)
    with pytest.raises(ValueError, match="whole hierarchy"):
        zarr.build_index(zarr.storage.StorePath(root.store, "g1"))


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_an_index_needs_consolidated_metadata(faulty: FaultyServer, zarr_format: Any) -> None:
    root = zarr.open_group(
        f"{faulty.url}/bare", mode="w", zarr_format=zarr_format, storage_options=faulty.options
    )
    with pytest.raises(zarr.errors.PathNotFoundError, match="consolidate_metadata"):
        zarr.build_index(root.store)
    assert not [key for key in faulty.values if ".index" in key]


def test_groups_by_an_index_are_read_only_and_can_be_pickled(faulty: FaultyServer) -> None:
    root = made(faulty, 3)
    root["g1/x-4"][:] = np.arange(5)
    zarr.build_index(root.store)
    group = opened(faulty)
    for one in (group, pickle.loads(pickle.dumps(group))):
        assert shown(one) == shown(root)
        assert one["g1/x-4"][:].tolist() == [0, 1, 2, 3, 4]
        with pytest.raises(zarr.errors.ReadOnlyError):
            one.create_array("new", shape=3, **NEW)
        with pytest.raises(zarr.errors.ReadOnlyError):
            one["g1/x-4"][0] = 1


def test_few_elements_are_kept(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexed_store, "_KEPT", 2)
    root = made(faulty, 3)
    zarr.build_index(root.store)
    group = opened(faulty)
    assert shown(group) == shown(root)
    assert len(group._location.store._kept) == 2


_MANY = """
import sys, time
import zarrix as zarr

url, options = sys.argv[1], eval(sys.argv[2])
server = zarr.storage.RemoteStore(url, options)
begin, used = time.monotonic(), time.process_time()
count = zarr.build_index(server)
print(count, round(time.process_time() - used, 1), round(time.monotonic() - begin, 1),
      int(open("/proc/self/status").read().partition("VmHWM:")[2].split()[0]) >> 10)
"""
_ENTRY = (
    '"%s": {"shape": [100, %d], "data_type": "float32", "chunk_grid": {"name": "regular", '
    '"configuration": {"chunk_shape": [10, 10]}}, "chunk_key_encoding": {"name": "default"}, '
    '"fill_value": 0.0, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], '
    '"attributes": {}, "zarr_format": 3, "node_type": "array"}'
)


@pytest.mark.parametrize("groups", [1000, 1])
def test_one_of_many_arrays(faulty: FaultyServer, groups: int, is_long: bool) -> None:
    count = 1_000_000 if is_long else 5_000
    names = ((f"g{n % groups}/a{n:07}" if groups > 1 else f"a{n:07}", n) for n in range(count))
    own = [f'"g{n}": {{"zarr_format": 3, "node_type": "group"}}' for n in range(groups)]
    inside = (_ENTRY % (name, n + 1) for name, n in names)
    entries = ",".join(itertools.chain(own if groups > 1 else [], inside))
    document = (
        '{"zarr_format": 3, "node_type": "group", "attributes": {"x": 5}, "consolidated_metadata": '
        '{"kind": "inline", "must_understand": false, "metadata": {' + entries + "}}}"
    )
    faulty.values["many/zarr.json"] = document.encode(), {}
    url = f"{faulty.url}/many"
    ran = subprocess.run(
        [sys.executable, "-c", _MANY, url, repr(faulty.options)],
        capture_output=True, text=True, timeout=3000, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    nodes, cpu, wall, peak = ran.stdout.split()
    assert int(nodes) == count + 1 + (groups if groups > 1 else 0)
    assert int(peak) < 400
    index = {key: one for key, (one, _) in faulty.values.items() if key.startswith("many.index/")}
    stored = sum(map(len, index.values()))
    assert stored < len(document) / 8
    assert len(index) < 256 + 30
    faulty.requests.clear()
    number = count * 2 // 3
    name = f"g{number % groups}/a{number:07}" if groups > 1 else f"a{number:07}"
    begin = time.process_time()
    z = zarr.open_indexed(url, name, storage_options=faulty.options)
    seconds = time.process_time() - begin
    assert z.shape == (100, number + 1)
    assert len(faulty.requests) == (2 if groups > 1 else 3)
    group = zarr.open_indexed(url, name.rpartition("/")[0], storage_options=faulty.options)
    faulty.requests.clear()
    page, after = group.page(100, "a0000100")
    assert len(page) == (100 if groups == 1 or is_long else 5)
    assert (after is None) == (groups > 1 and not is_long)
    assert len(faulty.requests) <= 2
    print(f"{count} in {groups}: build {cpu} s CPU, {wall} s, {peak} MiB; index {stored} bytes of "
          f"{len(document)} in {len(index)} values; open {seconds:.3f} s CPU")  # fmt: skip
