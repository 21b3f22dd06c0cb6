"""Calls of the system that fail: its error is raised, the old values stay, and nothing is left."""

from pathlib import Path

from preloaded import run_with_failing_calls

PROGRAM = """
import errno, os, sys, tempfile
import zarrix
from zarrix import config

root = tempfile.mkdtemp(dir=sys.argv[1]) + "/a.zarr"
z = zarrix.create((40, 100), chunks=(10, 100), store=root, dtype="i4")
z[:] = 1
z.attrs["k"] = 1
os.environ["FAIL_PATH"] = "a.zarr"
CALLS = {
    "chunks": lambda: z.__setitem__(slice(None), 2),
    "a part": lambda: z.__setitem__((slice(5, 15), slice(0, 3)), 2),
    "attributes": lambda: z.attrs.update(k=2),
    "a resize": lambda: z.resize(80, 100),
}
READS = {"a read": lambda: z[:], "an open": lambda: zarrix.open(root)}
for call in ("pread", "write", "fsync", "close"):
    for number in (errno.EIO, errno.ENOSPC, errno.ESTALE, errno.EDQUOT):
        for name, work in (READS if call == "pread" else CALLS).items():
            os.environ |= {"FAIL_ERRNO": str(number), "FAIL_CALL": call}
            try:
                with config(durability="fsync" if call == "fsync" else "process"):
                    work()
                print(call, errno.errorcode[number], name, "has not failed")
            except OSError as error:
                if error.errno != number:
                    print(call, errno.errorcode[number], name, "is", repr(error))
            del os.environ["FAIL_CALL"]
            again = zarrix.open(root)
            if not (again[:] == 1).all() or again.attrs["k"] != 1 or again.shape != (40, 100):
                print(call, errno.errorcode[number], name, "has changed what is stored")
            if left := [path for path in os.listdir(root) if "partial" in path]:
                print(call, errno.errorcode[number], name, "has left", left)
"""


def test_a_call_that_fails_is_an_error_and_changes_nothing(tmp_path: Path) -> None:
    done = run_with_failing_calls(PROGRAM, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
