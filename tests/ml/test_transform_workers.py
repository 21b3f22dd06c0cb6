"""`Loader(transform_workers=)`: the batches of one thread, made by processes that leave nothing."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix._errors import CallCancelledError
from zarrix.ml._transforms.memory import SharedMemory

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers need descriptors")

Pair = namedtuple("Pair", ["left", "right"])
PATIENCE_S = 60.0
COUNT = 26


def rows(count: int = COUNT, size: int = 3) -> ml.Rows:
    values = np.arange(count * 2 * size, dtype="f4").reshape(count, 2, size)
    return ml.Rows(
        {"x": zarr.array(values, chunks=(4, 2, size)), "y": zarr.array(np.arange(count) * 7)}
    )


def loader_of(function: Any, workers: int, batch_size: int = 5, **options: Any) -> ml.Loader:
    dataset = options.pop("dataset", None) or rows()
    return ml.Loader(
        dataset, batch_size, transform_sample=function, transform_workers=workers, **options
    )


# Functions of samples

Sample = dict[str, Any]


def noisy(sample: Sample, rng: np.random.Generator) -> Any:
    return {"x": sample["x"] + rng.normal(size=sample["x"].shape), "item": sample["item"]}


def in_place(sample: Sample, rng: np.random.Generator) -> None:
    sample["x"] *= rng.integers(2, 9)
    sample["x"][0, 0] = sample["y"]


def replaces(sample: Sample, rng: np.random.Generator) -> None:
    if rng.random() < 0.5:
        sample["x"] = sample["x"][..., ::-1]
    sample["more"] = rng.random()


def tree(sample: Sample, rng: np.random.Generator) -> Any:
    x, y = sample["x"], int(sample["y"])
    return {"a": [x, (y, x[0])], "b": {"c": Pair(y, "z" * (y % 5)), "d": x.T}, "e": sample["y"]}


def many_dtypes(sample: Sample, rng: np.random.Generator) -> Any:
    x = sample["x"]
    kinds = ["u1", "i2", "f2", "f8", "c8", "?", ">f4", "M8[s]", "S3", "U2"]
    arrays = [x.astype("i8").astype(kind) for kind in kinds]
    return (*arrays, np.float32(x[0, 0]), True)


def alone(sample: Sample, rng: np.random.Generator) -> Any:
    return sample["x"][:, 1:]


def empty(sample: Sample, rng: np.random.Generator) -> Any:
    return {"none": np.zeros((0, 3)), "x": sample["x"]}


def changes_its_form(sample: Sample, rng: np.random.Generator) -> Any:
    # The same in all samples of a batch of 5 without a shuffle.
    return {"x": sample["x"]} if int(sample["item"]) // 5 % 2 else [sample["y"], sample["x"] + 1]


FUNCTIONS = [noisy, in_place, replaces, tree, many_dtypes, alone, empty]


def leaves(value: Any) -> Iterator[Any]:
    """Types, keys and arrays of a tree, for a comparison of bits."""
    if isinstance(value, dict):
        yield type(value), list(value)
        for entry in value.values():
            yield from leaves(entry)
    elif isinstance(value, list | tuple):
        yield type(value), len(value)
        for entry in value:
            yield from leaves(entry)
    else:
        yield value.dtype, value.shape, value.tobytes()


def bits(loader: ml.Loader, epochs: int = 2) -> list[list[Any]]:
    with loader:
        return [list(leaves(batch)) for _ in range(epochs) for batch in loader]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_batches_are_those_of_no_worker_bit_for_bit(function: Any) -> None:
    expected = bits(loader_of(function, 0))
    assert len(expected) == 12
    for workers in (1, 2, 5):
        assert bits(loader_of(function, workers)) == expected
    assert bits(loader_of(function, 2, prefetch=0)) == expected
    assert bits(loader_of(function, 2, prefetch=5)) == expected


def test_a_form_that_changes_between_batches_is_followed() -> None:
    expected = bits(loader_of(changes_its_form, 0, shuffle=False))
    assert bits(loader_of(changes_its_form, 2, shuffle=False)) == expected


@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize("to", ["numpy", lambda batch: batch["x"].sum()])
def test_every_order_and_target_is_kept(shuffle: Any, to: Any) -> None:
    def load(workers: int) -> list[Any]:
        options = {"shuffle": shuffle, "to": to, "memory": "20 kB", "dataset": rows(200)}
        with loader_of(noisy, workers, 8, transform=lambda batch, rng: None, **options) as loader:
            return [batch if to != "numpy" else list(leaves(batch)) for batch in loader]

    assert load(2) == load(0)


def test_entries_that_are_in_no_shared_memory_are_sent_both_ways() -> None:
    table = ml.Table({"kind": ["a", "bb", "ccc"] * 10, "id": range(30)}, on="frame")

    def label(sample: Sample, rng: np.random.Generator) -> None:
        sample["kind"] = sample["kind"] + "!"
        sample["id"] = sample["id"] + 1
        sample["start"][...] += 1

    def load(workers: int) -> list[Any]:
        return bits(loader_of(label, workers, dataset=rows(30).join(table)))

    assert load(2) == load(0)


def test_a_resumed_run_goes_on_with_another_number_of_workers() -> None:
    def by_item(batches: Any) -> dict[int, bytes]:
        return {
            int(item): x.tobytes()
            for batch in batches
            for item, x in zip(batch["item"], batch["x"], strict=True)
        }

    with loader_of(noisy, 0) as whole:
        expected = by_item(whole)
    with loader_of(noisy, 3) as loader:
        batches = iter(loader)
        begun = by_item([next(batches), next(batches)])
        state = loader.state_dict()
    with loader_of(noisy, 1, 4) as resumed:
        resumed.load_state_dict(state)
        assert {**begun, **by_item(resumed)} == expected


def test_batches_that_are_kept_are_never_overwritten() -> None:
    with loader_of(noisy, 2, dataset=rows(300)) as loader:
        batches = list(loader)
        before = [list(leaves(batch)) for batch in batches]
        for _ in range(3):
            for batch in loader:
                assert batch["x"].shape == (5, 2, 3)
        assert [list(leaves(batch)) for batch in batches] == before
    # The memory lasts as long as an array of it.
    del loader
    gc.collect()
    assert [list(leaves(batch)) for batch in batches] == before


def test_memory_is_used_again() -> None:
    with loader_of(noisy, 2, dataset=rows(4000, 50), memory="100 kB") as loader:
        for _ in range(2):
            for batch in loader:
                assert len(batch["x"]) == 5
        assert loader._workers is not None
        (file,) = loader._workers.memory.files
        # Both epochs have 11 MB.
        assert 50_000 < file.used < 2**20


def test_the_allocator_gives_out_again_what_is_let_go() -> None:
    memory = SharedMemory()
    arrays = [memory(size) for size in (10_000, 2**26, 2**20, 3 * 2**27)]
    assert [len(one) % 64 for one in arrays] == [0] * 4
    windows = [memory.window(one) for one in arrays]
    assert [one.file for one in windows if one is not None] == [0, 1, 1, 2]
    for number, one in enumerate(arrays):
        one[:] = number
    assert [set(one.tolist()) for one in arrays[:1]] == [{0}]
    del arrays[2], one
    assert memory.window(memory(2**20)) == windows[2]
    assert memory.window(np.zeros(3)) is None
    assert memory.window(arrays[0][:0]) is None
    view = arrays[0][100:40:-4].view()
    window = memory.window(view)
    assert window is not None
    assert (window.offset, window.shape, window.strides) == (100, (15,), (-4,))


# Errors


def fails(sample: Sample, rng: np.random.Generator) -> None:
    if sample["item"] in (11, 13):
        raise KeyError(f"no {sample['item']}")


class Odd(Exception):
    """It can be sent, and not be received."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} and {other}")


