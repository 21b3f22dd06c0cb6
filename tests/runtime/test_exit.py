"""The interpreter exits while daemon threads are inside calls on a store or a codec in Python.

Or before the threads of a call have begun: the call was done without them.

Python up to 3.13 ends such a thread where it wants the GIL back. That must not end the process: the
rest of the exit is done, and the exit code is the program's.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from free_threading import WITHOUT_GIL

# A thread that lingers never leaves the store or the codec. What is collected last gives the
# threads time to wake up while the interpreter exits.
BEGIN = """
import atexit, os, sys, threading, time
import numpy as np
import zarrix

lingers, inside = False, threading.Event()

def linger():
    if lingers:
        inside.set()
        while True:
            time.sleep(0.001)

class Last:
    def __del__(self, sleep=time.sleep, write=os.write):
        sleep(0.3)
        write(1, b"collected")

sys.last = Last()
values = np.arange(1, 65)
"""
MAPPING = """
class Slow(dict):
    def __getitem__(self, key):
        linger()
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        linger()
        super().__setitem__(key, value)

    def __delitem__(self, key):
        linger()
        super().__delitem__(key)

    def __iter__(self):
        for key in list(super().__iter__()):
            linger()
            yield key

z = zarrix.create((64,), chunks=1, dtype="i4", store=Slow())
"""
FSSPEC = """
from fsspec.implementations.memory import MemoryFileSystem

class Slow(MemoryFileSystem):
    def cat_file(self, path, *arguments, **options):
        linger()
        return super().cat_file(path, *arguments, **options)

    def pipe_file(self, path, value, *arguments, **options):
        linger()
        return super().pipe_file(path, value, *arguments, **options)

z = zarrix.create((64,), chunks=1, dtype="i4", store=Slow().get_mapper("/exit"))
"""
CALLED = """
class Slow(zarrix.storage.WrapperStore):
    def _fetch(self, keys):
        linger()
        return super()._fetch(keys)

    def _put(self, key, value, fsync):
        linger()
        super()._put(key, value, fsync)

z = zarrix.create((64,), chunks=1, dtype="i4", store=Slow(zarrix.MemoryStore()))
"""
CODEC = """
import numcodecs

class Slow(numcodecs.abc.Codec):
    codec_id = "slow"

    def encode(self, data):
        linger()
        return bytes(data)

    def decode(self, data, out=None):
        linger()
        return bytes(data)

numcodecs.register_codec(Slow)
z = zarrix.create((64,), chunks=1, dtype="i4", compressor=Slow())
"""
OBJECTS = """
class Slow:
    def __reduce__(self):
        linger()
        return loaded, ()

def loaded():
    linger()
    return Slow()

values = np.array([Slow() for _ in range(64)])
z = zarrix.create(
    (64,), chunks=1, dtype=object, object_codec=zarrix.Pickle(), allow_pickle=True
)
"""
END = """
z[:] = values

def work():
    while True:
        WORK

threads = [threading.Thread(target=work, daemon=True) for _ in range(3)]
lingers = True
for thread in threads:
    thread.start()
assert inside.wait(60)
atexit.register(print, "exit", end=" ")
sys.exit(3)
"""
READ, WRITE = "z[:]", "z[:] = values"


@pytest.mark.parametrize(
    ("slow", "work"),
    [
        pytest.param(MAPPING, READ, id="mapping is read"),
        pytest.param(MAPPING, WRITE, id="mapping is written"),
        pytest.param(
            MAPPING,
            "del z.store[z.path + '1']",
            id="mapping is deleted from",
            marks=pytest.mark.skipif(
                WITHOUT_GIL and sys.version_info < (3, 14),
                reason="PyO3 0.28, the last one for this Python, aborts such an exit",
            ),
        ),
        pytest.param(MAPPING, "z.nchunks_initialized", id="mapping is listed"),
        pytest.param(FSSPEC, READ, id="fsspec is read"),
        pytest.param(FSSPEC, WRITE, id="fsspec is written"),
        pytest.param(CALLED, READ, id="store is read"),
        pytest.param(CALLED, WRITE, id="store is written"),
        pytest.param(CODEC, READ, id="codec decodes"),
        pytest.param(CODEC, WRITE, id="codec encodes"),
        pytest.param(OBJECTS, READ, id="object codec decodes"),
        pytest.param(OBJECTS, WRITE, id="object codec encodes"),
    ],
)
def test_a_daemon_thread_inside_a_call_into_python_leaves_the_exit_whole(slow, work) -> None:
    if slow is FSSPEC:
        pytest.importorskip("fsspec")
    program = BEGIN + slow + END.replace("WORK", work)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (3, "exit collected", "")


LATE = """
import os, sys
import zarrix
from zarrix import config

config.threads = 4
z = zarrix.zeros((4, 2**20), chunks=(1, 2**20), dtype="i4", store=STORE)
os.environ["LATE_THREADS"] = "1"
z[:] = 1
assert int(z[3, -1]) == 1
sys.exit(3)
"""


@pytest.fixture(scope="module")
def late_threads(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A library whose threads begin when the interpreter has ended."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler and LD_PRELOAD")
    built = tmp_path_factory.mktemp("late") / "late_threads.so"
    source = Path(__file__).with_name("late_threads.c")
    command = [compiler, "-shared", "-fPIC", "-o", str(built), str(source), "-ldl", "-lpthread"]
    subprocess.run(command, check=True, timeout=300)
    return str(built)


@pytest.mark.parametrize("store", ["zarrix.MemoryStore()", "{}"])
def test_a_worker_that_begins_after_the_interpreter_has_ended_does_nothing(
    late_threads: str, store: str
) -> None:
    program = LATE.replace("STORE", store)
    environment = os.environ | {"LD_PRELOAD": late_threads}
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=300, check=False, env=environment,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


AT_EXIT = """
import atexit, os, sys, threading
import numpy as np

class Last:
    def __del__(self):
        print("last", int(CALL), end=" ")

def early():
    z[:] = 2
    print("early", int(z[:].sum()), end=" ")

atexit.register(early)
import zarrix
from zarrix import config

config.threads = 4
z = zarrix.zeros((64,), chunks=1, dtype="i4", store=STORE)
z[:] = 1
atexit.register(lambda: print("late", int(z[:].sum()), end=" "))
sys.last = Last()
"""


@pytest.mark.parametrize("store", ["zarrix.MemoryStore()", "{}"])
def test_calls_at_the_exit_are_made_before_and_after_workers_are_let_go(store: str) -> None:
    program = AT_EXIT.replace("STORE", store).replace("CALL", "z[:].sum()")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("late 64 early 128 ")


SUBINTERPRETER = """
import sys
FIRST
if sys.version_info >= (3, 13):
    import _interpreters as interpreters
else:
    import _xxsubinterpreters as interpreters
inner = interpreters.create()
code = "import zarrix._engine"
try:
    error = interpreters.run_string(inner, code)
    said = "" if error is None else str(getattr(error, "formatted", error))
except Exception as error:
    said = str(error)
print("subinterpreter" in said, end=" ")
interpreters.destroy(inner)
LAST
"""
WORKS = """
import zarrix
z = zarrix.zeros((64,), chunks=1, dtype="i4", store={})
z[:] = 1
assert int(z[:].sum()) == 64
"""


@pytest.mark.parametrize(("first", "last"), [("", ""), (WORKS, WORKS)])
def test_an_import_in_a_subinterpreter_is_one_clear_error(first: str, last: str) -> None:
    program = SUBINTERPRETER.replace("FIRST", first).replace("LAST", last)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "True ", "")
