"""A driver that is killed between any two changes of the store: the same call goes on, or begins
again, and at the end there is what an undisturbed run leaves, and nothing else.
"""

import numpy as np
import pytest
import zarrix as zarr
from jobs.functions import double
from zarrix import jobs


class Killed(BaseException):
    """The process is gone: it changes nothing any more."""


class Mortal(dict):
    """A mapping in which a process dies at its n-th change, and after which it changes nothing."""

    left = None

    def _count(self):
        if self.left is not None:
            if self.left <= 0:
                raise Killed
            self.left -= 1

    def __setitem__(self, key, value):
        self._count()
        super().__setitem__(key, value)

    def __delitem__(self, key):
        self._count()
        super().__delitem__(key)

    def pop(self, *args):
        self._count()
        return super().pop(*args)

    def changes(self, call):
        """Call something in a process that is never killed, and count its changes."""
        self.left = 10**9
        try:
            call()
        finally:
            done, self.left = 10**9 - self.left, None
        return done

    def kill_at(self, step, call):
        """Call something in a process that is killed before a change; whether it was."""
        self.left = step
        try:
            call()
        except BaseException:
            # Which error it is does not matter: a process that is killed raises none.
            assert self.left == 0
            return True
        finally:
            self.left = None
        return False


@pytest.fixture
def z(tmp_path):
    made = zarr.create_array(tmp_path / "a", shape=(12, 6), chunks=(4, 6), dtype="i4")
    made[:] = np.arange(72).reshape(12, 6)
    return made


TWO = {"chunks": (12, 2), "passes": 2, "max_memory": "400 B"}
CALLS = {
    "copy": lambda z, dest, temp, **m: jobs.copy(z, dest, **m),
    "rechunk": lambda z, dest, temp, **m: jobs.rechunk(z, dest, **TWO, **m),
    "rechunk with temp": lambda z, dest, temp, **m: jobs.rechunk(z, dest, temp=temp, **TWO, **m),
    "map": lambda z, dest, temp, **m: jobs.map_chunks(double, z, dest=dest, **m),
    "pyramid": lambda z, dest, temp, **m: jobs.pyramid(z, dest, name="p", levels=2, **m),
    "along": lambda z, dest, temp, **m: jobs.statistics(z, axis=0, dest=dest, **m),
    "stack": lambda z, dest, temp, **m: jobs.stack([z[:], z[:]], dest, chunks=(12, 6), **m),
}
MARK = ".zarrix-done"
SHORT = ("copy", "rechunk with temp")
NAMES = [one if one in SHORT else pytest.param(one, marks=pytest.mark.long) for one in CALLS]


def stored(dest):
    return {key: bytes(value) for key, value in dest.items() if not key.endswith(MARK)}


def case(name, z):
    """The call, its destination and temporary place, and what they have at the end."""
    dest, temp = Mortal(), Mortal()
    # Both are of one process.
    temp.__dict__ = dest.__dict__
    temp["beside"] = b"a value of another program"

    def call(**more):
        return CALLS[name](z, zarr.KVStore(dest), zarr.KVStore(temp), **more)

    wanted = {}
    CALLS[name](z, zarr.KVStore(wanted), zarr.KVStore({}))
    return call, dest, temp, stored(wanted)


@pytest.mark.parametrize("name", CALLS)
def test_a_run_that_is_killed_at_each_step_goes_on(name, z):
    call, dest, temp, wanted = case(name, z)
    steps = dest.changes(call)
    assert steps > 5
    for step in range(steps):
        for key in list(dest):
            del dest[key]
        assert dest.kill_at(step, call)
        call(run=False).run()
        assert stored(dest) == wanted, step
        assert dict(temp) == {"beside": b"a value of another program"}, step


@pytest.mark.parametrize("name", NAMES)
def test_an_abandonment_that_is_killed_at_each_step_goes_on(name, z):
    call, dest, temp, wanted = case(name, z)

    def begin():
        job = call(run=False)
        for stage in range(len(job.stages) - 1):
            job.run(stage=stage)
        job.run(part=(0, 2))
        return job

    job = begin()
    steps = dest.changes(job.abandon)
    assert dict(dest) == {}
    for step in range(steps):
        job = begin()
        assert dest.kill_at(step, job.abandon)
        if step % 2:
            call(run=False).abandon()
            assert dict(dest) == {}, step
        else:
            call()
            assert stored(dest) == wanted, step
            for key in list(dest):
                del dest[key]
        assert dict(temp) == {"beside": b"a value of another program"}, step


@pytest.mark.parametrize("name", NAMES)
def test_an_abandonment_after_a_kill_leaves_all_or_nothing(name, z):
    """The complete result of a job that was killed at some step stays, or nothing does."""
    call, dest, temp, wanted = case(name, z)
    steps = dest.changes(call)
    for step in range(steps):
        for key in list(dest):
            del dest[key]
        assert dest.kill_at(step, call)
        call(run=False).abandon()
        assert stored(dest) in ({}, wanted), step
        assert dict(temp) == {"beside": b"a value of another program"}, step


@pytest.mark.parametrize("name", NAMES)
def test_an_overwriting_run_that_is_killed_at_each_step_goes_on(name, z):
    """What is replaced is a result, or another unfinished job."""
    call, dest, temp, wanted = case(name, z)
    for before in ("a result", "a job"):

        def begin(before=before):
            for key in list(dest):
                del dest[key]
            if before == "a result":
                zarr.create_array(zarr.KVStore(dest), data=np.arange(5), chunks=2)
            else:
                jobs.copy(z, zarr.KVStore(dest), run=False).run(part=(0, 2))

        begin()
        steps = dest.changes(lambda: call(overwrite=True))
        for step in range(steps):
            begin()
            assert dest.kill_at(step, lambda: call(overwrite=True))
            call(overwrite=True)
            assert stored(dest) == wanted, step
            assert dict(temp) == {"beside": b"a value of another program"}, step
