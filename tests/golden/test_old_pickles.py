"""Pickles that were made before the private modules moved into packages."""

from __future__ import annotations

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage

# Made by zarrix at commit 5855626 with protocols 2 and 5.
PICKLES = {
    name: base64.b64decode(text)
    for name, text in json.loads(
        (Path(__file__).parent / "pickles" / "before_rooms.json").read_text()
    ).items()
}
FOLDER = b"/before-the-rooms-of-the-house-were-built-" + b"-".join([b"0123456789"] * 4)
NEEDS = {
    "FSStore": "fsspec",
    "FsspecStore": "fsspec",
    "ObjectStore": "obstore",
    "LMDBStore": "lmdb",
}
DATA = np.arange(24, dtype="i4").reshape(4, 6)


def loaded(name: str, folder: Path) -> Any:
    """Load the pickle, with paths below ``folder``, which has a name as long as the one in it."""
    return pickle.loads(PICKLES[name].replace(FOLDER, bytes(folder)))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """What was stored where the pickles were made."""
    folder = tmp_path / ("x" * (len(FOLDER) - len(bytes(tmp_path)) - 1))
    if len(bytes(folder)) != len(FOLDER):
        pytest.skip(f"the path of pytest's folder is longer than {len(FOLDER)} characters")
    zarr.array(DATA, chunks=(2, 3), store=folder / "v2.zarr").attrs["a"] = 1
    z = zarr.create_array(
        folder / "v3.zarr", shape=(4, 6), chunks=(2, 3), shards=(4, 6), dtype="i4"
    )
    z[:] = DATA
    z.attrs["a"] = 1
    zarr.open_group(folder / "g2.zarr", mode="w")
    for name, zarr_format in (("c.zarr", 2), ("c3.zarr", 3)):
        group = zarr.open_group(folder / name, mode="w", zarr_format=zarr_format)
        group.create_dataset("x", data=np.arange(3))
        zarr.consolidate_metadata(folder / name)
    (folder / "s_SQLiteStore").touch()
    zarr.ZipStore(folder / "x.zip", mode="w").close()
    return folder


@pytest.mark.parametrize("name", PICKLES)
def test_it_loads(name: str, folder: Path) -> None:
    kind = name.removeprefix("store ").rpartition(" ")[0]
    if kind in NEEDS:
        pytest.importorskip(NEEDS[kind])
    thing = loaded(name, folder)
    assert str(thing)
    if name.startswith("store "):
        if kind == "path":
            assert isinstance(thing, storage.StorePath)
        else:
            assert type(thing) is getattr(storage, kind)


@pytest.mark.parametrize("protocol", [2, 5])
@pytest.mark.parametrize("name", ["v2 local", "v3 local", "dict", "kvstore", "memory"])
def test_arrays_have_their_data(name: str, protocol: int, folder: Path) -> None:
    z = loaded(f"array {name} {protocol}", folder)
    np.testing.assert_array_equal(z[:], DATA)
    assert z.attrs["a"] == 1
    z[0, 0] = 7
    assert z[0, 0] == 7


@pytest.mark.parametrize("protocol", [2, 5])
def test_views_and_members_have_theirs(protocol: int, folder: Path) -> None:
    np.testing.assert_array_equal(loaded(f"lazy {protocol}", folder)[:], DATA[1:, ::2].T)
    np.testing.assert_array_equal(loaded(f"oindex {protocol}", folder)[[1], :], DATA[[1], :])
    assert loaded(f"consolidated group {protocol}", folder)["x"][:].tolist() == [0, 1, 2]
    assert loaded(f"consolidated v3 {protocol}", folder)["x"][:].tolist() == [0, 1, 2]
    assert loaded(f"group v3 memory {protocol}", folder).attrs["b"] == 2


def test_a_former_module_has_only_what_was_pickled() -> None:
    from zarrix import _plan

    with pytest.raises(AttributeError, match=r"'zarrix\._plan' has no attribute 'Array'"):
        _ = _plan.Array
    with pytest.raises(ModuleNotFoundError, match=r"zarrix\._nowhere"):
        __import__("zarrix._nowhere")
