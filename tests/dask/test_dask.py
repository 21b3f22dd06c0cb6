"""`zarrix.dask`: blocks that do not align lose nothing, names in graphs, and what is refused."""

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("dask.array.core")

import dask
import dask.array
import zarrix.dask
from dask.base import tokenize


@pytest.fixture(autouse=True)
def _by_threads() -> Any:
    with dask.config.set(scheduler="threads"):
        yield


def test_blocks_are_unions_of_shards(tmp_path: Path) -> None:
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(90, 64), chunks=(5, 8), shards=(10, 32), dtype="f8"
    )
    with dask.config.set({"array.chunk-size": "20 kB"}):
        blocks = zarrix.dask.from_array(z).chunks
    assert blocks == ((30, 30, 30), (64,))
    assert zarrix.dask.from_array(z, chunks=(45, -1)).chunks == ((45, 45), (64,))


def test_results_are_those_of_the_array(tmp_path: Path) -> None:
    expected = np.random.default_rng(1).random((40, 30))
    zarr.save_array(tmp_path / "a.zarr", expected, chunks=(7, 11))
    for opened in (tmp_path / "a.zarr", zarr.open_array(tmp_path / "a.zarr", mode="r")):
        x = zarrix.dask.from_array(opened, chunks=(9, 8))
        np.testing.assert_array_equal(x.compute(), expected)
        np.testing.assert_allclose(x.mean(axis=1).compute(), expected.mean(axis=1))
        np.testing.assert_array_equal(x[[5, 1, 39]][:, 3].compute(), expected[[5, 1, 39]][:, 3])
        np.testing.assert_array_equal(x[::-3, 4:9].compute(), expected[::-3, 4:9])
        np.testing.assert_array_equal(x.vindex[[1, 2], [3, 4]].compute(), expected[[1, 2], [3, 4]])


def test_scalars_empty_and_rectilinear_arrays_are_read(tmp_path: Path) -> None:
    assert zarrix.dask.from_array(zarr.array(5)).compute() == 5
    assert zarrix.dask.from_array(zarr.zeros((0, 3), chunks=(2, 2))).compute().shape == (0, 3)
    z = zarr.create_array(tmp_path / "r.zarr", data=np.arange(10), chunks=[[3, 3, 4]])
    assert zarrix.dask.from_array(z).chunks == ((3, 3, 4),)
    assert zarrix.dask.from_array(z).sum().compute() == 45


@pytest.mark.parametrize("shards", [None, (12, 12)])
def test_blocks_that_share_chunks_lose_nothing(tmp_path: Path, shards: Any) -> None:
    expected = np.arange(50 * 37).reshape(50, 37)
    z = zarr.create_array(
        tmp_path / "a.zarr", shape=(60, 40), chunks=(4, 6), shards=shards, dtype=int
    )
    for seed in range(5):
        z[:] = -1
        rows = (seed + 1, 13, 7, 50 - seed - 21)
        x = dask.array.from_array(expected, chunks=(rows, 5))
        zarrix.dask.store(x, z, region=(slice(3, 53), slice(1, 38)))
        np.testing.assert_array_equal(z[3:53, 1:38], expected)
        assert (z[:3] == -1).all()
        assert (z[:, 38:] == -1).all()


def test_several_arrays_are_stored_at_once(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "a.zarr", mode="w")
    targets = [root.zeros(name, shape=10, chunks=4) for name in "ab"]
    x = dask.array.arange(10, chunks=3)
    assert zarrix.dask.store([x, x + 1], targets) is None
    assert targets[1][:].tolist() == list(range(1, 11))
    zarrix.dask.store([x[:2], x[:3]], targets, region=[(slice(8, 10),), slice(0, 3)])
    assert targets[0][7:].tolist() == [7, 0, 1]
    assert targets[1][:4].tolist() == [0, 1, 2, 4]


def test_a_task_is_returned_on_request(tmp_path: Path) -> None:
    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=10, chunks=4)
    task = zarrix.dask.store(dask.array.ones(10, chunks=3), z, compute=False)
    assert not z[:].any()
    dask.compute(task)
    assert z[:].all()


