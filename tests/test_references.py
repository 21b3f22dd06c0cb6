"""kerchunk's references: the same values as fsspec's own file system of references gives."""

import base64
import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix._errors import CorruptStoreError, ReadOnlyError


@pytest.fixture
def references(tmp_path: Path) -> dict[str, Any]:
    data = np.arange(24, dtype="<i4")
    (tmp_path / "data.bin").write_bytes(b"head" + data[:12].tobytes())
    (tmp_path / "whole.bin").write_bytes(data[12:18].tobytes())
    zarr.create(24, chunks=6, dtype="<i4", compressor=None, store=str(tmp_path / "z"))
    return {
        "version": 1,
        "templates": {"u": str(tmp_path)},
        "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "a/.zarray": (tmp_path / "z" / ".zarray").read_text(),
            "a/0": ["{{u}}/data.bin", 4, 24],
            "a/1": ["{{u}}/data.bin", 28, 24],
            "a/2": [f"file://{tmp_path}/whole.bin"],
            "a/3": "base64:" + base64.b64encode(data[18:].tobytes()).decode(),
        },
    }


def test_arrays_are_read_as_with_fsspec(references: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(references))
    root = zarr.open(str(path), mode="r")
    assert root["a"][:].tolist() == [*range(24)]
    assert [*root] == ["a"]
    store: Any = root.store
    assert repr(store) == f"<zarrix.storage.ReferenceStore {str(path)!r}>"
    assert pickle.loads(pickle.dumps(store)) == store
    fsspec = pytest.importorskip("fsspec")
    theirs = fsspec.filesystem("reference", fo=references, remote_protocol="file").get_mapper("")
    assert {key: bytes(value) for key, value in theirs.items()} == dict(store.items())
    assert (store.getsize("a/0"), store.getsize("a/3")) == (24, 24)


def test_a_reference_that_leads_nowhere_is_an_error(references: dict[str, Any]) -> None:
    references["refs"]["a/0"] = ["{{u}}/missing.bin", 4, 24]
    references["refs"]["a/1"] = ["{{u}}/data.bin", 40, 24]
    z: Any = zarr.open(storage.ReferenceStore(references), mode="r")["a"]
    with pytest.raises(FileNotFoundError, match=r"missing\.bin, which is not there"):
        z[0]
    with pytest.raises(CorruptStoreError, match="from 40 on, which has 12"):
        z[6:12]
    del references["refs"]["a/2"]
    assert zarr.open(storage.ReferenceStore(references), mode="r")["a"][12:].tolist()[:6] == [0] * 6


def test_it_refuses_changes_and_what_it_does_not_understand(references: dict[str, Any]) -> None:
    store = storage.ReferenceStore(references)
    for change in (lambda: store.__setitem__("a", b"1"), lambda: store.rmdir(), store.clear):
        with pytest.raises(ReadOnlyError):
            change()
    with pytest.raises(ValueError, match="a program generates"):
        storage.ReferenceStore({**references, "gen": [{"key": "x"}]})
    with pytest.raises(ValueError, match="has no template of that name"):
        storage.ReferenceStore({"refs": {"a": ["{{f(1)}}/x", 0, 1]}})
    with pytest.raises(CorruptStoreError, match="the reference of 'a' is 5"):
        storage.ReferenceStore({"refs": {"a": 5}})


# What fsspec calls has been renamed in pandas.
@pytest.mark.filterwarnings("ignore:The 'fastparquet' engine")
def test_references_in_parquet_are_read_through_fsspec(tmp_path: Path) -> None:
    pytest.importorskip("pandas", reason="pip install pandas fastparquet")
    pytest.importorskip("fastparquet", reason="pip install pandas fastparquet")
    pytest.importorskip("zarr", reason="fsspec needs zarr to read references in parquet")
    reference = pytest.importorskip("fsspec.implementations.reference")
    data = np.arange(24, dtype="<i4")
    (tmp_path / "data.bin").write_bytes(data.tobytes())
    zarr.create(24, chunks=6, dtype="<i4", compressor=None, store=str(tmp_path / "z"))
    where = str(tmp_path / "refs.parq")
    files = pytest.importorskip("fsspec").filesystem("file")
    made = reference.LazyReferenceMapper.create(root=where, fs=files, record_size=100)
    made[".zgroup"] = b'{"zarr_format": 2}'
    made["a/.zarray"] = (tmp_path / "z" / ".zarray").read_bytes()
    for chunk in range(4):
        made[f"a/{chunk}"] = [str(tmp_path / "data.bin"), chunk * 24, 24]
    made.flush()
    options = {"fo": where, "remote_protocol": "file"}
    root = zarr.open("reference://", mode="r", storage_options=options)
    assert root["a"][:].tolist() == data.tolist()
