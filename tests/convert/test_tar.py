"""Tar files keep every member: different names, sparse members and links, or one error."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ConversionError


def write(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with tarfile.open(path, "w") as archive:
        for name, value in members:
            info = tarfile.TarInfo(name)
            info.size = len(value)
            archive.addfile(info, io.BytesIO(value))
    return path


def imported(source: Path, **options: Any) -> Any:
    dest = source.with_name("x.zarr")
    done = zarr.import_(source, dest, overwrite=True, verify="full", **options)
    return done, zarr.open(dest, mode="r")


def test_suffixes_that_would_be_one_name_are_different_arrays(tmp_path: Path) -> None:
    members = [("a.x.y", b"1"), ("a.x_y", b"2"), ("a.x_y_", b"3"), ("a.key", b"4"), ("b.x.y", b"5")]
    done, found = imported(write(tmp_path / "x.tar", members))
    by_suffix = {one.attrs["suffix"]: one for name, one in found.arrays() if name != "key"}
    assert {suffix: one[0] for suffix, one in by_suffix.items()} == {
        ".x.y": b"1", ".x_y": b"2", ".x_y_": b"3", ".key": b"4"
    }  # fmt: skip
    assert (found["key"][...].tolist(), by_suffix[".x.y"][1]) == (["a", "b"], b"5")
    assert any("suffix 'key'" in note for note in done.notes)


@pytest.mark.parametrize("second", ["a.png", "a.PNG"])
def test_two_members_of_one_sample_and_suffix_are_an_error(second: str, tmp_path: Path) -> None:
    write(tmp_path / "x.tar", [("a.png", b"1"), (second, b"2")])
    with pytest.raises(ConversionError, match=f"'a.png' and '{second}'"):
        imported(tmp_path / "x.tar")


def test_keys_that_differ_in_case_are_two_samples(tmp_path: Path) -> None:
    _, found = imported(write(tmp_path / "x.tar", [("a.txt", b"1"), ("A.txt", b"2")]))
    assert found["key"][...].tolist() == ["a", "A"]
    assert found["txt"][...].tolist() == ["1", "2"]


@pytest.mark.parametrize("format", ["gnu", "posix"])
def test_sparse_members_and_hard_links_have_the_bytes_that_tar_unpacks(
    format: str, tmp_path: Path
) -> None:
    value = np.zeros(100_000, "i4")
    value[50_000] = 7
    np.save(tmp_path / "a.npy", value)
    whole = (tmp_path / "a.npy").read_bytes()
    with open(tmp_path / "a.npy", "wb") as file:
        file.write(whole[:4096])
        file.seek(200_000)
        file.write(whole[200_000:204_800])
        file.truncate(len(whole))
    (tmp_path / "b.npy").hardlink_to(tmp_path / "a.npy")
    made = subprocess.run(
        ["tar", "--sparse", f"--format={format}", "-cf", "x.tar", "a.npy", "b.npy"],
        cwd=tmp_path, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    if made.returncode:
        pytest.skip("GNU tar is not installed")
    with tarfile.open(tmp_path / "x.tar") as archive:
        assert [one.issparse() or one.islnk() for one in archive] == [True, True]
    _, found = imported(tmp_path / "x.tar")
    assert found["npy"][...].tolist() == [value.tolist()] * 2


def test_what_is_not_a_file_of_a_sample_is_named(tmp_path: Path) -> None:
    write(tmp_path / "x.tar", [("a.txt", b"1"), ("README", b"2"), (".hidden", b"3")])
    with tarfile.open(tmp_path / "x.tar", "a") as archive:
        link = tarfile.TarInfo("b.txt")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    done, found = imported(tmp_path / "x.tar")
    assert [one.partition(" ")[0] for one in done.left_out] == ["README", ".hidden", "b.txt"]
    assert found["txt"][...].tolist() == ["1"]


def test_a_damaged_header_is_not_the_end(tmp_path: Path) -> None:
    write(tmp_path / "x.tar", [(f"{i}.txt", b"1") for i in range(5)])
    value = bytearray((tmp_path / "x.tar").read_bytes())
    value[2 * 1024 + 3] ^= 1
    (tmp_path / "x.tar").write_bytes(value)
    with pytest.raises(ConversionError, match="is neither its end nor begins a member"):
        imported(tmp_path / "x.tar")


def test_a_class_beyond_64_bits_is_an_error(tmp_path: Path) -> None:
    write(tmp_path / "x.tar", [("a.cls", b"9" * 30)])
    with pytest.raises(ConversionError, match="not a number of 64 bits"):
        imported(tmp_path / "x.tar")


def test_one_member_that_is_not_text_does_not_lose_the_others(tmp_path: Path) -> None:
    write(tmp_path / "x.tar", [("a.txt", b"\xff"), ("a.cls", b"3")])
    done, found = imported(tmp_path / "x.tar")
    assert found["cls"][...].tolist() == [3]
    assert [one.partition(" ")[0] for one in done.left_out] == ["txt"]


@pytest.mark.parametrize(
    "keys", [["a", "a"], ["a", "A"], ["a.b", "c"], ["", "a"], ["../a", "b"], ["/a", "b"]]
)
def test_keys_that_are_not_found_again_are_not_written(keys: list[str], tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "g.zarr", mode="w", zarr_format=3)
    group.create_array("key", data=np.array(keys, "T"))
    group["x"] = np.arange(2)
    with pytest.raises(zarr.errors.ConversionError, match=r"key"):
        zarr.export(group, tmp_path / "x.tar")
    assert [path.name for path in tmp_path.iterdir()] == ["g.zarr"]


def test_arrays_whose_suffixes_differ_in_case_are_not_written(tmp_path: Path) -> None:
    group = zarr.open_group(tmp_path / "g.zarr", mode="w", zarr_format=3)
    group["x"], group["X"] = np.arange(2), np.arange(2)
    with pytest.raises(zarr.errors.ConversionError, match="two members"):
        zarr.export(group, tmp_path / "x.tar")
