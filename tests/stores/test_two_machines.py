"""Two machines that write the same chunks of one folder, and whose locks do not exclude each other.

A pair of PID and mount namespaces stands for them: both writers have the same process id. Either
they take no locks (as a task does that writes complete chunks), or each locks a metadata file of
its own that is mounted over the shared one, as on a network file system with local locks.
"""

import shutil
import subprocess
import sys

import numpy as np
import pytest
import zarrix as zarr

WRITER = """
import os, sys
folder, locks, times = sys.argv[1], sys.argv[2] == "locks", int(sys.argv[3])
import numpy as np
import zarrix as zarr

z = zarr.open_array(folder, mode="r+")
engine = z.store._engine
print(os.getpid(), flush=True)
sys.stdin.readline()
length = z.chunks[0] * 4
for number in range(times):
    value = np.full(z.chunks, number, "<i4")
    if locks:
        z[:] = value
    else:
        engine.put("0", value.tobytes(), fsync=False, locks=False)
    with open(os.path.join(folder, "0"), "rb") as file:
        found = file.read()
    assert len(found) == length, f"{len(found)} of {length} bytes"
    assert found == found[:4] * (length // 4), f"torn: {set(np.frombuffer(found, '<i4'))}"
print("all whole", flush=True)
"""

ANCHOR_OF_ITS_OWN = """
set -e
mount -t tmpfs none "$1"
cp "$2/.zarray" "$1/anchor"
mount --bind "$1/anchor" "$2/.zarray"
shift 2
exec "$@"
"""


def _in_namespaces(command):
    unshare = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child"]
    return [*unshare, *command]


@pytest.fixture(scope="module")
def namespaces(tmp_path_factory):
    """Whether this process may make namespaces, and mount files in them."""
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    folder = tmp_path_factory.mktemp("mounted")
    (folder / ".zarray").touch()
    (folder / "own").mkdir()
    command = ["sh", "-c", ANCHOR_OF_ITS_OWN, "sh", folder / "own", folder, "true"]
    return subprocess.run(_in_namespaces(command), capture_output=True).returncode == 0


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "shared"
    z = zarr.create(100_000, chunks=100_000, dtype="<i4", compressor=None, store=str(folder))
    z[:] = 0
    return folder


def _write_from_both(tmp_path, folder, *, locks, times, namespaces):
    """Two writers write the chunk ``times`` times each; returns their process ids and leftovers."""
    writers = []
    for number in range(2):
        command = [sys.executable, "-c", WRITER, folder, "locks" if locks else "none", str(times)]
        if namespaces and locks:
            own = tmp_path / f"machine{number}"
            own.mkdir()
            command = ["sh", "-c", ANCHOR_OF_ITS_OWN, "sh", own, folder, *command]
        command = _in_namespaces(command) if namespaces else command
        pipe = subprocess.PIPE
        writers.append(subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True))
    pids = [writer.stdout.readline() for writer in writers]
    for writer in writers:
        writer.stdin.write("begin\n")
        writer.stdin.flush()
    for writer in writers:
        output, errors = writer.communicate(timeout=600)
        assert errors == ""
        assert (writer.returncode, output) == (0, "all whole\n")
    assert [file.name for file in folder.glob("*.partial")] == []
    return pids


def _times(long):
    return 5000 if long else 200


def test_writers_without_locks_tear_no_chunk(tmp_path, folder, namespaces, pytestconfig):
    times = _times(pytestconfig.getoption("--long"))
    first, second = _write_from_both(
        tmp_path, folder, locks=False, times=times, namespaces=namespaces
    )
    assert (first == second) == namespaces


def test_writers_whose_locks_are_local_tear_no_chunk(tmp_path, folder, namespaces, pytestconfig):
    if not namespaces:
        pytest.skip("this process may not make namespaces")
    times = _times(pytestconfig.getoption("--long"))
    first, second = _write_from_both(tmp_path, folder, locks=True, times=times, namespaces=True)
    assert first == second
    assert zarr.verify(str(folder)).ok
    assert len(np.unique(zarr.open_array(str(folder), mode="r")[:])) == 1
