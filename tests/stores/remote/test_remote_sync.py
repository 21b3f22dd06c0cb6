"""`sync_store` to and from S3: conditions, lost answers, requests, and servers that lie."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hierarchy.syncs import files, new_tree, settle
from servers.faulty import FaultyServer
from servers.liar import Liar
from zarrix._hierarchy import sync_moves
from zarrix._stores.open import as_store
from zarrix.errors import CopyError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(params=[2, 3])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    new_tree(zarr.DirectoryStore(tmp_path / "a.zarr"), request.param)
    settle(tmp_path / "a.zarr")
    return tmp_path / "a.zarr"


def stored(faulty: FaultyServer, prefix: str) -> dict[str, bytes]:
    start = f"{prefix}/"
    return {
        key.removeprefix(start): value
        for key, (value, _) in sorted(faulty.values.items())
        if key.startswith(start)
    }


def place(faulty: FaultyServer, name: str) -> Any:
    return as_store(f"{faulty.url}/{name}", faulty.options)


def test_a_bucket_follows_a_folder_and_back(
    faulty: FaultyServer, source: Path, tmp_path: Path
) -> None:
    zarr.sync_store(source, place(faulty, "b"))
    assert stored(faulty, "b") == files(source)
    zarr.open(source)["inner/t2m"][0, 0] = 5
    zarr.open(source)["time"].resize(3)
    zarr.open_group(source)["new"] = np.arange(3)
    counts = zarr.sync_store(source, place(faulty, "b"), delete=True)
    assert stored(faulty, "b") == files(source)
    assert counts.deleted == 1
    zarr.sync_store(place(faulty, "b"), tmp_path / "c")
    assert files(tmp_path / "c") == files(source)
    zarr.sync_store(place(faulty, "b"), place(faulty, "d"))
    assert stored(faulty, "d") == files(source)
    # ETags that are MD5 tell that both are equal, also without a ledger.
    os.remove(next((tmp_path / "cache" / "zarrix" / "sync").glob("*.ledger")))
    for one, other in ((source, place(faulty, "b")), (place(faulty, "b"), place(faulty, "d"))):
        assert zarr.sync_store(one, other).unchanged == len(files(source))


def test_requests_where_nothing_changed(faulty: FaultyServer, tmp_path: Path) -> None:
    store = zarr.DirectoryStore(tmp_path / "a")
    zarr.create_array(tmp_path / "a", shape=2100, chunks=1, dtype="i1")
    for number in range(2100):
        store[f"c/{number}"] = b"1"
    settle(tmp_path / "a")
    zarr.sync_store(store, place(faulty, "b"))
    faulty.requests.clear()
    assert zarr.sync_store(store, place(faulty, "b"), delete=True).unchanged == 2101
    # Three pages; and whether a node is there.
    assert len(faulty.requests) <= 3 + 6
    assert {method for method, _ in faulty.requests} == {"GET"}


def test_what_another_stores_meanwhile_is_kept(
    faulty: FaultyServer, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.sync_store(source, place(faulty, "b"))
    zarr.open(source)["inner/t2m"][...] = 2
    key = next(key for key in stored(faulty, "b") if "inner/t2m/" in key and key[-1].isdigit())
    whole = sync_moves.Mover._put

    def put(self: Any, at: str, *rest: Any) -> Any:
        if at == key:
            faulty.values[f"b/{key}"] = (b"of another", {})
        return whole(self, at, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(sync_moves.Mover, "_put", put)
        counts = zarr.sync_store(source, place(faulty, "b"))
    assert key in counts.kept
    assert stored(faulty, "b")[key] == b"of another"
    assert zarr.sync_store(source, place(faulty, "b")).is_complete
    assert stored(faulty, "b") == files(source)


@pytest.mark.parametrize("mode", ["answer to a put", "connection after a put", "500", "reset"])
def test_an_answer_that_is_lost_is_no_conflict(
    faulty: FaultyServer, source: Path, mode: str
) -> None:
    dest = place(faulty, "b")
    # Asked once, by puts of its own.
    assert dest._engine.keeps_conditions("key")
    faulty.mode, faulty.count, faulty.only = mode, 4, ("PUT",)
    assert zarr.sync_store(source, dest, workers=1).is_complete
    assert stored(faulty, "b") == files(source)


def test_a_bucket_of_another_with_its_own_values_is_not_emptied(
    faulty: FaultyServer, source: Path
) -> None:
    faulty.values["b/thesis.txt"] = (b"years", {})
    with pytest.raises(CopyError, match=r"thesis\.txt"):
        zarr.sync_store(source, place(faulty, "b"), delete=True)
    assert set(faulty.values) == {"b/thesis.txt"}


def _listed(key: str, size: int) -> bytes:
    return (
        f"<ListBucketResult><Contents><Key>p/{key}</Key><Size>{size}</Size><ETag>&quot;1&quot;</ETag>"
        "<LastModified>2026-11-21T12:00:00.000Z</LastModified></Contents></ListBucketResult>"
    ).encode()


def test_a_value_that_is_longer_than_its_listed_length_is_not_copied(tmp_path: Path) -> None:
    def answer(method: str, path: str, query: Any) -> tuple[int, bytes]:
        if "list-type" in query:
            return 200, _listed("c/0", 10)
        return (200, bytes(4 << 20)) if path.endswith("c/0") else (404, b"")

    with Liar(answer) as liar:
        url, options = liar.store_of("s3")
        counts = zarr.sync_store(as_store(url, options), tmp_path / "b")
    assert "longer than its 10 listed bytes" in counts.kept["c/0"]
    assert files(tmp_path / "b") == {}


@pytest.mark.parametrize("has_an_order", [True, False])
def test_a_listing_without_an_end_or_an_order_is_an_error(
    tmp_path: Path, has_an_order: bool
) -> None:
    asked: list[int] = []

    def answer(method: str, path: str, query: Any) -> tuple[int, bytes]:
        if "list-type" not in query:
            return 404, b""
        asked.append(1)
        key = f"c/{0 if has_an_order else 9 - len(asked)}"
        token = "again" if has_an_order else str(len(asked))
        more = f"<IsTruncated>true</IsTruncated><NextContinuationToken>{token}"
        end = f"{more}</NextContinuationToken></ListBucketResult>".encode()
        return 200, _listed(key, 1).replace(b"</ListBucketResult>", end)

    with Liar(answer) as liar:
        url, options = liar.store_of("s3")
        with pytest.raises((OSError, CopyError)):
            zarr.sync_store(as_store(url, options), tmp_path / "b")
    assert len(asked) < 20
