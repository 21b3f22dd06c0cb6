"""The quick form of every experiment: zarrix reaches every bar.

``python -m tests.reliability --long`` is the same with the figures of docs/reliability.md.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.reliability.__main__ import EXPERIMENTS

ROOT = Path(__file__).resolve().parents[2]


def missed(experiment: str, *options: str) -> list[str]:
    """What an experiment, in a process of its own, found below its bar."""
    command = [sys.executable, "-m", "tests.reliability", experiment, "--inside", "zarrix"]
    run = subprocess.run(
        [*command, *options], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    figures = json.loads(run.stdout.splitlines()[-1])
    assert figures
    return [
        f"{one['what']}: {one['value']} ({one['bar']})" for one in figures if not one["reached"]
    ]


def test_writers_that_meet_in_one_chunk_shard_or_document_lose_nothing() -> None:
    assert missed("races") == []


def test_a_killed_writer_leaves_complete_versions_and_no_visible_file() -> None:
    assert missed("kills") == []


def test_killed_commits_happen_or_not_and_readers_see_one_version() -> None:
    assert missed("commits") == []


def test_readers_of_what_is_replaced_see_one_version() -> None:
    assert missed("readers") == []


def test_damage_is_an_error_that_names_the_chunk_and_never_a_crash() -> None:
    assert missed("damage") == []


def test_documents_indexes_and_chunks_that_lie_are_refused_in_little_memory() -> None:
    assert missed("lies") == []


def test_a_bomb_is_refused_at_once_and_in_little_memory() -> None:
    assert missed("bombs") == []


def test_no_fork_hangs_and_no_lock_outlives_its_holder() -> None:
    assert missed("forks") == []


def test_ctrl_c_is_raised_soon_and_leaves_nothing() -> None:
    assert missed("interrupts") == []


def test_refusals_of_the_system_and_hostile_names_touch_nothing() -> None:
    assert missed("failures") == []


def test_an_archive_that_is_damaged_forked_with_or_killed_is_what_it_was_or_an_error() -> None:
    assert missed("archives") == []


def test_a_loss_of_power_breaks_no_promise_of_what_was_synced() -> None:
    assert missed("power") == []


def test_a_store_that_fails_at_any_call_leaves_the_old_or_the_new_version_and_says_so() -> None:
    assert missed("calls") == []


@pytest.mark.long
@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_the_figures_of_the_documentation(experiment: str) -> None:
    assert missed(experiment, "--long") == []
