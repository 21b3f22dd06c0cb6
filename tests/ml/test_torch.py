"""The stock DataLoader of torch: every way to start workers, and states that count deliveries."""

import os
import pickle
import signal
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import scenes
from zarrix import ml
from zarrix.ml._order.visits import Visits

torch = pytest.importorskip("torch", reason="torch is not installed")
# Three workers on a machine with two processors, and what torch's own modules use.
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def stored(tmp_path: Any) -> ml.Crops:
    _, values = scenes()
    group = zarr.open_group(tmp_path / "scenes.zarr", mode="w")
    for name, value in values.items():
        group.create_dataset(name, data=value, chunks=(1, *value.shape[1:]))
    return ml.Crops(
        {name: group[name] for name in ("rgb", "flow", "depth")},
        dims="tcyx",
        size={"y": 24, "x": 36},
        per_item=2,
    )


def plain(dataset: Any, epoch: int = 0, **options: Any) -> list[Any]:
    """What a loader without workers delivers."""
    loader = ml.Loader(dataset, 5, seed=4, prefetch=0, **options)
    loader.set_epoch(epoch)
    return list(loader)


def same(batches: list[Any], wanted: list[Any]) -> None:
    assert len(batches) == len(wanted)
    for batch, other in zip(batches, wanted, strict=True):
        assert other.keys() <= batch.keys()
        for name, value in other.items():
            assert np.array_equal(np.asarray(batch[name]), np.asarray(value)), name


@pytest.mark.parametrize("context", ["fork", "spawn", "forkserver"])
@pytest.mark.parametrize("workers", [0, 1, 3])
@pytest.mark.parametrize("persistent", [False, True])
def test_workers_deliver_the_batches_of_a_loader(
    stored: ml.Crops, context: str, workers: int, persistent: bool
) -> None:
    if not workers and (persistent or context != "fork"):
        pytest.skip("there are no workers that could persist or be started")
    wanted = [plain(stored, epoch) for epoch in (0, 1)]
    more = {"multiprocessing_context": context, "persistent_workers": persistent} if workers else {}
    loader = torch.utils.data.DataLoader(
        stored,
        batch_sampler=ml.torch.BatchSampler(stored, 5, seed=4),
        num_workers=workers,
        collate_fn=ml.torch.collate,
        **more,
    )
    for epoch in (0, 1):
        same(list(loader), wanted[epoch])


def test_a_dataset_that_was_read_before_a_fork_is_read_after_it(stored: ml.Crops) -> None:
    wanted = plain(stored)
    for _ in range(3):
        loader = ml.torch.DataLoader(
            stored, 5, seed=4, num_workers=2, multiprocessing_context="fork"
        )
        same(list(loader), wanted)


def test_the_default_collate_function_gives_the_same_values(stored: ml.Crops) -> None:
    sampler = ml.torch.BatchSampler(stored, 5, seed=4)
    same(list(torch.utils.data.DataLoader(stored, batch_sampler=sampler)), plain(stored))


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_an_epoch_reaches_persistent_workers_through_stock_samplers(
    stored: ml.Crops, context: str
) -> None:
    """starVLA#471: every epoch had the crops of epoch 0."""
    loader = torch.utils.data.DataLoader(
        stored,
        batch_size=6,
        num_workers=1,
        persistent_workers=True,
        multiprocessing_context=context,
    )
    starts = []
    for epoch in range(3):
        stored.set_epoch(epoch)
        starts.append(torch.cat([batch["start"] for batch in loader]).tolist())
        wanted = stored._draws(Visits(np.arange(len(stored)), 0, epoch)).corners
        assert starts[-1] == wanted.tolist()
    assert starts[0] != starts[1] != starts[2]


@pytest.mark.parametrize("workers", [0, 2])
def test_a_state_counts_what_was_delivered(stored: ml.Crops, workers: int) -> None:
    """KempnerForge#57, torchdata#1437: states counted what workers had ready."""
    wanted = [item for batch in plain(stored) for item in batch["item"].tolist()]
    seen: list[int] = []
    state = None
    for _ in range(3):
        loader = ml.torch.DataLoader(stored, 5, seed=4, num_workers=workers)
        if state is not None:
            loader.load_state_dict(state)
        batches = iter(loader)
        for _ in range(2 if len(seen) < 20 else 1):
            batch = next(batches, None)
            seen += [] if batch is None else batch["item"].tolist()
        state = pickle.loads(pickle.dumps(loader.state_dict()))
        del batches
    assert seen == wanted
    loader = ml.torch.DataLoader(stored, 5, seed=4)
    loader.load_state_dict(state)
    assert loader.epoch == 1
    assert [i for b in loader for i in b["item"].tolist()] == [
        i for b in plain(stored, 1) for i in b["item"].tolist()
    ]


