"""Reads that the system refuses during an import: an error, and never a member that is left out."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest
from preloaded import run_with_failing_calls

EACH_READ = """
import warnings
# Python 3.12 warns of every fork beside threads.
warnings.simplefilter("ignore", DeprecationWarning)
import errno, os, sys
import h5py, numpy as np, zarrix as zarr

folder = sys.argv[1]
path = os.path.join(folder, "x.h5")
with h5py.File(path, "w") as file:
    file.attrs["unit"] = "K"
    for name in ("a", "g/b", "g/h/c"):
        made = file.create_dataset(name, data=np.arange(600), chunks=(100,), fillvalue=-7)
        made.attrs["long"] = np.arange(3)
        made.attrs["text"] = name * 20
# What an import needs is imported once, and not in each child.
assert not zarr.import_(path, zarr.MemoryStore()).left_out
succeeded = 0
for number in range(1, 60, 3):
    code = (errno.EIO, errno.ESTALE)[number % 2]
    child = os.fork()
    if child == 0:
        os.environ |= {
            "FAIL_CALL": "pread", "FAIL_PATH": "x.h5", "FAIL_AT": str(number),
            "FAIL_ERRNO": str(code),
        }
        status = 2
        try:
            done = zarr.import_(path, zarr.MemoryStore())
        except (OSError, zarr.errors.ConversionError) as error:
            status = 3 if os.strerror(code) in str(error) else 4
        else:
            status = 0 if not done.left_out else 5
        finally:
            os._exit(status)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert status in (0, 3), (number, code, status)
    succeeded += status == 0
assert succeeded < 20
"""


def test_what_hdf5_cannot_read_is_an_error(tmp_path: Path) -> None:
    pytest.importorskip("h5py")
    done = run_with_failing_calls(EACH_READ, tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("told", [True, False])
def test_a_place_that_no_file_has_is_not_of_the_system(told: bool) -> None:
    from zarrix.convert._hdf5_file import raise_of_system

    for code in (errno.EINVAL, errno.EOVERFLOW):
        text = f"file read failed: time = x, errno = {code}, error message = 'y'"
        raise_of_system(OSError(code, text) if told else KeyError(text), "x.h5")
    text = f"file read failed: time = x, errno = {errno.EIO}, error message = 'y'"
    with pytest.raises(OSError) as caught:
        raise_of_system(OSError(errno.EIO, text) if told else KeyError(text), "x.h5")
    assert caught.value.errno == errno.EIO
