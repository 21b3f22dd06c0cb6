"""A store that fails once, or from then on, at each of its changes: the same call goes on."""

import errno
import os

import numpy as np
import pytest
import zarrix as zarr
from jobs.test_killed_at_each_step import CALLS, NAMES, stored
from zarrix.errors import ZarrixError


class Failing(dict):
    """A mapping that fails at its n-th change, and perhaps at all after it."""

    left, code, always = None, errno.EIO, False

    def _count(self):
        if self.left is None:
            return
        self.left -= 1
        if self.left == -1 or (self.left < 0 and self.always):
            raise OSError(self.code, os.strerror(self.code))

    def __setitem__(self, key, value):
        self._count()
        super().__setitem__(key, value)

    def __delitem__(self, key):
        self._count()
        super().__delitem__(key)


@pytest.mark.parametrize("always", [False, True])
@pytest.mark.parametrize("code", [errno.EIO, errno.ENOSPC])
@pytest.mark.parametrize("name", NAMES)
def test_a_write_that_fails_leaves_what_goes_on(tmp_path, name, code, always):
    z = zarr.create_array(tmp_path / "a", shape=(12, 6), chunks=(4, 6), dtype="i4")
    z[:] = np.arange(72).reshape(12, 6)
    wanted = {}
    CALLS[name](z, zarr.KVStore(wanted), zarr.KVStore({}))
    step, fails = 0, True
    while fails:
        dest, temp = Failing(), Failing()
        temp.__dict__ = dest.__dict__
        dest.left, dest.code, dest.always = step, code, always
        done = True
        try:
            CALLS[name](z, zarr.KVStore(dest), zarr.KVStore(temp))
        except (OSError, ZarrixError):
            done = False
        fails, dest.left = dest.left < 0, None
        if not done:
            CALLS[name](z, zarr.KVStore(dest), zarr.KVStore(temp))
        assert stored(dest) == stored(wanted), step
        assert dict(temp) == {}, step
        step += 1
    assert step > 5
