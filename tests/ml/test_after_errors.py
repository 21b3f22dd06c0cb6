"""After an error that the caller catches, a loader is where it was: nothing is lost or repeated."""

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from ml.data import items_of, numbered
from zarrix import ml


class Failing:
    """A transform that fails at one item, so many times."""

    def __init__(self, item: int, times: int) -> None:
        self.item, self.left = item, times

    def __call__(self, batch: ml.Batch, rng: np.random.Generator) -> None:
        if self.item in batch["item"] and self.left:
            self.left -= 1
            raise LookupError(f"item {self.item}")


def rows(count: int = 40) -> ml.Rows:
    return ml.Rows({"x": numbered(count)})


@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize("prefetch", [0, 1, 4])
@pytest.mark.parametrize("times", [1, 3])
def test_the_next_batch_after_a_caught_error_is_the_one_that_failed(
    shuffle: Any, prefetch: int, times: int
) -> None:
    wanted = items_of(ml.Loader(rows(), 3, shuffle=shuffle, prefetch=0, memory=200))
    fails = Failing(17, times)
    loader = ml.Loader(rows(), 3, shuffle=shuffle, prefetch=prefetch, memory=200, transform=fails)
    batches, seen, errors = iter(loader), list[int](), 0
    while len(seen) < 40:
        try:
            seen += next(batches)["item"].tolist()
        except LookupError:
            errors += 1
            # The state is that of the batches that were delivered.
            assert loader.state_dict()["seen"] == len(seen)
            assert loader.epoch == 0
    assert (seen, errors) == (wanted, times)
    with pytest.raises(StopIteration):
        next(batches)
    assert loader.epoch == 1


@pytest.mark.parametrize("prefetch", [0, 2])
def test_a_state_taken_after_an_error_resumes_at_the_batch_that_failed(prefetch: int) -> None:
    wanted = items_of(ml.Loader(rows(), 3, prefetch=0))
    loader = ml.Loader(rows(), 3, prefetch=prefetch, transform=Failing(wanted[20], 99))
    batches, seen = iter(loader), list[int]()
    for _ in range(3):
        with pytest.raises(LookupError):
            seen.extend(item for batch in batches for item in batch["item"].tolist())
    resumed = ml.Loader(rows(), 5, prefetch=prefetch)
    resumed.load_state_dict(loader.state_dict())
    assert seen + items_of(resumed) == wanted


class Flaky(dict[str, bytes]):
    """A store of which each chunk fails the first so many times that it is read."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times, self.failed = times, dict[str, int]()
        self.lock = threading.Lock()

    def __getitem__(self, key: str) -> bytes:
        if not key.rsplit("/", 1)[-1].startswith(".") and self.times:
            with self.lock:
                self.failed[key] = self.failed.get(key, 0) + 1
                if self.failed[key] <= self.times:
                    raise OSError(f"{key} is not there yet")
        return super().__getitem__(key)


@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize("prefetch", [0, 3])
def test_a_store_that_fails_and_recovers_loses_no_sample(shuffle: Any, prefetch: int) -> None:
    store = Flaky(0)
    z = zarr.create((60, 3), chunks=(4, 3), dtype="i8", store=store)
    z[...] = np.arange(180).reshape(60, 3)
    store.times = 2
    loader = ml.Loader(ml.Rows({"x": z}), 7, shuffle=shuffle, prefetch=prefetch, seed=1)
    batches, seen, errors = iter(loader), list[int](), 0
    while len(seen) < 60:
        try:
            batch = next(batches)
        except OSError:
            errors += 1
            assert errors < 1000
            continue
        assert batch["x"].tolist() == (batch["item"][:, None] * 3 + np.arange(3)).tolist()
        seen += batch["item"].tolist()
    assert errors
    assert sorted(seen) == list(range(60))
    assert list(batches) == []


def test_threads_that_share_an_iterator_get_the_error_once_and_every_batch_once() -> None:
    loader = ml.Loader(rows(200), 2, shuffle="full", transform=Failing(50, 1))
    batches, seen, errors = iter(loader), list[int](), list[Exception]()

    def take() -> None:
        while True:
            try:
                seen.extend(next(batches)["item"].tolist())
            except LookupError as error:
                errors.append(error)
            except StopIteration:
                return

    threads = [threading.Thread(target=take) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(120)
    assert sorted(seen) == list(range(200))
    assert len(errors) == 1


def test_a_loader_is_closed_after_an_error_without_reading_on() -> None:
    loader = ml.Loader(rows(), 3, shuffle=False, transform=Failing(6, 99))
    batches = iter(loader)
    with pytest.raises(LookupError):
        list(batches)
    loader.close()
    with pytest.raises(StopIteration):
        next(batches)
    assert loader.state_dict()["seen"] == 6


def test_an_epoch_without_a_batch_has_no_first_one() -> None:
    loader = ml.Loader(rows(3), 2, rank=1, world=4)
    assert list(loader) == []
    calls: list[Callable[[], Any]] = [loader.preview, lambda: list(ml.headspace(loader))]
    for call in calls:
        with pytest.raises(ValueError, match="no batch: its 3 samples fill none of 8"):
            call()
