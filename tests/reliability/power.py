"""Losses of power: what is left of documents and chunks at any moment of a story of changes.

The store tells what may be left (`zarrix_store::testing::PowerLossStore`); all that is opened and
read. With ``durability="fsync"`` what was acknowledged is there, and the step that power
interrupted left each document and chunk as it was or as it was to be. Without it the promise must
be seen to break, or the experiment would show nothing.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import zarrix as zarr
from zarrix import _engine

from tests.reliability.figures import Figure
from tests.reliability.libraries import Library
from tests.reliability.story import Opened, Story, look, strays

_POINTS = 10_000
_STEPS = 25
# Moments of one story; as many stories follow as it takes.
_POINTS_EACH = 100


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """Moments spread over stories, in both formats, with and without syncs."""
    points = max(2 * _POINTS_EACH, round(_POINTS * scale))
    broken, changes = _broken(points, "fsync")
    unsynced, _ = _broken(2 * _POINTS_EACH, "process")
    return [
        Figure(f"{points} losses of power in {changes} changes: promises broken", broken, "= 0"),
        Figure(f"{2 * _POINTS_EACH} without syncs: promises broken", unsynced, "> 20"),
    ]


def _broken(points: int, durability: Any) -> tuple[int, int]:
    broken, changes = 0, 0
    for number in range(points // _POINTS_EACH):
        zarr_format = 2 + number % 2
        engine, states = _lived(zarr_format, number, durability)
        changes += engine.changes
        for point in range(_POINTS_EACH):
            # Prime steps: all changes get their turn, and every one with several seeds.
            at = states[0][0] + (point * 7919 + number) % (engine.changes - states[0][0])
            wrong = _wrong(engine, states, at, number * _POINTS_EACH + point, zarr_format)
            broken += bool(wrong)
            if wrong and durability == "fsync":
                print(f"story {number}, change {at}, moment {point}: {wrong}", file=sys.stderr)
    return broken, changes


def _lived(zarr_format: int, seed: int, durability: str) -> tuple[Any, list[Any]]:
    """A store after a story, and its states, each with the number of changes before it."""
    engine = _engine.PowerLossStore()
    story = Story(zarr_format, seed)
    root = story.begin(Opened(engine).with_durability(durability))
    states = [(engine.changes, look(engine, zarr_format))]
    for step in story.steps(_STEPS):
        step(root)
        states.append((engine.changes, look(engine, zarr_format)))
    return engine, states


def _wrong(engine: Any, states: list[Any], at: int, seed: int, zarr_format: int) -> list[str]:
    """What is left after a loss during change ``at`` that should not be."""
    reached = max(i for i, (changes, _) in enumerate(states) if changes <= at)
    old = states[reached][1]
    new = states[min(reached + 1, len(states) - 1)][1]
    try:
        return strays(look(engine.after_loss(at, seed), zarr_format), old, new)
    except zarr.errors.ZarrixError as error:
        return [repr(error)]
