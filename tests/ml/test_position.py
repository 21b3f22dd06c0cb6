"""The position of a loader, which is one value and is replaced by one assignment."""

import threading
from typing import Any

import pytest
from ml.data import numbered
from zarrix import ml
from zarrix.ml._order.position import Position


def test_the_next_pass_is_of_the_next_epoch_once_samples_were_delivered() -> None:
    position = Position(3, 4)
    assert position.of_next_pass() is position
    assert position.delivered(2) == Position(3, 6, has_pass=True)
    assert position.delivered(2).of_next_pass() == Position(4)


def test_a_thread_that_takes_a_batch_meanwhile_is_counted_as_well(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Between the position that a call knows and the one that it sets, another thread moves it."""
    loader = ml.Loader(ml.Rows({"x": numbered(12)}), 2, shuffle=False)
    batches = iter(loader)
    delivered, others = Position.delivered, list[Any]()

    def interrupted(self: Position, samples: int) -> Position:
        position = delivered(self, samples)
        if not others:
            others.append(None)
            thread = threading.Thread(target=lambda: others.append(next(batches)))
            thread.start()
            thread.join()
        return position

    monkeypatch.setattr(Position, "delivered", interrupted)
    first = next(batches)
    assert sorted([*first["item"], *others[1]["item"]]) == [0, 1, 2, 3]
    assert loader.state_dict()["seen"] == 4
    assert len(batches) == 4
    assert [batch["item"][0] for batch in batches] == [4, 6, 8, 10]


def test_an_iterator_that_is_not_the_newest_does_not_move_the_loader() -> None:
    loader = ml.Loader(ml.Rows({"x": numbered(12)}), 2, shuffle=False)
    older = iter(loader)
    next(older)
    newer = iter(loader)
    assert loader.state_dict()["seen"] == 0
    next(older)
    assert loader.state_dict()["seen"] == 0
    next(newer)
    assert loader.state_dict() | {"epoch": 1, "seen": 2} == loader.state_dict()
