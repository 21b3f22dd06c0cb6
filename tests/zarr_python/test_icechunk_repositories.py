"""Repositories that Icechunk writes now, read here and by Icechunk: every key, byte for byte."""

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix
from zarrix.storage import IcechunkStore

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarr
from zarr.core.buffer import default_buffer_prototype

icechunk = pytest.importorskip("icechunk")


async def _values(store: Any) -> dict[str, bytes]:
    keys = [key async for key in store.list()]
    prototype = default_buffer_prototype()
    return {key: (await store.get(key, prototype)).to_bytes() for key in keys}


def draw(random: np.random.Generator, session: Any, moves: bool) -> None:
    """Some changes, of all kinds."""
    root = zarr.open_group(session.store, mode="a")
    names = [name for name, _ in root.arrays()]
    for _ in range(int(random.integers(1, 5))):
        match int(random.integers(5)):
            case 0 | 1:
                shape = tuple(random.integers(0, 30, random.integers(0, 4)))
                chunks = tuple(random.integers(1, 12, len(shape)))
                name = f"{random.choice(['a', 'g', 'ü', 'c'])}/{random.integers(99)}"
                dtype = random.choice(["u1", "f4", "<i8", "?"])
                array = root.create_array(
                    name, shape=shape, chunks=chunks, dtype=dtype, overwrite=True
                )
                array[...] = random.integers(0, 3, shape).astype(dtype)
            case 2 if names:
                del root[str(random.choice(names))]
            case 3:
                for _, array in root.members(max_depth=None):
                    if isinstance(array, zarr.Array) and array.ndim and array.shape[0]:
                        array[: int(random.integers(array.shape[0] + 1))] = 1
            case 4:
                for _, array in root.members(max_depth=None):
                    if isinstance(array, zarr.Array) and array.ndim:
                        array.resize((array.shape[0] + 3, *array.shape[1:]))
    root.attrs["n"] = int(random.integers(99))


@pytest.mark.parametrize("specification", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_random_repositories_are_equal_key_by_key(
    tmp_path: Path, specification: int, seed: int
) -> None:
    random = np.random.default_rng([specification, seed])
    config = icechunk.RepositoryConfig.default()
    config.inline_chunk_threshold_bytes = int(random.choice([0, 30, 512]))
    split = {
        icechunk.ManifestSplitCondition.AnyArray(): {
            icechunk.ManifestSplitDimCondition.Any(): int(random.integers(1, 4))
        }
    }
    if random.integers(2):
        splitting = icechunk.ManifestSplittingConfig.from_dict(split)
        config.manifest = icechunk.ManifestConfig(splitting=splitting)
    storage = icechunk.local_filesystem_storage(str(tmp_path / "x"))
    repository = icechunk.Repository.create(storage, config, spec_version=specification)
    versions = []
    for number in range(5):
        session = repository.writable_session("main")
        draw(random, session, specification == 2)
        snapshot = session.commit(f"{number}")
        repository.create_tag(f"t{number}", snapshot_id=snapshot)
        versions += [("tag", f"t{number}"), ("snapshot_id", snapshot)]
    for kind, name in [*versions, ("branch", "main")]:
        theirs = repository.readonly_session(**{kind: name}).store
        ours = IcechunkStore(tmp_path / "x", f"{kind.removesuffix('_id')}:{name}")
        expected = asyncio.run(_values(theirs))
        assert {key: ours[key] for key in ours} == expected
        assert list(ours) == sorted(expected)
        mine, other = zarrix.open_group(ours, mode="r"), zarr.open_group(theirs, mode="r")
        for path, array in other.members(max_depth=None):
            if isinstance(array, zarr.Array):
                assert np.array_equal(mine[path][...], array[...]), path


@pytest.mark.parametrize("specification", [1, 2])
def test_a_repository_of_many_nodes(tmp_path: Path, specification: int) -> None:
    storage = icechunk.local_filesystem_storage(str(tmp_path / "x"))
    repository = icechunk.Repository.create(storage, spec_version=specification)
    session = repository.writable_session("main")
    root = zarr.open_group(session.store, mode="a")
    for number in range(1000):
        root.create_array(f"g{number % 7}/{number}", shape=(2,), dtype="i2", fill_value=number)
    session.commit("many")
    ours = zarrix.open_group(tmp_path / "x", mode="r")
    assert sorted(ours["g3"]) == sorted(str(number) for number in range(3, 1000, 7))
    assert ours["g3/500"][:].tolist() == [500, 500]
