"""Files of HDF5 of other programs: where chunks are, links, and what Zarr cannot have."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from convert_data import same
from zarrix.cli import main
from zarrix.convert import open_file, virtual
from zarrix.errors import ConversionError

h5py = pytest.importorskip("h5py")

VALUE = np.arange(2 * 6 * 10, dtype="i4").reshape(2, 6, 10)


def imported(source: Path, **options: Any) -> Any:
    dest = source.with_name(f"{source.stem}.zarr")
    zarr.import_(source, dest, overwrite=True, verify="full", **options)
    return zarr.open(dest, mode="r")


# Each unlimited axis is an index of another kind; more than one is a B-tree.
UNLIMITED = [(2, 6, None), (2, None, 10), (None, 6, 10), (9, None, 20), (5, 8, None)]


@pytest.mark.parametrize("most", [*UNLIMITED, (None, None, 10), (2, 6, 10), (4, 8, 20)])
@pytest.mark.parametrize("options", [{}, {"compression": 1}, {"compression": "lzf"}])
@pytest.mark.parametrize("libver", ["earliest", "latest"])
def test_chunks_are_where_the_library_reads_them(
    most: Any, options: Any, libver: str, tmp_path: Path
) -> None:
    with h5py.File(tmp_path / "x.h5", "w", libver=libver) as file:
        file.create_dataset("x", data=VALUE, chunks=(1, 2, 3), maxshape=most, **options)
    same(open_file(tmp_path / "x.h5", "x")[...], VALUE)
    for keep in (False, True):
        same(imported(tmp_path / "x.h5", keep_chunks=keep, zarr_format=2)["x"][...], VALUE)
    if options.get("compression") != "lzf":
        virtual(tmp_path / "x.h5", tmp_path / "x.json")
        same(zarr.open(tmp_path / "x.json", mode="r")["x"][...], VALUE)


def test_chunks_of_equal_bytes_do_not_decide_where_others_are(tmp_path: Path) -> None:
    value = np.zeros((6, 30), "i4")
    value[4:, 27:] = 5
    with h5py.File(tmp_path / "x.h5", "w", libver="latest") as file:
        file.create_dataset("x", data=value, chunks=(2, 3), maxshape=(6, None))
    same(open_file(tmp_path / "x.h5", "x")[...], value)


@pytest.mark.parametrize("keep", [False, True])
def test_chunks_behind_a_block_of_the_user(keep: bool, tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w", userblock_size=1024) as file:
        file.create_dataset("x", data=VALUE, chunks=(1, 4, 5), compression=3, shuffle=True)
        file["flat"] = VALUE
    found = imported(tmp_path / "x.h5", keep_chunks=keep)
    same(found["x"][...], VALUE)
    same(found["flat"][...], VALUE)


def linked(folder: Path) -> Path:
    """A file with what leads to others: links, a virtual dataset, and one stored elsewhere."""
    with h5py.File(folder / "other.h5", "w") as file:
        file.create_dataset("pad", data=np.arange(999))
        file["flat"] = VALUE + 1
        file.create_dataset("chunked", data=VALUE + 2, chunks=(1, 4, 5), compression=3)
        file.create_group("g")["inside"] = VALUE + 3
    (VALUE + 4).tofile(folder / "other.raw")
    layout = h5py.VirtualLayout(VALUE.shape, "i4")
    layout[:] = h5py.VirtualSource("other.h5", "flat", VALUE.shape)
    with h5py.File(folder / "x.h5", "w") as file:
        file["own"] = VALUE
        for name in ("flat", "chunked", "g"):
            file[name] = h5py.ExternalLink("other.h5", f"/{name}")
        file["all"] = h5py.ExternalLink("other.h5", "/")
        file.create_virtual_dataset("virtual", layout)
        outside = [(str(folder / "other.raw"), 0, VALUE.nbytes)]
        file.create_dataset("outside", VALUE.shape, "i4", external=outside)
    return folder / "x.h5"


@pytest.mark.parametrize("keep", [False, True])
def test_what_is_followed_is_read_from_its_own_file(keep: bool, tmp_path: Path) -> None:
    file = linked(tmp_path)
    found = imported(file, follow=True, keep_chunks=keep)
    shown = open_file(file, follow=True)
    with h5py.File(file) as expected:
        for name in ("own", "flat", "chunked", "g/inside", "all/flat", "virtual", "outside"):
            same(found[name][...], expected[name][...])
            same(shown[name][...], expected[name][...])


@pytest.mark.parametrize("changed", ["x.h5", "other.h5", "other.raw"])
def test_an_import_does_not_continue_after_a_followed_file_changed(
    changed: str, tmp_path: Path
) -> None:
    file, dest = linked(tmp_path), tmp_path / "y.zarr"

    def stop(done: int, total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        zarr.import_(file, dest, follow=True, progress=stop)
    with open(tmp_path / changed, "ab") as opened:
        opened.write(b"more")
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.import_(file, dest, follow=True, resume=True)


def test_the_time_is_that_of_what_is_stored(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file.create_dataset("a", (2**50,), "i4", chunks=(1000,), fillvalue=7)[5] = 1
        file.create_dataset("b", (2**25, 2**25), "f8", chunks=(9, 9), compression="lzf")[-1, -1] = 3
        file.create_dataset("text", (2**40,), h5py.string_dtype(), chunks=(10,))[2**39] = "x"
        file.create_dataset("never", (2**48,), "i4")
    begin = time.process_time()
    found = imported(tmp_path / "x.h5")
    assert (found["a"][5], found["a"][2**49], found["b"][-1, -1], found["b"][1, 1]) == (1, 7, 3, 0)
    assert (found["text"][2**39], found["text"][0], found["never"][2**47]) == ("x", "", 0)
    shown = open_file(tmp_path / "x.h5")
    assert [shown[one].nchunks_initialized for one in ("a", "b", "text", "never")] == [1, 1, 1, 0]
    # A bound against visiting what is not stored: years.
    assert time.process_time() - begin < 60


def test_a_small_file_with_many_paths_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zarrix.convert._hdf5_walk._MOST_MEMBERS", 1000)
    with h5py.File(tmp_path / "x.h5", "w") as file:
        group = file.create_group("g")
        for _ in range(30):
            inside = group.create_group("a")
            group["b"] = inside
            group = inside
    with pytest.raises(ConversionError, match="more than 1,000 paths"):
        open_file(tmp_path / "x.h5")


def unkept(path: Path) -> set[str]:
    """A file with members and attributes that Zarr cannot have; their names are returned."""
    with h5py.File(path, "w") as file:
        file["ok"] = VALUE
        file["ok"].attrs["good"] = [1, 2]
        file["ok"].attrs["complex"] = 1 + 2j
        file["ok"].attrs["opaque"] = np.void(b"abc")
        file["ok"].attrs["time"] = np.array(["2020"], "M8[s]").astype(h5py.opaque_dtype("M8[s]"))
        file["ok"].attrs.create("latin", b"\xb0C", dtype="S2")
        file.create_dataset("rows", (2, 3), h5py.vlen_dtype("i4"))[0, 1] = [1, 2]
        file["fields"] = np.array([(b"a", 1)], [("t", h5py.string_dtype()), ("i", "i4")])
        file.create_dataset("lists of text", (2,), h5py.vlen_dtype(h5py.string_dtype()))
        file["not UTF-8"] = np.array([b"\xb0"], h5py.string_dtype("utf-8"))
        file["references"] = np.array([file["ok"].ref], h5py.ref_dtype)
        file["complex fields"] = np.array([(1 + 2j, 3)], [("c", "c16"), ("i", "i4")])
        file["zarr.json"] = [1]
        file["g/.zgroup/y"] = [1]
    return {"fields", "lists of text", "not UTF-8", "references", "zarr.json", "g/.zgroup"}


@pytest.mark.parametrize("zarr_format", [None, 2])
def test_what_cannot_be_imported_is_left_out_and_named(zarr_format: Any, tmp_path: Path) -> None:
    names = unkept(tmp_path / "x.h5")
    done = zarr.import_(tmp_path / "x.h5", tmp_path / "y.zarr", zarr_format=zarr_format)
    assert {one.partition(" is left out")[0] for one in done.left_out} == names | {
        f"the attribute {name!r} of ok" for name in ("complex", "opaque", "time", "latin")
    }
    assert set(done.left_out) <= set(done.notes)
    found = zarr.open(tmp_path / "y.zarr", mode="r")
    same(found["ok"][...], VALUE)
    assert found["ok"].attrs.asdict() == {"good": [1, 2]}
    assert found["rows"][0, 1].tolist() == [1, 2]
    assert found["complex fields"]["c"].tolist() == [1 + 2j]
    assert not names & {*found}
    shown = open_file(tmp_path / "x.h5")
    assert {*shown} - {"not UTF-8"} == {*found}


def test_the_exit_code_says_that_something_was_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    unkept(tmp_path / "x.h5")
    assert main(["import", "x.h5", "y.zarr"]) == 3
    assert "note: fields is left out: its fields have text" in capsys.readouterr().out
    with h5py.File("z.h5", "w") as file:
        file["ok"] = VALUE
    assert main(["import", "z.h5", "z.zarr"]) == 0
