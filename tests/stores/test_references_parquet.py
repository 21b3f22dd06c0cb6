"""kerchunk's references in parquet: what kerchunk wrote, as fsspec reads it."""

import base64
import json
import os
import pickle
import shutil
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix._errors import CorruptStoreError
from zarrix.testing import check_store

pytest.importorskip("pyarrow", reason="pip install 'zarrix[kerchunk]'")

GOLDEN = Path(__file__).parents[1] / "golden" / "references"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy, in which the relative names of the references lead somewhere."""
    shutil.copytree(GOLDEN, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    return tmp_path / "refs.parq"


def told(key: str, value: bytes) -> Any:
    """A value; documents, which fsspec writes in its own way, parsed."""
    return json.loads(value) if key.rpartition("/")[2].startswith(".z") else value


def test_every_value_is_what_fsspec_reads(folder: Path) -> None:
    store = storage.ReferenceStore(folder)
    kept = json.loads((GOLDEN / "values.json").read_text())
    values = {key: base64.b64decode(value) for key, value in kept.items()}
    assert {key: told(key, value) for key, value in store.items()} == {
        key: told(key, value) for key, value in values.items()
    }
    check_store(store, storage.ReferenceStore(folder), holds=dict(store.items()))
    assert "a/3.2" not in store
    assert [key in store for key in ("a/5.0", "a/1", "a/x.0", "a/-1.0", "none/0")] == [False] * 5


def test_arrays_and_groups_are_opened_by_the_name_of_the_folder(folder: Path) -> None:
    root = zarr.open(str(folder), mode="r")
    assert (sorted(root), sorted(root["g"]), root.attrs["title"]) == (
        ["a", "g"],
        ["b", "one"],
        "text",
    )
    expected = np.full((10, 6), 7, "i2")
    for number in range(15):
        row, column = 2 * (number // 3), 2 * (number % 3)
        expected[row : row + 2, column : column + 2] = np.arange(
            4 * number, 4 * number + 4
        ).reshape(2, 2)
    expected[2:4, 2:4], expected[4:6, :2] = 1, [[0, 1], [2, 3]]
    expected[6:8, 4:6] = 7
    assert root["a"][:].tolist() == expected.tolist()
    assert root["g/b"][:].tolist() == [*range(12)]
    assert root["g/one"][()] == int.from_bytes(b"ab", "little")


def test_partitions_are_read_when_they_are_wanted_and_few_are_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("zarrix._stores.reference.parquet._KEPT_PARTITIONS", 2)
    z: Any = zarr.open(str(folder), mode="r")["a"]
    held: Any = z.store._references._partitions
    assert list(held) == []
    assert z[0, 0] == 0
    assert list(held) == [("a", 0)]
    assert z[:].shape == (10, 6)
    assert len(held) == 2
    twin = pickle.loads(pickle.dumps(z.store))
    assert twin == z.store
    assert twin["g/one/0"] == b"ab"


def test_an_array_that_is_called_so_is_an_array(tmp_path: Path) -> None:
    zarr.group(str(tmp_path / "x.parq")).create_dataset("a", shape=3)
    zarr.consolidate_metadata(str(tmp_path / "x.parq"))
    assert type(zarr.open(str(tmp_path / "x.parq")).store).__name__ == "DirectoryStore"


def test_damage_is_an_error_and_a_missing_partition_is_fill(folder: Path) -> None:
    partition = folder / "a" / "refs.1.parq"
    partition.write_bytes(partition.read_bytes()[:-9])
    z: Any = zarr.open(str(folder), mode="r")["a"]
    with pytest.raises(CorruptStoreError, match=r"'a/refs\.1\.parq' cannot be read as parquet"):
        z[2:4, 2:4]
    partition.unlink()
    assert zarr.open(str(folder), mode="r")["a"][2, 2] == 7
    document = json.loads((folder / ".zmetadata").read_text())
    (folder / ".zmetadata").write_text(json.dumps({**document, "record_size": 2}))
    with pytest.raises(CorruptStoreError, match=r"has 4 references of .* it can have 2"):
        zarr.open(str(folder), mode="r")["a"][0, 0]
    (folder / ".zmetadata").write_text('{"record_size": 4}')
    with pytest.raises(CorruptStoreError, match="lists no references"):
        storage.ReferenceStore(folder)


def test_a_missing_package_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'zarrix\[kerchunk\]'"):
        storage.ReferenceStore(folder)


def test_targets_may_be_limited_to_some_folders(folder: Path) -> None:
    place = folder.parent
    assert zarr.open(storage.ReferenceStore(folder, allowed=[str(place)]), mode="r")["a"][0, 1] == 1
    for allowed in ([], [str(place) + "x", str(folder)], ["s3://bucket"]):
        z: Any = zarr.open(storage.ReferenceStore(folder, allowed=allowed), mode="r")["a"]
        assert z[2, 2] == 1
        with pytest.raises(PermissionError, match=r"'data\.bin', which is below none of allowed"):
            z[0, 0]
    (place / "in").mkdir()
    os.symlink(place / "data.bin", place / "in" / "link.bin")
    for url in ("in/../data.bin", "in/link.bin", "file://data.bin", "s3://bucket/%2e%2e/other/x"):
        store = storage.ReferenceStore({"a/0": [url, 0, 4]}, allowed=["in", "s3://bucket"])
        with pytest.raises(PermissionError):
            store["a/0"]
