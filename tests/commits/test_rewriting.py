"""Commits that change elements which readers see: key spaces, open handles, and what is left."""
# A commit is a block, and raises at its end.
# ruff: noqa: PT012, SIM117

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.commits import _left
from zarrix.errors import (
    ArrayReplacedError,
    CommitConflictError,
    LateWriteWarning,
    NotAtomicError,
)

FORMATS = (2, 3)


@pytest.fixture(autouse=True)
def promises_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the second commit of a v2 array would wait for ten seconds."""
    monkeypatch.setattr(_left, "PROMISED", 0.0)


@pytest.fixture(params=FORMATS)
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "x.zarr"
    root = zarr.open_group(path, mode="w", zarr_format=request.param)
    for name in ("a", "b"):
        root.create_dataset(name, data=np.ones((6, 4), "i4"), chunks=(2, 2))
    zarr.consolidate_metadata(path)
    return path


def files(path: Path) -> dict[str, Any]:
    return {
        str(file.relative_to(path)): file.read_bytes() for file in path.rglob("*") if file.is_file()
    }


def rewrite(path: Path, value: int, **options: Any) -> None:
    with zarr.commit(path, **options) as root:
        for name in ("a", "b"):
            root[name][0] = value


def test_unchanged_chunks_are_carried_without_a_copy(path: Path) -> None:
    before = {file.stat().st_ino for file in path.rglob("*") if file.is_file()}
    rewrite(path, 7)
    found = zarr.open_group(path)["a"]
    assert found[:, 0].tolist() == [7, 1, 1, 1, 1, 1]
    keys = [key for key, _ in found._snapshot.io.stored_chunks()]
    assert len(keys) == 6
    numbers = {os.stat(path / key).st_ino for key in keys}
    # Where the file system clones, files are not linked.
    has_links = bool(numbers & before)
    assert not has_links or len(numbers & before) == 4


def test_all_four_spellings_are_used_in_turn(tmp_path: Path) -> None:
    zarr.create_array(tmp_path / "x.zarr", data=np.ones((4, 4)), chunks=(2, 2))
    spellings = []
    for value in range(6):
        with zarr.commit(tmp_path / "x.zarr") as z:
            z[0, 0] = value
        z = zarr.open_array(tmp_path / "x.zarr")
        assert z[0].tolist() == [value, 1, 1, 1]
        spellings.append((z.metadata.key_encoding[0], z.metadata.dimension_separator))
        zarr.sweep(tmp_path / "x.zarr", now=value > 3)
    assert set(spellings) == {("v2", "/"), ("default", "."), ("v2", "."), ("default", "/")}


def test_arrays_with_few_axes(tmp_path: Path) -> None:
    for shape in ((), (5,)):
        for zarr_format in FORMATS:
            place = tmp_path / f"{zarr_format}{len(shape)}.zarr"
            root = zarr.open_group(place, mode="w", zarr_format=zarr_format)
            root.create_dataset("a", data=np.ones(shape), chunks=2 if shape else True)
            if zarr_format == 2:
                with pytest.raises(NotAtomicError, match="only one spelling"):
                    with zarr.commit(root) as new:
                        new["a"][...] = 2
                assert (root["a"][...] == 1).all()
                continue
            for value in (2, 3, 4):
                with zarr.commit(root) as new:
                    new["a"][...] = value
                assert (root["a"][...] == value).all()
                assert (zarr.open_consolidated(place)["a"][...] == value).all()


def test_an_open_handle_reads_the_old_state_until_it_is_swept_and_then_the_new_one(
    path: Path,
) -> None:
    handle, view = zarr.open_group(path)["a"], zarr.open_group(path)["a"].astype("f8")
    whole = zarr.open_consolidated(path)
    both = whole["a"], whole["b"]
    rewrite(path, 7)
    assert handle[0, 0] == view[0, 0] == 1
    assert (both[0][0, 0], whole["b"][0, 0]) == (1, 1)
    assert zarr.sweep(path) == 0
    assert zarr.sweep(path, now=True) == 12
    assert handle[0, 0] == handle.oindex[[0], [0]] == view[0, 0] == 7
    assert zarr.open_group(path)["a"].read_windows([[0, 0]], (1, 1))[0, 0, 0] == 7
    # A group of consolidated metadata shows one state, and says that it is gone.
    with pytest.raises(ArrayReplacedError, match="open the array, or the group"):
        both[0][:]
    assert zarr.open_consolidated(path)["a"][0, 0] == 7


@pytest.mark.parametrize(
    "read",
    [
        lambda z: z[:],
        lambda z: z.read(out=np.empty((6, 4), "i4")),
        lambda z: z.oindex[:, [0, 1, 2, 3]],
        lambda z: z.vindex[np.repeat(np.arange(6), 4), np.tile(np.arange(4), 6)].reshape(6, 4),
        lambda z: z.read_windows([[0, 0]], (6, 4))[0],
        lambda z: zarr.read_many([(z, [[0, 0]], (6, 4))])[0][0],
        lambda z: np.asarray(z.lazy[:]),
        lambda z: z.blocks[:, :],
    ],
)
def test_every_read_follows_a_commit(path: Path, read: Any) -> None:
    z = zarr.open_group(path)["a"]
    rewrite(path, 7)
    zarr.sweep(path, now=True)
    expected = np.ones((6, 4))
    expected[0] = 7
    assert np.array_equal(read(z), expected)


@pytest.mark.parametrize(
    "write",
    [
        lambda z: z.__setitem__((slice(4, 6), slice(None)), 5),
        lambda z: z.oindex.__setitem__(([4, 5], slice(None)), 5),
        lambda z: z.vindex.__setitem__((np.repeat([4, 5], 4), np.tile(np.arange(4), 2)), 5),
        lambda z: z.lazy[4:].__setitem__(slice(None), np.full((2, 4), 5)),
    ],
)
def test_every_write_goes_to_the_new_chunks(path: Path, write: Any) -> None:
    z = zarr.open_group(path)["a"]
    rewrite(path, 7)
    write(z)
    found = zarr.open_group(path)["a"]
    assert found[:, 0].tolist() == [7, 1, 1, 1, 5, 5]
    z.append(np.full((3, 4), 9))
    assert zarr.open_group(path)["a"][:, 1].tolist() == [7, 1, 1, 1, 5, 5, 9, 9, 9]


def test_what_others_write_during_the_block_is_carried_or_a_conflict(path: Path) -> None:
    other = zarr.open_group(path)["a"]
    with zarr.commit(path) as root:
        root["a"][0, 0] = 7
        other[5, 3] = 8
        other[2:4, 0:2] = 0
    assert zarr.open_group(path)["a"][:, 0].tolist() == [7, 1, 0, 0, 1, 1]
    assert zarr.open_group(path)["a"][5, 3] == 8
    before = zarr.open_group(path)["a"][:]
    with pytest.raises(CommitConflictError, match="chunk") as caught, zarr.commit(path) as root:
        root["a"][0, 0] = 9
        zarr.open_group(path)["a"][1, 1] = 3
    assert (caught.value.path, caught.value.what) == ("a", "chunk")
    before[1, 1] = 3
    assert np.array_equal(zarr.open_group(path)["a"][:], before)


def test_what_others_write_to_old_folders_of_chunks_is_carried(tmp_path: Path) -> None:
    # A folder that has not changed since its names were listed is not listed again.
    path = tmp_path / "x.zarr"
    z = zarr.open_group(path, mode="w", zarr_format=3).create_array(
        "a", shape=(40, 6), chunks=(1, 2), dtype="i4", fill_value=0, compressors=None
    )
    z[:, :4] = 1
    zarr.consolidate_metadata(path)
    folder = path / "a" / "c"
    wanted = z[:]
    elsewhere = tmp_path / "other"
    elsewhere.write_bytes((folder / "3/0").read_bytes())
    (folder / "39/2").symlink_to(elsewhere)
    wanted[39, 4:] = 1
    # File systems tell two times apart that are several milliseconds from each other.
    time.sleep(0.1)
    with zarr.commit(path) as root:
        root["a"][0] = 7
        wanted[0] = 7
        time.sleep(0.1)
        # A name that was not there, a value that is replaced, and one that is gone.
        z[5, 4:] = wanted[5, 4:] = 2
        z[6, :2] = wanted[6, :2] = 3
        (folder / "8/1").unlink()
        # A folder that goes, and what a link leads to.
        for file in (folder / "9").iterdir():
            file.unlink()
        (folder / "9").rmdir()
        elsewhere.write_bytes(np.array([[8, 9]], "i4").tobytes())
    wanted[8, 2:4], wanted[9], wanted[39, 4:] = 0, 0, (8, 9)
    np.testing.assert_array_equal(zarr.open_group(path)["a"][:], wanted)


def test_a_smaller_shape_another_layout_and_a_deletion_are_part_of_a_commit(path: Path) -> None:
    before = zarr.open_group(path)["a"]
    with zarr.commit(path) as root:
        root["a"].resize(3, 4)
        root.create_dataset("b", data=np.arange(5.0).reshape(5, 1), chunks=(3, 1), overwrite=True)
        assert before.shape == (6, 4)
        assert zarr.open_group(path)["b"].dtype == "i4"
        assert root["b"][:, 0].tolist() == [0, 1, 2, 3, 4]
    for found in (zarr.open_group(path), zarr.open_consolidated(path)):
        assert found["a"].shape == (3, 4)
        assert found["b"][:, 0].tolist() == [0, 1, 2, 3, 4]
    assert before.shape == (6, 4)
    assert (before[:] == 1).all()
    z = zarr.open_group(path)["a"]
    z.resize(6, 4)
    assert (z[3:] == 0).all()
    with zarr.commit(path) as root:
        del root["a"]
        assert list(root) == ["b"]
        assert list(zarr.open_group(path)) == ["a", "b"]
    assert list(zarr.open_group(path)) == list(zarr.open_consolidated(path)) == ["b"]
    assert not (path / "a").exists()


def test_an_error_leaves_no_chunk_of_the_other_spelling(path: Path) -> None:
    before = files(path)
    with pytest.raises(ZeroDivisionError), zarr.commit(path) as root:
        root["a"][:] = 5
        root.create_dataset("b", data=np.ones((3, 3)), overwrite=True)
        raise ZeroDivisionError
    assert files(path) == before


def test_old_chunks_go_when_their_grace_is_over(path: Path) -> None:
    rewrite(path, 7, grace=0)
    # The next commit finds that it is over.
    with zarr.commit(path) as root:
        root.attrs["x"] = 1
    assert len([key for key in files(path) if key[-1].isdigit()]) == 12
    rewrite(path, 8, grace=None)
    with zarr.commit(path) as root:
        root.attrs["x"] = 2
    assert zarr.sweep(path, now=True) == 12


def test_a_late_write_of_another_library_is_kept_and_named(path: Path) -> None:
    z = zarr.open_group(path)["a"]
    rewrite(path, 7)
    old = z._snapshot.io.stored_chunks()[0][0]
    (path / old).write_bytes(b"late")
    later = time.time() + 5
    os.utime(path / old, (later, later))
    with pytest.warns(LateWriteWarning, match="written after a commit"):
        zarr.sweep(path, now=True)
    assert (path / old).read_bytes() == b"late"
    assert zarr.open_group(path)["a"][0, 0] == 7


def test_keys_of_others_are_not_overwritten(path: Path) -> None:
    z = zarr.open_group(path)["a"]
    free = "0/0" if (path / "a/.zarray").exists() else "0.0"
    (path / "a" / free).parent.mkdir(exist_ok=True)
    (path / "a" / free).write_bytes(b"mine")
    if (path / "a/.zarray").exists():
        with pytest.raises(NotAtomicError, match="in use"), zarr.commit(path) as root:
            root["a"][0] = 7
        assert z[0, 0] == 1
    else:
        for _ in range(3):
            with zarr.commit(path) as root:
                root["a"][0] += 1
        assert zarr.open_group(path)["a"][0, 0] == 4
    assert (path / "a" / free).read_bytes() == b"mine"


def test_the_most_chunks_that_are_carried(path: Path) -> None:
    before = files(path)
    with pytest.raises(NotAtomicError, match="max_carry is 5"):
        with zarr.commit(path, max_carry=5) as root:
            root["a"][0] = 7
    assert files(path) == before


def test_readers_all_allows_one_node(path: Path) -> None:
    with zarr.commit(path, readers="all") as root:
        root["a"][0] = 7
    assert zarr.open_group(path)["a"][0, 0] == 7
    with pytest.raises(NotAtomicError, match="one after the other"):
        with zarr.commit(path, readers="all") as root:
            root["a"][0] = root["b"][0] = 8
    assert zarr.open_group(path)["a"][0, 0] == 7
    with pytest.raises(ValueError, match="readers="), zarr.commit(path, readers="some"):
        raise AssertionError


@pytest.mark.parametrize(
    ("shape", "separator", "expected"),
    [
        ((2000, 4), "/", ("default", ".")),
        ((2000, 40), "/", ("v2", "/")),
        ((900, 4), "/", ("v2", "/")),
        ((2000, 40), ".", ("v2", ".")),
    ],
)
def test_the_next_keys_need_few_folders(
    tmp_path: Path, shape: tuple[int, int], separator: str, expected: tuple[str, str]
) -> None:
    root = zarr.create_group(tmp_path / "x.zarr")
    encoding = {"name": "default", "separator": separator}
    root.create_array("a", shape=shape, chunks=(1, 1), dtype="i4", chunk_key_encoding=encoding)
    root["a"][5, 1] = 1
    with zarr.commit(root) as new:
        new["a"][5, 2] = 2
    metadata = zarr.open(tmp_path / "x.zarr")["a"].metadata
    assert (metadata.key_encoding[0], metadata.dimension_separator) == expected
    assert zarr.open(tmp_path / "x.zarr")["a"][5, :3].tolist() == [0, 1, 2]
