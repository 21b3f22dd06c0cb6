"""Eight workers of a real `LocalCluster` write into the same chunks and shards: nothing is lost."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("distributed.deploy")
pytest.importorskip("xarray.backends.writers")

import dask.array
import xarray as xr
import zarrix.dask
import zarrix.xarray
from distributed import Client, LocalCluster
from zarrix.xarray._backend import ZarrixBackend

pytestmark = pytest.mark.long
ROUNDS = 50


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with (
        warnings.catch_warnings(),
        LocalCluster(
            n_workers=8,
            threads_per_worker=2,
            processes=True,
            host="127.0.0.1",
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as cluster,
        Client(cluster) as client,
    ):
        # Eight processes start slowly on a busy machine.
        warnings.simplefilter("ignore")
        client.wait_for_workers(8, timeout=200)
        yield client


def cuts(random: np.random.Generator, length: int, count: int) -> tuple[int, ...]:
    """Lengths of ``count`` blocks that end anywhere."""
    ends = np.sort(random.choice(np.arange(1, length), count - 1, replace=False))
    return tuple(np.diff([0, *ends, length]).tolist())


@pytest.mark.parametrize("store", [dask.array.store, zarrix.dask.store], ids=["dask", "zarrix"])
def test_blocks_within_one_shard_lose_nothing(client: Client, tmp_path: Path, store: Any) -> None:
    """The program of zarr-python#3682: each task writes one chunk of a shard, without a lock."""
    expected = np.arange(1, 60**3 + 1, dtype="f8").reshape(60, 60, 60)
    for number in range(ROUNDS):
        z = zarr.create_array(
            tmp_path / f"{number}.zarr",
            shape=expected.shape,
            chunks=(15, 15, 15),
            shards=(30, 30, 30),
            dtype="f8",
        )
        x = dask.array.from_array(expected, chunks=(15, 15, 15))
        store(x, z, **({"lock": False} if store is dask.array.store else {}))
        assert (z[:] != expected).sum() == 0


def test_blocks_across_shards_lose_nothing(client: Client, tmp_path: Path) -> None:
    for number in range(ROUNDS):
        random = np.random.default_rng(number)
        expected = random.integers(1, 2**31, (60, 50))
        shards = (20, 24) if number % 2 else None
        z = zarr.create_array(
            tmp_path / f"{number}.zarr", shape=(64, 56), chunks=(10, 12), shards=shards, dtype="i8"
        )
        x = dask.array.from_array(expected, chunks=(cuts(random, 60, 7), cuts(random, 50, 5)))
        zarrix.dask.store(x, z, region=(slice(3, 63), slice(5, 55)))
        assert (z[3:63, 5:55] != expected).sum() == 0
        # The rest is as it was.
        assert np.count_nonzero(z[:]) == expected.size


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_datasets_whose_blocks_do_not_align_lose_nothing(
    client: Client, tmp_path: Path, zarr_format: int
) -> None:
    """A dataset, an append and a region, all across chunks."""
    for number in range(ROUNDS):
        random = np.random.default_rng(number)
        values = random.random((40, 30))
        encoding: dict[str, Any] = {"a": {"chunks": (7, 8)}}
        if zarr_format == 3:
            encoding["a"]["shards"] = (14, 16)
        data = xr.Dataset({"a": (("t", "x"), values)})
        path = tmp_path / f"{zarr_format}-{number}.zarr"
        for start, stop in ((0, 25), (25, 40)):
            part = data.isel(t=slice(start, stop))
            blocks = part.chunk(t=cuts(random, stop - start, 5), x=cuts(random, 30, 4))
            if start == 0:
                blocks.zarrix.to_zarr(path, zarr_format=zarr_format, encoding=encoding)
            else:
                blocks.zarrix.to_zarr(path, append_dim="t")
        changed = (data.isel(t=slice(4, 33)) + 1).chunk(t=cuts(random, 29, 6))
        changed.zarrix.to_zarr(path, region={"t": slice(4, 33)})
        values[4:33] += 1
        with xr.open_dataset(path, engine=ZarrixBackend) as found:
            assert (found["a"].values != values).sum() == 0


def wrote_rows(path: Path, first: int, values: Any) -> int:
    """Write rows of the dataset at ``path`` as a region; a task of a worker."""
    rows = xr.Dataset({"a": (("t", "x"), values)})
    zarrix.xarray.to_zarr(rows, path, region={"t": slice(first, first + len(values))})
    return len(values)


def test_regions_that_share_chunks_lose_nothing(client: Client, tmp_path: Path) -> None:
    """Eight workers write regions at the same time, and each chunk is of several regions."""
    for number in range(ROUNDS):
        random = np.random.default_rng(number)
        values = random.random((61, 30))
        path = tmp_path / f"{number}.zarr"
        encoding: dict[str, Any] = {"a": {"chunks": (9, 8), "_FillValue": -1.0}}
        if number % 2:
            encoding["a"]["shards"] = (18, 16)
        whole = xr.Dataset({"a": (("t", "x"), np.full_like(values, -1))})
        zarrix.xarray.to_zarr(whole, path, zarr_format=3, encoding=encoding)
        lengths = cuts(random, 61, 16)
        starts = np.cumsum([0, *lengths[:-1]]).tolist()
        parts = [values[first : first + n] for first, n in zip(starts, lengths, strict=True)]
        written = client.map(wrote_rows, [path] * 16, starts, parts, pure=False)
        assert sum(client.gather(written)) == 61
        with xr.open_dataset(path, engine=ZarrixBackend) as found:
            assert (found["a"].values != values).sum() == 0


def test_workers_may_not_write_into_copies(client: Client) -> None:
    z = zarr.zeros(10, store=zarr.MemoryStore())
    with pytest.raises(ValueError, match="other processes"):
        zarrix.dask.store(dask.array.ones(10, chunks=3), z)
    with pytest.raises(ValueError, match="other processes"):
        zarrix.xarray.to_zarr(xr.Dataset({"a": ("x", [1, 2])}).chunk(x=1), {})


def test_workers_name_arrays_as_the_client_does(client: Client, tmp_path: Path) -> None:
    from dask.base import tokenize

    z = zarr.open_array(tmp_path / "a.zarr", mode="w", shape=10, chunks=4)
    assert set(client.run(tokenize, z).values()) == {tokenize(z)}
