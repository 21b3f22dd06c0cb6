"""Versions of hierarchies in buckets that keep versions of objects."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers import Running, s3_client
from servers.versioned import VersionedServer
from versions.objects import InBucket, table
from zarrix._errors import (
    ReadOnlyError,
    StoreBusyError,
    VersionExistsError,
    VersionLostError,
    VersionNotFoundError,
)
from zarrix.cli import main
from zarrix.versions import _objects, _old_pages


@pytest.fixture
def server() -> Iterator[VersionedServer]:
    with VersionedServer() as server:
        yield server


@pytest.fixture
def at(server: VersionedServer) -> InBucket:
    return InBucket(f"{server.url}/a/x.zarr", server.options)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_version_is_what_was_stored_whatever_comes_later(at: InBucket, zarr_format: int) -> None:
    root = at.make(zarr_format)
    version = at.snapshot("v1", message="before")
    assert (version.how, version.message, version.zarr_format) == ("objects", "before", zarr_format)
    root["t"][1] = -1
    root["t"].resize(2, 6)
    root["g/one"][0] = 9
    del root["g/s"]
    at.require("v1")
    root["t"].attrs["a"] = 1
    at.snapshot("v2")
    zarr.open_group(at.url, mode="w", storage_options=at.options)
    at.require("v1")
    assert at.open("v2")["t"].shape == (2, 6)
    assert [one.name for one in at.history] == ["v1", "v2"]
    assert at.open("v1", path="t")[3, 5] == 24


def test_moto_has_the_same_bytes_under_the_names_of_the_rows(
    serve: Callable[[str], Running], tmp_path: Path
) -> None:
    found = serve("moto")
    bucket, client = "zarrix-versioned", s3_client(found)
    client.create_bucket(Bucket=bucket)
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    at = InBucket(f"s3://{bucket}/x.zarr", found.options)
    root = at.make()
    stored = {key: root.store[key] for key in root.store}
    version = at.snapshot("v1")
    assert version.keys == len(stored)
    root["t"][:] = 0
    del root["g"]
    at.require("v1")
    rows = _objects.PageReader(at.history._home.versions, version.pages)(0)
    for key, size, _, name in rows:
        own = client.get_object(Bucket=bucket, Key=f"x.zarr/{key}", VersionId=name)
        assert own["Body"].read() == stored[key]
        assert size == len(stored[key])
    assert at.history.verify().ok
    zarr.copy_store(at.open("v1").store, zarr.DirectoryStore(tmp_path / "copy"))
    np.testing.assert_array_equal(zarr.open(str(tmp_path / "copy"))["t"][:], table())
    name = next(name for key, _, _, name in rows if key == "t/c/0/0")
    client.delete_object(Bucket=bucket, Key="x.zarr/t/c/0/0", VersionId=name)
    with pytest.raises(VersionLostError, match="t/c/0/0"):
        at.open("v1")["t"][0]
    assert [*map(str, at.history.verify().problems)] == ["v1: lost t/c/0/0"]
    client.close()


@pytest.mark.parametrize("separator", ["/", "."])
@pytest.mark.parametrize("name", ["default", "v2"])
def test_every_spelling_of_keys_is_read_and_listed(at: InBucket, name: str, separator: str) -> None:
    root = at.make()
    encoding = {"name": name, "separator": separator}
    for path, shape in (("k", (3, 11)), ("l", (12,)), ("m", ())):
        chunks = tuple(1 for _ in shape)
        made = root.create_array(
            path, shape=shape, chunks=chunks, dtype="i4", chunk_key_encoding=encoding
        )
        made[...] = np.arange(1, made.size + 1).reshape(shape)
    stored = {key: root.store[key] for key in root.store}
    # What no document names is not a part of the version.
    other = "k/c.0.0" if (name, separator) != ("default", ".") else "k/0.0"
    root.store[other] = b"of another key space"
    version = at.snapshot("v1")
    for path in "klm":
        root[path][...] = 0
    old = at.open("v1")
    for path, size in (("k", 33), ("l", 12), ("m", 1)):
        assert [*old[path][...].ravel()] == [*range(1, size + 1)]
    assert sorted(old.store) == sorted(stored)
    assert old.store.getitems([*stored]) == stored
    assert other not in old.store
    listed = [row.key for page in old.store.list_pages() for row in page]
    assert listed == sorted(stored)
    half = listed[len(listed) // 2]
    behind = [row.key for page in old.store.list_pages(after=half) for row in page]
    assert behind == [key for key in listed if key > half]
    for path in ("", "k", "l", "m", "g", "k/c", "k/1"):
        start = f"{path}/" if path else ""
        names = {key[len(start) :].partition("/")[0] for key in stored if key.startswith(start)}
        assert old.store.listdir(path) == sorted(names), path
    page = _objects.PageReader(at.history._home.versions, version.pages)(0)
    assert {"k/c/0/10", "l/c/11", "m/c"} <= {row[0] for row in page}


def test_a_version_is_read_only_and_pickled_by_its_name(at: InBucket) -> None:
    at.make()
    at.snapshot("v1")
    old = at.open("v1")
    with pytest.raises(ReadOnlyError):
        old["t"][0] = 1
    with pytest.raises(ReadOnlyError, match="versions are read-only"):
        old.store["t/c/0/0"] = b""
    assert repr(old.store) == "<zarrix.storage.RemoteStore 's3://bucket/a/x.zarr@v1'>"
    # Secrets are not pickled, so that here the store of the pages has none to give.
    assert b"faulty-secret" not in pickle.dumps(old.store)


def test_diff_names_what_differs_and_reads_shared_pages_of_none(
    at: InBucket, server: VersionedServer
) -> None:
    root = at.make()
    at.snapshot("v1")
    root["t"][1, :2] = -1
    root["g/one"].append([4])
    at.snapshot("v2")
    del root["g/s"]
    d = at.history.diff("v1", "v2")
    assert d.added == ["g/one/c/3"]
    assert d.changed == ["g/one/zarr.json", "t/c/1/0"]
    assert d.regions("t") == [(slice(1, 2), slice(0, 2))]
    assert at.history.diff("v2").removed == ["g/s/c", "g/s/zarr.json"]
    server.requests.clear()
    assert not at.history.diff("v2", "v2")
    assert not [key for _, key in server.requests if "/pages/" in key]


def test_pages_that_no_version_names_are_removed_after_a_day(
    at: InBucket, server: VersionedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = at.make()
    at.snapshot("v1")
    root["t"][0] = 0
    at.snapshot("v2")
    pages = [key for key in server.values if "/pages/" in key]
    assert len(pages) == 2
    at.history.delete("v1")
    at.history.verify(clean=True)
    at.history.verify(clean=True)
    assert [key for key in server.values if "/pages/" in key] == pages

    class Tomorrow(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> datetime:
            return datetime.now(tz) + timedelta(days=1, seconds=5)

    monkeypatch.setattr(_old_pages, "datetime", Tomorrow)
    removed = at.history.verify(clean=True).removed
    assert len(removed) == 1
    assert len([key for key in server.values if "/pages/" in key]) == 1
    assert "unnamed" not in json.loads(server.values["a/x.zarr.versions/versions.json"][0])
    assert at.history.verify().ok
    assert at.open("v2")["t"][0, 0] == 0


def test_a_version_takes_itself_back_when_a_shared_page_has_gone_meanwhile(
    at: InBucket, server: VersionedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    at.make()
    at.snapshot("v1")
    create = _objects.create_version

    def removing(store: Any, version: Any) -> bool:
        for key in [*store]:
            if key.startswith("pages/"):
                del store[key]
        return create(store, version)

    monkeypatch.setattr(_objects, "create_version", removing)
    with pytest.raises(StoreBusyError, match="make the version again"):
        at.snapshot("v2")
    assert [one.name for one in at.history] == ["v1"]
    monkeypatch.undo()
    at.snapshot("v2")
    at.require("v2")
    at.require("v1")


def test_rules_for_names_and_places_are_those_of_folders(
    at: InBucket, server: VersionedServer
) -> None:
    at.make()
    at.snapshot("v1")
    with pytest.raises(VersionExistsError, match="already"):
        at.snapshot("V1")
    with pytest.raises(VersionNotFoundError, match="v1"):
        at.open("v3")
    inside = InBucket(f"{at.url}/g", at.options)
    # A group in a hierarchy is one of its own by its URL; the path of a node in it is not.
    with pytest.raises(ValueError, match="inside of one"):
        zarr.snapshot(zarr.open(at.url, storage_options=at.options)["g"], "v2")
    inside.snapshot("v2")
    assert [*inside.open("v2")["one"][:]] == [1, 2, 3]
    with pytest.raises(ValueError, match="has no place beside it"):
        zarr.Versions(server.url, storage_options=server.options)
    for options in ({"how": "link"}, {"digests": True}, {"quiesce": True}):
        with pytest.raises(ValueError, match="for folders"):
            at.snapshot("v4", **options)


def test_versions_may_be_kept_in_a_folder(at: InBucket, tmp_path: Path) -> None:
    root = at.make()
    folder = str(tmp_path / "kept")
    at.snapshot("v1", versions=folder)
    root["t"][:] = 0
    history = zarr.Versions(at.url, versions=folder, storage_options=at.options)
    assert history.verify().ok
    np.testing.assert_array_equal(history.open("v1")["t"][:], table())


def test_expire_and_the_command_line(
    at: InBucket, server: VersionedServer, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    root = at.make()
    option = [word for name in at.options for word in ("-o", f"{name}={at.options[name]}")]
    assert main(["snapshot", at.url, "v1", "-m", "first", *option]) == 0
    root["t"][0, 0] = -1
    at.snapshot("v2")
    capsys.readouterr()
    assert main(["versions", at.url, "--json", *option]) == 0
    assert [one["name"] for one in json.loads(capsys.readouterr().out)["versions"]] == ["v1", "v2"]
    assert main(["versions", at.url, "--verify", *option]) == 0
    copy = str(tmp_path / "copy")
    assert main(["cp", f"{at.url}@v1", copy, *option]) == 0
    np.testing.assert_array_equal(zarr.open(copy)["t"][:], table())
    assert main(["diff", f"{at.url}@v1", at.url, *option]) == 3
    assert main(["diff", f"{at.url}@v1", copy, *option]) == 0
    assert main(["versions", at.url, "--expire", "keep_last=1", *option]) == 0
    assert [one.name for one in at.history] == ["v2"]


def test_a_commit_that_is_open_is_waited_for(at: InBucket, monkeypatch: pytest.MonkeyPatch) -> None:
    at.make()
    with zarr.commit(at.url, storage_options=at.options) as new:
        new.attrs["a"] = 1
        waited: list[float] = []

        def end(seconds: float) -> None:
            waited.append(seconds)
            raise InterruptedError

        monkeypatch.setattr(_objects.time, "sleep", end)
        with pytest.raises(InterruptedError):
            at.snapshot("v1")
        monkeypatch.undo()
    assert waited
    at.snapshot("v1")
    assert at.open("v1").attrs["a"] == 1


def test_documents_that_change_while_the_bucket_is_listed_are_listed_again(
    at: InBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = at.make()
    listed, left = _objects.listed_pages, [2]

    def changing(home: Any, spaces: Any) -> Any:
        yield from listed(home, spaces)
        if left[0]:
            left[0] -= 1
            root["t"].append(np.full((1, 6), 7))

    monkeypatch.setattr(_objects, "listed_pages", changing)
    at.snapshot("v1")
    old = at.open("v1")["t"]
    assert old.shape == (6, 6)
    assert (old[4:] == 7).all()
    left[0] = 3
    with pytest.raises(StoreBusyError, match="3 times"):
        at.snapshot("v2")
    assert len(at.history) == 1


def test_a_large_version_is_listed_by_pages_and_opened_by_two(
    at: InBucket, server: VersionedServer
) -> None:
    root = zarr.open_group(at.url, mode="w", zarr_format=3, storage_options=at.options)
    array = root.create_array("big", shape=(12_000,), chunks=1, dtype="u1")
    array[7] = 1
    prefix = "a/x.zarr/big/c/"
    value = server.values[f"{prefix}7"]
    for number in range(12_000):
        server.values[f"{prefix}{number}"] = value
        server.history[f"{prefix}{number}"] = [(f"w{number}", value[0])]
    server.requests.clear()
    version = at.snapshot("v1")
    assert version.keys == 12_002
    assert 1 < len(version.pages) < 12
    listings = [key for method, key in server.requests if method == "GET" and not key]
    # Thirteen of versions; the others are of pages, documents and groups.
    assert len(listings) < 13 + 15
    server.requests.clear()
    assert at.open("v1", path="big")[11_999] == 1
    pages = [key for _, key in server.requests if "/pages/" in key]
    assert len(pages) <= 2
    array[5] = 3
    at.snapshot("v2")
    shared = {page.digest for page in at.history["v1"].pages}
    assert len({page.digest for page in at.history["v2"].pages} - shared) == 1


def test_cached_answers_of_versions_need_no_question(
    at: InBucket, server: VersionedServer, tmp_path: Path
) -> None:
    root = at.make()
    at.snapshot("v1")
    options = {**at.options, "cache": str(tmp_path / "cache")}
    cached = InBucket(at.url, options)
    old = cached.open("v1")["t"]
    np.testing.assert_array_equal(old[:], table())
    root["t"][:] = 0
    chunks = sum("/t/c/" in key for _, key in server.requests)
    again = cached.open("v1")["t"]
    again[:]
    np.testing.assert_array_equal(again[:], table())
    assert sum("/t/c/" in key for _, key in server.requests) == chunks
    assert datetime.now(UTC) > at.history["v1"].created - timedelta(seconds=5)
