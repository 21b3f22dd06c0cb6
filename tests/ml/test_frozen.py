"""`frozen=True`: a promise that nothing changes, for which caches are used without requests."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix import ml

VALUES = np.arange(60 * 8).reshape(60, 8)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyServer]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with FaultyServer() as server:
        yield server


def stored(server: FaultyServer, tmp_path: Path, **layout: Any) -> Any:
    z = zarr.create_array(
        "s3://bucket/x", shape=VALUES.shape, dtype="i4", storage_options=server.options, **layout
    )
    z[:] = VALUES
    options = {**server.options, "cache": tmp_path / "cache"}
    return zarr.open_array("s3://bucket/x", mode="r", storage_options=options)


def epoch(loader: ml.Loader) -> None:
    seen = []
    for batch in loader:
        assert np.array_equal(batch["x"], VALUES[batch["item"]])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(60))


@pytest.mark.parametrize("shuffle", ["full", "block"])
@pytest.mark.parametrize(
    "layout", [{"chunks": (4, 8)}, {"chunks": (4, 4), "shards": (12, 8)}], ids=["chunks", "shards"]
)
def test_the_second_epoch_sends_no_request(
    server: FaultyServer, tmp_path: Path, layout: dict[str, Any], shuffle: str
) -> None:
    z = stored(server, tmp_path, **layout)
    loader = ml.Loader(ml.Rows({"x": z}), 8, shuffle=shuffle, frozen=True, seed=1)
    epoch(loader)
    server.requests.clear()
    epoch(loader)
    asked = list(server.requests)
    if layout == {"chunks": (4, 8)} or shuffle == "block":
        assert asked == []
    # Other ranges of a shard than before are new requests, each sent once.
    for _ in range(12):
        epoch(loader)
    server.requests.clear()
    epoch(loader)
    assert len(server.requests) <= len(asked)
    # Without the promise, each use is a request.
    asking = ml.Loader(ml.Rows({"x": z}), 8, shuffle="block", seed=1)
    epoch(asking)
    server.requests.clear()
    epoch(asking)
    assert len(server.requests) >= 5
    assert loader.stats().frozen
    assert "frozen" in str(loader.stats())
    assert not asking.stats().frozen


def test_what_another_run_cached_is_validated_once(server: FaultyServer, tmp_path: Path) -> None:
    """The promise is about this run; the cache may be older."""
    z = stored(server, tmp_path, chunks=(4, 8))
    epoch(ml.Loader(ml.Rows({"x": z}), 8))
    changed = VALUES + 1
    zarr.open_array("s3://bucket/x", storage_options=server.options)[:] = changed
    loader = ml.Loader(ml.Rows({"x": z}), 60, frozen=True)
    batch = next(iter(loader))
    assert np.array_equal(batch["x"], changed[batch["item"]])


@pytest.mark.parametrize("on_disk", [True, False])
def test_chunks_in_memory_and_missing_ones_are_not_asked_for(
    server: FaultyServer, tmp_path: Path, on_disk: bool
) -> None:
    """A chunk in memory needs no cache on disk; missing ones need it for the document alone."""
    options = {**server.options, **({"cache": tmp_path / "cache"} if on_disk else {})}
    z = zarr.create_array(
        "s3://bucket/x", shape=(64, 8), chunks=(4, 8), dtype="i4", storage_options=server.options
    )
    z[: 32 if on_disk else 64] = 7
    rows = ml.Rows({"x": zarr.open_array("s3://bucket/x", "r", storage_options=options)})
    before = zarr.config.chunk_cache_bytes
    zarr.config.chunk_cache_bytes = 0 if on_disk else 2**20
    try:
        loader = ml.Loader(rows, 8, frozen=True)
        for _ in range(2):
            server.requests.clear()
            for batch in loader:
                wanted = np.where(batch["item"] < (32 if on_disk else 64), 7, 0)
                assert np.array_equal(batch["x"][:, 0], wanted)
        assert server.requests == []
    finally:
        zarr.config.chunk_cache_bytes = before


def test_a_frozen_store_is_read_only_and_pickles(server: FaultyServer, tmp_path: Path) -> None:
    z = stored(server, tmp_path, chunks=(4, 8))
    frozen = z.store.as_frozen()
    assert frozen.read_only
    assert frozen != z.store
    with pytest.raises(zarr.errors.ReadOnlyError):
        frozen["x/a"] = b"1"
    other = zarr.storage.RemoteStore("s3://bucket", {**server.options, "frozen": True})
    with pytest.raises(zarr.errors.ReadOnlyError):
        other["x/a"] = b"1"
    with pytest.raises(ValueError, match="frozen must be True or False"):
        zarr.storage.RemoteStore("s3://bucket", {**server.options, "frozen": "yes"})
    assert zarr.storage.RemoteStore("s3://bucket", {**server.options, "frozen": False})
    loader = ml.Loader(ml.Rows({"x": z}), 8, frozen=True)
    assert pickle.loads(pickle.dumps(loader)).frozen


def test_parts_and_mixtures_are_frozen_too(server: FaultyServer, tmp_path: Path) -> None:
    z = stored(server, tmp_path, chunks=(4, 8))
    train, _ = ml.Rows({"x": z}).split({"train": 0.5, "val": 0.5})
    mix = ml.Mix({"a": train, "b": ml.Rows({"x": VALUES.astype("i4")})})
    loader = ml.Loader(mix, 6, frozen=True)
    for _ in range(2):
        server.requests.clear()
        for batch in loader:
            items = np.where(batch["source"] == 0, batch["item"], batch["item"] - 30)
            assert np.array_equal(batch["x"], VALUES[items])
    assert server.requests == []


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_loader_of_many_fields_asks_for_nothing_but_chunks(
    server: FaultyServer, zarr_format: Any
) -> None:
    """Behind a slow connection, a request for each field in turn delayed the first batch."""
    root = zarr.open_group(
        "s3://bucket/g", mode="w", zarr_format=zarr_format, storage_options=server.options
    )
    for name in "abcd":
        root.create_array(name, data=VALUES, chunks=(60, 8))
        root[name].attrs["units"] = "K"
    root = zarr.open_group("s3://bucket/g", mode="r", storage_options=server.options)
    rows = ml.Rows({name: root[name] for name in "abcd"})
    server.requests.clear()
    loader = ml.Loader(rows, 60, shuffle="full", frozen=True)
    loader.plan()
    assert server.requests == []
    batch = next(iter(loader))
    assert all(np.array_equal(batch[name], VALUES[batch["item"]]) for name in "abcd")
    chunk = "0.0" if zarr_format == 2 else "c/0/0"
    assert sorted(server.requests) == [("GET", f"g/{name}/{chunk}") for name in "abcd"]


def test_chunks_in_a_store_of_their_own_are_frozen_there(server: FaultyServer) -> None:
    documents = zarr.storage.RemoteStore("s3://bucket/documents", server.options)
    chunks = zarr.storage.RemoteStore("s3://bucket/chunks", server.options)
    z = zarr.open_array(documents, mode="w", shape=(60, 8), chunks=(4, 8), chunk_store=chunks)
    z[:] = VALUES
    for store in (documents, {".zarray": documents[".zarray"]}):
        there = zarr.open_array(store, mode="r", chunk_store=chunks)
        epoch(ml.Loader(ml.Rows({"x": there}), 8, frozen=True))
