"""Comparing, expiring and reading versions, also those whose documents are not ours."""

from __future__ import annotations

import gzip
import hashlib
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import _engine
from zarrix._errors import (
    ArrayNotFoundError,
    CorruptStoreError,
    MetadataError,
    VersionLostError,
    VersionNotFoundError,
)
from zarrix.cli import main
from zarrix.versions import _catalogue


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A hierarchy with a version, `v1`."""
    root = zarr.open_group(str(tmp_path / "x.zarr"), mode="w", zarr_format=3)
    z = root.create_dataset("a", shape=(8, 8), chunks=(2, 2), dtype="i4")
    z[:] = 1
    root.create_dataset("s", shape=(), dtype="i4", chunks=())[...] = 1
    zarr.snapshot(root.store, "v1")
    return tmp_path / "x.zarr"


@pytest.mark.parametrize("seed", range(10))
def test_boxes_cover_the_changed_chunks_and_nothing_else(path: Path, seed: int) -> None:
    rng = np.random.default_rng(seed)
    z = zarr.open(str(path), path="a")
    changed = rng.random((4, 4)) < 0.5
    for i, j in np.argwhere(changed):
        z[2 * i, 2 * j] = rng.integers(2, 9)
    d = zarr.Versions(path).diff("v1", "live")
    assert d.changed == sorted(f"a/c/{i}/{j}" for i, j in np.argwhere(changed))
    covered = np.zeros((8, 8), int)
    for box in d.regions("a"):
        covered[box] += 1
    assert (covered == changed.repeat(2, axis=0).repeat(2, axis=1)).all()


def test_a_diff_names_what_was_added_removed_and_changed(path: Path) -> None:
    root = zarr.open(str(path))
    root["s"][...] = 2
    root["a"].resize(4, 10)
    root["a"][:, 8:] = 3
    root.create_dataset("new", shape=2, chunks=2)[:] = 1
    zarr.snapshot(path, "v2")
    history = zarr.Versions(path)
    d = history.diff("v1", "v2")
    assert d.added == ["a/c/0/4", "a/c/1/4", "new/c/0", "new/zarr.json"]
    assert d.removed == [f"a/c/{i}/{j}" for i in (2, 3) for j in range(4)]
    assert d.changed == ["a/zarr.json", "s/c"]
    assert (d.regions("a"), d.regions("s")) == ([(slice(0, 4), slice(8, 10))], [()])
    assert d.arrays() == ["a", "new", "s"]
    assert not history.diff("v2", "live")
    assert not history.diff("v2", "V2")
    back = history.diff("v2", "v1")
    assert (back.added, back.removed) == (d.removed, d.added)
    with pytest.raises(ArrayNotFoundError):
        d.regions("nothing")


def test_a_commit_that_only_moves_chunks_changes_no_chunk(path: Path) -> None:
    array = path / "a"
    document = json.loads((array / "zarr.json").read_text())
    document["chunk_key_encoding"] = {"name": "v2", "configuration": {"separator": "."}}
    (array / "zarr.json").write_text(json.dumps(document))
    for i in range(4):
        for j in range(4):
            (array / f"c/{i}/{j}").rename(array / f"{i}.{j}")
    version = zarr.snapshot(path, "v2")
    assert version.spaces == {"a": "v2."}
    assert zarr.Versions(path).diff("v1", "v2").changed == ["a/zarr.json"]


def test_two_versions_share_pages(tmp_path: Path) -> None:
    store = str(tmp_path / "x.zarr")
    z = zarr.create(30_000, chunks=1, dtype="i1", store=store, zarr_format=2, compressor=None)
    z[:] = 1
    first = zarr.snapshot(store, "v1")
    z[20_000] = 2
    second = zarr.snapshot(store, "v2")
    assert len(first.pages) > 3
    new = {page.digest for page in second.pages} - {page.digest for page in first.pages}
    assert len(new) == 1
    d = zarr.Versions(store).diff("v1", "v2")
    assert (d.changed, d.regions()) == (["c/20000"], [(slice(20_000, 20_001),)])
    zarr.Versions(store).delete("v1")
    assert zarr.Versions(store).verify().ok
    pages = list((tmp_path / "x.zarr.versions/pages").rglob("*.gz"))
    assert len(pages) == len(second.pages)


def test_rules_keep_versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = zarr.open_group(str(tmp_path / "x.zarr"), mode="w")
    # At any hour of today, all moments are past.
    noon = datetime.now(UTC).replace(hour=12) - timedelta(days=1)
    moments = iter([noon - timedelta(days=d, hours=h) for d in (9, 5, 2, 0) for h in (2, 1)])
    monkeypatch.setattr(_catalogue, "next_moment", lambda _: next(moments))
    monkeypatch.setattr("zarrix.versions._snapshot.next_moment", lambda _: next(moments))
    names = [f"v{number}" for number in range(8)]
    for name in names:
        zarr.snapshot(root.store, name)
    history = zarr.Versions(root.store)

    def left(**rules: Any) -> list[str]:
        gone = history.expire(**rules, dry_run=True)
        return [name for name in names if name not in gone]

    assert left(keep_last=3) == ["v5", "v6", "v7"]
    assert left(keep_last=0) == ["v7"]
    assert left(keep_daily=3) == ["v3", "v5", "v7"]
    assert left(keep_last=2, keep_daily=2) == ["v5", "v6", "v7"]
    assert left(older_than="8 d") == names[2:]
    assert left(older_than="0 s") == ["v7"]
    assert len(history) == 8
    for rules in ({}, {"keep_last": -1}, {"keep_daily": "x"}, {"older_than": "soon"}):
        with pytest.raises(ValueError, match=r"pass keep_last|whole number|an age"):
            history.expire(**rules)
    assert history.expire(keep_daily=3) == ["v0", "v1", "v2", "v4", "v6"]
    assert [version.name for version in history] == ["v3", "v5", "v7"]
    assert history.verify().ok


@pytest.mark.parametrize(
    "change",
    [
        {"zarrix_version": 2}, {"name": "v2"}, {"created": "yesterday"}, {"created": 5},
        {"created": "2026-01-01"}, {"how": "magic"}, {"message": None}, {"parent": 1},
        {"format": 4}, {"spaces": []}, {"spaces": {"a": 1}}, {"keys": -1}, {"keys": 5},
        {"bytes": 10**30}, {"digests": "md5"}, {"pages": None}, {"pages": [1]},
        {"pages": [["a", "../../etc/passwd", 1, 1]]}, {"pages": [["a", "0" * 64, 10**9, 1]]},
        {"pages": [["b", "0" * 64, 1, 1], ["a", "0" * 64, 1, 1]]},
    ],
    ids=str,
)  # fmt: skip
def test_a_document_that_is_not_ours_is_refused(path: Path, change: dict[str, Any]) -> None:
    file = path.parent / "x.zarr.versions/v1.version.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    history = zarr.Versions(path)
    with pytest.raises(MetadataError, match=r"v1\.version\.json"):
        history.diff("v1", "live")
    assert [one.kind for one in history.verify().problems] == ["broken"]


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"{", b"null"])
def test_a_document_that_is_not_json_is_refused(path: Path, text: bytes) -> None:
    (path.parent / "x.zarr.versions/v1.version.json").write_bytes(text)
    with pytest.raises(MetadataError):
        zarr.Versions(path)["v1"]


def _with_page(path: Path, packed: bytes, lines: bytes, rows: int, first: str = "a") -> None:
    folder = path.parent / "x.zarr.versions"
    digest = hashlib.sha256(lines).hexdigest()
    page = folder / "pages" / digest[:2] / f"{digest}.jsonl.gz"
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_bytes(packed)
    file = folder / "v1.version.json"
    document = json.loads(file.read_text())
    file.write_text(
        json.dumps({**document, "keys": rows, "bytes": 0, "pages": [[first, digest, rows, 0]]})
    )


@pytest.mark.parametrize(
    "lines",
    [
        b'["../../x",1,"t"]\n', b'["/x",1,"t"]\n', b'["a//b",1,"t"]\n', b'["a\\\\b",1,"t"]\n',
        b'["a\\u0000",1,"t"]\n', b'["a",-1,"t"]\n', b'["a",1.5,"t"]\n', b'["a",true,"t"]\n',
        b'["a",1]\n', b'["a",1,"t","v","x"]\n', b'{"a":1}\n', b"5\n", b"[[[[\n", b"\n",
        b"[" * 100_000 + b"\n",
    ],
)  # fmt: skip
def test_rows_that_are_not_ours_are_refused(path: Path, lines: bytes) -> None:
    _with_page(path, gzip.compress(lines), lines, 1)
    history = zarr.Versions(path)
    with pytest.raises(CorruptStoreError):
        history.diff("v1", "live")
    assert {one.kind for one in history.verify().problems} >= {"broken"}


def test_pages_are_bounded_and_checked(path: Path) -> None:
    history = zarr.Versions(path)
    bomb = b" " * (1 << 27) + b"\n"
    with zarr.config(max_document_bytes=1 << 20):
        _with_page(path, gzip.compress(bomb), bomb, 1)
        with pytest.raises(CorruptStoreError, match="max_document_bytes"):
            history.diff("v1", "live")
    lines = b'["a",1,"t"]\n'
    for packed in (b"", b"not gzip", gzip.compress(lines)[:-9], gzip.compress(b'["b",1,"t"]\n')):
        _with_page(path, packed, lines, 1)
        with pytest.raises(CorruptStoreError):
            history.diff("v1", "live")
    for file in (path.parent / "x.zarr.versions/pages").rglob("*.gz"):
        file.unlink()
    with pytest.raises(VersionLostError):
        history.diff("v1", "live")


def test_rows_of_objects_have_versions(tmp_path: Path) -> None:
    rows = [("b", 2, "etag", "x/1"), ("a", 1, "e", None)]
    ((first, number, size, lines),) = _engine.pages_of(rows)
    assert (first, number, size) == ("a", 2, 3)
    assert lines == b'["a",1,"e"]\n["b",2,"etag","x/1"]\n'


def test_the_command_line(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[int, str]:
        code = main([word.replace("X", str(path)) for word in words])
        return code, capsys.readouterr().out

    zarr.open(str(path), path="a")[0, 0] = 5
    assert run("snapshot", "X", "v2", "-m", "second", "--how", "copy", "-q") == (0, "")
    code, text = run("versions", "X", "--json")
    listed = json.loads(text)["versions"]
    assert (code, [one["name"] for one in listed]) == (0, ["v1", "v2"])
    assert (listed[1]["message"], listed[1]["how"]) == ("second", "copy")
    assert run("diff", "X@v1", "X@v2") == (3, "/a  1 value changed\n")
    assert run("diff", "X@v1", "X", "--keys") == (3, "~ a/c/0/0\n")
    assert run("diff", "X@v2", "X", "--keys")[0] == 0
    code, text = run("diff", "X@v1", "X@v2", "--values")
    assert (code, "chunk" in text) == (3, True)
    assert run("cat", "X@v1/s")[1].strip() == run("cat", "X/s@v1")[1].strip() == "1"
    for words in (("info", "X@v1"), ("tree", "X@v1"), ("ls", "X@V2"), ("verify", "X@v1/a")):
        assert run(*words)[0] == 0, words
    assert run("cp", "X@v1", "X-copy", "-q")[0] == 0
    assert zarr.open(f"{path}-copy")["a"][0, 0] == 1
    # A verb that writes does not know the sign.
    assert run("rm", "-r", "X@v1")[0] == 1
    assert run("info", "X@v3")[0] == 1
    assert run("versions", "X", "--expire", "keep_last=1", "-n")[1] == "would delete v1\n"
    assert run("versions", "X", "--verify")[0] == 0
    (path.parent / "x.zarr.versions/v2/a/c/0/0").unlink()
    assert run("versions", "X", "--verify") == (3, "v2: lost a/c/0/0\n")
    assert run("versions", "X", "--delete", "v2") == (0, "deleted v2\n")
    assert run("versions", "X", "--delete", "v2")[0] == 1
    # An existing path of that name wins.
    zarr.open(f"{path}@v1", mode="w", shape=2, dtype="i4")[:] = 7
    assert run("cat", "X@v1")[1].strip() == "[7 7]"
    with pytest.raises(VersionNotFoundError):
        zarr.Versions(path)["v2"]
