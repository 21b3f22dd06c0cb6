"""An array whose chunks this user may write, and whose metadata belongs to another user.

Children of root that switch to another user act as other users; without root there are none.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import zarrix as zarr
from waiting import line_of

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")

# Against hanging only.
HANGS_S = 120

# Its codec tells where a chunk is read that is changed in part, which is done under its lock.
CHILD = """
import os, sys, warnings, numcodecs, numcodecs.abc, zarrix as zarr
from zarrix import _engine
user, role, path, work = sys.argv[1:]
class Told(numcodecs.abc.Codec):
    codec_id = "told"
    holds = False
    def encode(self, buf):
        return bytes(memoryview(buf).cast("B"))
    def decode(self, buf, out=None):
        if Told.holds:
            Told.holds = False
            print("held", flush=True)
            sys.stdin.read()
        return numcodecs.compat.ndarray_copy(bytes(memoryview(buf).cast("B")), out)
numcodecs.register_codec(Told)
def show(message, category, *rest):
    print(category.__name__, message, flush=True)
warnings.simplefilter("always")
warnings.showwarning = show
z = zarr.open(path, mode="r+")
# Modules that are imported on first use are imported as root: the other users may not read the
# folders of Python and of the package.
z[:]
z.attrs.asdict()
small = zarr.zeros(4)
small[1] = 1
small.resize(9)
os.setgroups([])
os.setegid(int(user))
os.seteuid(int(user))
if role == "wait":
    _engine.warn_of_waits_after(0.1)
Told.holds = role == "hold"
if role == "add":
    for line in sys.stdin:
        z[int(line)] += 1
exec(work)
print("done", flush=True)
"""
ROOT, NOBODY, OTHER = 0, 65534, 65533
PART, ATTRIBUTES = "z[{}] = 1", "z.attrs['{}'] = 1"


@pytest.fixture
def path():
    # Not below pytest's folder, which other users may not enter.
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o755)
    yield folder / "x.zarr"
    shutil.rmtree(folder)


def made(path, mode=0o644):
    """An array of root's, in folders that all may write."""
    import numcodecs
    import numcodecs.abc

    class Told(numcodecs.abc.Codec):
        codec_id = "told"

        def encode(self, buf):
            return bytes(memoryview(buf).cast("B"))

        def decode(self, buf, out=None):
            return numcodecs.compat.ndarray_copy(bytes(memoryview(buf).cast("B")), out)

    numcodecs.register_codec(Told)
    array = zarr.create(8, chunks=4, dtype="i4", compressor=Told(), zarr_format=2, store=path)
    array[:] = 5
    path.chmod(0o777)
    (path / ".zarray").chmod(mode)
    return array


def child(user, role, path, work):
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(user), role, str(path), work],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize(
    ("holder", "held", "waiter", "wanted"),
    [
        (ROOT, PART, NOBODY, PART),
        (NOBODY, PART, ROOT, PART),
        (NOBODY, PART, OTHER, PART),
        (NOBODY, PART, ROOT, ATTRIBUTES),
        (ROOT, PART, NOBODY, ATTRIBUTES),
    ],
)
def test_who_may_not_write_the_metadata_still_waits_and_is_waited_for(
    path, holder, held, waiter, wanted
):
    array = made(path)
    if wanted is ATTRIBUTES:
        wanted = "z.resize(9)"
    first = child(holder, "hold", path, held.format(0))
    second = None
    try:
        assert line_of(first) == "held"
        second = child(waiter, "wait", path, wanted.format(1))
        warning = line_of(second)
        assert warning.startswith(f"LockWaitWarning waiting for the lock of {path}/.zarray")
        assert first.communicate(timeout=HANGS_S)[0] == "done\n"
        assert second.communicate(timeout=HANGS_S)[0] == "done\n"
    finally:
        for process in (first, second):
            if process is not None:
                process.kill()
                process.communicate()
    changed = [1, 5 if "resize" in wanted else 1, 5, 5]
    assert zarr.open_array(path)[:4].tolist() == changed
    del array


def test_two_users_who_change_one_chunk_lose_nothing(path):
    made(path)[:] = 0
    adders = [child(user, "add", path, "") for user in (NOBODY, ROOT, OTHER)]
    outputs = []

    def add(number, process):
        outputs.append(process.communicate(f"{number}\n" * 100, timeout=HANGS_S)[0])

    threads = [threading.Thread(target=add, args=pair) for pair in enumerate(adders)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outputs == ["done\n"] * 3
    assert zarr.open_array(path)[:4].tolist() == [100, 100, 100, 0]


def test_where_metadata_cannot_be_locked_at_all_a_write_warns_once(path):
    made(path, mode=0o600)
    writer = child(NOBODY, "write", path, "z[0] = 1; z[1] = 1; z[4] = 1")
    output = writer.communicate(timeout=HANGS_S)[0].splitlines()
    assert len(output) == 2
    assert output[0].startswith(
        f"LostUpdateWarning {path}/.zarray cannot be locked (Permission denied): if two processes"
    )
    assert output[1] == "done"
    assert zarr.open_array(path)[:5].tolist() == [1, 1, 5, 5, 1]
