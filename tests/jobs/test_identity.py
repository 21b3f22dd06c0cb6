"""A function is told from another by all that it carries, and none is called by its name alone."""

import functools
import json
import threading

import numpy as np
import pytest
import zarrix as zarr
from zarrix import jobs
from zarrix.errors import JobError
from zarrix.jobs._running.identity import function_identity, identity_of

SCALE = 2


def times(block, k=2):
    return block * k


def scaled(block):
    return block * SCALE


def helped(block):
    return times(block)


def capturing(k):
    def inner(block):
        return block * k

    return inner


def nested(k):
    return lambda block: [x * k for x in block]


def keyword(k):
    def inner(block, *, factor=k):
        return block * factor

    return inner


class Times:
    def __init__(self, k):
        self.k = k

    def __call__(self, block):
        return block * self.k

    def method(self, block):
        return block * self.k


class Slotted:
    __slots__ = ("k",)

    def __init__(self, k):
        self.k = k

    def __call__(self, block):
        return block * self.k


def by_default(k):
    def inner(block, factor=k):
        return block * factor

    return inner


CARRIED = {
    "partial keyword": lambda k: functools.partial(times, k=k),
    "partial argument": lambda k: functools.partial(np.multiply, k),
    "partial array": lambda k: functools.partial(np.add, np.full(3, k)),
    "partial of a partial": lambda k: functools.partial(functools.partial(times, k=k)),
    "closure": capturing,
    "nested closure": nested,
    "default": by_default,
    "keyword default": keyword,
    "callable object": Times,
    "slots": Slotted,
    "bound method": lambda k: Times(k).method,
    "builtin of an object": lambda k: [k].__contains__,
    "wrapped": lambda k: functools.wraps(times)(capturing(k)),
    "cached": lambda k: functools.lru_cache(capturing(k)),
    "set": lambda k: functools.partial(times, k=frozenset({"a", "b", str(k)})),
    "dict": lambda k: functools.partial(times, k={"a": [1, (k,)]}),
    "dtype": lambda k: functools.partial(times, k=np.dtype(f"S{k}")),
    "slice": lambda k: functools.partial(times, k=slice(0, k)),
}


@pytest.mark.parametrize("name", CARRIED)
def test_what_a_function_carries_is_part_of_it(name):
    make = CARRIED[name]
    assert identity_of(make(2)) is not None
    assert identity_of(make(2)) == identity_of(make(2))
    assert identity_of(make(2)) != identity_of(make(3))


def test_globals_are_part_of_a_function(monkeypatch):
    before = [identity_of(one) for one in (scaled, helped)]
    monkeypatch.setattr(f"{__name__}.SCALE", 3)
    assert identity_of(scaled) != before[0]
    assert identity_of(helped) == before[1]
    monkeypatch.setattr(times, "__defaults__", (3,))
    assert identity_of(helped) != before[1]


def test_what_has_no_name_is_like_nothing():
    lock = threading.Lock()

    def locked(block):
        with lock:
            return block

    assert identity_of(locked) is None
    assert function_identity(locked, None) != function_identity(locked, None)
    assert function_identity(locked, "1") == function_identity(lambda block: block, "1")
    assert identity_of(functools.partial(times, k=(n for n in range(3)))) is None


def test_a_circle_ends():
    box = []
    box.append(box)
    assert identity_of(functools.partial(times, k=box)) is not None


@pytest.fixture
def z(tmp_path):
    made = zarr.create_array(tmp_path / "a", shape=(40, 6), chunks=(4, 6), dtype="i4")
    made[:] = np.arange(240).reshape(40, 6)
    return made


@pytest.mark.parametrize("name", ["partial keyword", "closure", "default", "callable object"])
def test_an_unfinished_map_goes_on_with_the_same_function_only(tmp_path, z, name):
    make, dest = CARRIED[name], tmp_path / "b"
    jobs.map_chunks(make(2), z, dest=dest, run=False).run(part=(0, 2))
    with pytest.raises(JobError, match=r"another job .* differs in parameters\.identity"):
        jobs.map_chunks(make(3), z, dest=dest)
    np.testing.assert_array_equal(jobs.map_chunks(make(2), z, dest=dest)[:], 2 * z[:])


