"""A call of the system that fails around an export leaves nothing, or a complete file."""

from __future__ import annotations

import errno
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from preloaded import run_with_failing_calls
from zarrix._runtime import new_files
from zarrix.convert import _unfinished

# Lets each call of an export fail that writes, once and from then on, and says what is wrong then.
EACH_WRITE = """
import warnings
# Python 3.12 warns of every fork beside threads.
warnings.simplefilter("ignore", DeprecationWarning)
import errno, os, sys
import h5py, numpy as np, zarrix
from zarrix import convert

values = np.arange(72, dtype="u2").reshape(12, 6)
z, old = zarrix.array(values, chunks=(4, 6)), zarrix.array(values + 1, chunks=(4, 6))

def read(path):
    with h5py.File(path) as file:
        return file["data"][()]

def tried(path, call, at, always):
    os.environ |= {"FAIL_CALL": call, "FAIL_ERRNO": str(errno.ENOSPC), "FAIL_PATH": "partial/data"}
    os.environ["FAIL_AT" if not always else "FAIL_FROM"] = str(at)
    wanted = values
    try:
        zarrix.export(z, path, overwrite=True, memory="64 B")
    except OSError as error:
        wanted = values + 1
        if error.errno != errno.ENOSPC:
            print(path, call, at, always, repr(error))
    except BaseException as error:
        wanted = values + 1
        print(path, call, at, always, repr(error))
    del os.environ["FAIL_CALL"]
    if not np.array_equal(read(path), wanted):
        print(path, call, at, always, "has other values")
    if (left := os.listdir(os.path.dirname(path))) != [os.path.basename(path)]:
        print(path, call, at, always, "has left", left)

for name in ("x.h5", "x.nc"):
    folder = os.path.join(sys.argv[1], name[2:])
    os.mkdir(folder)
    path = os.path.join(folder, name)
    for call in ("write", "pwrite"):
        for at in range(1, 15):
            for always in (False, True):
                zarrix.export(old, path, overwrite=True)
                child = os.fork()
                if child == 0:
                    tried(path, call, at, always)
                    sys.stdout.flush()
                    os._exit(0)
                if ended := os.waitpid(child, 0)[1]:
                    print(path, call, at, always, "ended with", ended)
"""

VALUE = np.arange(72, dtype="u2").reshape(12, 6)


def failing(code: int, times: int = 1, after: int = 0) -> Callable[..., None]:
    """A function that fails, for calls that end in one that was replaced by it."""
    count = 0

    def fail(*_: Any, **__: Any) -> None:
        nonlocal count
        count += 1
        assert count < 50, "it is called again and again"
        if after < count <= after + times:
            raise OSError(code, os.strerror(code))

    return fail


def before(first: Callable[..., None], then: Callable[..., Any]) -> Callable[..., Any]:
    def both(*args: Any, **options: Any) -> Any:
        first(*args, **options)
        return then(*args, **options)

    return both


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS])
@pytest.mark.parametrize("format", ["npy", "npz"])
def test_a_file_system_without_locks_takes_exports(
    format: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_unfinished, "lock_file", failing(code, times=99))
    path = tmp_path / f"x.{format}"
    for values in (VALUE, VALUE + 1):
        zarr.export(zarr.array(values), path, overwrite=True)
        with open(path, "rb") as file:
            stored: Any = np.load(file)
            assert np.array_equal(stored if format == "npy" else stored["arr_0"], values)
        assert os.listdir(tmp_path) == [path.name]


def test_without_locks_nothing_that_others_have_begun_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = _unfinished.Unfinished.new(tmp_path / "x.npz", None)
    begun.data.write_bytes(b"half a file")
    monkeypatch.setattr(_unfinished, "lock_file", failing(errno.ENOLCK, times=99))
    zarr.export(zarr.array(VALUE), tmp_path / "x.npz")
    assert begun.data.read_bytes() == b"half a file"
    begun.remove()
    assert os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EMFILE, errno.EIO])
@pytest.mark.parametrize("call", ["make_file", "_write_all"])
def test_an_export_that_cannot_begin_leaves_nothing(
    call: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_unfinished, call, before(failing(code), getattr(_unfinished, call)))
    with pytest.raises(OSError) as told:
        zarr.export(zarr.array(VALUE), tmp_path / "x.npz")
    assert told.value.errno == code
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_removed_meanwhile_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    monkeypatch.setattr(_unfinished, "require_folder", lambda target: shutil.rmtree(folder))
    monkeypatch.setattr(os, "urandom", before(failing(0, times=0), os.urandom))
    with pytest.raises(FileNotFoundError, match="gone"):
        zarr.export(zarr.array(VALUE), folder / "x.npz")


def test_a_file_whose_sidecar_fails_is_undone_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    z, path = zarr.array(VALUE), tmp_path / "x.raw"
    with monkeypatch.context() as patch:
        patch.setattr(
            _unfinished, "give_name", before(failing(errno.EIO, after=1), new_files.give_name)
        )
        with pytest.raises(OSError, match=os.strerror(errno.EIO)):
            zarr.export(z, path)
    assert [name for name in os.listdir(tmp_path) if not name.endswith(".partial")] == []
    zarr.export(z, path, resume=True)
    assert np.array_equal(np.fromfile(path, "u2").reshape(VALUE.shape), VALUE)
    assert sorted(os.listdir(tmp_path)) == ["x.raw", "x.raw.json"]


@pytest.mark.parametrize("code", [errno.EPERM, errno.EIO])
@pytest.mark.parametrize("format", ["npy", "npz"])
def test_a_complete_file_is_no_error_of_what_is_removed_after_it(
    format: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", before(failing(code), unlink))
    zarr.export(zarr.array(VALUE), tmp_path / f"x.{format}")
    assert os.listdir(tmp_path) == [f"x.{format}"]


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("format", ["npy", "npz", "raw"])
def test_a_file_is_closed_once_also_if_that_fails(
    format: str, overwrite: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_file, close, notes = new_files.make_file, os.close, []

    def made(path: Path) -> int:
        notes.append(make_file(path))
        return notes[-1]

    def closed(descriptor: int) -> None:
        close(descriptor)
        if descriptor in notes:
            notes.remove(descriptor)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(_unfinished, "make_file", made)
    monkeypatch.setattr(os, "close", closed)
    zarr.export(zarr.array(VALUE), tmp_path / f"x.{format}", overwrite=overwrite)
    monkeypatch.undo()
    assert notes == []
    assert [name for name in os.listdir(tmp_path) if name.endswith(".partial")] == []


def test_what_hdf5_cannot_write_is_an_error_and_no_crash(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    done = run_with_failing_calls(EACH_WRITE, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_ctrl_c_while_hdf5_writes_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("h5py")
    from zarrix.convert import _hdf5_file

    class Pressed(io.FileIO):
        count = 0

        def write(self, data: Any, /) -> int:
            Pressed.count += 1
            if Pressed.count == 3:
                raise KeyboardInterrupt
            return super().write(data)

    class Disk(_hdf5_file._Disk, Pressed):
        """A file in whose third write the user presses Ctrl-C."""

    monkeypatch.setattr(_hdf5_file, "_Disk", Disk)
    with pytest.raises(KeyboardInterrupt):
        zarr.export(zarr.array(VALUE, chunks=(4, 6)), tmp_path / "x.h5", memory="64 B")
    assert os.listdir(tmp_path) == []
