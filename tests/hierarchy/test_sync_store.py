"""`sync_store`: a copy becomes equal to its source, in an order that is safe for readers."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hierarchy.syncs import Cut, cut_at, files, new_tree, settle
from zarrix._hierarchy import sync_moves
from zarrix.errors import CopyError, OverlapError, PathNotFoundError


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture(params=[2, 3])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    new_tree(zarr.DirectoryStore(tmp_path / "a.zarr"), request.param)
    settle(tmp_path / "a.zarr")
    return tmp_path / "a.zarr"


@pytest.fixture
def dest(tmp_path: Path) -> Path:
    return tmp_path / "b.zarr"


def test_a_copy_follows_its_source(source: Path, dest: Path) -> None:
    counts = zarr.sync_store(source, dest)
    assert files(dest) == files(source)
    assert (counts.copied, counts.replaced, counts.unchanged) == (len(files(source)), 0, 0)
    assert counts.nbytes == sum(map(len, files(source).values()))
    zarr.open(source)["inner/t2m"][0, 0] = 5
    zarr.open(source)["time"].append([6, 7, 8])
    lines: list[str] = []
    counts = zarr.sync_store(source, dest, log=lines.append)
    assert files(dest) == files(source)
    assert len([line for line in lines if line.startswith("replace inner/t2m/")]) == 1
    assert len([line for line in lines if line.startswith("copy time/")]) == 1
    assert (counts.copied, counts.deleted) == (1, 0)


def test_what_the_ledger_knows_is_not_read(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.sync_store(source, dest)
    read: list[str] = []
    whole = sync_moves.Mover._is_same
    monkeypatch.setattr(
        sync_moves.Mover,
        "_is_same",
        lambda self, pair, *rest: read.append(pair.key) or whole(self, pair, *rest),
    )
    assert zarr.sync_store(source, dest).unchanged == len(files(source))
    assert read == []
    # In the same moment, without another length or another time.
    key, value = next((key, value) for key, value in files(dest).items() if "inner/t2m/" in key)
    status = (dest / key).stat()
    (dest / "new").write_bytes(bytes(len(value)))
    os.utime(dest / "new", ns=(status.st_atime_ns, status.st_mtime_ns))
    os.replace(dest / "new", dest / key)
    assert zarr.sync_store(source, dest).replaced == 1
    assert files(dest) == files(source)
    assert read == [key]


def test_values_that_changed_just_now_are_not_kept_in_the_ledger(source: Path, dest: Path) -> None:
    key = next(key for key in files(source) if "inner/t2m/" in key)
    (source / key).write_bytes(b"1234")
    zarr.sync_store(source, dest)
    # A clock with coarse ticks: other bytes in place, with the same length and time.
    status = (source / key).stat()
    with open(source / key, "r+b") as file:
        file.write(b"5678")
    os.utime(source / key, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert zarr.sync_store(source, dest).replaced == 1
    assert files(dest) == files(source)


def test_keys_without_a_source_are_deleted_on_demand(source: Path, dest: Path) -> None:
    zarr.sync_store(source, dest)
    zarr.open(dest)["more/array"] = np.arange(3)
    before = files(dest)
    assert zarr.sync_store(source, dest).deleted == 0
    assert set(files(dest)) == set(before)
    before = files(dest)
    lines: list[str] = []
    assert zarr.sync_store(source, dest, delete=True, dry_run=True, log=lines.append).deleted > 1
    assert files(dest) == before
    gone = sorted(set(before) - set(files(source)))
    assert lines == [f"delete {key}" for key in gone] + lines[len(gone) :]
    assert zarr.sync_store(source, dest, delete=True).deleted == len(gone)
    assert files(dest) == files(source)


def test_a_dry_run_tells_all_lines_in_the_order_of_keys(source: Path, dest: Path) -> None:
    lines: list[str] = []
    counts = zarr.sync_store(source, dest, dry_run=True, log=lines.append)
    assert lines == [f"copy {key}" for key in sorted(files(source), key=str.encode)]
    assert counts.copied == len(lines)
    assert not dest.exists()


def test_documents_come_after_their_chunks_and_deletions_last(source: Path, dest: Path) -> None:
    lines: list[str] = []
    zarr.sync_store(source, dest, log=lines.append)
    keys = [line.removeprefix("copy ") for line in lines]
    documents = [key for key in keys if "zarr.json" in key or "/." in key or key[0] == "."]
    assert keys[-len(documents) :] == documents
    depths = [key.count("/") for key in documents]
    assert depths == sorted(depths, reverse=True)
    if ".zmetadata" in keys:
        assert keys[-1] == ".zmetadata"
    zarr.open(dest)["more/array"] = np.arange(3)
    zarr.open(source)["time"].resize(3)
    zarr.consolidate_metadata(str(source))
    lines = []
    zarr.sync_store(source, dest, delete=True, log=lines.append)
    verbs = [line.partition(" ")[0] for line in lines]
    assert verbs == sorted(verbs, reverse=True)
    deleted = [line for line in lines if line.startswith("delete")]
    is_document = ["/." in line or "zarr.json" in line for line in deleted]
    assert is_document == sorted(is_document, reverse=True)
    assert deleted[0].startswith("delete more/")
    assert files(dest) == files(source)


@pytest.mark.parametrize("delete", [False, True])
def test_a_sync_that_was_cut_off_anywhere_continues(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, delete: bool
) -> None:
    number = 0
    while True:
        dest = tmp_path / f"{number}.zarr"
        new_tree(zarr.DirectoryStore(dest), zarr.open(source).zarr_format)
        zarr.open(dest)["inner/t2m"][...] = 8
        zarr.open(dest)["gone/x"] = np.arange(3)
        zarr.open(dest)["time"].resize(3)
        with cut_at(number, monkeypatch) as asked:
            try:
                zarr.sync_store(source, dest, delete=delete, workers=1)
            except Cut:
                _readers_see_complete_arrays(dest)
        if len(asked) <= number:
            break
        zarr.sync_store(source, dest, delete=delete)
        if delete:
            assert files(dest) == files(source)
        else:
            assert files(source).items() <= files(dest).items()
        number += 1
    assert number > 3


def _readers_see_complete_arrays(dest: Path) -> None:
    for name, values in (("time", range(6)), ("inner/t2m", None)):
        try:
            array = zarr.open_array(dest / name, mode="r")
        except FileNotFoundError:
            continue
        if values is None:
            assert set(np.unique(array[...])) <= {1.0, 8.0}
        else:
            assert array[:].tolist() == list(values)[: array.shape[0]]


def test_nothing_is_deleted_after_a_source_without_a_root(source: Path, dest: Path) -> None:
    zarr.sync_store(source, dest)
    before = files(dest)
    for name in (".zgroup", "zarr.json"):
        (source / name).unlink(missing_ok=True)
    with pytest.raises(CopyError, match=r"has no root document.*--allow-empty"):
        zarr.sync_store(source, dest, delete=True)
    assert files(dest) == before
    with pytest.raises(CopyError, match=r"has no root document"):
        zarr.sync_store(zarr.MemoryStore(), dest, delete=True)
    assert files(dest) == before
    with pytest.raises(PathNotFoundError):
        zarr.sync_store(source / "nothing", dest, delete=True)
    zarr.sync_store(source, dest, delete=True, allow_empty=True)
    assert files(dest) == files(source)
    zarr.sync_store(zarr.MemoryStore(), dest, delete=True, allow_empty=True)
    assert files(dest) == {}


def test_a_folder_of_other_files_is_not_emptied(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.txt").write_text("years")
    with pytest.raises(CopyError, match=r"thesis.txt"):
        zarr.sync_store(source, home, delete=True)
    assert (home / "thesis.txt").read_text() == "years"
    assert zarr.sync_store(source, home).is_complete
    assert (home / "thesis.txt").read_text() == "years"


def test_source_and_destination_are_apart(source: Path) -> None:
    os.symlink(source, source.parent / "link")
    before = files(source)
    for one, other, paths in (
        (source, source, ("", "")),
        (source, source / "copy", ("", "")),
        (source / "inner", source, ("", "")),
        (source, source.parent / "link", ("inner", "")),
        (source.parent / "link", source, ("", "inner/new")),
    ):
        with pytest.raises(OverlapError, match="cannot sync"):
            zarr.sync_store(one, other, source_path=paths[0], dest_path=paths[1], delete=True)
    assert files(source) == before


def test_a_document_that_changes_meanwhile_is_stored_with_its_chunks(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An append in the source after its chunks were listed, and before its document is read."""
    whole = sync_moves.Pipeline.finish
    appended: list[int] = []

    def finish(self: Any) -> None:
        whole(self)
        if not appended:
            appended.append(1)
            zarr.open(source)["time"].append([6, 7, 8])

    monkeypatch.setattr(sync_moves.Pipeline, "finish", finish)
    assert zarr.sync_store(source, dest).is_complete
    assert zarr.open(dest)["time"][:].tolist() == list(range(9))
    assert files(dest) == files(source)


