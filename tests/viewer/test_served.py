"""What `zarrix serve` gives out: documents and chunks of nodes, and nothing else of a folder."""

from __future__ import annotations

import json
import os
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.test_serve import Keys
from zarrix.viewer import _beneath
from zarrix.viewer._served import Served

SECRET = b"secret of another folder"

needs_links = pytest.mark.skipif(os.name == "nt", reason="links need a right on Windows")


def v2(separator: str) -> dict[str, Any]:
    return {"zarr_format": 2, "chunk_key_encoding": {"name": "v2", "separator": separator}}


def v3(name: str, separator: str) -> dict[str, Any]:
    return {"zarr_format": 3, "chunk_key_encoding": {"name": name, "separator": separator}}


SUFFIX = {"name": "suffix", "configuration": {"suffix": ".x/y.bin"}}
LAYOUTS: dict[str, dict[str, Any]] = {
    "v2 dots": v2("."),
    "v2 slashes": v2("/"),
    "v3 slashes": v3("default", "/"),
    "v3 dots": v3("default", "."),
    "v3 as v2": v3("v2", "."),
    "v3 suffix": {"zarr_format": 3, "chunk_key_encoding": SUFFIX},
    "shards": {"zarr_format": 3, "shards": (4, 6)},
    "rectilinear": {"zarr_format": 3, "chunks": [[1, 4, 3], [9]]},
    "rectilinear shards": {"zarr_format": 3, "chunks": (1, 3), "shards": [[1, 7], [6, 3]]},
}


def hierarchy(store: Any, layout: dict[str, Any]) -> zarr.Group:
    """Nested groups with arrays, one of which has no axes."""
    root = zarr.open_group(store, mode="w", zarr_format=layout["zarr_format"])
    root.attrs["site"] = "Kiel"
    for path in ("a", "in/deep/b"):
        given = {"chunks": (2, 3), **layout, "shape": (8, 9), "dtype": "i2"}
        z = zarr.create_array(store, name=path, **given)
        z[:] = np.arange(72).reshape(8, 9)
        z.attrs["unit"] = "K"
    zarr.create_array(store, name="in/one", **{**only_keys(layout), "shape": (), "dtype": "i2"})[
        ...
    ] = 7
    return zarr.open_group(store, mode="r")


def only_keys(layout: dict[str, Any]) -> dict[str, Any]:
    return {name: layout[name] for name in ("zarr_format", "chunk_key_encoding") if name in layout}