def test_a_version_is_the_name_of_a_function(tmp_path, z):
    lock = threading.Lock()

    def locked(block):
        with lock:
            return 2 * block

    dest = tmp_path / "b"
    jobs.map_chunks(locked, z, dest=dest, run=False).run(part=(0, 2))
    with pytest.raises(JobError, match="another job"):
        jobs.map_chunks(locked, z, dest=dest)
    first = jobs.map_chunks(locked, z, dest=dest, overwrite=True, version="1", run=False)
    first.run(part=(0, 2))
    with pytest.raises(JobError, match="another job"):
        jobs.map_chunks(locked, z, dest=dest, version="2")
    report = jobs.map_chunks(locked, z, dest=dest, version="1", run=False).run()
    assert report.resumed == 5
    # With a name, the result is that of the same line.
    assert jobs.map_chunks(locked, z, dest=dest, version="1", run=False).is_done


def test_a_reader_is_part_of_a_stack(tmp_path):
    np.save(tmp_path / "one.npy", np.arange(40).reshape(10, 4))

    def reading(k):
        return lambda path: k * np.load(path)

    def stack(k, **more):
        return jobs.stack(
            [tmp_path / "one.npy"], tmp_path / "b", reader=reading(k), chunks=(2, 4), **more
        )

    stack(2, run=False, max_memory=64).run(part=(0, 2))
    with pytest.raises(JobError, match="another job"):
        stack(3, max_memory=64)
    assert stack(2, max_memory=64)[1, 0] == 8


CALLED = []


def recorded(block):
    CALLED.append(1)
    return block


def test_a_job_from_elsewhere_calls_no_function_that_it_names(tmp_path, z):
    """Neither from a file nor from a folder, and not through other names of a module."""
    job = jobs.map_chunks("numpy:negative", z, dest=tmp_path / "b", run=False)
    job.run(part=(0, 2))
    job.save(tmp_path / "job.json")
    CALLED.clear()
    for where in (tmp_path / "job.json", tmp_path / "b"):
        with pytest.raises(JobError, match=r"pass function=, or modules=\['numpy'\]"):
            jobs.Job.load(where)
        with pytest.raises(JobError, match="not any more"):
            jobs.Job.load(where, function=recorded)
        jobs.Job.load(where, modules=["numpy"])
        jobs.Job.load(where, function=np.negative)
    file = tmp_path / "job.json"
    for name in ("pickle:loads", "os:system", f"{__name__}:np.load", f"{__name__}:json.loads"):
        told = json.loads(file.read_text())
        told["document"]["parameters"]["function"] = name
        (tmp_path / "bad.json").write_text(json.dumps(told["document"]))
        with pytest.raises(JobError, match=r"which is of the module"):
            jobs.Job.load(tmp_path / "bad.json", modules=[__name__])
        with pytest.raises(JobError):
            jobs.Job.load(tmp_path / "bad.json")
    assert CALLED == []
    report = jobs.Job.load(tmp_path / "b", modules=["numpy"]).run("threads")
    np.testing.assert_array_equal(report.result[:], -z[:])


def test_a_function_of_a_program_is_given_again(tmp_path, z):
    dest = tmp_path / "b"
    jobs.map_chunks(capturing(2), z, dest=dest, run=False).run(part=(0, 2))
    with pytest.raises(JobError, match="pass function="):
        jobs.Job.load(dest)
    with pytest.raises(JobError, match="not any more"):
        jobs.Job.load(dest, function=capturing(3))
    np.testing.assert_array_equal(
        jobs.Job.load(dest, function=capturing(2)).run().result[:], 2 * z[:]
    )
    copy = jobs.copy(z, tmp_path / "c", run=False)
    copy.save(tmp_path / "copy.json")
    with pytest.raises(JobError, match="calls no function"):
        jobs.Job.load(tmp_path / "copy.json", function=recorded)
