"""Copies between zarrix groups, h5py files and stores."""

import io
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._array.access import io_of
from zarrix.errors import CopyError, PathNotFoundError


@pytest.fixture
def source() -> zarr.Group:
    root = zarr.group()
    z = root.create_dataset("foo/bar/baz", data=np.arange(100), chunks=30, compressor=zarr.Zstd(3))
    z.attrs["unit"] = "mm"
    root["foo"].attrs["k"] = 1
    root.create_dataset("foo/spam", data=np.ones((4, 5), "f4", order="F"), order="F", fill_value=2)
    return root


def test_a_group_is_copied_with_all_below_it(source: zarr.Group) -> None:
    dest, log = zarr.group(), io.StringIO()
    assert zarr.copy(source["foo"], dest, log=log) == (4, 0, 880)
    assert log.getvalue() == (
        "copy /foo\ncopy /foo/bar\ncopy /foo/bar/baz (100,) int64\n"
        "copy /foo/spam (4, 5) float32\nall done: 4 copied, 0 skipped, 880 bytes copied\n"
    )
    baz, spam = dest["foo/bar/baz"], dest["foo/spam"]
    assert (baz.chunks, baz.compressor, dict(baz.attrs)) == ((30,), zarr.Zstd(3), {"unit": "mm"})
    assert (spam.order, spam.fill_value, dest["foo"].attrs["k"]) == ("F", 2, 1)
    assert np.array_equal(baz[:], np.arange(100))


def test_copies_can_leave_out_attributes_and_grandchildren_and_change_options(
    source: zarr.Group,
) -> None:
    dest = zarr.group()
    assert zarr.copy(source["foo"], dest, "other", shallow=True, without_attrs=True) == (2, 0, 80)
    assert (list(dest["other"]), dict(dest["other"].attrs)) == (["spam"], {})
    zarr.copy(source["foo/bar/baz"], dest, chunks=50, compression="gzip")
    assert (dest["baz"].chunks, dest["baz"].compressor) == ((50,), zarr.GZip(1))


@pytest.mark.parametrize(
    ("if_exists", "dry_run", "counts"),
    [
        ("replace", False, (4, 0, 880)),
        ("skip", False, (3, 1, 800)),
        ("skip_initialized", False, (4, 0, 880)),
        ("replace", True, (4, 0, 0)),
        ("skip", True, (3, 1, 0)),
    ],
)
def test_what_exists_is_replaced_or_left(
    source: zarr.Group, if_exists: str, dry_run: bool, counts: tuple[int, int, int]
) -> None:
    dest = zarr.group()
    dest.zeros("foo/spam", shape=7)
    before = sorted(dest.store)
    lines: list[str] = []
    got = zarr.copy(source["foo"], dest, if_exists=if_exists, dry_run=dry_run, log=lines.append)
    assert got == counts
    assert lines[-1].startswith("dry run: " if dry_run else "all done: ")
    assert (sorted(dest.store) == before) == dry_run
    assert dest["foo/spam"].shape == ((7,) if dry_run or if_exists == "skip" else (4, 5))


def test_what_exists_stops_a_copy_by_default(source: zarr.Group) -> None:
    dest = zarr.group()
    dest.zeros("foo/spam", shape=7)
    with pytest.raises(CopyError, match="'spam' already exists in destination '/foo'"):
        zarr.copy(source["foo"], dest)
    dest.zeros("foo2", shape=7)
    with pytest.raises(CopyError, match="an array 'foo2' already exists"):
        zarr.copy(source["foo"], dest, name="foo2")


def test_an_array_is_never_copied_onto_itself(source: zarr.Group) -> None:
    with pytest.raises(CopyError, match="is the source"):
        zarr.copy(source["foo/spam"], source["foo"], if_exists="replace")
    assert source["foo/spam"][:].sum() == 20


def test_wrong_arguments_change_nothing(source: zarr.Group) -> None:
    dest = zarr.group()
    dest.zeros("spam", shape=7)
    for arguments, error in (
        ({"if_exists": "overwrite"}, ValueError),
        ({"if_exists": "replace", "chunk": 3}, TypeError),
        ({"log": 3}, TypeError),
    ):
        with pytest.raises(error):
            zarr.copy(source["foo/spam"], dest, **arguments)  # type: ignore[arg-type]
    assert dest["spam"].shape == (7,)
    with pytest.raises(TypeError, match="name="):
        zarr.copy(source, dest)
    with pytest.raises(ValueError, match="a group to copy into"):
        zarr.copy(source["foo"], {})


def test_all_children_are_copied(source: zarr.Group, tmp_path: Path) -> None:
    source.attrs["top"] = 1
    dest = zarr.open_group(str(tmp_path / "x.zarr"), "w")
    assert zarr.copy_all(source, dest, log=str(tmp_path / "log")) == (4, 0, 880)
    assert (tmp_path / "log").read_text().startswith("copy /foo\n")
    assert dest.attrs["top"] == 1
    assert dest.tree().__repr__() == source.tree().__repr__()
    assert zarr.copy_all(source, dest, if_exists="skip_initialized") == (2, 2, 0)


