"""References to virtual arrays: read through fsspec, and refused where they are not exact."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual
from zarrix.errors import ConversionError, PieceNotFoundError, VirtualError

fsspec = pytest.importorskip("fsspec")


def stored(folder: Path, name: str, shape: tuple[int, ...], **options: Any) -> Path:
    """An array of numbers that no other has."""
    values = np.arange(float(np.prod(shape))).reshape(shape) + 1000 * (1 + len([*folder.iterdir()]))
    zarr.create_array(folder / name, data=values, **{"chunks": (2, 3), **options})
    return folder / name


def read_by_fsspec(path: Path) -> Any:
    """The array or group of references, whose bytes fsspec finds."""
    return zarr.open(fsspec.filesystem("reference", fo=str(path)).get_mapper(""), mode="r")


def check(whole: Any, path: Path) -> Any:
    virtual.references(whole, path)
    for found in (read_by_fsspec(path), zarr.open(path, mode="r")):
        np.testing.assert_array_equal(found[...], whole[...])
        assert found.dtype == whole.dtype
    return json.loads(path.read_text())["refs"]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", ["concat", "stack", "mosaic", "window"])
def test_references_read_as_the_array(tmp_path: Path, zarr_format: Any, kind: str) -> None:
    names = [
        stored(tmp_path, f"{n}.zarr", (4, 6 if kind != "concat" else 5), zarr_format=zarr_format)
        for n in range(3)
    ]
    if kind == "concat":
        names.append(stored(tmp_path, "3.zarr", (3, 5), zarr_format=zarr_format))
    whole = {
        "concat": lambda: virtual.concat(names),
        "stack": lambda: virtual.stack(names, axis=1, name="run"),
        "mosaic": lambda: virtual.mosaic([((0, 0), names[0]), ((12, 6), names[1])], fill_value=0.0),
        "window": lambda: virtual.edit(virtual.concat(names), window=6),
    }[kind]()
    refs = check(whole, tmp_path / "refs.json")
    assert (".zarray" if zarr_format == 2 else "zarr.json") in refs


def test_chunks_of_unequal_months_make_a_rectilinear_grid(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for month, days in enumerate((31, 28, 30)):
        with h5py.File(tmp_path / f"{month}.h5", "w") as file:
            values = np.arange(days * 5.0).reshape(days, 5) + month
            file.create_dataset("u", data=values, chunks=(days, 5), compression="gzip")
    whole = virtual.concat([tmp_path / f"{month}.h5" / "u" for month in range(3)])
    refs = check(whole, tmp_path / "refs.json")
    grid = json.loads(refs["zarr.json"])["chunk_grid"]
    assert grid["configuration"]["chunk_shapes"][0] == [[31, 1], [28, 1], [30, 1]]


def test_shards_and_mixed_versions_are_referenced_as_they_are(tmp_path: Path) -> None:
    names = [stored(tmp_path, f"{n}.zarr", (4, 6), shards=(4, 6), zarr_format=3) for n in range(2)]
    assert len(check(virtual.concat(names), tmp_path / "shards.json")) == 3
    plain = {"compressors": None}
    mixed = [stored(tmp_path, f"{n}.zarr", (4, 6), zarr_format=n, **plain) for n in (2, 3)]
    refs = check(virtual.concat(mixed), tmp_path / "mixed.json")
    assert "zarr.json" in refs


def test_a_group_and_what_is_in_its_list(tmp_path: Path) -> None:
    for number in range(2):
        group = zarr.open_group(tmp_path / f"{number}.zarr", mode="w", zarr_format=2)
        for name, values in (("time", [2 * number, 2 * number + 1]), ("t", [[number] * 3] * 2)):
            array: Any = group.create_dataset(name, data=values, chunks=1)
            array.attrs["_ARRAY_DIMENSIONS"] = ["time", "x"][: array.ndim]
        group["time"].attrs["units"] = "days since 2020-01-01"
    joined: Any = virtual.join([tmp_path / "1.zarr", tmp_path / "0.zarr"], "time")
    virtual.references(joined, tmp_path / "refs.json")
    found = read_by_fsspec(tmp_path / "refs.json")
    assert found["time"][...].tolist() == [0, 1, 2, 3]
    assert found["time"].attrs["_ARRAY_DIMENSIONS"] == ["time"]
    np.testing.assert_array_equal(found["t"][...], joined["t"][...])
    with pytest.raises(FileExistsError):
        virtual.references(joined, tmp_path / "refs.json")
    # References are pieces themselves, and are passed on.
    again = virtual.concat([tmp_path / "refs.json" / "t"] * 2)
    check(again, tmp_path / "again.json")


def _refused(kind: str, folder: Path) -> tuple[Any, str]:
    first = stored(folder, "a.zarr", (4, 6), zarr_format=3)
    if kind == "padded":
        odd = stored(folder, "b.zarr", (3, 6), zarr_format=3)
        return virtual.concat([odd, first]), r"b\.zarr has no references, because it ends inside"
    if kind == "begins":
        cut = zarr.open(first, mode="r").lazy[1:]
        return virtual.concat(
            [cut, first]
        ), r"a\.zarr has no .* because it begins inside of a chunk"
    if kind == "codec":
        other = stored(folder, "b.zarr", (4, 6), zarr_format=3, compressors=None)
        return virtual.concat([first, other]), r"b\.zarr has codecs .*, and .*a\.zarr \["
    if kind == "fill":
        other = stored(folder, "b.zarr", (4, 6), zarr_format=3, fill_value=1)
        return virtual.concat([first, other]), r"b\.zarr has fill_value 1.*, and .*a\.zarr 0"
    if kind == "hole":
        whole = virtual.mosaic([((2, 0), first)], fill_value=7)
        return whole, r"holes read as .*7.* here, and missing chunks of .*a\.zarr as"
    if kind == "columns":
        other = stored(folder, "b.zarr", (4, 6), zarr_format=3, chunks=(2, 2))
        return virtual.concat([first, other]), r"b\.zarr has chunks of 2 elements along axis 1"
    if kind == "cast":
        return virtual.concat([first], dtype="c16"), r"a\.zarr .* as they are stored \(dtype\)"
    if kind == "step":
        cut = zarr.open(first, mode="r").lazy[::2]
        return virtual.concat([cut]), r"a\.zarr .* as they are stored \(step\)"
    if kind == "stacked shards":
        other = stored(folder, "b.zarr", (4, 6), shards=(4, 6), zarr_format=3)
        return virtual.stack([other]), "the codec 'sharding_indexed' depends on the number of axes"
    if kind == "memory":
        return virtual.concat([zarr.array([1, 2])]), "neither files, nor parts of a file"
    np.savez_compressed(folder / "x.npz", u=np.arange(6))
    return virtual.concat([folder / "x.npz" / "u"]), r"x\.npz/u has no references, because"


@pytest.mark.parametrize(
    "kind",
    [
        "padded",
        "begins",
        "codec",
        "fill",
        "hole",
        "columns",
        "cast",
        "step",
        "stacked_shards",
        "memory",
        "deflated",
    ],
)
def test_references_that_would_not_be_exact_are_refused(tmp_path: Path, kind: str) -> None:
    whole, message = _refused(kind.replace("_", " "), tmp_path)
    with pytest.raises(ConversionError, match=message):
        virtual.references(whole, tmp_path / "refs.json")
    assert not (tmp_path / "refs.json").exists()


def test_pieces_that_are_gone_or_changed_are_refused(tmp_path: Path) -> None:
    first = stored(tmp_path, "a.zarr", (4, 6), zarr_format=2)
    second = stored(tmp_path, "b.zarr", (4, 6), zarr_format=2)
    whole = virtual.concat([first, second])
    zarr.create_array(second, data=np.zeros((4, 6)), chunks=(4, 6), overwrite=True, zarr_format=2)
    with pytest.raises(VirtualError, match=r"b\.zarr has changed since it was listed"):
        virtual.references(whole, tmp_path / "refs.json")
    (second / ".zarray").unlink()
    with pytest.raises(PieceNotFoundError, match=r"b\.zarr is gone"):
        virtual.references(whole, tmp_path / "refs.json")
    with pytest.raises(VirtualError, match="is not a virtual array"):
        virtual.references(zarr.zeros(3), tmp_path / "refs.json")
    with pytest.raises(ConversionError, match=r"whose name ends in \.json"):
        virtual.references(whole, tmp_path / "refs.parquet")
