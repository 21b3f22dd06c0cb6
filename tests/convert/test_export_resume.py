"""A resumed export has the values of one moment: all that its result depends on is compared."""

from __future__ import annotations

import inspect
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.errors import ConversionError

VALUE = np.random.default_rng(11).integers(0, 9, (64, 4, 5)).astype("i4")
OTHER = VALUE + 100
OPTIONS: dict[str, Any] = {"memory": "640 B"}


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def interrupted(source: Any, dest: Path, **options: Any) -> None:
    """Begin an export, and end after some regions."""

    def tell(done: int, total: int) -> None:
        if done == max(1, total // 2):
            raise Interrupted

    with pytest.raises(Interrupted):
        zarr.export(source, dest, progress=tell, **{**OPTIONS, **options})


def stored(folder: Path, name: str = "x.zarr", **how: Any) -> Path:
    zarr.create_array(folder / name, data=VALUE, chunks=(2, 4, 5), **how)
    return folder / name


def change_a_chunk(path: Path) -> None:
    zarr.open(path, mode="r+")[2:4] = 99


def remove_a_chunk(path: Path) -> None:
    del zarr.open(path, mode="r").store["c/3/0/0"]


def replace_the_array(path: Path) -> None:
    shutil.rmtree(path)
    zarr.create_array(path, data=OTHER, chunks=(2, 4, 5))


def replace_keeping_size_and_time(path: Path) -> None:
    chunk = path / "c/1/0/0"
    before = chunk.stat()
    zarr.open(path, mode="r+")[2:4] = zarr.open(path, mode="r")[4:6]
    shutil.copyfile(path / "c/2/0/0", chunk)
    os.utime(chunk, ns=(before.st_atime_ns, before.st_mtime_ns))


def write_other_chunks(path: Path) -> None:
    shutil.rmtree(path)
    zarr.create_array(path, data=VALUE, chunks=(1, 4, 5))


def change_the_fill_value(path: Path) -> None:
    document = path / "zarr.json"
    document.write_text(document.read_text().replace('"fill_value": 0', '"fill_value": 7'))
    assert zarr.open(path, mode="r").fill_value == 7


@pytest.mark.parametrize(
    "change",
    [change_a_chunk, remove_a_chunk, replace_the_array, replace_keeping_size_and_time,
     write_other_chunks, change_the_fill_value],
)  # fmt: skip
@pytest.mark.parametrize("suffix", ["npy", "raw"])
def test_an_export_does_not_continue_with_other_values(
    change: Callable[[Path], None], suffix: str, tmp_path: Path
) -> None:
    source, dest = stored(tmp_path, compressors=None), tmp_path / f"x.{suffix}"
    interrupted(source, dest)
    change(source)
    with pytest.raises(ConversionError, match="its source has changed; replace it with overwrite"):
        zarr.export(source, dest, resume=True, **OPTIONS)
    assert not dest.exists()
    zarr.export(source, dest, resume=True, overwrite=True, **OPTIONS)
    again = zarr.convert.open_file(dest)[...]
    assert np.array_equal(again, zarr.open(source, mode="r")[...])
    assert not list(tmp_path.glob("*.partial"))


def test_values_of_a_chunk_store_are_compared_too(tmp_path: Path) -> None:
    chunks = zarr.DirectoryStore(str(tmp_path / "chunks"))
    z = zarr.create(
        VALUE.shape, chunks=(2, 4, 5), dtype="i4", store=tmp_path / "x.zarr", chunk_store=chunks
    )
    z[...] = VALUE
    interrupted(z, tmp_path / "x.npy")
    z[2:4] = 99
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.export(z, tmp_path / "x.npy", resume=True, **OPTIONS)


@pytest.mark.parametrize("kind", ["memory", "mapping", "zip", "file"])
def test_values_of_other_stores_are_compared(kind: str, tmp_path: Path) -> None:
    """A source that is unchanged goes on, and one that has changed does not."""
    made: Any = {"memory": zarr.MemoryStore(), "mapping": {}}.get(kind, tmp_path / f"x.{kind}")

    def write(value: Any) -> None:
        if kind == "file":
            np.save(tmp_path / "source.npy", value)
        elif kind == "zip":
            with zarr.ZipStore(str(made), mode="w") as store:
                zarr.create_array(store, data=value, chunks=(2, 4, 5))
        else:
            zarr.create_array(made, data=value, chunks=(2, 4, 5), overwrite=True)

    def opened() -> Any:
        if kind == "file":
            return zarr.convert.open_file(tmp_path / "source.npy")
        return zarr.open(made, mode="r")

    write(VALUE)
    interrupted(opened(), tmp_path / "x.npy")
    done = zarr.export(opened(), tmp_path / "x.npy", resume=True, **OPTIONS)
    assert done.kept >= 1
    assert np.array_equal(np.load(tmp_path / "x.npy"), VALUE)
    (tmp_path / "x.npy").unlink()
    interrupted(opened(), tmp_path / "x.npy")
    write(OTHER)
    with pytest.raises(ConversionError, match="its source has changed"):
        zarr.export(opened(), tmp_path / "x.npy", resume=True, **OPTIONS)


def test_a_store_that_cannot_tell_is_exported_from_the_begin(tmp_path: Path) -> None:
    fsspec = pytest.importorskip("fsspec")
    fs = fsspec.filesystem("memory")
    store = zarr.storage.FSStore("/x.zarr", fs=fs)
    z = zarr.create_array(store, data=VALUE, chunks=(2, 4, 5))
    interrupted(z, tmp_path / "x.npy")
    z[2:4] = 99
    done = zarr.export(z, tmp_path / "x.npy", resume=True, **OPTIONS)
    assert done.kept == 0
    assert "does not say whether its values have changed" in done.notes[0]
    assert np.array_equal(np.load(tmp_path / "x.npy"), z[...])
    fs.rm("/x.zarr", recursive=True)


# What each parameter becomes before the second call, for every parameter of `export`.
CHANGED: dict[str, Callable[[Path, dict[str, Any]], dict[str, Any]]] = {
    "source": lambda folder, call: {"source": folder / "same.zarr"},
    "dest": lambda folder, call: {"dest": folder / "other.npy"},
    "path": lambda folder, call: {"path": "b"},
    "format": lambda folder, call: {"format": "raw"},
    "memory": lambda folder, call: {"memory": "100 B"},
    "overwrite": lambda folder, call: {"overwrite": True},
    "resume": lambda folder, call: {"resume": False},
    "dry_run": lambda folder, call: {"dry_run": True},
    "progress": lambda folder, call: {"progress": lambda done, total: None},
    "storage_options": lambda folder, call: {"storage_options": {}},
    "options": lambda folder, call: {"format": "npz", "deflate": True},
}


@pytest.mark.parametrize("name", CHANGED)
@pytest.mark.parametrize("memory", ["320 B", "640 B", "1 MiB"])
def test_every_parameter_changes_the_export_or_is_the_same(
    name: str, memory: str, tmp_path: Path
) -> None:
    assert {*CHANGED} == {*inspect.signature(zarr.export).parameters}
    for file in ("x.zarr", "same.zarr"):
        group = zarr.open_group(tmp_path / file, mode="w")
        for one, value in (("a", VALUE), ("b", OTHER + len(file))):
            group.create_array(one, data=value, chunks=(2, 2, 5))
    call = {
        "source": tmp_path / "x.zarr",
        "dest": tmp_path / "x.npy",
        "path": "a",
        "memory": memory,
    }
    begun = dict(call)
    interrupted(begun.pop("source"), begun.pop("dest"), **begun)
    changed = {**call, "resume": True, **CHANGED[name](tmp_path, call)}
    whole = {**changed, "dest": tmp_path / f"w.{changed.get('format', 'npy')}", "resume": False}
    zarr.export(**whole)
    refused = ""
    try:
        zarr.export(**changed)
    except ConversionError as error:
        refused = str(error)
    if refused:
        assert name in ("source", "path", "format", "memory")
        assert "other options" in refused
        return
    if changed.get("dry_run"):
        assert not changed["dest"].exists()
    else:
        assert changed["dest"].read_bytes() == whole["dest"].read_bytes()


def test_an_unfinished_export_of_another_start_of_the_system_is_not_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from zarrix.convert import _export_job

    source, boots = stored(tmp_path), iter(("one", "another"))
    monkeypatch.setattr(_export_job, "_boot", lambda: next(boots))
    interrupted(source, tmp_path / "x.npy")
    done = zarr.export(source, tmp_path / "x.npy", resume=True, **OPTIONS)
    assert (done.kept, done.notes) == (
        0, ["all is written again, because the system has started anew"],
    )  # fmt: skip
    assert np.array_equal(np.load(tmp_path / "x.npy"), VALUE)


def test_an_export_that_runs_is_neither_continued_nor_removed(tmp_path: Path) -> None:
    source, kept = stored(tmp_path), []

    def meanwhile(done: int, total: int) -> None:
        if done == total // 2 and not kept:
            kept.append(zarr.export(source, tmp_path / "x.npy", resume=True, **OPTIONS).kept)

    zarr.export(source, tmp_path / "x.npy", overwrite=True, progress=meanwhile, **OPTIONS)
    assert kept == [0]
    assert np.array_equal(np.load(tmp_path / "x.npy"), VALUE)
    assert sorted(os.listdir(tmp_path)) == ["x.npy", "x.zarr"]


def test_regions_that_were_not_rows_are_written_again(tmp_path: Path) -> None:
    """A file that was written by position is as long as if all of it were there."""
    z = zarr.create_array(tmp_path / "x.zarr", data=VALUE, chunks=(64, 1, 1))
    interrupted(z, tmp_path / "x.npy", memory="1 KiB")
    try:
        zarr.export(z, tmp_path / "x.npy", resume=True, memory="1 MiB")
    except ConversionError:
        return
    assert np.array_equal(np.load(tmp_path / "x.npy"), VALUE)