def test_a_node_that_does_not_rest_is_told_and_keeps_its_document(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.sync_store(source, dest)
    before = zarr.open(dest)["time"][:].tolist()
    zarr.open(source)["time"].append([6])
    whole = sync_moves.Pipeline.finish

    def finish(self: Any) -> None:
        whole(self)
        zarr.open(source)["time"].append([7])

    with monkeypatch.context() as patched:
        patched.setattr(sync_moves.Pipeline, "finish", finish)
        counts = zarr.sync_store(source, dest, delete=True)
    told = {reason for key, reason in counts.kept.items() if key.startswith("time/")}
    assert told == {"it changed while its chunks were copied, three times"}
    assert not counts.is_complete
    assert zarr.open(dest)["time"][: len(before)].tolist() == before
    assert zarr.open(dest)["time"].shape == (6,)
    assert zarr.sync_store(source, dest, delete=True).is_complete
    assert files(dest) == files(source)


def test_what_another_changes_in_the_destination_is_kept(
    source: Path, dest: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    zarr.sync_store(source, dest)
    zarr.open(source)["inner/t2m"][...] = 2
    key = next(key for key in files(dest) if "inner/t2m/" in key and key[-1].isdigit())
    whole = sync_moves.Mover._copy

    def copy(self: Any, pair: Any, *rest: Any) -> Any:
        if pair.key == key:
            (dest / "other").write_bytes(b"of another")
            os.replace(dest / "other", dest / key)
        return whole(self, pair, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(sync_moves.Mover, "_copy", copy)
        counts = zarr.sync_store(source, dest)
    assert counts.kept == {key: "it was changed in the destination meanwhile"}
    assert (dest / key).read_bytes() == b"of another"
    assert zarr.sync_store(source, dest).is_complete
    assert files(dest) == files(source)


def test_links_are_not_followed_out_of_either_place(source: Path, dest: Path) -> None:
    outside = source.parent / "outside"
    new_tree(zarr.DirectoryStore(outside), 3)
    secret = source.parent / "secret"
    secret.write_bytes(b"secret")
    os.symlink(outside, source / "linked")
    os.symlink(secret, source / "inner" / "0")
    os.symlink(source / "inner", source / "again")
    os.symlink(source, source / "circle")
    counts = zarr.sync_store(source, dest)
    assert {"linked", "inner/0", "circle"} <= set(counts.kept)
    assert not (dest / "linked").exists()
    assert not (dest / "inner" / "0").exists()
    assert files(dest / "again") == {
        key: value for key, value in files(dest / "inner").items() if key != "0"
    }


def test_links_in_the_destination_are_neither_written_nor_deleted_through(
    source: Path, dest: Path
) -> None:
    outside = source.parent / "outside"
    outside.mkdir()
    (outside / "mine").write_bytes(b"mine")
    zarr.sync_store(source, dest)
    (dest / "inner").rename(dest / "elsewhere")
    os.symlink(outside, dest / "inner")
    key = next(key for key in files(source) if key.startswith("time/") and key[-1] == "0")
    (dest / key).unlink()
    os.symlink(outside / "mine", dest / key)
    counts = zarr.sync_store(source, dest, delete=True)
    inner = {one for one in files(source) if one.startswith("inner/")}
    assert set(counts.kept) - {"zarr.json", ".zmetadata"} >= inner | {key}
    assert files(outside) == {"mine": b"mine"}
    assert not any("elsewhere" in one for one in files(dest))


def test_values_of_other_kinds_and_formats_are_not_mixed(source: Path, dest: Path) -> None:
    zarr_format = zarr.open(source).zarr_format
    zarr.open_group(dest, mode="w", zarr_format=5 - zarr_format)["a"] = np.arange(3)
    before = files(dest)
    with pytest.raises(CopyError, match="would be mixed"):
        zarr.sync_store(source, dest)
    assert files(dest) == before
    assert zarr.sync_store(source, dest, delete=True).is_complete
    assert files(dest) == files(source)


def test_expressions_leave_keys_out_of_copies_and_deletions(source: Path, dest: Path) -> None:
    zarr.sync_store(source, dest, excludes=["^inner/"], includes="mask")
    assert {key for key in files(dest) if key.startswith("inner/")} == {
        key for key in files(source) if key.startswith("inner/mask")
    }
    zarr.sync_store(source, dest)
    zarr.open(dest)["inner/more"] = np.arange(3)
    kept = {key for key in files(dest) if key.startswith("inner/more")}
    zarr.sync_store(source, dest, delete=True, excludes="^inner/more")
    assert set(files(dest)) == set(files(source)) | kept


def test_comparisons(source: Path, dest: Path) -> None:
    zarr.sync_store(source, dest)
    key = next(key for key, value in files(source).items() if "inner/t2m/" in key)
    other = bytes(len(files(source)[key]))
    status = (dest / key).stat()
    with open(dest / key, "r+b") as file:
        file.write(other)
    os.utime(dest / key, ns=(status.st_atime_ns, status.st_mtime_ns))
    # The ledger and lengths alone cannot tell; the bytes do.
    for compare in ("auto", "size", "tag"):
        assert zarr.sync_store(source, dest, compare=compare).replaced == 0
    assert (dest / key).read_bytes() == other
    assert zarr.sync_store(source, dest, compare="digest").replaced == 1
    assert files(dest) == files(source)
    with pytest.raises(ValueError, match="compare"):
        zarr.sync_store(source, dest, compare="quick")  # type: ignore[arg-type]


def test_the_counts_are_json(source: Path) -> None:
    told = json.loads(zarr.sync_store(source, zarr.MemoryStore()).to_json())
    assert told["copied"] == len(files(source))
    assert (told["n_kept"], told["kept"]) == (0, {})


def test_memory_and_mappings(source: Path) -> None:
    values: dict[str, bytes] = {}
    assert zarr.sync_store(source, values).copied == len(files(source))
    assert dict(sorted(values.items())) == files(source)
    memory = zarr.MemoryStore()
    assert zarr.sync_store(values, memory, delete=True).copied == len(values)
    assert zarr.sync_store(values, memory, delete=True).unchanged == len(values)
    del values[next(key for key in values if "inner/t2m/" in key)]
    assert zarr.sync_store(values, memory, delete=True).deleted == 1
    with zarr.ZipStore(source.parent / "a.zip", mode="w") as archive:
        zarr.sync_store(source, archive)
    assert zarr.sync_store(source.parent / "a.zip", memory, delete=True).is_complete
    assert {key: bytes(memory[key]) for key in sorted(memory)} == files(source)