def fails_oddly(sample: Sample, rng: np.random.Generator) -> None:
    if sample["item"] == 11:
        raise Odd(1, 2)


def returns_what_cannot_be_sent(sample: Sample, rng: np.random.Generator) -> Any:
    return {"x": sample["x"], "f": (lambda: 1) if sample["item"] == 11 else "text"}


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_an_error_names_the_first_item_that_failed(workers: int, prefetch: int) -> None:
    with loader_of(fails, workers, shuffle=False, prefetch=prefetch) as loader:
        batches = iter(loader)
        assert [next(batches)["item"].tolist() for _ in range(2)] == [[*range(5)], [*range(5, 10)]]
        for _ in range(2):
            # The batch that failed is tried again.
            with pytest.raises(KeyError, match="no 11") as caught:
                next(batches)
            assert "transform_sample failed at item 11" in caught.value.__notes__[0]
            assert ("in fails" in caught.value.__notes__[0]) == bool(workers)
        assert loader.state_dict()["seen"] == 10


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (fails_oddly, "item 11: Odd: 1 and 2"),
        (returns_what_cannot_be_sent, "result of transform_sample cannot be pickled"),
    ],
)
def test_what_cannot_be_sent_is_told(function: Any, told: str) -> None:
    with loader_of(function, 2, shuffle=False) as loader:
        batches = iter(loader)
        for _ in range(2):
            next(batches)
        with pytest.raises(Exception, match=told) as caught:
            next(batches)
        assert "item 11" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("function", "told"),
    [
        (lambda s, rng: {"x": s["x"][:, : 1 + s["y"] % 2]}, r"\(2, 1\) and \(2, 2\) of \['x'\]"),
        (lambda s, rng: {f"x{s['y']}": s["x"]}, "different entries"),
        (lambda s, rng: {"a": {s["y"] % 2: 1}}, r"different entries of \['a'\]"),
        (lambda s, rng: [s["x"]] * (1 + s["y"] % 2), "different lists"),
        (lambda s, rng: [s["x"].astype("f4" if s["y"] else "f8")], r"float32, float64 of \[0"),
    ],
)
def test_samples_that_make_no_batch_are_the_same_error(function: Any, told: str) -> None:
    if multiprocessing.get_start_method() != "fork":
        pytest.skip("a lambda cannot be sent")
    for size in (4, 1):
        with loader_of(function, 2, size, shuffle=False) as loader:
            if size == 1:
                # Each sample has the form of its own batch.
                assert len(list(loader)) == COUNT
                continue
            with pytest.raises(ValueError, match=told):
                next(iter(loader))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"transform_workers": -1}, "at least 0"),
        ({"transform_workers": 1.5}, "at least 0"),
        ({"transform_sample": None}, "runs transform_sample"),
    ],
)
def test_wrong_options_are_told(options: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ml.Loader(rows(), **{"transform_sample": noisy, "transform_workers": 2, **options})


def dies(how: Callable[[], None], item: int, flag: Path) -> Any:
    def function(sample: Sample, rng: np.random.Generator) -> None:
        if sample["item"] == item and not flag.exists():
            flag.touch()
            how()
        sample["x"] *= 2

    return function


def killed() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def crashed() -> None:
    signal.signal(signal.SIGSEGV, signal.SIG_DFL)
    os.kill(os.getpid(), signal.SIGSEGV)


def left() -> None:
    os._exit(7)


@pytest.mark.parametrize("prefetch", [0, 2])
@pytest.mark.parametrize(
    ("how", "told"), [(killed, "SIGKILL"), (crashed, "SIGSEGV"), (left, "exit code 7")]
)
def test_a_worker_that_ends_is_told_and_replaced(
    tmp_path: Path, how: Any, told: str, prefetch: int
) -> None:
    if multiprocessing.get_start_method() != "fork":
        pytest.skip("a function within another cannot be sent")
    function = dies(how, 12, tmp_path / "died")
    with loader_of(function, 2, shuffle=False, prefetch=prefetch) as loader:
        batches = iter(loader)
        for _ in range(2):
            next(batches)
        with pytest.raises(RuntimeError, match=told) as caught:
            next(batches)
        assert "item 12" in caught.value.__notes__[0]
        # The batch is read again, and made by a new process.
        rest = list(batches)
        assert [len(batch["x"]) for batch in rest] == [5, 5, 5, 1]
        np.testing.assert_array_equal(rest[0]["x"].ravel(), 2 * np.arange(60, 90, dtype="f4"))


# Life


def workers_of(loader: ml.Loader) -> list[int]:
    assert loader._workers is not None
    return [one.pid for one in loader._workers._crew._processes if one.pid is not None]


def wait_until_gone(pids: list[int]) -> None:
    until = time.monotonic() + PATIENCE_S
    while any(_runs(pid) for pid in pids):
        assert time.monotonic() < until, "a worker is left"
        time.sleep(0.05)


def _runs(pid: int) -> bool:
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except OSError:
        return False


needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc")


@needs_proc
@pytest.mark.parametrize("when", ["closed", "collected", "with its iterator"])
def test_processes_end_with_their_loader(when: str) -> None:
    loader: Any = loader_of(noisy, 2)
    batches: Any = iter(loader)
    next(batches)
    pids = workers_of(loader)
    assert len(pids) == 2
    assert all(map(_runs, pids))
    if when == "closed":
        loader.close()
        with pytest.raises(StopIteration):
            next(batches)
        # It begins anew.
        assert len(list(loader)) == 6
        loader.close()
    elif when == "collected":
        list(batches)
        del loader, batches
    else:
        # The iterator of a loader that is gone still needs them.
        del loader
        assert len(list(batches)) == 5
        del batches
    gc.collect()
    wait_until_gone(pids)


def slow(sample: Sample, rng: np.random.Generator) -> None:
    time.sleep(0.2)


def stuck(sample: Sample, rng: np.random.Generator) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sample["item"] > 4:
        time.sleep(1000)


@pytest.mark.parametrize("function", [slow, stuck])
def test_closing_does_not_wait_for_a_batch_of_a_slow_or_stuck_function(function: Any) -> None:
    loader = loader_of(function, 2, 10 if function is slow else 5, shuffle=False)
    next(iter(loader))
    pids, since = workers_of(loader), time.monotonic()
    loader.close()
    assert time.monotonic() - since < 15
    wait_until_gone(pids)


def test_an_older_iterator_is_told_that_the_workers_have_gone() -> None:
    loader = loader_of(slow, 1, dataset=rows(500))
    first = iter(loader)
    next(first)
    second = iter(loader)
    loader.close()
    assert list(second) == []
    with pytest.raises(CallCancelledError):
        list(first)


def _load_in_child(loader: ml.Loader, answers: Any) -> None:
    try:
        answers.put(bits(loader, 1))
    except BaseException as error:
        answers.put(repr(error))


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_loader_that_was_used_goes_to_another_process(method: Any) -> None:
    context = multiprocessing.get_context(method)
    with loader_of(noisy, 2) as loader:
        expected = bits(loader_of(noisy, 0), 2)
        list(loader)
        answers = context.SimpleQueue()
        child = context.Process(target=_load_in_child, args=(loader, answers))
        child.start()
        assert answers.get() == expected[6:]
        child.join(PATIENCE_S)
        # The parent's workers are as they were.
        assert len(list(loader)) == 6

        daemon = context.Process(target=_load_in_child, args=(loader, answers), daemon=True)
        daemon.start()
        assert "a process that is a daemon cannot" in answers.get()
        daemon.join(PATIENCE_S)


SCRIPT = """
import multiprocessing, os, signal, sys, time
import numpy as np, zarrix as zarr
from zarrix import ml

def noisy(sample, rng):
    return {"x": sample["x"] + rng.normal(size=3), "pid": os.getpid()}

def slow(sample, rng):
    time.sleep(0.05)
    return noisy(sample, rng)

if __name__ == "__main__":
    method, ends = sys.argv[1:]
    multiprocessing.set_start_method(method)
    rows = ml.Rows({"x": zarr.array(np.arange(300.0).reshape(100, 3), chunks=(10, 3))})
    function = (lambda s, rng: None) if ends == "lambda" else slow if ends != "epoch" else noisy
    loader = ml.Loader(rows, 10, transform_sample=function, transform_workers=2)
    if ends == "epoch":
        mine = ml.Loader(rows, 10, transform_sample=noisy)
        for one, other in zip(loader, mine, strict=True):
            assert one["x"].tobytes() == other["x"].tobytes()
    batches = iter(loader)
    batch = next(batches)
    print(*loader._workers and [p.pid for p in loader._workers._crew._processes], flush=True)
    if ends == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if ends == "interrupted":
        try:
            while True:
                signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            sys.exit(0)
    if ends == "raised":
        raise SystemExit(0)
    if ends == "thread":
        # Left in the middle of a batch, with everything alive.
        next(batches)
"""


def in_dev_shm() -> set[str]:
    folder = Path("/dev/shm")
    return {one.name for one in folder.iterdir()} if folder.is_dir() else set()


@needs_proc
@pytest.mark.parametrize(
    ("method", "ends"),
    [
        *((method, end) for method in ("fork", "spawn") for end in ("epoch", "killed", "raised")),
        ("forkserver", "epoch"),
        ("forkserver", "killed"),
        ("fork", "interrupted"),
        ("fork", "thread"),
    ],
)
def test_nothing_is_left_when_a_program_ends(tmp_path: Path, method: str, ends: str) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    before = in_dev_shm()
    done = subprocess.run(
        [sys.executable, str(script), method, ends],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if ends == "killed" else 0), done.stderr
    assert "Error" not in done.stderr
    assert "leaked" not in done.stderr
    pids = [int(word) for word in done.stdout.split()]
    assert len(pids) == 2
    wait_until_gone(pids)
    assert not [name for name in in_dev_shm() - before if "zarrix-batches" in name]


def test_a_function_that_cannot_be_sent_is_told(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [sys.executable, str(script), "spawn", "lambda"],
        capture_output=True,
        text=True,
        timeout=PATIENCE_S * 2,
        check=False,
    )
    assert done.returncode == 1
    assert "transform_sample= cannot be sent to worker processes" in done.stderr


def spread(sample: Sample, rng: np.random.Generator) -> Any:
    time.sleep(0.01)
    return {"pid": os.getpid(), "item": sample["item"]}


def test_samples_of_a_batch_are_spread_over_the_processes() -> None:
    with loader_of(spread, 3, COUNT) as loader:
        batch = next(iter(loader))
        assert set(batch["pid"].tolist()) == set(workers_of(loader))
        assert os.getpid() not in batch["pid"]
