"""Icechunk repositories that are damaged, or made to do harm: one error, in bounded time."""

import struct
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from icechunk_files import HEADER, contents, document, files, plain
from numcodecs import zstd
from zarrix.storage import IcechunkStore

SNAPSHOT, MANIFEST, REPOSITORY = 1, 2, 6


def read_all(repository: Any, version: str = "tag:v1") -> dict[str, Any]:
    """Everything that a reader can ask for."""
    store = IcechunkStore(repository, version)
    keys = list(store)
    root = zarr.open_group(store, mode="r")
    found = {}
    for _, node in root.members(max_depth=None):
        if isinstance(node, zarr.Array) and node.path != "virtual":
            found[node.path] = node[...]
            store.getsize(f"{node.path}/c/0")
    store.listdir("wave/c")
    return {**found, "keys": keys}


def read_or_refuse(repository: Any) -> dict[str, Any] | None:
    """What could be read, or None; what else there is has to be an error of ours."""
    with warnings.catch_warnings():
        # What is damaged in a member's document, or its path, leaves it out.
        warnings.simplefilter("ignore", UserWarning)
        try:
            return read_all(repository)
        except zarr.errors.ZarrixError:
            return None


def same(found: dict[str, Any], whole: dict[str, Any]) -> bool:
    return found.keys() == whole.keys() and all(
        np.array_equal(found[path], whole[path]) for path in found
    )


def documents(name: str) -> Iterator[tuple[str, bytes]]:
    """The documents of one version, decompressed, so that each of their bytes can be changed."""
    repository = files(name)
    store = IcechunkStore(repository, "tag:v1")
    for key, file in repository.items():
        if key in ("repo", f"snapshots/{store.snapshot_id}") or key.startswith("manifests/"):
            yield key, plain(file)


@pytest.mark.parametrize("name", ["v1", "v2"])
def test_any_changed_byte_is_read_or_refused(name: str, request: pytest.FixtureRequest) -> None:
    step = 1 if request.config.getoption("--long") else 127
    repository = files(name)
    refused = 0
    for key, file in documents(name):
        for at in range(0, len(file), step):
            for value in {0, 255, file[at] ^ 1, file[at] ^ 128} - {file[at]}:
                changed = file[:at] + bytes([value]) + file[at + 1 :]
                refused += read_or_refuse({**repository, key: changed}) is None
    assert refused > 20


@pytest.mark.parametrize("name", ["v1", "v2"])
def test_any_truncation_is_refused(name: str) -> None:
    repository = files(name)
    whole = read_all(repository)
    for key, file in documents(name):
        if key.startswith("manifests/"):
            continue
        for length in [*range(0, HEADER + 8, 3), *range(HEADER + 8, len(file), 97)]:
            for cut in (file[:length], repository[key][:length]):
                found = read_or_refuse({**repository, key: cut})
                # The end of a file may be a message, which is not read.
                assert found is None or cut == repository[key] or same(found, whole), length


def test_any_number_that_is_as_large_as_possible_is_read_or_refused() -> None:
    repository = files("v2")
    for key, file in documents("v2"):
        for at in range(HEADER, len(file) - 4, 124):
            for number in (2**32 - 1, 2**31, len(file), 2**16):
                changed = file[:at] + struct.pack("<I", number) + file[at + 4 :]
                read_or_refuse({**repository, key: changed})


@pytest.mark.parametrize(
    ("at", "value", "told"),
    [
        (0, 0, "does not begin as a file of Icechunk"),
        (36, 3, "version 3 of the format, and versions 1 and 2 are supported"),
        (36, 0, "version 0"),
        (37, 5, "of kind 5"),
        (38, 7, "unknown compression 7"),
        (HEADER, 0, "zstd"),
    ],
)
def test_what_is_not_known_is_named(at: int, value: int, told: str) -> None:
    repository = files("v2")
    for key in ("repo", f"snapshots/{IcechunkStore(repository).snapshot_id}"):
        changed = repository[key][:at] + bytes([value]) + repository[key][at + 1 :]
        with pytest.raises(zarr.errors.CorruptStoreError, match=told) as raised:
            IcechunkStore({**repository, key: changed})
        assert key in str(raised.value)