def test_copies_go_to_hdf5_and_back(source: zarr.Group, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    source.array("scalar", np.array(3.5))
    back = zarr.group()
    with h5py.File(tmp_path / "x.h5", "w") as file:
        assert zarr.copy_all(source, file) == (5, 0, 888)
        assert file["foo/bar/baz"].compression == "gzip"
        assert str(zarr.tree(file["foo"])) == (
            "foo\n ├── bar\n │   └── baz (100,) int64\n └── spam (4, 5) float32"
        )
        assert zarr.copy_all(file, back) == (5, 0, 888)
        with pytest.raises(ValueError, match="skip_initialized"):
            zarr.copy_all(source, file, if_exists="skip_initialized")
    assert np.array_equal(back["foo/bar/baz"][:], np.arange(100))
    assert (back["foo/bar/baz"].attrs["unit"], back["foo/bar/baz"].chunks) == ("mm", (30,))
    assert back["scalar"][()] == 3.5


def test_a_store_is_copied_byte_for_byte(source: zarr.Group, store: Any) -> None:
    log = io.StringIO()
    n_copied, n_skipped, n_bytes = zarr.copy_store(source.store, store, log=log)
    assert {key: bytes(store[key]) for key in store} == dict(source.store)
    assert (n_copied, n_skipped) == (len(source.store), 0)
    assert n_bytes == sum(map(len, source.store.values()))
    assert log.getvalue().splitlines()[0] == "copy .zgroup"
    with pytest.raises(CopyError, match=r"key '\.zgroup' exists"):
        zarr.copy_store(source.store, store)
    assert zarr.copy_store(source.store, store, if_exists="skip")[0] == 0
    assert zarr.copy_store(source.store, store, if_exists="replace")[0] == n_copied


def test_parts_of_a_store_are_copied_to_other_paths(source: zarr.Group) -> None:
    dest: dict[str, bytes] = {}
    lines: list[str] = []
    counts = zarr.copy_store(
        source.store,
        dest,
        source_path="/foo/bar",
        dest_path="x",
        excludes=[r"baz/\d", "zattrs"],
        includes="baz/1",
        log=lines.append,
    )
    assert sorted(dest) == ["x/.zgroup", "x/baz/.zarray", "x/baz/1"]
    assert counts[:2] == (3, 0)
    assert lines[0] == "copy foo/bar/.zgroup -> x/.zgroup"
    assert zarr.copy_store(source.store, {}, dry_run=True)[2] == 0


def test_a_copy_that_was_stopped_has_no_array_that_lacks_chunks_and_goes_on(
    source: zarr.Group,
) -> None:
    class Full(dict[str, bytes]):
        room = 3

        def __setitem__(self, key: str, value: bytes) -> None:
            if len(self) == self.room:
                raise OSError("no space left")
            super().__setitem__(key, value)

    dest = Full()
    with pytest.raises(OSError, match="no space left"):
        zarr.copy_store(source.store, dest, workers=2)
    assert len(dest) == 3
    assert not [key for key in dest if key.rpartition("/")[2].startswith(".z")]
    dest.room = 10**6
    n_copied, n_skipped, _ = zarr.copy_store(source.store, dest, if_exists="skip")
    assert (n_copied, n_skipped) == (len(source.store) - 3, 3)
    assert dest == dict(source.store)


def test_nothing_is_copied_where_a_key_is_in_the_way(source: zarr.Group) -> None:
    dest = {"foo/bar/baz/1": b"mine"}
    with pytest.raises(CopyError, match=r"key 'foo/bar/baz/1' exists"):
        zarr.copy_store(source.store, dest)
    assert dest == {"foo/bar/baz/1": b"mine"}


def test_as_many_values_are_on_their_way_as_there_are_workers(source: zarr.Group) -> None:
    together = threading.Barrier(4)

    class Slow(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            if key.startswith("foo/bar/baz/") and key[-1].isdecimal():
                together.wait(60)
            return super().__getitem__(key)

    slow, dest = Slow(dict(source.store)), {}
    told: list[tuple[int, int]] = []
    zarr.copy_store(
        slow,
        dest,
        source_path="foo/bar/baz",
        workers=4,
        progress=lambda done, total: told.append((done, total)),
    )
    assert sorted(dest) == [".zarray", ".zattrs", "0", "1", "2", "3"]
    assert told == [(done, 6) for done in range(1, 7)]
    with pytest.raises(ValueError, match="workers is a positive number"):
        zarr.copy_store(slow, {}, workers=0)


def test_the_progress_of_a_copy_is_a_bar(
    source: zarr.Group, capsys: pytest.CaptureFixture[str]
) -> None:
    zarr.copy_store(source.store, {}, progress=True)
    count = len(source.store)
    assert capsys.readouterr().err.endswith(f"] {count} of {count} keys\n")


def test_a_sparse_array_is_copied_by_its_stored_chunks() -> None:
    """Of 10**14 chunks with three stored, the copy went through all."""
    source = zarr.create((10**9, 10**9), chunks=(100, 100), dtype="i4", fill_value=-1)
    for at in ((5, 5), (150, 99), (10**9 - 1, 10**9 - 1)):
        source[at] = 7
    dest = zarr.group()
    zarr.copy(source, dest, name="same")
    zarr.copy(source, dest, name="other", chunks=(70, 1000))
    assert not zarr.diff(source, dest["same"])
    for name in ("same", "other"):
        assert dest[name].shape == source.shape
        assert dest[name][5, 5] == dest[name][150, 99] == dest[name][-1, -1] == 7
        assert dest[name][4, 5] == dest[name][10**6, 10**6] == -1
    assert dest["same"].nchunks_initialized == 3
    assert dest["other"].nchunks_initialized == 6


def test_a_copy_with_another_fill_value_has_what_the_source_reads_as() -> None:
    source = zarr.create((30, 30), chunks=(1, 1), dtype="i4", fill_value=-1)
    source[5, 5] = 7
    dest = zarr.group()
    zarr.copy(source, dest, name="c", fill_value=9)
    assert (dest["c"][...] == source[...]).all()


def test_a_copy_of_nothing_is_an_error(tmp_path: Path) -> None:
    zarr.save(tmp_path / "good.zarr", a=[1, 2, 3])
    (tmp_path / "empty").mkdir()
    for source in ("typo.zarr", "empty", "typo.zip.zarr"):
        with pytest.raises(PathNotFoundError, match=rf"nothing to copy at '.*{source}'"):
            zarr.copy_store(str(tmp_path / source), tmp_path / "copy.zarr")
        with pytest.raises(PathNotFoundError, match="nothing to copy at"):
            zarr.copy_store(tmp_path / source, tmp_path / "copy.zarr", dry_run=True)
    for store in (str(tmp_path / "good.zarr"), zarr.DirectoryStore(tmp_path / "good.zarr"), {}):
        with pytest.raises(PathNotFoundError, match=r"nothing to copy at .*typo"):
            zarr.copy_store(store, tmp_path / "copy.zarr", source_path="typo")
    assert not (tmp_path / "copy.zarr").exists()


def test_an_empty_store_is_copied_and_so_is_one_of_which_all_is_left_out(tmp_path: Path) -> None:
    for store in ({}, zarr.MemoryStore(), zarr.DirectoryStore(tmp_path / "none")):
        assert zarr.copy_store(store, {}) == (0, 0, 0)
    zarr.save(tmp_path / "good.zarr", a=[1, 2, 3])
    assert zarr.copy_store(tmp_path / "good.zarr", {}, excludes="") == (0, 0, 0)


def test_every_call_that_reads_a_whole_source_says_that_nothing_is_there(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    zarr.save(tmp_path / "good.zarr", a=[1, 2, 3])
    good = str(tmp_path / "good.zarr")
    calls = [
        lambda: zarr.load(good, path="typo"),
        lambda: zarr.consolidate_metadata(good, path="typo"),
        lambda: zarr.migrate(good, to=3, path="typo"),
    ]
    for source in (str(tmp_path / "typo.zarr"), str(tmp_path / "empty")):
        whole = [zarr.load, zarr.consolidate_metadata, zarr.open_consolidated]
        whole += [zarr.verify, zarr.repair, zarr.digests]
        calls += [lambda call=call, source=source: call(source) for call in whole]
        calls += [
            lambda source=source: zarr.copy_store(source, {}),
            lambda source=source: zarr.migrate(source, to=3),
            lambda source=source: zarr.diff(source, good),
            lambda source=source: zarr.copy(zarr.open(source, mode="r"), zarr.group()),
            lambda source=source: zarr.copy_all(zarr.open_group(source, mode="r"), zarr.group()),
        ]
    for call in calls:
        with pytest.raises(PathNotFoundError):
            call()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "good.zarr"]


def test_an_array_made_of_a_sparse_one_is_filled_by_its_stored_chunks() -> None:
    source = zarr.create((10**9, 10**9), chunks=(100, 100), dtype="i4")
    source[5, 5] = source[-1, -1] = 7
    made = [
        zarr.array(source),
        zarr.from_array(data=source),
        zarr.create_array(data=source),
        zarr.create_array(data=source, shards=(1000, 1000), chunks=(100, 100)),
        zarr.group().create_dataset("a", data=source),
    ]
    for one in made:
        assert (one.shape, one[5, 5], one[-1, -1], one[6, 5]) == (source.shape, 7, 7, 0)
        assert io_of(one).stored_chunks()


def test_chunks_of_a_lost_array_do_not_get_into_a_sparse_copy() -> None:
    source = zarr.create((100, 100), chunks=(1, 1), dtype="i4")
    source[5, 5] = 7
    store = zarr.MemoryStore()
    dest = zarr.group(store)
    store["c/9.9"] = np.full((1, 1), 3, "i4").tobytes()
    with pytest.raises(ValueError, match=r"the chunk 'c/9\.9' of an array that is gone"):
        zarr.copy(source, dest, name="c", compressor=None)
    del store["c/9.9"]
    zarr.copy(source, dest, name="c", compressor=None)
    assert (dest["c"][...] == source[...]).all()