def test_new_arrays_have_the_longest_blocks_as_chunks(tmp_path: Path) -> None:
    x = dask.array.arange(12, chunks=(3, 5, 4))
    z = zarrix.dask.to_zarr(x, tmp_path / "a.zarr", name="x/y", shards=10)
    assert (z.name, z.chunks, z.shards) == ("/x/y", (5,), (10,))
    assert z[:].tolist() == list(range(12))
    with pytest.raises(zarr.errors.ContainsArrayError):
        zarrix.dask.to_zarr(x, tmp_path / "a.zarr", name="x/y")
    zarrix.dask.to_zarr(-x, tmp_path / "a.zarr", name="x/y", overwrite=True, chunks=2)
    assert zarr.open(tmp_path / "a.zarr")["x/y"][:].tolist() == [-i for i in range(12)]
    z = zarr.open(tmp_path / "a.zarr")["x/y"]
    zarrix.dask.to_zarr(x[:2], z, region=(slice(10, 12),))
    assert zarr.open(tmp_path / "a.zarr")["x/y"][9:].tolist() == [-9, 0, 1]


def test_dask_itself_stores_into_arrays(tmp_path: Path) -> None:
    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=(9, 9), chunks=(2, 2))
    x = dask.array.random.default_rng(0).random((9, 9), chunks=(4, 5))
    dask.array.store(x, z, lock=False)
    np.testing.assert_array_equal(dask.array.from_array(z).compute(), z[:])
    np.testing.assert_array_equal(z[:], x.compute())


def test_names_in_graphs_are_those_of_the_stored_arrays(tmp_path: Path) -> None:
    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=10, chunks=4)
    again = zarr.open_array(tmp_path / "a.zarr", mode="r")
    assert tokenize(z) == tokenize(again) == tokenize(pickle.loads(pickle.dumps(z)))
    assert zarrix.dask.from_array(z).name == zarrix.dask.from_array(again).name
    other = zarr.open_array(tmp_path / "b.zarr", mode="w", shape=10, chunks=4)
    kinds = [z, other, z.astype("i4"), z.view(shape=8), zarr.zeros(10), zarr.zeros(10)]
    assert len({tokenize(one) for one in kinds}) == len(kinds)
    before = tokenize(z)
    z[:] = 1
    assert tokenize(z) == before
    z.resize(20)
    assert tokenize(z) != before


def test_names_are_equal_in_other_processes(tmp_path: Path) -> None:
    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=10, chunks=4)
    bucket = zarr.storage.RemoteStore(
        "s3://bucket/a.zarr", {"endpoint_url": "http://a", "key": "k", "secret": "s"}
    )
    elsewhere = zarr.storage.RemoteStore("s3://bucket/a.zarr", {"endpoint_url": "http://b"})
    document = z.metadata.to_dict()
    remote = [zarr.Array.from_dict(store, document) for store in (bucket, elsewhere)]
    assert tokenize(remote[0]) != tokenize(remote[1])
    assert "'k'" not in repr(remote[0].__dask_tokenize__())
    program = (
        "import pickle, sys\nfrom dask.base import tokenize\n"
        "print(*map(tokenize, pickle.load(sys.stdin.buffer)))"
    )
    arrays = [z, zarr.ones(4, store=zarr.MemoryStore()), z.astype("i2")]
    mine = [tokenize(one) for one in arrays]
    for seed in "01":
        ended = subprocess.run(
            [sys.executable, "-c", program],
            input=pickle.dumps(arrays),
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=100,
        )
        assert ended.stdout.decode().split() == mine


def test_names_cost_no_read_of_the_content() -> None:
    z = zarr.ones(10**6, store=zarr.MemoryStore())
    assert len(pickle.dumps(z.__dask_tokenize__())) < 500


def test_other_processes_may_not_write_into_copies() -> None:
    x = dask.array.ones(10, chunks=3)
    for store in (zarr.MemoryStore(), {}, zarr.storage.LoggingStore(zarr.MemoryStore())):
        z = zarr.zeros(10, store=store)
        zarrix.dask.store(x, z)
        assert z[:].all()
        with pytest.raises(ValueError, match="other processes"):
            zarrix.dask.store(x, z, scheduler="processes")


