"""Encoded chunks that move between chunks and shards, without being decoded."""

import itertools

import numpy as np
import pytest
import zarrix as zarr
from jobs.operations import RANDOM
from zarrix import jobs
from zarrix._array.access import io_of
from zarrix._stores.keys import JOB_MARK

SHAPE = (50, 47)
LAYOUTS = {
    "chunks": None,
    "shards": (20, 20),
    "large shards": (40, 60),
    "index at the start": {"shape": (10, 50), "index_location": "start"},
}


def array(place, shards, **options):
    z = zarr.create_array(
        place, shape=SHAPE, chunks=(5, 10), shards=shards, dtype="i4", fill_value=3, **options
    )
    z[:] = RANDOM.integers(0, 99, SHAPE)
    # Chunks and a whole shard that are missing.
    z[20:, :20] = 3
    z[:5, 40:] = 3
    return z


@pytest.fixture
def never_decoded(monkeypatch):
    def refuse(self, selection):
        raise AssertionError("a chunk was decoded")

    from zarrix.jobs._operations.rechunk import Rechunk

    run = Rechunk.run

    def checked(self, stage, number):
        with monkeypatch.context() as patch:
            patch.setattr(zarr.Array, "read", refuse)
            assert all(one.moves for one in self._arrays)
            return run(self, stage, number)

    monkeypatch.setattr(Rechunk, "run", checked)


@pytest.mark.parametrize(
    ("before", "after"),
    [pair for pair in itertools.permutations(LAYOUTS, 2) if pair[1] != "index at the start"],
    ids=str,
)
def test_shards_change_without_decoding(tmp_path, never_decoded, before, after):
    z = array(tmp_path / "a.zarr", LAYOUTS[before])
    shards = LAYOUTS[after]
    # Without shards: chunks that are those of the source.
    arguments = {"chunks": (5, 10)} if shards is None else {"shards": shards}
    done = jobs.rechunk(z, tmp_path / "b.zarr", **arguments)
    np.testing.assert_array_equal(done[:], z[:])
    assert zarr.verify(tmp_path / "b.zarr").ok
    direct = zarr.from_array(tmp_path / "c.zarr", data=z, shards=done.shards)
    mark = len(done.store[JOB_MARK])
    assert done.nbytes_stored == direct.nbytes_stored + mark


def test_a_plan_says_that_nothing_is_decoded(tmp_path):
    z = array(tmp_path / "a.zarr", None)
    job = jobs.rechunk(z, tmp_path / "b.zarr", shards=(20, 20), run=False)
    assert "none is decoded" in str(job)
    other = jobs.rechunk(z, tmp_path / "b.zarr", shards=(20, 20), compressors=None, run=False)
    assert "none is decoded" not in str(other)


@pytest.mark.parametrize("damage", ["index", "short"])
def test_a_damaged_index_is_an_error(tmp_path, damage):
    z = array(tmp_path / "a.zarr", (20, 20))
    store = zarr.DirectoryStore(tmp_path / "a.zarr")
    value = bytearray(store["c/0/0"])
    if damage == "index":
        value[-20] ^= 1
    else:
        del value[:40]
    store["c/0/0"] = bytes(value)
    with pytest.raises(zarr.errors.JobFailed, match="CorruptChunkError"):
        jobs.rechunk(z, tmp_path / "b.zarr", shards=(40, 60))


@pytest.mark.parametrize("after", ["shards", "chunks"])
def test_a_shard_that_is_replaced_meanwhile_is_read_again(tmp_path, after):
    """The index that was kept is that of the old shard."""
    shards = LAYOUTS[after]
    z = array(tmp_path / "a.zarr", (40, 60))
    arguments = {"chunks": (5, 10)} if shards is None else {"shards": shards}
    plan = jobs.rechunk(z, tmp_path / "b.zarr", **arguments, run=False)
    operation = plan._operation
    for number in range(operation.stages[0].count):
        operation.run(0, number)
        z[:] = RANDOM.integers(0, 9, SHAPE)
    for number in range(operation.stages[0].count):
        operation.run(0, number)
    np.testing.assert_array_equal(operation._arrays[0].array(1)[:], z[:])


def test_regroup_refuses_what_does_not_fit(tmp_path):
    z = array(tmp_path / "a.zarr", (20, 20))
    other = zarr.create_array(tmp_path / "b.zarr", shape=SHAPE, chunks=(5, 11), dtype="i4")
    with pytest.raises(zarr.errors.SelectionError, match="chunks of the arrays differ"):
        io_of(other).regroup(io_of(z), [[0, 0]])
    with pytest.raises(zarr.errors.SelectionError, match="coordinates"):
        io_of(z).regroup(io_of(z), [[0]])
    with pytest.raises(OverflowError):
        io_of(z).regroup(io_of(z), [[-1, 0]])
    # Beyond the array there is nothing to store.
    assert io_of(z).regroup(io_of(z), [[2**63, 2**63]]) == 0
