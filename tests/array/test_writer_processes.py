"""Writers of streams whose process forks, ends, is killed, or is not the only one.

    ZARRIX_WRITER_KILLS=200 pytest tests/array/test_writer_processes.py

kills two hundred writers instead of five.
"""

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import free_threading
import numpy as np
import pytest
import zarrix as zarr
from selections import assert_same
from streamed import make
from waiting import PATIENCE_S, until
from zarrix.errors import WriterError

KILLS = int(os.environ.get("ZARRIX_WRITER_KILLS", "5"))


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), *arguments],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


def test_a_writer_in_another_process_is_noticed(tmp_path: Path) -> None:
    path = str(tmp_path / "z")
    z = make(path, (0, 3, 5))
    child = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, path, "1"], stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    with child.stdout:
        assert child.stdout.readline() == "ready\n"
        for change in (z.writer, lambda: z.append(np.ones((2, 3, 5)))):
            with pytest.raises(WriterError):
                change()
        child.kill()
    child.wait()
    length = zarr.open_array(path).shape[0]
    with z.writer() as stream:
        stream.append(np.ones((2, 3, 5)))
    assert z.shape == (length + 2, 3, 5)


FORK = """
    import os, signal, sys
    import numpy as np
    import zarrix as zarr
    from zarrix.errors import WriterError

    path = sys.argv[1]
    z = zarr.open(path, mode="r+")
    stream = z.writer(buffer_bytes=1)
    stream.append(np.zeros((6, 3, 5)))
    ready, go = os.pipe(), os.pipe()
    child = os.fork()
    if not child:
        for call in (lambda: stream.append(np.zeros((3, 5))), stream.flush):
            try:
                call()
                os._exit(1)
            except WriterError as error:
                assert "does not survive a fork" in str(error)
        stream.close()
        os.write(ready[1], b"x")
        os.read(go[0], 1)
        os._exit(0)
    assert os.read(ready[0], 1) == b"x"
    # The child has the parent's writer, but not its lock: that ends with the parent's writer.
    stream.append(np.ones((3, 3, 5)))
    stream.close()
    z.append(np.full((1, 3, 5), 2))
    assert z[:, 0, 0].tolist() == [0] * 6 + [1] * 3 + [2]
    os.write(go[1], b"x")
    assert os.waitpid(child, 0)[1] == 0
    # A killed parent leaves no lock with its child either.
    end = os.pipe()
    middle = os.fork()
    if not middle:
        stream = z.writer()
        if not os.fork():
            os.close(end[1])
            os.write(ready[1], b"x")
            os.read(end[0], 1)
            os._exit(0)
        assert os.read(ready[0], 1) == b"x"
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(middle, 0)
    z.append(np.full((1, 3, 5), 3))
    print("done")
"""


def test_a_forked_child_has_neither_the_writer_nor_its_lock(tmp_path: Path) -> None:
    path = str(tmp_path / "z")
    make(path, (0, 3, 5))
    done = run(FORK, path)
    assert done.stdout == "done\n", done.stderr


FORGOTTEN = """
    import sys
    import numpy as np
    import zarrix as zarr

    streams = [zarr.open(path, mode="r+").writer() for path in sys.argv[1:]]
    for stream in streams:
        stream.append(np.ones((5, 3, 5)))
"""


def test_a_program_that_ends_without_closing_loses_nothing(tmp_path: Path) -> None:
    paths = [str(tmp_path / name) for name in "ab"]
    for path in paths:
        make(path, (0, 3, 5))
    done = run(FORGOTTEN, *paths)
    assert (done.returncode, done.stderr) == (0, "")
    for path in paths:
        assert zarr.open_array(path)[...].sum() == 75


MEMORY = """
    import sys, time
    import numpy as np
    import zarrix as zarr

    def resident(name):
        for line in open("/proc/self/status"):
            if line.startswith(name):
                return int(line.split()[1]) * 1024

    class Slow(dict):
        def __setitem__(self, key, value):
            if not key.startswith("."):
                time.sleep(0.02)
                value = b""
            super().__setitem__(key, value)

    zarr.config.threads = 2
    block = 8 * 2**20
    z = zarr.create((0, 1024, 1024), chunks=(2, 1024, 1024), dtype="u1", store=Slow(),
                    compressor=None)
    frame = np.ones((1024, 1024), "u1")
    with z.writer(buffer_bytes=block) as stream:
        before = resident("VmRSS")
        for _ in range(int(sys.argv[1])):
            stream.append(frame)
        print(resident("VmHWM") - before)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is read there")
def test_memory_is_four_blocks_however_long_the_stream(tmp_path: Path) -> None:
    for frames in ("60", "400"):
        done = run(MEMORY, frames)
        assert done.returncode == 0, done.stderr
        # Four blocks of 8 MiB; two of them are stored at a time, by two threads each, each with a
        # chunk of 2 MiB: encoded, in flight, and as the bytes for the mapping.
        most = (4 * 8 + 2 * 2 * 3 * 2 + 4) * 2**20
        assert int(done.stdout) < most * free_threading.MEMORY


PROGRAM = """
import sys
import numpy as np
import zarrix as zarr

z = zarr.open(sys.argv[1], mode="r+")
with z.writer(buffer_bytes=int(sys.argv[2])) as stream:
    number = z.shape[0]
    print("ready", flush=True)
    while True:
        stream.append(np.full(z.shape[1:], number))
        number += 1
        if number % 97 == 0:
            stream.flush()
"""


def test_a_killed_writer_leaves_a_prefix_of_whole_frames(tmp_path: Path) -> None:
    chance = random.Random(7)
    grown = False
    for layout in ("v2", "shards"):
        path = str(tmp_path / layout)
        z = make(path, (0, 16, 16), layout, chunks=(4, 8, 16) if layout == "v2" else (4, 3, 5))
        del z
    for kill in range(KILLS):
        path = str(tmp_path / ("v2" if kill % 2 else "shards"))
        size = chance.choice(("1", "20000", "300000"))
        child = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, path, size], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        with child.stdout:
            assert child.stdout.readline() == "ready\n"
            # One is killed after it has stored something, the others at any moment.
            if kill == 0:
                until(lambda path=path: zarr.open_array(path, mode="r").shape[0] > 0)
            time.sleep(chance.random() * 0.06)
            child.send_signal(signal.SIGKILL)
        child.wait()
        values = zarr.open(path, mode="r")[...]
        assert_same(
            values, np.broadcast_to(np.arange(len(values), dtype="i4")[:, None, None], values.shape)
        )
        grown = grown or len(values) > 0
    assert grown
    # What a killed writer left behind the end does not come back when the array grows.
    z = zarr.open(path, mode="r+")
    with z.writer():
        pass
    length = z.shape[0]
    z.resize(length + 500, 16, 16)
    assert not z[length:].any()
