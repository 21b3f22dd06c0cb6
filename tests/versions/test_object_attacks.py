"""Versions in buckets against servers, rules and documents that are not as they should be."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Iterator
from typing import Any

import pytest
import zarrix as zarr
from servers.versioned import VersionedServer
from versions.objects import InBucket
from zarrix._errors import CorruptStoreError, MetadataError, StoreBusyError, VersionLostError

FOLDER = "a/x.zarr.versions"


@pytest.fixture
def server() -> Iterator[VersionedServer]:
    with VersionedServer() as server:
        yield server


@pytest.fixture
def at(server: VersionedServer) -> InBucket:
    found = InBucket(f"{server.url}/a/x.zarr", {**server.options, "timeout": 2, "max_retries": 1})
    found.make()
    return found


@pytest.mark.parametrize("lie", ["the latest for every version", "another value for a version"])
def test_another_content_is_never_read_as_a_version(
    at: InBucket, server: VersionedServer, lie: str
) -> None:
    at.snapshot("v1")
    zarr.open(at.url, storage_options=at.options)["t"][0] = -1
    old = at.open("v1")["t"]
    server.lie = lie
    with pytest.raises(VersionLostError, match=r"t/c/0/\d is gone: the server sends"):
        old[0]


@pytest.mark.parametrize(
    ("lie", "error", "said"),
    [
        ("a listing without end", OSError, "never end"),
        ("the first page again", OSError, "never end"),
        ("an early end", StoreBusyError, "changed"),
        ("out of order", CorruptStoreError, "in the order of keys"),
        ("an error with status 200", OSError, "InternalError"),
        ("half an answer", OSError, "does not list versions"),
    ],
)
def test_a_listing_that_lies_makes_no_version(
    at: InBucket, server: VersionedServer, lie: str, error: type[Exception], said: str
) -> None:
    server.lie, server.page = lie, 5
    with pytest.raises(error, match=said):
        at.snapshot("v1")
    server.lie = ""
    assert len(at.history) == 0
    at.snapshot("v1")
    at.require("v1")


def test_keys_outside_of_the_hierarchy_are_left_out(at: InBucket, server: VersionedServer) -> None:
    server.lie = "keys of others"
    at.snapshot("v1")
    at.require("v1")
    assert not [key for key in at.open("v1").store if "another" in key]


@pytest.mark.parametrize("status", ["Suspended", ""])
def test_a_bucket_without_versions_is_refused(
    at: InBucket, server: VersionedServer, status: str
) -> None:
    server.status = status
    for how in ("auto", "objects"):
        with pytest.raises(ValueError, match="versioning is off, or suspended"):
            at.snapshot("v1", how=how)
    assert not [key for key in server.values if FOLDER in key]


def test_a_version_that_a_suspended_bucket_has_replaced_is_lost(
    at: InBucket, server: VersionedServer
) -> None:
    server.status = "Suspended"
    root = zarr.open(at.url, storage_options=at.options)
    root["t"][0] = 5
    server.status = "Enabled"
    at.snapshot("v1")
    assert at.open("v1")["t"][0, 0] == 5
    server.status = "Suspended"
    root["t"][0] = 6
    with pytest.raises(VersionLostError, match="null"):
        at.open("v1")["t"][0]
    problems = [*map(str, at.history.verify().problems)]
    assert problems == [f"v1: changed t/c/0/{n}" for n in range(3)]


def test_delete_markers_hide_nothing_of_a_version(at: InBucket, server: VersionedServer) -> None:
    root = zarr.open(at.url, storage_options=at.options)
    del root["g/s"]
    version = at.snapshot("v1")
    assert version.keys == len([*root.store])
    del root["g"], root["t"]
    old = at.open("v1")
    assert sorted(old) == ["g", "t"]
    assert sorted(old["g"]) == ["one"]
    assert [*old["g/one"][:]] == [1, 2, 3]


def test_a_document_that_is_gone_is_told(at: InBucket, server: VersionedServer) -> None:
    at.snapshot("v1")
    server.lose("a/x.zarr/t/zarr.json", -1)
    server.lose("a/x.zarr/g/one/c/1")
    with pytest.raises(VersionLostError, match=r"t/zarr\.json"):
        at.open("v1")["t"]
    problems = at.history.verify().problems
    assert [problem.kind for problem in problems] == ["lost"]
    assert [problem.key for problem in problems] == ["t/zarr.json"]
    assert at.open("v1")["g/one"][0] == 1
    with pytest.raises(VersionLostError, match="g/one/c/1"):
        at.open("v1")["g/one"][1]


def rule(action: str, prefix: str = "", status: str = "Enabled") -> str:
    return (
        '<LifecycleConfiguration xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Rule>'
        f"<ID>tidy</ID><Filter><Prefix>{prefix}</Prefix></Filter><Status>{status}</Status>"
        f"{action}</Rule></LifecycleConfiguration>"
    )


def noncurrent(days: int | str) -> str:
    days = f"<NoncurrentDays>{days}</NoncurrentDays>"
    return f"<NoncurrentVersionExpiration>{days}</NoncurrentVersionExpiration>"


EXPIRY = "<Expiration><Days>7</Days></Expiration>"


@pytest.mark.parametrize(
    "rules",
    [
        rule(noncurrent(30)),
        rule(noncurrent(89), "a/"),
        rule(noncurrent(1), "a/x.zarr/t/"),
        rule(noncurrent("many")),
        rule(EXPIRY),
        rule(EXPIRY, "a/x.zarr.versions/"),
    ],
)
def test_a_rule_that_deletes_versions_soon_is_refused_unless_named(
    at: InBucket, server: VersionedServer, rules: str
) -> None:
    server.rules = rules
    with pytest.raises(ValueError, match=r"'tidy'.*how='objects'"):
        at.snapshot("v1")
    with pytest.warns(UserWarning, match="'tidy'"):
        at.snapshot("v1", how="objects")
    at.require("v1")


@pytest.mark.parametrize(
    "rules",
    [
        rule(noncurrent(30), status="Disabled"),
        rule(noncurrent(30), "b/"),
        rule("<AbortIncompleteMultipartUpload/>"),
        rule(EXPIRY, "a/x.zarr/"),
    ],
)
@pytest.mark.filterwarnings("error")
def test_a_rule_about_something_else_is_nothing(
    at: InBucket, server: VersionedServer, rules: str
) -> None:
    server.rules = rules
    at.snapshot("v1")
    at.require("v1")


def test_a_rule_that_deletes_late_and_rules_that_are_not_told_are_warnings(
    at: InBucket, server: VersionedServer
) -> None:
    server.rules = rule(noncurrent(365))
    with pytest.warns(UserWarning, match="after 365 days"):
        at.snapshot("v1")
    server.rules = "denied"
    with pytest.warns(UserWarning, match="is not known"):
        at.snapshot("v2")
    server.rules = '<!DOCTYPE x [<!ENTITY a "b">]><LifecycleConfiguration/>'
    with pytest.raises(ValueError, match="not plain XML"):
        at.snapshot("v3")


def _page(server: VersionedServer, rows: list[Any]) -> list[Any]:
    """Store a page of these rows; returns what a document says of it."""
    lines = b"".join(json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows)
    digest = hashlib.sha256(lines).hexdigest()
    server.values[f"{FOLDER}/pages/{digest[:2]}/{digest}.jsonl.gz"] = (gzip.compress(lines), {})
    return [rows[0][0], digest, len(rows), sum(row[1] for row in rows)]


def _rewrite(server: VersionedServer, change: dict[str, Any]) -> None:
    key = f"{FOLDER}/v1.version.json"
    document = {**json.loads(server.values[key][0]), **change}
    pages = document["pages"]
    sums = {"keys": sum(page[2] for page in pages), "bytes": sum(page[3] for page in pages)}
    server.values[key] = (json.dumps({**document, **sums}).encode(), {})


@pytest.mark.parametrize(
    "row",
    [
        ["../../secret/c/0", 1, "t", "v"],
        ["/t/c/0", 1, "t", "v"],
        ["t/c/0/0", -1, "t", "v"],
        ["t/c/0/0", 1.5, "t", "v"],
        ["t/c/0/0", 1, "t", 7],
        ["t/c/0/0", 1, "t"],
        ["t\\c", 1, "t", "v"],
    ],
)
def test_rows_that_lead_elsewhere_are_damage(
    at: InBucket, server: VersionedServer, row: list[Any]
) -> None:
    at.snapshot("v1")
    size = row[1] if isinstance(row[1], int) and row[1] >= 0 else 0
    _, digest, rows, _ = _page(server, [row])
    _rewrite(server, {"pages": [[row[0], digest, rows, size]]})
    with pytest.raises(CorruptStoreError):
        at.store("v1")["u"]
    with pytest.raises(CorruptStoreError):
        [*at.store("v1")]


def test_a_size_that_nothing_has_takes_no_memory(at: InBucket, server: VersionedServer) -> None:
    at.snapshot("v1")
    row = ["t/zarr.json", 2**62, "t", server.history["a/x.zarr/t/zarr.json"][-1][0]]
    _rewrite(server, {"pages": [_page(server, [row])]})
    with pytest.raises(MetadataError, match="max_document_bytes"):
        at.store("v1")["t/zarr.json"]
    row = ["t/c/0/0", 2**62, "t", server.history["a/x.zarr/t/c/0/0"][-1][0]]
    _rewrite(server, {"pages": [_page(server, [row])]})
    with pytest.raises(VersionLostError, match="the server sends"):
        at.store("v1")["t/c/0/0"]


@pytest.mark.parametrize("version", ["", "v999", "../x", "a&versionId=v1", "v 1\r\n"])
def test_a_wrong_name_of_a_version_is_a_version_that_is_lost(
    at: InBucket, server: VersionedServer, version: str
) -> None:
    at.snapshot("v1")
    value = server.values["a/x.zarr/t/c/0/0"][0]
    row = ["t/c/0/0", len(value), hashlib.md5(value).hexdigest(), version]
    _rewrite(server, {"pages": [_page(server, [row])]})
    with pytest.raises(VersionLostError, match="t/c/0/0"):
        at.store("v1")["t/c/0/0"]


def test_spaces_of_a_document_lead_to_no_other_value(at: InBucket, server: VersionedServer) -> None:
    at.snapshot("v1")
    for spaces in ({"": "v2/"}, {"../t": "v2."}, {"t": "nothing"}, {"t": "v2/", "t/0": "v2."}):
        _rewrite(server, {"spaces": spaces})
        store = at.store("v1")
        for key in [*store]:
            assert key.startswith(("t", "g", "zarr.json", ".z"))
            with pytest.raises(KeyError):
                store[f"{key}/0"]


def test_a_page_that_is_gone_or_another_is_told(at: InBucket, server: VersionedServer) -> None:
    at.snapshot("v1")
    page = next(key for key in server.values if "/pages/" in key)
    value = server.values[page]
    server.values[page] = (gzip.compress(b'["a",1,"t","v"]\n'), {})
    with pytest.raises(CorruptStoreError, match="other rows"):
        at.open("v1")["t"]
    assert [one.kind for one in at.history.verify().problems] == ["broken"]
    del server.values[page]
    with pytest.raises(VersionLostError, match="its rows with it"):
        at.open("v1")["t"]
    server.values[page] = value
    at.require("v1")


def test_clocks_that_differ_do_not_change_the_order(at: InBucket, server: VersionedServer) -> None:
    at.snapshot("v1")
    key = f"{FOLDER}/v1.version.json"
    document = json.loads(server.values[key][0])
    document["created"] = "2099-01-01T00:00:00.000Z"
    server.values[key] = (json.dumps(document).encode(), {})
    version = at.snapshot("v2")
    assert version.parent == "v1"
    assert [one.name for one in at.history] == ["v1", "v2"]