def test_errors_come_before_any_task(tmp_path: Path) -> None:
    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=10, chunks=4)
    x = dask.array.ones(6, chunks=3)
    with pytest.raises(ValueError, match=r"shape \(6,\) does not fit"):
        zarrix.dask.store(x, z)
    with pytest.raises(ValueError, match="tuple of at most 1 slices"):
        zarrix.dask.store(x, z, region=(slice(6), slice(6)))
    with pytest.raises(zarr.errors.ReadOnlyError):
        zarrix.dask.store(x, zarr.open_array(tmp_path / "a.zarr", mode="r"), region=slice(6))
    with pytest.raises(ValueError, match="2 sources for 1 targets"):
        zarrix.dask.store([x, x], [z])
    with pytest.raises(ValueError, match="compute_chunk_sizes"):
        zarrix.dask.to_zarr(x[x > 0], tmp_path / "b.zarr")
    with pytest.raises(TypeError, match="chunks: options of a new array"):
        zarrix.dask.to_zarr(x, z, chunks=3)
    with pytest.raises(ValueError, match="region is for an open array"):
        zarrix.dask.to_zarr(x, tmp_path / "b.zarr", region=slice(6))
    with pytest.raises(TypeError, match="path and storage_options are for stores"):
        zarrix.dask.from_array(z, path="x")
    assert not z[:].any()
    assert not (tmp_path / "b.zarr").exists()


def test_workers_run_programs_for_zarr_python_with_the_plugin() -> None:
    pytest.importorskip("distributed.deploy")
    # The alias is for a whole process, so that this one does not get it.
    program = """
from distributed import Client, LocalCluster
import zarrix.dask

def module_of_arrays():
    import zarr

    return zarr.Array.__module__

with (
    LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
    Client(cluster) as client,
):
    client.register_plugin(zarrix.dask.AsZarr())
    print(client.submit(module_of_arrays).result())
"""
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert found.stdout == "zarrix.core\n", found.stderr


@pytest.mark.parametrize("path", ["a.zarr", "g.zarr/a"])
def test_a_new_array_does_not_replace_what_it_is_computed_of(path: str, tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "g.zarr", mode="w")
    zarr.save_array(tmp_path / path, np.arange(10))
    x = zarrix.dask.from_array(tmp_path / path, chunks=5)
    plain = dask.array.from_array(zarr.open(tmp_path / path), chunks=5)
    (optimized,) = dask.optimize(x[::-1] * 2)
    for lazy in (x, x[::-1] + 1, x.rechunk(3), plain, dask.array.stack([x, x]), optimized):
        with pytest.raises(zarr.errors.OverlapError, match="cannot write"):
            zarrix.dask.to_zarr(lazy, tmp_path / path, overwrite=True)
        np.testing.assert_array_equal(zarr.load(str(tmp_path / path)), np.arange(10))


SAVES: dict[str, Any] = {
    "save": lambda path, data: zarr.save(path, data),
    "save_array": lambda path, data: zarr.save_array(path, data),
    "save_group": lambda path, data: zarr.save_group(path, arr=data),
    "array": lambda path, data: zarr.array(data, store=path, overwrite=True),
    "create_array": lambda path, data: zarr.create_array(path, data=data, overwrite=True),
    "from_array": lambda path, data: zarr.from_array(path, data=data, overwrite=True),
}


@pytest.mark.parametrize("name", SAVES)
def test_lazy_data_is_computed_before_its_array_is_replaced(name: str, tmp_path: Path) -> None:
    path = str(tmp_path / "a.zarr")
    zarr.save_array(path, np.arange(10))
    SAVES[name](path, zarrix.dask.from_array(path, chunks=5)[::-1] + 1)
    found = zarr.open(path, mode="r")
    found = found["arr"] if name == "save_group" else found
    np.testing.assert_array_equal(found[:], np.arange(10)[::-1] + 1)


def test_values_in_a_circle_and_in_many_tasks_are_looked_at_once(tmp_path: Path) -> None:
    from zarrix._array.source import stored_arrays

    z = zarr.array(np.arange(3), store=tmp_path / "a")
    circle: list[Any] = [z]
    for _ in range(60):
        circle = [circle, circle]
    circle.append(circle)
    assert list(stored_arrays(circle)) == [z]
