"""Restoring a version of a hierarchy in a bucket: one commit; the server copies the chunks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits.rewritten import died
from servers import Running, s3_client
from servers.versioned import VersionedServer
from versions.objects import InBucket, table
from zarrix._errors import (
    CommitConflictError,
    NotAtomicError,
    PathNotFoundError,
    VersionLostError,
)
from zarrix.commits import _claim, _commit, _left

CUTS = 3
"""Requests at which a client is cut off, for each test; there are eight such tests."""

LIES = ("another value for a version", "the latest for every version")


@pytest.fixture
def server() -> Iterator[VersionedServer]:
    with VersionedServer() as server:
        yield server


@pytest.fixture(params=[2, 3])
def at(request: pytest.FixtureRequest, server: VersionedServer) -> InBucket:
    """The version ``v1`` is what `InBucket.make` stores; there is something else now."""
    at = InBucket(f"{server.url}/a/x.zarr", server.options)
    change(at.make(request.param), at)
    return at


def change(root: Any, at: InBucket) -> None:
    if root.metadata.zarr_format == 2:
        # Its chunk keys have one spelling: it is made again.
        del root["g/one"]
        root.create_array("g/one", shape=(3, 1), chunks=(1, 1), dtype="i4")[:, 0] = [1, 2, 3]
    at.snapshot("v1")
    root["t"][1] = -1
    root["t"].resize(3, 6)
    root["g/one"][0] = 9
    del root["g/s"]
    root.create_array("later", shape=(2, 2), chunks=(1, 2), dtype="i4")[:] = 4
    root.attrs["state"] = "later"


def restore(at: InBucket, **options: Any) -> Any:
    return at.history.restore("v1", **options)


def require(at: InBucket, *, is_restored: bool) -> None:
    """All readers see the version, or what was there before."""
    for consolidated in (True, False):
        opened = zarr.open_consolidated if consolidated else zarr.open_group
        try:
            root = opened(at.url, mode="r", storage_options=at.options)
        except KeyError:
            # Nothing was consolidated before the first commit.
            assert consolidated
            assert not is_restored
            continue
        assert is_version(root) == is_restored, consolidated


def is_version(root: Any) -> bool:
    """Whether a root has the content of the version as a whole; else it has the later one."""
    if "later" in root:
        assert root.attrs["state"] == "later"
        assert root["t"].shape == (3, 6)
        assert [*root["t"][1]] == [-1] * 6
        assert root["g/one"][:].ravel()[0] == 9
        return False
    assert sorted(root) == ["g", "t"]
    assert sorted(root["g"]) == ["one", "s"]
    np.testing.assert_array_equal(root["t"][:], table())
    assert root["g/s"][()] == 5
    assert [*root["g/one"][:].ravel()] == [1, 2, 3]
    assert "state" not in root.attrs
    return True


def test_the_content_is_that_of_the_version_and_nothing_is_read(
    at: InBucket, server: VersionedServer
) -> None:
    planned = restore(at, dry_run=True)
    require(at, is_restored=False)
    server.requests.clear()
    assert restore(at, keep="v2") == planned
    assert planned.to_dict() == {
        "version": "v1",
        "replaced": ["g/one", "t"],
        "created": ["g/s"],
        "deleted": ["later"],
        "changed": [""],
    }
    read = [key for how, key in server.requests if how == "GET" and "/t/" in key]
    assert [key for key in read if key[-1:].isdigit()] == []
    require(at, is_restored=True)
    assert not restore(at)
    assert at.history.restore("v2").created == ["later"]
    require(at, is_restored=False)
    assert at.history.verify().ok


def test_some_paths_alone_are_restored(at: InBucket) -> None:
    assert restore(at, paths=["t"]).replaced == ["t"]
    root = zarr.open_consolidated(at.url, storage_options=at.options)
    np.testing.assert_array_equal(root["t"][:], table())
    assert root["g/one"][:].ravel()[0] == 9
    with pytest.raises(PathNotFoundError, match="has a node 'x'"):
        restore(at, paths=["x"])


def test_a_hierarchy_that_is_gone_is_made_again(at: InBucket) -> None:
    zarr.open_group(at.url, mode="r+", storage_options=at.options).store.rmdir("")
    with pytest.raises(PathNotFoundError, match="there is no hierarchy"):
        restore(at, paths=["t"])
    planned = restore(at, dry_run=True)
    assert restore(at).created == planned.created == ["", "g", "g/one", "g/s", "t"]
    require(at, is_restored=True)


@pytest.mark.parametrize("lie", ["gone", *LIES])
def test_a_version_of_an_object_that_is_lost_or_another_restores_nothing(
    at: InBucket, server: VersionedServer, lie: str
) -> None:
    if lie == "gone":
        key = next(key for key in server.history if "/t/" in key and key.endswith(("1/1", "1.1")))
        server.lose(key)
    else:
        server.lie = lie
    server.copies = "without conditions"
    before = dict(server.values)
    with pytest.raises(VersionLostError):
        restore(at)
    server.lie = ""
    require(at, is_restored=False)
    assert {key for key in before if key not in server.values} == set()


def test_another_writer_is_a_conflict_or_kept(
    at: InBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    root = zarr.open_group(at.url, mode="r+", storage_options=at.options)
    carry = "zarrix.commits._server.ServerStage.carry"
    with monkeypatch.context() as patch:
        patch.setattr(carry, lambda stage: root["t"].resize(9, 6))
        with pytest.raises(CommitConflictError, match="shape"):
            restore(at)
    root["t"].resize(3, 6)
    require(at, is_restored=False)
    with monkeypatch.context() as patch:
        patch.setattr(carry, lambda stage: root["g"].attrs.update(theirs=1))
        restore(at)
    require(at, is_restored=True)
    assert zarr.open_consolidated(at.url, storage_options=at.options)["g"].attrs["theirs"] == 1


def test_what_one_commit_cannot_restore_is_refused(server: VersionedServer) -> None:
    at = InBucket(f"{server.url}/a/x.zarr", server.options)
    root = at.make(2)
    at.snapshot("v1")
    root["g/one"][0] = 9
    with pytest.raises(NotAtomicError, match="one spelling"):
        restore(at)
    assert root["g/one"][0] == 9


@pytest.mark.parametrize("part", range(8))
def test_a_restore_that_dies_at_any_request_is_repeated(
    server: VersionedServer, part: int, is_long: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_commit, "PATIENCE", 0.0)
    monkeypatch.setattr(_claim.Claim, "_begin_beats", lambda claim: None)
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    at = InBucket(f"{server.url}/a/x.zarr", server.options)
    change(at.make(2 + part % 2), at)
    values, history = dict(server.values), {key: [*one] for key, one in server.history.items()}
    server.requests.clear()
    restore(at)
    count = len(server.requests)
    dying = InBucket(at.url, {**at.options, "key": "dying", "max_retries": 0})
    for turn in range(250 if is_long else CUTS):
        server.values = dict(values)
        server.history = {key: [*one] for key, one in history.items()}
        place = turn * 8 + part
        with died(server, place % count if is_long else 1 + place * count // (CUTS * 8)):
            restore(dying)
        root = zarr.open_group(at.url, mode="r", storage_options=at.options)
        document = root.store["zarr.json" if part % 2 else ".zgroup"]
        if b"consolidated_metadata" in document or ".zmetadata" in root.store:
            is_version(zarr.open_consolidated(at.url, storage_options=at.options))
        restore(at)
        require(at, is_restored=True)


def test_moto_restores_a_version(serve: Callable[[str], Running]) -> None:
    found = serve("moto")
    bucket, client = "zarrix-restored", s3_client(found)
    client.create_bucket(Bucket=bucket)
    client.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    at = InBucket(f"s3://{bucket}/x.zarr", found.options)
    root = zarr.create_group(at.url, storage_options=at.options)
    root.create_array("t", shape=(6, 2), chunks=(1, 2), dtype="i4")[:] = 1
    at.snapshot("v1")
    root["t"][:2] = 2
    assert restore(at).replaced == ["t"]
    assert (zarr.open_consolidated(at.url, storage_options=at.options)["t"][:] == 1).all()
    assert not restore(at)