def stored(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("consolidated", [False, True])
def test_all_keys_of_zarr_are_served(tmp_path: Path, layout: str, consolidated: bool) -> None:
    root = hierarchy(str(tmp_path), LAYOUTS[layout])
    if consolidated:
        zarr.consolidate_metadata(str(tmp_path))
        root = zarr.open_consolidated(str(tmp_path), mode="r")
    files = stored(tmp_path)
    assert len(files) > 8
    for node, top in ((root, ""), (root["in"], "in/"), (root["in/deep/b"], "in/deep/b/")):
        client = Keys(node)
        for key, value in files.items():
            if key.startswith(top):
                found = client.get(f"/{key[len(top) :]}")
                assert (found.status, found.body) == (200, value), key


@pytest.mark.parametrize("layout", LAYOUTS)
def test_nothing_else_is_served(tmp_path: Path, layout: str) -> None:
    root = hierarchy(str(tmp_path), LAYOUTS[layout])
    foreign = [".git/config", "notes.txt", "a/notes.txt", "in/.env", "a/0.0.partial", "a/c.partial",
               "secret/.zattrs", "secret/.zmetadata", "secret/zarr.json", "a/c/secret/zarr.json",
               "a/8.0", "a/c/8/0", "a/0.00", "a/c/00/0", "a/+0.0", "a/0.0/0", "a/c/0", "a/0",
               "a/c/0/0/0", "a/\u0660.\u0660", "0.0", "c/0/0", "in/0.0", "a/0.0.bin",
               "a/C/0/0", "a/.Zarray",
               "in/one/1", "in/one/c/0", "a/-1.0", "a/0x0.0", "a/1e0.0", "a/.zarrix-job/job.json",
               "a/9999999999999999999999.0", "a/c/0/999999999999999999999"]  # fmt: skip
    served = stored(tmp_path)
    client = Keys(root)
    for key in foreign:
        path = tmp_path / key
        if key in served or any(parent.is_file() for parent in path.parents):
            continue
        if not path.is_dir():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(SECRET)
        for method in ("GET", "HEAD"):
            found = client.get(f"/{key}", method=method)
            assert (found.status, SECRET in found.body) == (404, False), key


@needs_links
@pytest.mark.parametrize("layout", ["v2 dots", "v2 slashes", "v3 slashes", "shards"])
def test_links_out_of_the_store_are_not_followed(tmp_path: Path, layout: str) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "data.zarr"
    root = hierarchy(str(inside), LAYOUTS[layout])
    hierarchy(str(outside), LAYOUTS[layout])
    keys = stored(outside)
    (inside / "all").symlink_to(outside)
    (inside / "near").symlink_to("../outside/a")
    (inside / "up").symlink_to("in/../../outside/a")
    (inside / "chain").symlink_to("near")
    (inside / "self").symlink_to("../data.zarr/a")
    client = Keys(root)
    names = [key.removeprefix("a/") for key in keys if key.startswith("a/")]
    asked = [f"all/{key}" for key in keys]
    asked += [f"{link}/{name}" for link in ("near", "up", "chain", "self") for name in names]
    # A document and a chunk that are links themselves.
    for name in names:
        (inside / "a" / name).unlink()
        (inside / "a" / name).symlink_to(outside / "a" / name)
    asked += [f"a/{name}" for name in names]
    assert len(asked) > 30
    for key in asked:
        assert (inside / key).is_file(), key
        for headers in ({}, {"range": "bytes=0-3"}):
            assert client.get(f"/{key}", headers=headers).status == 404, key
        assert client.get(f"/{key}", method="HEAD").status == 404, key


@needs_links
def test_links_within_the_store_are_followed(tmp_path: Path) -> None:
    root = hierarchy(str(tmp_path / "data.zarr"), LAYOUTS["v2 dots"])
    folder = tmp_path / "data.zarr"
    (folder / "same").symlink_to("in/deep")
    (folder / "in" / "there").symlink_to("./../in//deep/../../a")
    (folder / "twice").symlink_to("same/b/")
    (folder / "loop").symlink_to("loop")
    (tmp_path / "named").symlink_to("data.zarr")
    value = (folder / "a" / "0.0").read_bytes()
    for node in (root, zarr.open(str(tmp_path / "named"), mode="r")):
        client = Keys(node)
        for key in ("same/b/0.0", "in/there/0.0", "twice/0.0"):
            found = client.get(f"/{key}")
            assert (found.status, found.body) == (200, value), key
        assert client.get("/loop/0.0").status == 404
    # They lead out of the node that is served.
    assert Keys(root["in"]).get("/there/0.0").status == 404


@needs_links
@pytest.mark.parametrize("swapped", ["a", "a/0.0", ""])
def test_a_link_that_is_put_in_between_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swapped: str
) -> None:
    inside, outside = tmp_path / "data.zarr", tmp_path / "outside"
    root = hierarchy(str(inside), LAYOUTS["v2 dots"])
    hierarchy(str(outside), LAYOUTS["v2 dots"])
    (outside / "a" / "0.0").write_bytes(SECRET)
    client = Keys(root)
    before = _beneath._without_links

    def swap(top: str, names: Any) -> Any:
        # What another process does after the node was found.
        place = inside / swapped
        if not place.is_symlink():
            place.rename(tmp_path / "moved")
            place.symlink_to(outside / swapped)
        return before(top, names)

    monkeypatch.setattr(_beneath, "_without_links", swap)
    found = client.get("/a/0.0")
    assert (found.status, SECRET in found.body) == (404, False)


@needs_links
def test_pipes_folders_and_devices_are_no_values(tmp_path: Path) -> None:
    root = hierarchy(str(tmp_path), LAYOUTS["v2 dots"])
    for name in ("0.0", "1.0", "2.0"):
        (tmp_path / "a" / name).unlink()
    os.mkfifo(tmp_path / "a" / "0.0")
    (tmp_path / "a" / "1.0").mkdir()
    (tmp_path / "a" / "2.0").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "in" / ".zattrs.new")
    os.replace(tmp_path / "in" / ".zattrs.new", tmp_path / "in" / ".zattrs")
    for key in ("a/0.0", "a/1.0", "a/2.0", "in/.zattrs"):
        assert Keys(root).get(f"/{key}").status == 404, key