def test_a_padded_tail_is_not_valid_in_workers_either(stored: ml.Crops) -> None:
    """pytorch#25162: samples that pad the last batch were counted in validation."""
    items = []
    for rank in range(3):
        sampler = ml.torch.BatchSampler(stored, 5, seed=4, rank=rank, world=3, drop_last=False)
        loader = torch.utils.data.DataLoader(
            stored, batch_sampler=sampler, collate_fn=ml.torch.collate, num_workers=1
        )
        batches = list(loader)
        assert [len(batch["item"]) for batch in batches] == [5, 5]
        items += [i for b in batches for i in b["item"][b["valid"]].tolist()]
    assert sorted(items) == list(range(24))


def test_a_killed_worker_is_an_error_and_a_new_loader_works(stored: ml.Crops) -> None:
    loader = ml.torch.DataLoader(stored, 1, seed=4, num_workers=1, prefetch_factor=2)
    batches = torch.utils.data.DataLoader.__iter__(loader)
    next(batches)
    os.kill(batches._workers[0].pid, signal.SIGKILL)
    with pytest.raises(RuntimeError, match=r"exited unexpectedly|killed by signal"):
        for _ in batches:
            pass
    del batches
    same(list(ml.torch.DataLoader(stored, 5, seed=4, num_workers=1)), plain(stored))


def test_tensors_share_the_memory_of_a_batch_and_have_its_types(stored: ml.Crops) -> None:
    field = ml.Field(stored._groups[0]["rgb"].array, dtype="bfloat16", scale=1 / 255)
    rows = ml.Rows({"x": field})
    batch = next(iter(ml.Loader(rows, 3, shuffle=False, to="torch")))
    assert batch["x"].dtype is torch.bfloat16
    wanted = torch.from_numpy(stored._groups[0]["rgb"].array[:3]).double() / 255
    assert torch.equal(batch["x"], wanted.to(torch.bfloat16))
    assert batch["item"].tolist() == [0, 1, 2]


def test_whole_batches_of_clips_and_mixes_pass_through_workers() -> None:
    x = zarr.array(np.arange(60).reshape(30, 2), chunks=(4, 2))
    clips = ml.Clips({"x": x}, dims="tc", frames=3, every=2)
    mix = ml.Mix({"a": clips, "b": clips}, weights={"a": 2, "b": 1})
    for dataset in (clips, mix):
        same(
            list(ml.torch.DataLoader(dataset, 5, seed=4, num_workers=2)),
            plain(dataset),
        )


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_stateful_data_loader_goes_on_where_it_was(stored: ml.Crops, workers: int) -> None:
    """torchdata#1437: a state at the end of an epoch dropped the next one."""
    stateful = pytest.importorskip(
        "torchdata.stateful_dataloader", reason="torchdata is not installed"
    )

    def made() -> Any:
        return stateful.StatefulDataLoader(
            stored,
            batch_sampler=ml.torch.BatchSampler(stored, 5, seed=4),
            num_workers=workers,
            collate_fn=ml.torch.collate,
        )

    def items(batches: Any) -> list[int]:
        return [item for batch in batches for item in batch["item"].tolist()]

    epochs = [items(plain(stored, epoch)) for epoch in range(3)]
    first = made()
    batches = iter(first)
    seen = items([next(batches), next(batches)])
    state = pickle.loads(pickle.dumps(first.state_dict()))
    del batches
    resumed = made()
    resumed.load_state_dict(state)
    assert seen + items(resumed) == epochs[0]
    assert items(resumed) == epochs[1]
    if workers:
        # torchdata asks for two iterators after a state of an ended epoch, which is one epoch more;
        # `ml.torch.DataLoader` asks for one.
        return
    again = made()
    again.load_state_dict(resumed.state_dict())
    assert items(again) == epochs[2]
