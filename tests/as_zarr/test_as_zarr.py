"""Programs that import zarr run on zarrix, each in a process of its own."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run(program: str, folder: Path, *options: str) -> str:
    """What a program prints that is started with the options of ``python``."""
    path = folder / "program.py"
    path.write_text(textwrap.dedent(program))
    done = subprocess.run(
        [sys.executable, *options, str(path), "first", "second"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_program_that_imports_zarr_runs_on_zarrix(tmp_path: Path) -> None:
    program = """
        import importlib.metadata, importlib.util, sys
        import zarr, zarrix
        import zarr.core.buffer.cpu
        from zarr.storage import MemoryStore
        from zarr.core.sync import sync

        async def answer():
            return 42

        print(zarr.__version__, importlib.metadata.version("zarr"), sys.argv[1:])
        print(zarr.Array is zarrix.Array, MemoryStore is zarrix.MemoryStore)
        print(sync(answer()), sync(1))
        print(zarr.core.buffer.cpu.Buffer.from_bytes(b"12").to_bytes())
        print(zarr.zeros(3).metadata.zarr_format, importlib.util.find_spec("zarr").name)
        print(isinstance(zarr.zeros(3).store, MemoryStore))
    """
    assert run(program, tmp_path, "-m", "zarrix.as_zarr").splitlines() == [
        "3.4.2 3.4.2 ['first', 'second']",
        "True True",
        "42 1",
        "b'12'",
        "3 zarr",
        "True",
    ]


def test_a_reset_of_the_settings_keeps_the_alias(tmp_path: Path) -> None:
    program = """
        import zarrix.as_zarr
        import zarr, zarrix
        zarr.config.set({"default_zarr_format": 2})
        zarr.config.reset()
        print(zarr.open_group({}, mode="w").metadata.zarr_format, zarr.zeros(3).nchunks_initialized)
        zarrix.as_zarr.uninstall()
        zarrix.config.reset()
        print(zarrix.zeros(3).zarr_format)
    """
    assert run(program, tmp_path).splitlines() == ["3 0", "2"]


def test_a_module_that_zarrix_lacks_is_refused_with_the_reason(tmp_path: Path) -> None:
    program = """
        import zarrix.as_zarr
        try:
            import zarr.core.chunk_utils
        except ModuleNotFoundError as error:
            print(error.name, "codec chains run in the engine" in str(error))
        import zarr
        try:
            zarr.no_such_name
        except AttributeError as error:
            print("zarrix.as_zarr.support()" in str(error))
        zarrix.as_zarr.support()
    """
    lines = run(program, tmp_path).splitlines()
    assert lines[:2] == ["zarr.core.chunk_utils True", "True"]
    assert any("xarray" in line for line in lines[2:])


def test_the_alias_is_never_mixed_with_the_real_package(tmp_path: Path) -> None:
    (tmp_path / "zarr.py").write_text("real = True\n")
    (tmp_path / "user.py").write_text("import zarr\n")
    program = """
        import user
        try:
            import zarrix.as_zarr
        except RuntimeError as error:
            print(error)
    """
    assert "already imported, by __main__, user;" not in run(program, tmp_path)
    assert "already imported, by user; import zarrix.as_zarr before" in run(program, tmp_path)


def test_uninstalling_gives_everything_back(tmp_path: Path) -> None:
    (tmp_path / "zarr.py").write_text("real = True\n")
    program = """
        import zarrix
        import zarrix.as_zarr as alias
        import zarr.storage
        alias.install()
        alias.uninstall()
        alias.uninstall()
        import zarr
        print(zarr.real, zarrix.config.default_zarr_format, zarrix.config.write_empty_chunks)
        print(alias.is_installed(), zarrix.MemoryStore({"a": b"1"}).get("a"))
    """
    assert run(program, tmp_path).splitlines() == ["True None None", "False b'1'"]


@pytest.mark.parametrize("name", ["-m zarrix.as_zarr", "-m zarrix.as_zarr -m"])
def test_starting_without_a_program_says_how(name: str) -> None:
    done = subprocess.run(
        [sys.executable, *name.split()], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, "usage: python -m zarrix.as_zarr" in done.stderr) == (1, True)


def test_the_plugin_installs_the_alias_before_tests_are_imported(tmp_path: Path) -> None:
    (tmp_path / "test_zarr.py").write_text(
        "import zarr, zarrix\n\ndef test_it():\n    assert zarr.Group is zarrix.Group\n"
    )
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "zarrix.testing.as_zarr",
            "-p",
            "no:cacheprovider",
        ],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout


def test_stores_with_coroutines_of_their_own_hold_arrays(tmp_path: Path) -> None:
    program = """
        import asyncio
        import zarr
        from zarr.abc.store import RangeByteRequest
        from zarr.core.buffer import default_buffer_prototype
        from zarr.storage import MemoryStore, WrapperStore

        class Counting(WrapperStore):
            asked = 0

            async def get(self, key, prototype, byte_range=None):
                Counting.asked += 1
                return await super().get(key, prototype, byte_range)

        inner = MemoryStore()
        store = Counting(inner)
        z = zarr.create_array(store, shape=4, chunks=2, dtype="i4")
        z[:] = [1, 2, 3, 4]
        print(zarr.open_array(store)[1:3], Counting.asked > 0, z.store is store)

        async def awaited():
            part = await inner.get("c/0", default_buffer_prototype(), RangeByteRequest(0, 2))
            names = [name async for name in inner.list_dir("c")]
            return len(part), names, await inner.exists("c/9"), await inner.getsize("c/0") > 0

        print(asyncio.run(awaited()))
    """
    assert run(program, tmp_path, "-m", "zarrix.as_zarr").splitlines() == [
        "[2 3] True True",
        "(2, ['0', '1'], False, True)",
    ]


def test_a_group_without_its_consolidated_metadata_shows_none(tmp_path: Path) -> None:
    program = """
        import warnings
        import zarr

        root = zarr.open_group("x.zarr", mode="w")
        root.create_group("a/b")
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            zarr.consolidate_metadata("x.zarr")
        print([str(one.message)[:40] for one in caught])
        for used in (None, False):
            found = zarr.open_group("x.zarr", use_consolidated=used)
            print(found.metadata.consolidated_metadata is None)
            print(found["a"].metadata.consolidated_metadata is None)
        try:
            zarr.open("nothing.zarr", mode="r")
        except zarr.errors.GroupNotFoundError as error:
            print(isinstance(error, FileNotFoundError))
    """
    assert run(program, tmp_path, "-m", "zarrix.as_zarr").splitlines() == [
        "['Consolidated metadata is currently not p']",
        *("False", "False", "True", "True", "True"),
    ]


def test_jobs_and_imports_read_what_stores_have(tmp_path: Path) -> None:
    # `get` of a store is a coroutine here, and always true.
    program = """
        import zarrix.as_zarr
        import numpy as np
        import zarr, zarrix
        from zarrix import jobs

        a = np.arange(72, dtype="u2").reshape(12, 6)
        np.save("a.npy", a)
        for resume in (False, True):
            zarrix.import_("a.npy", "a.zarr", overwrite=True, resume=resume)
        jobs.copy("a.zarr", "copy.zarr")
        jobs.rechunk("a.zarr", "columns.zarr", chunks=(12, 1))
        jobs.map_chunks("numpy:negative", "a.zarr", dest="minus.zarr")
        jobs.pyramid("a.zarr", "levels.zarr", axes="yx")
        jobs.stack(["a.zarr", "a.zarr"], "stack.zarr")
        for name in ("a", "copy", "columns", "levels"):
            path = f"{name}.zarr" + "/0" * (name == "levels")
            assert np.array_equal(zarr.open_array(path, mode="r")[:], a), name
        assert np.array_equal(zarr.open_array("minus.zarr", mode="r")[:], np.negative(a))
        assert np.array_equal(zarr.open_array("stack.zarr", mode="r")[:], np.concatenate([a, a]))
        assert jobs.statistics("a.zarr").max == 71
        begun = jobs.rechunk("a.zarr", "parts.zarr", chunks=(12, 1), run=False)
        begun.run(part=(0, 2))
        jobs.Job.load("parts.zarr").abandon()
        print("done")
    """
    assert run(program, tmp_path) == "done\n"