def test_a_document_is_decoded_up_to_the_limit_and_not_further() -> None:
    repository = files("v2")
    bomb = repository["repo"][:HEADER] + bytes(zstd.compress(bytes(100 << 20)))
    assert len(bomb) < 20_000
    with pytest.raises(zarr.errors.CorruptStoreError, match=r"config\.max_document_bytes=67108864"):
        IcechunkStore({**repository, "repo": bomb})
    # A frame that declares 2**60 bytes.
    frame = b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", 2**60) + b"\x01\x00\x00"
    with pytest.raises(zarr.errors.CorruptStoreError):
        IcechunkStore({**repository, "repo": repository["repo"][:HEADER] + frame})
    with (
        zarr.config.set(max_document_bytes=1000),
        pytest.raises(zarr.errors.CorruptStoreError, match="max_document_bytes=1000"),
    ):
        IcechunkStore(repository)


def test_an_exchanged_file_is_recognised() -> None:
    """Each has its identifier in it."""
    repository = files("v2")
    for folder, kind in (("snapshots", "snapshot"), ("manifests", "manifest")):
        names = [key for key in repository if key.startswith(folder)]
        turned = dict(zip(names, names[1:] + names[:1], strict=True))
        exchanged = {key: repository[turned.get(key, key)] for key in repository}
        with pytest.raises(zarr.errors.CorruptStoreError, match=f"that of another {kind}"):
            read_all(exchanged)