def test_arrays_that_only_other_viewers_can_decode_are_served() -> None:
    root = zarr.group(zarr_format=3)
    root.create_array("a", shape=(4,), chunks=(2,), dtype="u1")[:] = 1
    document = json.loads(bytes(root.store["a/zarr.json"]))
    document["codecs"] = [{"name": "of-another-program"}]
    document["data_type"] = {"name": "theirs"}
    root.store["a/zarr.json"] = json.dumps(document).encode()
    assert Keys(root).get("/a/c/1").body == bytes(root.store["a/c/1"])
    assert Keys(root).get("/a/c/2").status == 404


@pytest.mark.parametrize(
    "document", [b"", b"[]", b"{", b"null", b'{"shape": 1}', b"\xff", b"[" * 9**5]
)
def test_damaged_documents_are_no_errors_of_the_server(document: bytes) -> None:
    root = zarr.group(zarr_format=3)
    root.create_array("a", shape=(4,), chunks=(2,), dtype="u1")[:] = 1
    root.store["a/zarr.json"] = document
    assert Keys(root).get("/a/c/1").status == 404
    assert Keys(root).get("/zarr.json").status == 200


def test_chunks_of_another_store_and_members_of_an_archive(tmp_path: Path) -> None:
    documents, chunks = zarr.MemoryStore(), zarr.DirectoryStore(str(tmp_path / "chunks"))
    z = zarr.create((4,), chunks=(2,), dtype="u1", store=documents, chunk_store=chunks)
    z[:] = 3
    (tmp_path / "chunks" / ".zarray").write_bytes(SECRET)
    client = Keys(z)
    assert client.get("/.zarray").body == bytes(documents[".zarray"])
    assert client.get("/1").body == bytes(chunks["1"])
    with zarr.ZipStore(str(tmp_path / "a.zip"), mode="w") as store:
        zarr.group(store)["x"] = np.arange(9)
        store["other.txt"] = SECRET
    with zarr.ZipStore(str(tmp_path / "a.zip"), mode="r") as store:
        client = Keys(zarr.open(store, mode="r"))
        assert client.get("/x/0").body == bytes(store["x/0"])
        assert client.get("/other.txt").status == 404


def test_a_node_is_served_as_it_is_now(tmp_path: Path) -> None:
    root = zarr.open_group(str(tmp_path), mode="w", zarr_format=2)
    client = Keys(root)
    assert client.get("/a/0.0").status == 404
    zarr.create_array(str(tmp_path), name="a", shape=(4, 4), chunks=(2, 2), dtype="u1",
                      **v2("."))[:] = 1  # fmt: skip
    assert client.get("/a/0.0").status == 200
    zarr.create_array(str(tmp_path), name="a", shape=(4, 4), chunks=(2, 2), dtype="u1",
                      overwrite=True, **v2("/"))[:] = 1  # fmt: skip
    assert (client.get("/a/0.0").status, client.get("/a/0/0").status) == (404, 200)
    del root["a"]
    assert client.get("/a/0/0").status == 404


def test_a_value_that_is_replaced_while_it_is_sent_is_the_old_one(tmp_path: Path) -> None:
    z = zarr.create(shape=(3 * 2**20,), chunks=(3 * 2**20,), dtype="u1", compressor=None,
                    store=str(tmp_path), mode="w")  # fmt: skip
    z[:] = 1
    value = Served(z).find("0")
    first = value.read(0, 2**20)
    z[:] = 2
    assert (first + value.read(2**20, value.size)) == b"\1" * (3 * 2**20)
    value.close()
    assert value.read(0, 9) == b""


