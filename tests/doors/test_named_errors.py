"""For any damage in any store, the error names the array, the store and the key."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix.errors import CodecError, MetadataError, ZarrixError

# Each makes a store in a folder, or the same one again; what it is called in messages.
STORES: dict[str, tuple[Callable[[Path, dict[str, bytes]], Any], Callable[[Path], str]]] = {
    "directory": (
        lambda folder, _: storage.DirectoryStore(folder / "d.zarr"),
        lambda folder: str(folder / "d.zarr"),
    ),
    "nested": (
        lambda folder, _: storage.NestedDirectoryStore(folder / "n.zarr"),
        lambda folder: str(folder / "n.zarr"),
    ),
    "mapping": (lambda _, mapping: storage.KVStore(mapping), lambda _: "KVStore"),
    "database": (
        lambda folder, _: storage.SQLiteStore(folder / "x.sqlite"),
        lambda folder: str(folder / "x.sqlite"),
    ),
    "fsspec": (
        lambda folder, _: storage.FSStore(f"file://{folder}/fs"),
        lambda folder: str(folder / "fs"),
    ),
    "cache": (
        lambda folder, _: storage.LRUStoreCache(storage.DirectoryStore(folder / "c.zarr"), None),
        lambda _: "LRUStoreCache",
    ),
}

ON_CHUNKS: dict[str, Callable[[zarr.Array], Any]] = {
    "read": lambda z: z[...],
    "read an element": lambda z: z[1],
    "read into a buffer": lambda z: z.read(out=np.empty(z.shape, z.dtype)),
    "read by integers": lambda z: z.oindex[[1, 2]],
    "read by coordinates": lambda z: z.vindex[[1, 2]],
    "read windows": lambda z: z.read_windows([0], 2),
    "read a view": lambda z: z.lazy[0:3].result(),
    "read as another type": lambda z: z.astype("f8")[...],
    "iterate": list,
    "write a part": lambda z: z.__setitem__(slice(0, 1), 5),
    "write coordinates": lambda z: z.vindex.__setitem__([0], 5),
    "append": lambda z: z.append([1, 2]),
    "copy": lambda z: zarr.copy(z, zarr.group(), name="x"),
    "copy by array()": zarr.array,
    "save": lambda z: zarr.save({}, z),
}

ON_DOCUMENTS: dict[str, Callable[[Any], Any]] = {
    "open the array": lambda store: zarr.open_array(store, path="g/a", mode="r"),
    "open the member": lambda store: zarr.open_group(store, mode="r")["g/a"],
    "migrate": lambda store: zarr.migrate(store, to=2 if "zarr.json" in store else 3),
}

ON_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "read": lambda store: dict(zarr.open_array(store, path="g/a", mode="r").attrs),
    "set": lambda store: zarr.open_array(store, path="g/a", mode="r+").attrs.update(x=1),
    "consolidate": zarr.consolidate_metadata,
    "migrate": lambda store: zarr.migrate(store, to=3),
}


@pytest.fixture(params=STORES)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, str]]:
    """What opens a store anew, and what messages call it."""
    if request.param == "fsspec" and importlib.util.find_spec("fsspec") is None:
        pytest.skip("needs fsspec")
    make, name = STORES[request.param]
    mapping: dict[str, bytes] = {}
    return lambda: make(tmp_path, mapping), name(tmp_path)


def filled(store: Any, zarr_format: int, sharded: bool = False) -> None:
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format)
    shards: dict[str, Any] = {"shards": 8} if sharded else {}
    z = root.create_group("g").create_array("a", shape=21, chunks=4, dtype="i4", **shards)
    z[...] = np.arange(21)
    z.attrs["unit"] = "mm"


def chunk_keys(store: Any) -> list[str]:
    documents = (".zarray", ".zattrs", ".zgroup", "zarr.json")
    return [key for key in store if key.startswith("g/a/") and not key.endswith(documents)]


def assert_named(error: BaseException, *names: str) -> None:
    assert [name for name in names if name not in str(error)] == [], str(error)


@pytest.mark.parametrize("layout", ["2", "3", "shards", "index"])
def test_a_damaged_chunk_is_named_by_every_operation(place: tuple[Any, str], layout: str) -> None:
    again, name = place
    store = again()
    filled(store, 2 if layout == "2" else 3, sharded=layout in ("shards", "index"))
    for key in chunk_keys(store):
        value = bytes(store[key])
        if layout == "index":
            store[key] = value[:-3] + b"xyz"
        elif layout == "shards":
            store[key] = b"\xff" * 40 + value[40:]
        else:
            store[key] = b"broken"
    for operation, call in ON_CHUNKS.items():
        z = zarr.open_array(again(), path="g/a", mode="r+")
        with pytest.raises(ZarrixError) as caught:
            call(z)
        assert_named(caught.value, name, "g/a")
        assert any(key in str(caught.value) for key in chunk_keys(store)), operation


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("document", [b"{", b"[]", b'{"zarr_format": 9}', b"\xff"])
def test_a_damaged_document_is_named_by_every_operation(
    place: tuple[Any, str], zarr_format: int, document: bytes
) -> None:
    again, name = place
    key = "g/a/.zarray" if zarr_format == 2 else "g/a/zarr.json"
    # A store without a path has no name to begin a key with.
    names = (f"{name}/{key}",) if name.startswith("/") else (key,)
    for call in ON_DOCUMENTS.values():
        store = again()
        filled(store, zarr_format)
        store[key] = document
        with pytest.raises(ZarrixError) as caught:
            call(again())
        assert_named(caught.value, *names)


def test_damaged_attributes_are_named_by_every_operation(place: tuple[Any, str]) -> None:
    again, name = place
    key = "g/a/.zattrs"
    names = (f"{name}/{key}",) if name.startswith("/") else (key,)
    for call in ON_ATTRIBUTES.values():
        store = again()
        filled(store, 2)
        store[key] = b"{"
        with pytest.raises(MetadataError) as caught:
            call(again())
        assert_named(caught.value, *names)


@pytest.mark.parametrize(("zarr_format", "key"), [(2, ".zmetadata"), (3, "zarr.json")])
def test_damaged_consolidated_metadata_are_named(
    place: tuple[Any, str], zarr_format: int, key: str
) -> None:
    again, name = place
    store = again()
    filled(store, zarr_format)
    zarr.consolidate_metadata(store)
    store[key] = b"{"
    with pytest.raises(MetadataError) as caught:
        zarr.open_consolidated(again())
    assert_named(caught.value, f"{name}/{key}" if name.startswith("/") else key)


@pytest.mark.parametrize("part", [slice(None), slice(0, 1)])
def test_a_codec_that_fails_is_named_and_nothing_is_said_to_be_corrupt(
    place: tuple[Any, str], part: slice
) -> None:
    again, name = place
    root = zarr.open_group(again(), mode="w")
    z = root.create_dataset("g/a", shape=8, chunks=4, dtype="i4", compressor=Failing())
    with pytest.raises(CodecError) as caught:
        z[part] = 5
    assert_named(caught.value, name, "g/a", "no power")


class Failing:
    """A codec in the registry of numcodecs that decodes, and fails to encode."""

    codec_id = "zarrix-test-failing"

    @classmethod
    def from_config(cls, config: Any) -> Any:
        return cls()

    def encode(self, value: Any) -> Any:
        raise ValueError("no power")

    def decode(self, value: Any, out: Any = None) -> Any:
        return np.zeros(4, "i4")

    def get_config(self) -> Any:
        return {"id": self.codec_id}


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    from numcodecs.registry import codec_registry

    monkeypatch.setitem(codec_registry, Failing.codec_id, Failing)


def test_no_name_shows_a_password() -> None:
    """Only the public part of a URL with credentials is shown."""
    from zarrix._nodes import nodes
    from zarrix._stores.open import as_store

    for address in ("https://user:SEKRET@127.0.0.1:9/x.zarr?sig=SEKRET", "https://h/x?sig=SEKRET"):
        store = as_store(address)
        for text in (nodes.describe(store, "g/a"), nodes.place(store, "g/a/zarr.json")):
            assert "SEKRET" not in text


@pytest.mark.parametrize("stored", [2, 3])
def test_a_node_of_the_other_format_is_named_where_one_is_asked_for(stored: int) -> None:
    asked = 5 - stored
    array: dict[str, bytes] = {}
    group: dict[str, bytes] = {}
    zarr.create(3, store=array, zarr_format=stored)
    zarr.open_group(group, mode="w", zarr_format=stored)
    way_out = rf"leave out zarr_format={asked}, or .*migrate\(store, to={asked}"
    for call, place, what in (
        (zarr.open, array, "array"),
        (zarr.open, group, "group"),
        (zarr.open_array, array, "array"),
        (zarr.open_group, group, "group"),
    ):
        found = f"there is a v{stored} {what}: {way_out}"
        with pytest.raises(zarr.errors.PathNotFoundError, match=found):
            call(place, mode="r", zarr_format=asked)


def test_a_view_of_another_dtype_says_how_it_is_written() -> None:
    with pytest.raises(TypeError, match=r"view\(dtype='u8'\)"):
        zarr.zeros(3).view("u8")


def test_creating_pickles_says_what_to_pass() -> None:
    codec = {"id": "pickle"}
    with pytest.raises(MetadataError, match="pass allow_pickle=True to create the array"):
        zarr.create(3, dtype=object, object_codec=codec, store={})
    made = zarr.create(3, dtype=object, object_codec=codec, store={}, allow_pickle=True)
    assert made.shape == (3,)
