"""The keys of virtual arrays, for what copies keys: never a copy without its elements."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs, virtual
from zarrix.cli import main
from zarrix.errors import OverlapError, PieceNotFoundError, VirtualError


@pytest.fixture
def joined(tmp_path: Path) -> Path:
    """The list of a group of two files, and of an array that is empty in part."""
    for number in range(2):
        group = zarr.open_group(tmp_path / f"{number}.zarr", mode="w", zarr_format=3)
        for name, shape in (("time", (2,)), ("t", (2, 3))):
            values = np.arange(float(np.prod(shape))).reshape(shape) + 2 * number
            names = ["time", "x"][: len(shape)]
            group.create_array(name, data=values, chunks=(1,) * len(shape), dimension_names=names)
    made = virtual.join([tmp_path / "0.zarr", tmp_path / "1.zarr"], "time")
    virtual.save(made, tmp_path / "all.json")
    return tmp_path / "all.json"


def expected(folder: Path) -> Any:
    return np.concatenate([zarr.open(folder / f"{n}.zarr", mode="r")["t"][...] for n in range(2)])


def test_what_copies_keys_copies_the_elements(joined: Path) -> None:
    folder = joined.parent
    zarr.copy_store(zarr.open(joined, mode="r").store, zarr.DirectoryStore(folder / "a.zarr"))
    assert main(["cp", "-q", str(joined), str(folder / "c.zarr")]) == 0
    assert main(["sync", "-q", str(joined), str(folder / "d.zarr")]) == 0
    assert main(["rechunk", "-q", f"{joined}/t", str(folder / "e.zarr"), "--chunks", "4,3"]) == 0
    for name in ("a.zarr/t", "c.zarr/t", "d.zarr/t", "e.zarr"):
        np.testing.assert_array_equal(zarr.open(folder / name, mode="r")[...], expected(folder))
    assert main(["diff", "-q", str(joined), str(folder / "c.zarr")]) == 0
    zarr.open(folder / "c.zarr")["t"][3, 2] = -1
    assert main(["diff", "-q", str(joined), str(folder / "c.zarr")]) == 3


def test_verify_and_digests_read_the_pieces(joined: Path) -> None:
    found: Any = zarr.verify(joined)
    assert found.ok
    assert found.chunks == 13
    before = zarr.digests(joined)
    assert sum(key.startswith("t/c/") for key in before) == 12
    chunk = joined.parent / "1.zarr" / "t" / "c" / "1" / "2"
    chunk.write_bytes(chunk.read_bytes()[:-3] + b"\0\0\0")
    found = zarr.verify(joined)
    assert [problem.key for problem in found.problems] == ["t/c/3/2"]


def test_a_copy_of_a_lost_piece_is_an_error(joined: Path) -> None:
    (joined.parent / "1.zarr" / "t" / "zarr.json").unlink()
    store = zarr.open(joined, mode="r").store
    with pytest.raises(PieceNotFoundError, match=r"1\.zarr/t is gone"):
        zarr.copy_store(store, zarr.DirectoryStore(joined.parent / "a.zarr"))
    assert main(["verify", "-q", str(joined)]) == 3


@pytest.mark.parametrize("key", ["t/c/9/0", "t/c/0", "t/0.0", "t/c/0/0/0", "c/0", "t/.zarray"])
def test_keys_that_no_chunk_has_are_missing(joined: Path, key: str) -> None:
    assert key not in zarr.open(joined, mode="r").store


def test_pieces_are_never_the_destination(joined: Path) -> None:
    opened: Any = zarr.open(joined, mode="r")
    before = expected(joined.parent)
    for dest in (joined.parent / "0.zarr", joined.parent / "0.zarr" / "t", joined.parent):
        with pytest.raises(OverlapError):
            jobs.rechunk(opened["t"], dest, chunks=(4, 3), overwrite=True)
    with pytest.raises(OverlapError):
        zarr.copy_store(opened.store, zarr.DirectoryStore(joined.parent / "0.zarr"))
    np.testing.assert_array_equal(expected(joined.parent), before)


# Edits of a list


@pytest.mark.parametrize("stacked", [False, True])
def test_edits_are_those_of_a_list_of_arrays(tmp_path: Path, stacked: bool) -> None:
    values = [np.arange(6).reshape(2, 3) + 10 * number for number in range(5)]
    for number, one in enumerate(values):
        np.save(tmp_path / f"{number}.npy", one)
    names = [str(tmp_path / f"{number}.npy") for number in range(5)]
    join = np.stack if stacked else np.concatenate
    whole = virtual.stack(names[:4]) if stacked else virtual.concat(names[:4])
    for drop in (0, -1, slice(1, 3), slice(None, None, 2)):
        kept = [n for n in range(4) if n not in np.atleast_1d(np.arange(4)[drop])]
        found = virtual.edit(whole, drop=drop)
        np.testing.assert_array_equal(found[...], join([values[n] for n in kept]))
    found = virtual.edit(whole, drop=1, replace={0: names[4], -1: names[1]}, append=names[:1])
    np.testing.assert_array_equal(found[...], join([values[n] for n in (4, 2, 1, 0)]))
    with pytest.raises(VirtualError, match=r"no piece of .* is left"):
        virtual.edit(whole, drop=slice(None))
    with pytest.raises(VirtualError, match=r"piece 3 of .* is both dropped and replaced"):
        virtual.edit(whole, drop=3, replace={-1: names[0]})
    with pytest.raises(IndexError, match="has 4 pieces, and none of number 4"):
        virtual.edit(whole, drop=4)


def test_the_verb_adds_drops_and_checks(
    joined: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(joined.parent)

    def run(line: str, code: int = 0) -> str:
        assert main(["virtual", *line.split()]) == code
        return capsys.readouterr().out

    for number in range(3):
        np.save(f"{number}.npy", np.arange(4) + number)
    run("concat 0.npy 1.npy --dest a.json")
    run("add a.json 2.npy --window 10")
    whole: Any = zarr.open("a.json", mode="r")
    np.testing.assert_array_equal(whole[...], [2, 3, 1, 2, 3, 4, 2, 3, 4, 5])
    run("drop a.json 1 --dest b.json")
    assert zarr.open("b.json", mode="r")[...].tolist() == [2, 3, 2, 3, 4, 5]
    run("references all.json --dest refs.json")
    np.testing.assert_array_equal(zarr.open("refs.json", mode="r")["t"][...], expected(Path()))
    np.save("2.npy", np.arange(4) + 7)
    found = json.loads(run("check a.json --json", 3))
    assert [one["piece"] for one in found["problems"]] == [2]
    run("refresh a.json")
    assert zarr.open("a.json", mode="r")[-1] == 10
    assert run("check a.json") == "all pieces can be opened\n"
    for wrong in ("concat 0.npy", "join all.json --dest c.json", "drop a.json x", "add a.json"):
        run(wrong, 1)