def test_a_value_that_shrinks_is_broken_off() -> None:
    class Shrinking(dict):  # type: ignore[type-arg]
        def __getitem__(self, key: str) -> Any:
            value = super().__getitem__(key)
            return value[: len(value) // 2] if key == "0" and self.asked(key) > 1 else value

        def asked(self, key: str) -> int:
            self.count = getattr(self, "count", 0) + 1
            return self.count

    store = Shrinking()
    z = zarr.create(shape=(10**7,), chunks=(10**7,), dtype="u1", compressor=None, store=store)
    z[:] = 1
    found = Keys(z).get("/0")
    assert int(found.headers["content-length"]) == 10**7
    assert len(found.body) < 10**7


def test_a_large_value_takes_the_memory_of_a_window(tmp_path: Path) -> None:
    size = 2**28
    z = zarr.create(shape=(size,), chunks=(size,), dtype="u1", compressor=None, store=str(tmp_path))
    with open(tmp_path / "0", "wb") as file:
        file.truncate(size)

    client, received = Keys(z), 0
    application = client.application

    async def counted(scope: Any, receive: Any, send: Any) -> None:
        async def count(message: Any) -> None:
            nonlocal received
            received += len(message.get("body", b""))
            await send({**message, "body": b""})

        await application(scope, receive, count)

    client.application = counted
    tracemalloc.start()
    try:
        assert client.get("/0").status == 200
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert received == size
    assert peak < 2**24


@pytest.fixture
def chunk(tmp_path: Path) -> tuple[Keys, str]:
    z = zarr.create(shape=(9,), chunks=(9,), dtype="u1", compressor=None, store=str(tmp_path))
    z[:] = np.arange(9)
    client = Keys(z)
    return client, client.get("/0").headers["etag"]


def test_conditions_tell_versions_apart(chunk: tuple[Keys, str], tmp_path: Path) -> None:
    client, tag = chunk
    same = client.get("/0", headers={"if-none-match": tag})
    assert (same.status, same.body, same.headers["etag"]) == (304, b"", tag)
    ranged = {"range": "bytes=2-3", "if-range": tag}
    assert client.get("/0", headers=ranged).status == 206
    zarr.open(str(tmp_path), mode="r+")[:] = 8
    assert client.get("/0", headers={"if-none-match": tag}).body == b"\x08" * 9
    found = client.get("/0", headers=ranged)
    assert (found.status, found.body) == (200, b"\x08" * 9)


@pytest.mark.parametrize(
    "header",
    ["bytes=" + "0-0," * 5000 + "1-1", "bytes=-0", "bytes=9-", "bytes=99999999999999999999-",
     "bytes=0-0,2-2", "bytes=--1", "bytes=+1-2", "bytes=\u0660-\u0663", "bytes= 0-1", "bytes=0x1-2",
     "BYTES", "bytes=", "bytes=1-0", "=0-1"],
)  # fmt: skip
def test_false_ranges_name_the_size(chunk: tuple[Keys, str], header: str) -> None:
    found = chunk[0].get("/0", headers={"range": header})
    assert (found.status, found.headers["content-range"]) == (416, "bytes */9")


def test_a_long_range_and_a_long_end_are_cut(chunk: tuple[Keys, str]) -> None:
    client = chunk[0]
    for header, length in (("bytes=0-99999999999999999999", 9), ("bytes=-99999999999999999999", 9)):
        assert len(client.get("/0", headers={"range": header}).body) == length


@pytest.mark.parametrize(
    "headers",
    [{"origin": "https://evil.example"}, {"origin": "null"}, {"origin": "http://["},
     {"origin": ""}, {"origin": "https://neuroglancer-demo.appspot.com.evil.example"},
     {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}],
)  # fmt: skip
def test_only_the_named_sites_may_read(chunk: tuple[Keys, str], headers: dict[str, str]) -> None:
    named = Keys(zarr.array([1]), "https://neuroglancer-demo.appspot.com")
    for target in ("/0", "/none"):
        found = named.get(target, headers=headers)
        assert found.status == 403
        assert not [name for name in found.headers if name.startswith("access-control")]
        assert found.headers["cross-origin-resource-policy"] == "same-origin"
    # A program other than a page sends no origin.
    plain = named.get("/0")
    assert plain.status == 200
    assert not [name for name in plain.headers if name.startswith("access-control")]
    everybody = Keys(zarr.array([1]), "*").get("/0", headers={"origin": "https://evil.example"})
    assert everybody.headers["access-control-allow-origin"] == "*"