class Flat:
    """A flatbuffer whose offsets lead where the test wants."""

    def __init__(self) -> None:
        self.data = bytearray(4)
        self.links = [(0, "root")]
        self.places: dict[str, int] = {}

    def table(self, name: str, fields: dict[int, bytes | str]) -> None:
        """A table of fields by number: bytes of a struct or number, or the name of what follows."""
        offsets, body = [0] * (max(fields) + 1), bytearray(4)
        for number, value in fields.items():
            body += bytes(-len(body) % 8)
            offsets[number] = len(body)
            body += value if isinstance(value, bytes) else bytes(4)
        names = struct.pack(f"<HH{len(offsets)}H", 4 + 2 * len(offsets), len(body), *offsets)
        self.data += names + bytes(-len(names) % 8)
        at = self.places[name] = len(self.data)
        struct.pack_into("<i", body, 0, len(names) + -len(names) % 8)
        for number, value in fields.items():
            if isinstance(value, str):
                self.links.append((at + offsets[number], value))
        self.data += body

    def vector(self, name: str, elements: bytes | list[str], width: int = 1) -> None:
        self.data += bytes(-len(self.data) % 4)
        at = self.places[name] = len(self.data)
        if isinstance(elements, bytes):
            self.data += struct.pack("<I", len(elements) // width) + elements
            return
        self.data += struct.pack("<I", len(elements)) + bytes(4 * len(elements))
        self.links += [(at + 4 + 4 * index, one) for index, one in enumerate(elements)]

    def done(self) -> bytes:
        for at, name in self.links:
            struct.pack_into("<I", self.data, at, self.places[name] - at)
        return bytes(self.data)


ID, NODE = bytes(range(12)), bytes(8)
NAMED = "000G40R40M30E209185G"


def snapshot(nodes: list[str], path: bytes, shape: bytes = b"", manifests: int = 0) -> bytes:
    """A snapshot, of whose node there may be several references."""
    flat = Flat()
    flat.table("root", {0: ID, 2: "nodes", 4: "text", 5: "none", 6: "none"})
    flat.vector("nodes", nodes)
    fields: dict[int, bytes | str] = {0: NODE, 1: "path", 2: "document", 3: b"\2", 4: "group"}
    if manifests:
        fields |= {3: b"\1", 4: "array"}
    for name in dict.fromkeys(nodes):
        flat.table(name, fields)
    if manifests:
        flat.table("array", {0: "none", 2: "manifests", 3: "shape"})
        flat.vector("manifests", ["manifest"] * manifests)
        flat.table("manifest", {0: ID, 1: "extents"})
        flat.vector("extents", struct.pack("<II", 0, 2**32 - 1), 8)
        flat.vector("shape", ["dimension"])
        flat.table("dimension", {0: struct.pack("<Q", 9), 1: struct.pack("<I", 9)})
    flat.table("group", {0: b"\0"})
    flat.vector("path", path)
    flat.vector("document", b'{"zarr_format":3,"node_type":"group"}')
    flat.vector("text", b"")
    flat.vector("none", b"")
    return document(SNAPSHOT, flat.done())


def manifest(arrays: list[str], chunks: list[str], index: bytes) -> bytes:
    """A manifest, of whose arrays and chunks there may be several references."""
    flat = Flat()
    flat.table("root", {0: ID, 1: "arrays"})
    flat.vector("arrays", arrays)
    for number, name in enumerate(dict.fromkeys(arrays)):
        flat.table(name, {0: struct.pack("<Q", number), 1: "chunks"})
    flat.vector("chunks", chunks)
    names = list(dict.fromkeys(chunks))
    for name in names:
        flat.table(name, {0: f"index {name}", 1: "inline"})
    for number, name in enumerate(names):
        flat.vector(f"index {name}", index or struct.pack("<I", number), 4)
    flat.vector("inline", b"bytes")
    return document(MANIFEST, flat.done())


def opened(**repository: bytes) -> IcechunkStore:
    files = {f"{folder}/{NAMED}": file for folder, file in repository.items()}
    return IcechunkStore({"refs/branch.main/ref.json": b"{}", **files}, f"snapshot:{NAMED}")


ONE = ["chunk"]
NAMES = [str(number) for number in range(999)]
WHOLE = struct.pack("<I", 0)


def test_the_files_of_these_tests_can_be_read() -> None:
    store = opened(snapshots=snapshot(["a"], b"/"))
    assert list(store) == ["zarr.json"]
    assert zarr.open_group(store, mode="r").members() == ()
    inside = manifest(["0"], ONE, WHOLE)
    store = opened(snapshots=snapshot(["a"], b"/a", manifests=1), manifests=inside)
    assert (list(store), store["a/c/0"]) == (["a/c/0", "a/zarr.json"], b"bytes")


@pytest.mark.parametrize(
    ("told", "make"),
    [
        ("two nodes have the same path", lambda: snapshot(["a"] * 2_000_000, b"/a")),
        ("paths overlap", lambda: snapshot([f"{n}" for n in range(99)], b"/\0" + bytes(1 << 20))),
        ("a path does not begin with '/'", lambda: snapshot(["a"], b"a")),
        ("a path is not UTF-8", lambda: snapshot(["a"], b"/\xff")),
    ],
)
def test_references_to_one_node_cost_no_more_than_the_file(
    told: str, make: Callable[[], bytes]
) -> None:
    file = make()
    begun = time.monotonic()
    with pytest.raises(zarr.errors.CorruptStoreError, match=told):
        opened(snapshots=file)
    assert time.monotonic() - begun < 2


@pytest.mark.parametrize(
    ("told", "make"),
    [
        ("are not in order", lambda: manifest(["0"], ONE * 2_000_000, WHOLE)),
        ("its arrays overlap", lambda: manifest(NAMES, [f"c{name}" for name in NAMES], b"")),
        ("an array is in a manifest twice", lambda: manifest(["0"] * 2, ONE, WHOLE)),
        ("more than 64 axes", lambda: manifest(["0"], ONE, bytes(4 * 65))),
        ("another number of axes", lambda: manifest(["0"], ONE, bytes(8))),
    ],
)
def test_references_to_one_chunk_cost_no_more_than_the_file(
    told: str, make: Callable[[], bytes]
) -> None:
    node = snapshot(["a"], b"/a", manifests=1)
    store = opened(snapshots=node, manifests=make())
    begun = time.monotonic()
    with pytest.raises(zarr.errors.CorruptStoreError, match=told):
        list(store)
    assert time.monotonic() - begun < 2


def test_a_manifest_that_is_named_many_times_is_searched_in_bounded_time() -> None:
    node = snapshot(["a"], b"/a", manifests=1_000_000)
    store = opened(snapshots=node, manifests=manifest(["0"], ONE, WHOLE))
    begun = time.monotonic()
    assert store.get("a/c/5") is None
    assert time.monotonic() - begun < 5


def test_the_references_of_version_1_are_not_trusted() -> None:
    repository = files("v1")
    for bad in (b"", b"[]", b"{}", b'{"snapshot": 5}', b'{"snapshot": "../../x"}', b"[" * 100_000):
        with pytest.raises(zarr.errors.ZarrixError):
            IcechunkStore({**repository, "refs/branch.main/ref.json": bad})


def test_limits_leave_honest_repositories_alone() -> None:
    state = contents.states(moves=True)["tag:v1"]
    found = read_all(files("v2"))
    assert all(np.array_equal(found[path], state[path]) for path in found.keys() - {"keys"})
