"""Samplers of torch and loaders: one order, for every seed and epoch."""

import pickle
from typing import Any

import numpy as np
import pytest
from ml.data import numbered
from zarrix import ml

ROWS = ml.Rows({"x": numbered(30)})


def crops() -> ml.Crops:
    values = np.arange(30 * 8 * 8).reshape(30, 8, 8)
    return ml.Crops({"x": values}, dims="tyx", size={"y": 4, "x": 4})


def mix() -> ml.Mix:
    return ml.Mix({"a": crops(), "b": crops()}, weights={"a": 2, "b": 1})


@pytest.mark.parametrize("make", [lambda: ROWS, crops, mix])
@pytest.mark.parametrize("seed", [0, -1, -5, 2**63, -(2**63), 2**64 - 1, 2**64 + 3, -(2**70)])
@pytest.mark.parametrize("epoch", [0, 1, 2**32 - 1])
@pytest.mark.parametrize("world", [1, 3])
def test_a_sampler_gives_the_batches_of_a_loader(
    make: Any, seed: int, epoch: int, world: int
) -> None:
    dataset = make()
    options: dict[str, Any] = {"seed": seed, "shuffle": "full", "drop_last": False}
    for rank in range(world):
        ranks = {"rank": rank, "world": world}
        loader = ml.Loader(dataset, 4, **options, **ranks)
        sampler = ml.torch.BatchSampler(dataset, 4, **options, **ranks)
        loader.set_epoch(epoch)
        sampler.set_epoch(epoch)
        count = 0
        for batch, indices in zip(loader, sampler, strict=True):
            samples = dataset.__getitems__(indices).batch
            count += int(batch["valid"].sum())
            for name, value in batch.items():
                assert np.array_equal(samples[name], value), name
        assert count >= 30 // world - 4
        assert sampler.state_dict() == loader.state_dict()


def test_seeds_that_differ_in_64_bits_are_other_orders() -> None:
    orders = {
        tuple(item for batch in ml.Loader(ROWS, 30, seed=seed) for item in batch["item"].tolist())
        for seed in (0, 1, -1, -2, 2**63)
    }
    assert len(orders) == 5


def test_samples_under_a_data_loader_have_the_seeds_of_a_loader() -> None:
    rows = ml.Rows({"x": numbered(20)})
    part = rows.split({"a": 0.6, "b": 0.4})[0]
    mix = ml.Mix({"a": rows, "b": part}, until="all")
    for dataset in (rows, part, mix):
        for epoch in (0, 3):
            loader = ml.Loader(dataset, 3, seed=-7)
            sampler = ml.torch.BatchSampler(dataset, 3, seed=-7)
            loader.set_epoch(epoch)
            sampler.set_epoch(epoch)
            for batch, indices in zip(loader, sampler, strict=True):
                # As a worker sends it to its parent.
                samples = pickle.loads(pickle.dumps(dataset.__getitems__(indices).batch))
                assert batch["item"].tolist() == samples["item"].tolist()
                assert batch.seeds.tolist() == samples.seeds.tolist()
