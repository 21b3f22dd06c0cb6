"""What each library keeps: `python -m benchmarks.promises`, the README's table beside the speeds.

Three questions, each asked of every library in processes of its own, so that a crash or a hang is
an answer too:

- eight processes write eight different elements each into one chunk, one at a time: how many of
  the 64 are there afterwards?
- a process reads, forks, and its child reads: does the child answer?
- a chunk file is cut short: is reading it an error, or some numbers?
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks import setup

WRITERS = 8
EACH = 8
LIMIT_S = 60

_OPEN = {
    "zarrix": "import zarrix; open_ = lambda p: zarrix.open(p, mode='r+')",
    "zarr-python": "import zarr; open_ = lambda p: zarr.open(p, mode='r+')",
    "tensorstore": (
        "import tensorstore as ts; open_ = lambda p: ts.open({'driver': 'zarr',"
        " 'kvstore': {'driver': 'file', 'path': p}}).result()"
    ),
    "h5py": "import h5py; open_ = lambda p: h5py.File(p, 'r+')['a']",
    "numpy .npy": "import numpy; open_ = lambda p: numpy.load(p, mmap_mode='r+')",
}

_WRITER = """
import sys
{open}
path, begin = sys.argv[1], int(sys.argv[2])
for i in range({each}):
    array = open_(path)
    array[begin + i] = begin + i + 1
    del array
"""

_FORK = """
import os, signal, sys, numpy
{open}
array = open_(sys.argv[1])
numpy.asarray(array[:])
child = os.fork()
if child == 0:
    signal.alarm(10)
    ok = numpy.asarray(array[:]).shape == ({elements},)
    os._exit(0 if ok else 1)
status = os.waitpid(child, 0)[1]
print("reads" if status == 0 else "hangs" if os.WIFSIGNALED(status)
      and os.WTERMSIG(status) == signal.SIGALRM else "dies")
"""

_CUT = """
import sys, numpy
{open}
try:
    got = numpy.asarray(open_(sys.argv[1])[:])
except Exception as error:
    print("error")
else:
    print("right" if (got == numpy.arange({elements})).all() else "wrong numbers")
"""

_ELEMENTS = WRITERS * EACH


def _run(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _answer(code: str, *arguments: str) -> str:
    process = _run(code, *arguments)
    try:
        out, _ = process.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        return "hangs"
    return out.strip() or "dies"


def _make(name: str, folder: Path, values: object) -> Path:
    """One array of 64 integers in one chunk, in the library's format."""
    import numpy as np

    if name == "h5py":
        import h5py

        path = folder / "a.h5"
        with h5py.File(path, "w") as file:
            file.create_dataset("a", data=values, chunks=(_ELEMENTS,), compression="gzip")
    elif name == "numpy .npy":
        path = folder / "a.npy"
        np.save(path, values)
    else:
        import zarrix

        path = folder / "a.zarr"
        # Blosc's memcpyed frame, as incompressible data gives it.
        codec = {"id": "blosc", "cname": "lz4", "clevel": 0, "shuffle": 0, "blocksize": 0}
        array = zarrix.open(
            str(path), mode="w", shape=_ELEMENTS, chunks=_ELEMENTS, dtype="i8", compressor=codec
        )
        array[:] = values
    return path


def kept(name: str, folder: Path) -> str:
    """How many of 64 concurrent one-element writes are there afterwards."""
    import numpy as np

    path = _make(name, folder, np.zeros(_ELEMENTS, "i8"))
    code = _WRITER.format(open=_OPEN[name], each=EACH)
    writers = [_run(code, str(path), str(EACH * i)) for i in range(WRITERS)]
    failed = 0
    for writer in writers:
        try:
            failed += writer.wait(LIMIT_S) != 0
        except subprocess.TimeoutExpired:
            writer.kill()
            failed += 1
    namespace: dict[str, object] = {}
    exec(_OPEN[name], namespace)
    array = namespace["open_"](str(path))  # type: ignore[operator]
    count = int((np.asarray(array[:]) == np.arange(1, _ELEMENTS + 1)).sum())
    return f"{count} of {_ELEMENTS}" + (f", {failed} writers failed" if failed else "")


def forks(name: str, folder: Path) -> str:
    """What a child forked after a read does when it reads."""
    import numpy as np

    path = _make(name, folder, np.arange(_ELEMENTS, dtype="i8"))
    return _answer(_FORK.format(open=_OPEN[name], elements=_ELEMENTS), str(path))


def cut(name: str, folder: Path) -> str:
    """What reading gives after the file that holds the chunk lost its last 100 bytes."""
    import numpy as np

    path = _make(name, folder, np.arange(_ELEMENTS, dtype="i8"))
    file = path / "0" if path.is_dir() else path
    os.truncate(file, file.stat().st_size - 100)
    return _answer(_CUT.format(open=_OPEN[name], elements=_ELEMENTS), str(path))


def main() -> int:
    """Print the table, in the environment that has all peers."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.promises", description=__doc__)
    parser.add_argument("--here", action="store_true", help="stay in this interpreter")
    if not parser.parse_args().here:
        try:
            setup.hand_over(["--here"], module="benchmarks.promises")
        except setup.SetupError as error:
            print(f"benchmarks: {error}", file=sys.stderr)
            return 1
    rows = (("concurrent writes kept", kept), ("after fork, a child", forks), ("cut chunk", cut))
    print(f"{'':24}" + "".join(f"{name:>28}" for name in _OPEN))
    for title, question in rows:
        answers = []
        for name in _OPEN:
            with tempfile.TemporaryDirectory() as folder:
                answers.append(question(name, Path(folder)))
        print(f"{title:24}" + "".join(f"{answer:>28}" for answer in answers), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
