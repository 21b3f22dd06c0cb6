"""Resuming: a model of positions, and the defects of other loaders, each as a test of its own."""

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)
from ml.data import items_of, numbered
from zarrix import ml
from zarrix.errors import StateError

COUNT = 37
ROWS = ml.Rows({"x": numbered(COUNT)})
KINDS: tuple[Any, ...] = ("full", "block", True, False)


class Resuming(RuleBasedStateMachine):
    """A run that is stopped, saved and resumed elsewhere, against a list of items."""

    @initialize(kind=st.sampled_from(KINDS), seed=st.integers(0, 5))
    def begin(self, kind: Any, seed: int) -> None:
        self.kind, self.seed = kind, seed
        self.epoch, self.place, self.lists = 0, 0, {}
        self.loaders: list[Any] = []
        self._build(1, 3, 2)

    def _build(self, world: int, size: int, prefetch: int, state: Any = None) -> None:
        self.teardown()
        self.world, self.size = world, size
        self.loaders = [
            ml.Loader(
                ROWS,
                size,
                shuffle=self.kind,
                seed=self.seed,
                rank=rank,
                world=world,
                prefetch=prefetch,
                drop_last=False,
                partitions=1,
                memory=200,
            )
            for rank in range(world)
        ]
        for loader in self.loaders:
            if state is not None:
                loader.load_state_dict(state)
        self.running: list[Any] = []

    def teardown(self) -> None:
        for loader in getattr(self, "loaders", []):
            loader.close()

    def _list(self, epoch: int) -> list[int]:
        if epoch not in self.lists:
            whole = ml.Loader(
                ROWS, COUNT, shuffle=self.kind, seed=self.seed, prefetch=0, partitions=1, memory=200
            )
            whole.set_epoch(epoch)
            self.lists[epoch] = items_of(whole)
            assert sorted(self.lists[epoch]) == list(range(COUNT))
        return self.lists[epoch]

    @rule(count=st.integers(1, 4))
    def deliver(self, count: int) -> None:
        if not self.running:
            self.running = [iter(loader) for loader in self.loaders]
        for _ in range(count):
            batches = [next(one, None) for one in self.running]
            if any(batch is None for batch in batches):
                assert all(batch is None for batch in batches)
                assert self.place >= COUNT
                self.epoch, self.place, self.running = self.epoch + 1, 0, []
                return
            found = [
                item
                for batch in batches
                for item, ok in zip(
                    batch["item"].tolist(), batch.get("valid", np.ones(99, bool)), strict=False
                )
                if ok
            ]
            assert found == self._list(self.epoch)[self.place : self.place + self.size * self.world]
            self.place += self.size * self.world

    @rule(world=st.integers(1, 4), size=st.integers(1, 7), prefetch=st.integers(0, 3))
    def resume_elsewhere(self, world: int, size: int, prefetch: int) -> None:
        states = [loader.state_dict() for loader in self.loaders]
        assert all(state == states[0] for state in states)
        text = json.dumps(states[0])
        assert len(text) < 1024
        self._build(world, size, prefetch, json.loads(text))
        if self.place >= COUNT:
            self.epoch, self.place = self.epoch + 1, 0

    @rule()
    def ask_for_lengths(self) -> None:
        whole = self.size * self.world
        assert {len(loader) for loader in self.loaders} == {-(-COUNT // whole)}

    @rule(epoch=st.integers(0, 4))
    def set_epoch(self, epoch: int) -> None:
        for loader in self.loaders:
            loader.set_epoch(epoch)
        started = bool(self.running)
        if started or epoch != self.epoch or self.place == 0:
            self.epoch, self.place = epoch, 0
        self.running = []

    @precondition(lambda self: self.running and self.place)
    @rule()
    def break_and_begin_again(self) -> None:
        self.running = [iter(loader) for loader in self.loaders]
        self.epoch, self.place = self.epoch + 1, 0


def test_any_run_of_stops_and_starts_delivers_the_list(request: pytest.FixtureRequest) -> None:
    examples = 500 if request.config.getoption("--long", default=False) else 40
    run_state_machine_as_test(
        Resuming,
        settings=settings(
            max_examples=examples,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


def loader(size: int = 5, **options: Any) -> ml.Loader:
    return ml.Loader(ROWS, size, seed=4, **options)


def taken(one: ml.Loader, count: int) -> list[int]:
    batches = iter(one)
    return [item for _ in range(count) for item in next(batches)["item"].tolist()]


def test_a_state_at_the_end_of_an_epoch_begins_the_next_one() -> None:
    """torchdata#1437, #1439: such a state dropped an epoch."""
    first = loader()
    items_of(first)
    resumed = loader()
    resumed.load_state_dict(first.state_dict())
    assert resumed.epoch == 1
    assert items_of(resumed) == items_of(first)


def test_a_state_before_the_end_is_noticed_has_no_batch_left() -> None:
    """The last batch was delivered, and the loop has not asked for another one."""
    first = loader(drop_last=True)
    taken(first, 7)
    resumed = loader(drop_last=True)
    resumed.load_state_dict(first.state_dict())
    assert items_of(resumed) == []
    assert sorted(items_of(resumed))[0] == 0


def test_a_second_resume_in_an_epoch_is_exact() -> None:
    """KempnerForge#57: the second one was misaligned."""
    whole = items_of(loader())
    state, seen = None, []
    for _ in range(8):
        one = loader()
        if state is not None:
            one.load_state_dict(state)
        seen += taken(one, 1)
        state = one.state_dict()
    assert seen == whole


def test_epochs_after_a_resumed_one_are_whole() -> None:
    """datasets#7447: later epochs were short. litData#316: the state applied to each epoch."""
    first = loader()
    taken(first, 3)
    resumed = loader()
    resumed.load_state_dict(first.state_dict())
    lengths = [len(items_of(resumed)) for _ in range(3)]
    assert lengths == [COUNT - 15, COUNT, COUNT]


def test_nothing_is_lost_that_was_only_read_ahead() -> None:
    """datasets#8408: what a shuffle buffer had was lost, and other samples repeated."""
    first = loader(prefetch=5)
    seen = taken(first, 2)
    resumed = loader()
    resumed.load_state_dict(pickle.loads(pickle.dumps(first.state_dict())))
    assert sorted(seen + items_of(resumed)) == list(range(COUNT))


def test_asking_for_the_length_first_keeps_the_position() -> None:
    """Lightning#20550: the length was asked for, and the state was gone."""
    first = loader()
    seen = taken(first, 2)
    resumed = loader()
    resumed.load_state_dict(first.state_dict())
    assert len(resumed) == 8
    resumed.set_epoch(resumed.epoch)
    assert resumed.state_dict() == first.state_dict()
    assert seen + items_of(resumed) == items_of(loader())


def test_a_state_may_be_loaded_after_an_iterator_was_made() -> None:
    first = loader()
    seen = taken(first, 2)
    resumed = loader()
    iter(resumed)
    resumed.load_state_dict(first.state_dict())
    assert seen + items_of(resumed) == items_of(loader())


def test_padding_does_not_falsify_validation() -> None:
    """pytorch#25162: samples that fill the last batch were counted twice."""
    found = []
    for rank in range(4):
        one = loader(rank=rank, world=4, drop_last=False)
        batches = list(one)
        assert [batch["valid"].shape for batch in batches] == [(5,), (5,)]
        found += [i for b in batches for i in b["item"][b["valid"]].tolist()]
    assert sorted(found) == list(range(COUNT))


def test_a_mix_resumes_with_another_world() -> None:
    """LitData's combined datasets resume with the same world, workers and batch only."""
    mix = ml.Mix({"a": ROWS, "b": ml.Rows({"x": numbered(20)})}, weights={"a": 2, "b": 1})
    whole = items_of(ml.Loader(mix, 4, seed=1))
    first = ml.Loader(mix, 4, seed=1)
    seen = taken(first, 3)
    ranks = []
    for rank in range(3):
        one = ml.Loader(mix, 2, rank=rank, world=3, drop_last=False)
        one.load_state_dict(first.state_dict())
        ranks.append([b["item"][b["valid"]].tolist() for b in one])
    rest = [i for step in zip(*ranks, strict=True) for batch in step for i in batch]
    assert seen + rest == whole


def test_draws_with_weights_resume() -> None:
    weights = np.arange(COUNT) + 1.0
    whole = items_of(loader(weights=weights, samples=60))
    first = loader(weights=weights, samples=60)
    seen = taken(first, 4)
    resumed = loader(7, weights=weights, samples=60)
    resumed.load_state_dict(first.state_dict())
    assert seen + items_of(resumed) == whole


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fingerprint": {}}, "what differs by its fingerprint is 'border', 'fields'"),
        ({"fingerprint": "x"}, "not a mapping of digests"),
        ({"fingerprint": {"kind": 1}}, "not a mapping of digests"),
        ({"size": 4}, "size is 37 here and 4"),
        ({"size": 4, "seen": 5}, "seen 5 of 4"),
        ({"size": True}, "'size' of the state is True"),
        ({"partitions": 0}, "0 partitions"),
        ({"partitions": 2**64}, "not a count up to"),
        ({"seen": 2**64}, "not a count up to"),
        ({"epoch": 2**64}, "'epoch' of the state is 18446744073709551616, not a count up to"),
        ({"epoch": 2**32}, "not a count up to 4294967295"),
        ({"epoch": 1.0}, "'epoch' of the state is 1.0"),
        ({"epoch": None}, "'epoch' of the state is None"),
        ({"order": "block/9"}, "not one of this version"),
        ({"order": 5}, "'order' of the state is 5, not text"),
        ({"order": "block/1"}, "has no blocks"),
        ({"order": "block/1:0"}, "not one of this version"),
        ({"order": "block/1:-4"}, "not one of this version"),
        ({"order": "block/1:²"}, "not one of this version"),
        ({"order": "block/2:4:5"}, "has no blocks"),
        ({"order": "block/2:4:1"}, "not one of this version"),
        ({"order": "full/1:3"}, "not one of this version"),
        ({"order": "mixed/1"}, "the order is block/1:10 here and mixed/1"),
        ({"order": "sequential/1"}, "the order is block/1:10 here and sequential/1"),
        ({"order": "o" * 10**6}, "not one of this version"),
        ({"zarrix.ml": 3}, "version 3; this release reads version 2"),
        ({"zarrix.ml": 0}, "reads version 2"),
        ({"zarrix.ml": "2"}, "reads version 2"),
        ({"zarrix.ml": True}, "reads version 2"),
        ({"zarrix.ml": 1, "fingerprint": "12ab"}, "of version 1, which did not say all"),
        ({"seen": -1}, "'seen' of the state is -1"),
        ({"seed": "a"}, "'seed' of the state is 'a'"),
        ({"seed": True}, "'seed' of the state is True"),
        ({"more": 1}, "has the keys"),
        ({5: 1}, "has the keys"),
        ({str(number): 1 for number in range(10**4)}, "has the keys"),
    ],
)
def test_a_state_of_another_dataset_is_an_error_that_says_what_differs(
    change: dict[str, Any], message: str
) -> None:
    one = loader(shuffle=True if "order" in change else "full")
    state = {**one.state_dict(), **change}
    before = one.state_dict()
    with pytest.raises(StateError, match=message) as error:
        one.load_state_dict(state)
    assert len(str(error.value)) < 1000
    assert one.state_dict() == before


@pytest.mark.parametrize("state", [None, 5, "text", [], {}, {"zarrix.ml": 2}])
def test_what_is_no_state_at_all_is_an_error(state: Any) -> None:
    for strict in (True, False):
        with pytest.raises(StateError, match="has the keys"):
            loader().load_state_dict(state, strict=strict)


def test_a_state_of_an_earlier_version_begins_its_next_epoch_if_that_is_asked_for() -> None:
    """It did not say all that its order depends on, so that no sample of its epoch is certain."""
    state = {
        "zarrix.ml": 1,
        "order": "full/1",
        "seed": 9,
        "epoch": 4,
        "seen": 10,
        "size": COUNT,
        "partitions": 1,
        "fingerprint": "0123456789abcdef",
    }
    one = loader()
    one.load_state_dict(state, strict=False)
    assert (one.epoch, one.seed) == (5, 9)
    wanted = ml.Loader(ROWS, 5, seed=9)
    wanted.set_epoch(5)
    assert items_of(one) == items_of(wanted)


def test_the_last_epoch_has_no_next_one() -> None:
    last = 2**32 - 1
    one = loader()
    one.set_epoch(last)
    assert sorted(items_of(one)) == list(range(COUNT))
    state = one.state_dict()
    assert state["epoch"] == last
    with pytest.raises(ValueError, match="epoch 4294967296 is beyond the last one"):
        loader().load_state_dict(state)
    for epoch in (2**32, 2**64, -1):
        for call in (one.set_epoch, ROWS.set_epoch, ml.torch.BatchSampler(ROWS).set_epoch):
            with pytest.raises(ValueError, match="epoch"):
                call(epoch)
    with pytest.raises(TypeError):
        one.set_epoch(1.5)  # type: ignore[arg-type]


def test_a_length_is_that_of_an_epoch_and_of_an_iterator_what_is_left() -> None:
    """Trainers count batches from the begin of an epoch (Lightning), a pass counts its own."""
    first = loader()
    batches = iter(first)
    assert (len(first), len(batches)) == (8, 8)  # type: ignore[arg-type]
    for left in range(7, -1, -1):
        next(batches)
        assert (len(first), len(batches)) == (8, left)  # type: ignore[arg-type]
    middle = loader()
    taken(middle, 3)
    resumed = loader(4)
    resumed.load_state_dict(middle.state_dict())
    rest = iter(resumed)
    assert (len(resumed), len(rest)) == (10, 6)  # type: ignore[arg-type]
    assert len(list(rest)) == 6
    assert len(list(resumed)) == 10


def test_without_strict_the_next_epoch_begins() -> None:
    other = ml.Loader(ml.Rows({"x": numbered(9)}), 2, seed=4)
    taken(other, 2)
    one = loader()
    one.load_state_dict(other.state_dict(), strict=False)
    assert (one.epoch, len(items_of(one))) == (1, COUNT)


def test_the_order_that_was_chosen_stays_when_memory_differs() -> None:
    first = loader(shuffle="block", memory=64, partitions=1)
    seen = taken(first, 2)
    resumed = loader(shuffle="block", memory="1 GiB", partitions=1)
    resumed.load_state_dict(first.state_dict())
    assert seen + items_of(resumed) == items_of(loader(shuffle="block", memory=64, partitions=1))
