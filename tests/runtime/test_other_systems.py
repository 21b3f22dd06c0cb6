"""The package on systems without ``fork`` and ``fcntl``: a process in which they are hidden."""

import subprocess
import sys
import textwrap

import pytest

# What Windows lacks, and the standard library does not need once it is imported.
HIDE = """
    import asyncio, dbm, importlib, multiprocessing.pool, os, pkgutil, socket, subprocess, sys
    import tempfile, warnings
    import numpy, numcodecs
    for optional in ("dask.array", "distributed", "xarray", "torch", "h5py", "fsspec", "obstore"):
        try:
            importlib.import_module(optional)
        except ImportError:
            pass
    for name in (
        "fork forkpty register_at_fork pread preadv pwrite pwritev sched_getaffinity sysconf "
        "geteuid getuid getgid getegid mkfifo killpg getpgid setsid waitid uname statvfs "
        "O_CLOEXEC O_NONBLOCK O_DIRECTORY O_NOFOLLOW O_SYNC"
    ).split():
        if hasattr(os, name):
            delattr(os, name)
    for name in "fcntl resource termios tty pty pwd grp".split():
        sys.modules[name] = None
"""


def run(code: str) -> str:
    text = textwrap.dedent(HIDE) + textwrap.dedent(code)
    ended = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def test_every_module_can_be_imported():
    imported = run("""
        import zarrix
        # The alias is installed by its import; zarr-python and its parts may not be there.
        others = ("as_zarr", "__main__", "_zarr_python")
        count = 0
        for found in pkgutil.walk_packages(zarrix.__path__, "zarrix."):
            if not found.name.endswith(others):
                try:
                    importlib.import_module(found.name)
                except ImportError as error:
                    if (error.name or "").split(".")[0] in ("zarrix", "fcntl", "resource", "pwd"):
                        raise
                count += 1
        print(count)
    """)
    assert int(imported) > 300


def test_arrays_files_and_synchronizers_work_with_one_warning(tmp_path):
    shown = run(f"""
        warnings.simplefilter("always")
        import zarrix, zarrix.convert
        folder = {str(tmp_path)!r}
        sync = zarrix.ProcessSynchronizer(folder + "/locks")
        with warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            z = zarrix.create_array(folder + "/a.zarr", shape=(6,), chunks=(2,), dtype="i4")
            z[:] = 7
            z.append(numpy.arange(3, dtype="i4"))
            for _ in range(3):
                with sync["x"]:
                    pass
        print([each.category.__name__ for each in given])
        with zarrix.DBMStore(folder + "/b.db") as store:
            store["key"] = b"value"
            print(bytes(store["key"]))
        numpy.save(folder + "/c.npy", numpy.arange(1000))
        print(zarrix.convert.open_file(folder + "/c.npy")[:].sum(), z[:].tolist())
    """)
    assert shown.splitlines() == [
        "['LostUpdateWarning']",
        "b'value'",
        "499500 [7, 7, 7, 7, 7, 7, 0, 1, 2]",
    ]


@pytest.mark.parametrize("shared", [False, True])
def test_a_lock_of_a_file_excludes_others(tmp_path, shared):
    from zarrix._runtime.system import lock_file, unlock_file

    path = tmp_path / "locked"
    path.write_bytes(b"")
    with path.open("r+b") as one, path.open("r+b") as other:
        lock_file(one.fileno(), shared=shared)
        with pytest.raises(BlockingIOError):
            lock_file(other.fileno(), wait=False)
        unlock_file(one.fileno())
        lock_file(other.fileno(), wait=False)
        unlock_file(other.fileno())
