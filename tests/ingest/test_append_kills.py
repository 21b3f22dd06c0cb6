"""Appends that are killed at any change of what is stored, alone and beside others."""

import os
import random
import select
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from commits.steps import die_at, dies_at
from ingest import days

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")


def append(source: str, dest: Path) -> None:
    zarr.append(source, dest, along="time", wait=600.0)


def test_a_kill_at_any_change_leaves_a_whole_step_or_none(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    sources = days.make(tmp_path, 3)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    number = 0
    while True:
        # The last labels first: the calls after it insert.
        path = tmp_path / f"{number}.zarr"
        append(sources[2], path)
        died = dies_at(number, lambda path=path: append(sources[0], path))
        assert days.read(path) in ([6, 7, 8, 9], [0, 1, 2, 3, 6, 7, 8, 9])
        for one in (sources[0], sources[1], sources[0]):
            append(one, path)
        days.same(path, expected)
        if not died:
            break
        number += 1 if pytestconfig.getoption("--long") else 13
    assert number > 40


def test_a_kill_while_the_destination_is_created_is_repeated(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    sources = days.make(tmp_path, 2)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    number = 0
    while True:
        path = tmp_path / f"{number}.zarr"
        died = dies_at(number, lambda path=path: append(sources[1], path))
        for one in sources:
            append(one, path)
        days.same(path, expected)
        if not died:
            break
        number += 1 if pytestconfig.getoption("--long") else 11
    assert number > 20


def test_two_writers_in_any_order_with_kills_give_one_sorted_write(
    tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    wanted, count = (200, 12) if pytestconfig.getoption("--long") else (10, 5)
    sources = days.make(tmp_path, count)
    expected = tmp_path / "expected.zarr"
    zarr.append(sources, expected, along="time")
    rng = random.Random(5)
    kills = rounds = 0
    while kills < wanted:
        dest = tmp_path / f"round{rounds}.zarr"
        append(sources[count // 2], dest)
        stop, held = os.pipe()
        reader = _fork(lambda dest=dest, stop=stop, held=held: _read_until_closed(dest, stop, held))
        while kills < wanted:
            seeds = rng.sample(range(10**9), 2)
            writers = [
                _fork(lambda seed=seed, dest=dest: _write_until_killed(sources, dest, seed))
                for seed in seeds
            ]
            for one in writers:
                status = os.waitpid(one, 0)[1]
                assert status in (0, signal.SIGKILL)
                kills += status == signal.SIGKILL
            labels = days.read(dest)
            assert labels is not None
            if len(labels) == count * days.ROWS + 1:
                break
        for one in rng.sample(sources, len(sources)):
            append(one, dest)
        os.close(held)
        assert os.waitpid(reader, 0)[1] == 0
        os.close(stop)
        days.same(dest, expected)
        rounds += 1
    print(f"{kills} kills in {rounds} rounds")


def _write_until_killed(sources: list[str], dest: Path, seed: int) -> None:
    """Append some sources in random order, and die at a random change of what is stored."""
    rng = random.Random(seed)

    def call() -> None:
        for one in rng.sample(sources, 2):
            append(one, dest)

    die_at(rng.randrange(250), call)


def _read_until_closed(dest: Path, stop: int, held: int) -> None:
    """Read whole states, which only grow, until the other end of the pipe is closed."""
    os.close(held)
    before: set[int] = set()
    while True:
        is_over = bool(select.select([stop], [], [], 0)[0])
        found = days.read(dest)
        if found is not None:
            assert before <= {*found}
            before = {*found}
        if is_over and found is not None:
            return


def _fork(call: Callable[[], Any]) -> int:
    """The number of a process that makes a call."""
    child = os.fork()
    if child:
        return child
    try:
        call()
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
        os._exit(1)
    os._exit(0)
