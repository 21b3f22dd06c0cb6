"""Saved lists: what a document may say, and pieces that change, vanish or are lists themselves."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits.steps import dies_at
from zarrix import virtual
from zarrix.errors import (
    ConversionError,
    CorruptStoreError,
    PieceChangedError,
    PieceNotFoundError,
    VirtualError,
)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    for number in range(3):
        np.save(tmp_path / f"{number}.npy", np.arange(4) + 10 * number)
    virtual.save(virtual.concat(str(tmp_path / "*.npy")), tmp_path / "all.virtual.json")
    return tmp_path / "all.virtual.json"


def test_a_list_is_small_and_moves_with_its_pieces(saved: Path) -> None:
    assert len(saved.read_bytes().splitlines()) == 13
    moved = saved.parent.rename(saved.parent.with_name("moved"))
    z: Any = zarr.open(moved / saved.name, mode="r")
    np.testing.assert_array_equal(z[3:9], [3, 10, 11, 12, 13, 20])


def test_opening_a_list_makes_no_object_for_each_source(saved: Path) -> None:
    # With 100,000 sources these objects take as long as all the rest.
    opener = virtual.open(saved).store.opener
    assert not isinstance(opener.sources, list)
    assert [one.format for one in opener.sources] == ["npy"] * 3


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("zarrix_virtual",), 2),
        (("sources",), {}),
        (("sources", 0), ["x.npy", "npy"]),
        (("sources", 0, 0), ""),
        (("sources", 0, 0), 5),
        (("nodes",), {}),
        (("nodes", "", "kind"), "file"),
        (("nodes", "", "document"), {"zarr_format": 3}),
        (("nodes", "", "pieces", 0), [0, ""]),
        (("nodes", "", "pieces", 0, 0), 3),
        (("nodes", "", "pieces", 0, 0), -1),
        (("nodes", "", "pieces", 0, 0), 0.5),
        (("nodes", "", "pieces", 0, 1), "../x"),
        (("nodes", "", "pieces", 0, 2), [1]),
        (("nodes", "", "pieces", 0, 2), [-1]),
        (("nodes", "", "pieces", 0, 2), [2**63]),
        (("nodes", "", "pieces", 0, 2), [0, 0]),
        (("nodes", "", "pieces", 0, 3), [13]),
        (("nodes", "", "pieces", 0, 3), ["4"]),
        (("nodes", "", "pieces", 0, 4), 4),
        (("nodes", "", "pieces", 0, 5), {"run": "ls"}),
        (("nodes", "", "pieces", 0, 5), {"from": [2**64]}),
        (("nodes", "", "pieces", 0, 5), {"axes": [1]}),
        (("nodes", "", "pieces", 0, 5), {"dtype": "O"}),
        (("nodes", "", "pieces", 0, 5), {"scale": "2"}),
    ],
)
def test_a_hostile_document_is_refused(saved: Path, path: Any, value: Any) -> None:
    document = json.loads(saved.read_bytes())
    place = document
    for name in path[:-1]:
        place = place[name]
    place[path[-1]] = value
    saved.write_text(json.dumps(document, separators=(",", ":")))
    with pytest.raises(CorruptStoreError, match="is not a list of a virtual array"):
        virtual.open(saved)


@pytest.mark.parametrize("more", [{"from": [1]}, {"step": [2]}, {"axes": []}, {"dtype": "<f4"}])
def test_a_list_that_lies_about_a_piece_is_found_when_it_is_read(saved: Path, more: Any) -> None:
    document = json.loads(saved.read_bytes())
    document["nodes"][""]["pieces"][1][5] = more
    saved.write_text(json.dumps(document, separators=(",", ":")))
    z: Any = virtual.open(saved)
    np.testing.assert_array_equal(z[:4], np.arange(4))
    with pytest.raises(PieceChangedError, match="not what was listed"):
        z[4:6]


def test_pieces_that_vanish_or_change_are_errors(saved: Path) -> None:
    z: Any = virtual.open(saved)
    os.remove(saved.parent / "1.npy")
    np.testing.assert_array_equal(z[:4], np.arange(4))
    with pytest.raises(PieceNotFoundError, match=r"1\.npy is gone"):
        z[...]
    np.save(saved.parent / "1.npy", np.arange(40))
    with pytest.raises(PieceChangedError, match="has changed"):
        virtual.open(saved)[5]
    assert [problem.piece for problem in virtual.verify(virtual.open(saved))] == [1]
    np.testing.assert_array_equal(virtual.refresh(virtual.open(saved))[4:8], np.arange(4))


def test_a_missing_piece_is_the_fill_value_only_if_that_was_asked(tmp_path: Path) -> None:
    paths = [str(tmp_path / f"{n}.zarr") for n in range(2)]
    for path in paths:
        zarr.create_array(path, data=np.ones(3, "i4"), fill_value=-7)
    z = virtual.concat(paths, missing="fill")
    os.rename(paths[1], f"{paths[1]}.away")
    np.testing.assert_array_equal(z[...], [1, 1, 1, -7, -7, -7])
    assert virtual.pieces(z).missing == [1]


def test_a_list_that_contains_itself_is_refused(saved: Path) -> None:
    document = json.loads(saved.read_bytes())
    document["sources"][1] = [saved.name, "store", None]
    saved.write_text(json.dumps(document, separators=(",", ":")))
    with pytest.raises(VirtualError, match="is a virtual array itself"):
        virtual.open(saved)[5]


def test_what_cannot_be_stored_is_refused(tmp_path: Path) -> None:
    in_memory = virtual.concat([zarr.zeros(3)])
    with pytest.raises(VirtualError, match="in the memory of this process"):
        virtual.save(in_memory, tmp_path / "x.json")
    with pytest.raises(VirtualError, match="is not a virtual array"):
        virtual.save(zarr.zeros(3), tmp_path / "x.json")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["units", "calendar", "scale_factor", "_FillValue"])
def test_pieces_of_different_meanings_are_refused(name: str) -> None:
    pieces = [zarr.zeros(3, dtype="i2") for _ in range(300)]
    for piece in pieces:
        piece.attrs[name] = 1
    pieces[200].attrs[name] = 2
    with pytest.raises(VirtualError, match=rf"the attribute '{name}' is 1 in .*, and 2 in"):
        virtual.concat(pieces)


def test_each_piece_is_decoded_by_its_own_scale() -> None:
    first, second = zarr.array([1, -9], dtype="i2"), zarr.array([4, -1], dtype="i2")
    first.attrs.update(scale_factor=0.5, add_offset=10, _FillValue=-9)
    second.attrs.update(scale_factor=2, _FillValue=-1)
    with pytest.raises(VirtualError, match="decode='cf'"):
        virtual.concat([first, second])
    z = virtual.concat([first, second], decode="cf")
    assert z.dtype == "f8"
    np.testing.assert_array_equal(z[...], [10.5, np.nan, 8, np.nan])


def test_holes_and_overlaps_of_a_mosaic_are_refused_unless_told() -> None:
    tile = zarr.ones((2, 2), dtype="i4")
    with pytest.raises(VirtualError, match=r"no piece has the elements \[0:2, 2:3\]; fill_value="):
        virtual.mosaic([((0, 0), tile), ((0, 3), tile)])
    with pytest.raises(VirtualError, match=r"overlap in \[1:2, 0:2\]; overlap="):
        virtual.mosaic([((0, 0), tile), ((1, 0), tile)])
    with pytest.raises(VirtualError, match="places are not negative"):
        virtual.mosaic([((-1, 0), tile)])


def test_attributes_that_are_not_a_number_are_kept(tmp_path: Path) -> None:
    values = np.arange(6.0, dtype="f4").reshape(2, 3)
    root = zarr.open_group(tmp_path / "a.zarr", mode="w", zarr_format=3)
    root.create_array("t", data=values).attrs["valid_max"] = float("nan")
    whole = virtual.concat([root["t"], root["t"]])
    virtual.save(whole, tmp_path / "a.virtual.json")
    again = zarr.open(tmp_path / "a.virtual.json")
    np.testing.assert_array_equal(again[...], np.concatenate([values, values]))
    assert np.isnan(again.attrs["valid_max"])


def test_a_group_is_told_to_name_its_array(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "a.zarr", mode="w")["t"] = [1, 2]
    with pytest.raises(VirtualError, match=r"a\.zarr is a group; name one of its arrays"):
        virtual.concat([tmp_path / "a.zarr"])
    assert virtual.concat([tmp_path / "a.zarr" / "t"])[...].tolist() == [1, 2]


def test_a_file_that_is_cut_off_after_it_was_listed_has_changed(tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    for name in "ab":
        with h5py.File(tmp_path / f"{name}.h5", "w") as file:
            file["u"] = np.arange(1000.0)
    whole = virtual.concat([tmp_path / "a.h5" / "u", tmp_path / "b.h5" / "u"])
    assert whole[1500] == 500
    os.truncate(tmp_path / "b.h5", 100)
    assert whole[500] == 500
    with pytest.raises(ConversionError, match=r"b\.h5 has changed while it was read"):
        whole[1500]


def _rewrite(path: Path, sources: list[Any]) -> None:
    document = json.loads(path.read_bytes())
    document["sources"][: len(sources)] = sources
    path.write_text(json.dumps(document, separators=(",", ":")))


def test_lists_that_name_each_other_are_refused(saved: Path) -> None:
    other = saved.with_name("other.json")
    other.write_bytes(saved.read_bytes())
    _rewrite(saved, [[other.name, "store", None]])
    _rewrite(other, [[saved.name, "store", None]])
    for path in (saved, other):
        with pytest.raises(VirtualError, match="is a virtual array itself"):
            virtual.open(path)[...]
        assert [one.piece for one in virtual.verify(virtual.open(path))] == [0]


def test_references_to_the_chunks_of_a_list_end(saved: Path) -> None:
    # Its chunks are made of pieces, one of which is made of these chunks.
    references = {".zarray": json.dumps({
        "zarr_format": 2, "shape": [4], "chunks": [4], "dtype": "<i8", "compressor": None,
        "filters": None, "fill_value": 0, "order": "C",
    }), "0": [f"{saved}/c/0", 0, 32]}  # fmt: skip
    (saved.parent / "refs.json").write_text(json.dumps({"version": 1, "refs": references}))
    _rewrite(saved, [["refs.json", "store", None]])
    with pytest.raises(OSError, match="refs"):
        virtual.open(saved)[...]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_kill_or_a_full_disk_leaves_the_list_that_was_there(saved: Path) -> None:
    before = saved.read_bytes()
    saved.with_name("first.json").write_bytes(before)
    longer = virtual.edit(virtual.open(saved), append=[saved.parent / "0.npy"])
    number, seen = 0, set()
    while dies_at(number, lambda: virtual.save(longer, saved, overwrite=True)):
        z: Any = virtual.open(saved)
        seen.add(z.shape)
        np.testing.assert_array_equal(z[:12], virtual.open(saved.with_name("first.json"))[...])
        number += 1
    assert number > 1
    assert {(12,)} <= seen <= {(12,), (16,)}
    saved.write_bytes(before)
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, resource.RLIM_INFINITY))
        try:
            virtual.save(longer, saved, overwrite=True)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    assert saved.read_bytes() == before
    virtual.save(longer, saved, overwrite=True)
    assert virtual.open(saved).shape == (16,)
