"""Proportions of a mix, which may change with the position in an epoch, and when the epoch ends."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from zarrix._errors import suggestion
from zarrix.ml._order.order import Stage, proportions

__all__ = ["samples_until", "stages_of"]

UNTIL = ("first", "longest", "all")


def stages_of(weights: Any, names: Sequence[str]) -> tuple[Stage, ...]:
    """The stages of an epoch, of which the first one begins at 0.

    ``weights`` has a weight for each name, or such a mapping for each position where it begins.
    """
    if weights is None:
        weights = dict.fromkeys(names, 1.0)
    if not isinstance(weights, Mapping):
        raise TypeError(f"weights= is a mapping, not {type(weights).__name__}")
    if not weights or not all(isinstance(of, Mapping) for of in weights.values()):
        return (Stage(0, _shares(weights, names, may_be_zero=False)),)
    begins = list(weights)
    if not all(isinstance(begin, int | np.integer) for begin in begins) or begins[0] != 0:
        raise ValueError(f"weights= begins at {begins[0]!r}; stages begin at positions from 0 on")
    if any(later <= begin for begin, later in itertools.pairwise(begins)):
        raise ValueError(f"weights= has stages that begin at {begins}; positions ascend")
    return tuple(
        Stage(int(begin), _shares(of, names, may_be_zero=True)) for begin, of in weights.items()
    )


def _shares(weights: Mapping[Any, Any], names: Sequence[str], may_be_zero: bool) -> list[int]:
    """Integers in proportion to the weights, in the order of the names."""
    if weights.keys() != set(names):
        raise ValueError(
            f"weights= names {sorted(map(str, weights))}, and the datasets {sorted(names)}"
        )
    values = [float(weights[name]) for name in names]
    is_known = all(0 <= value < float("inf") for value in values) and any(values)
    if not is_known or not (may_be_zero or all(values)):
        raise ValueError(f"weights={dict(weights)!r}; they are positive")
    shares = iter(proportions([value for value in values if value]))
    return [next(shares) if value else 0 for value in values]


def samples_until(stages: Sequence[Stage], counts: Sequence[int], until: str) -> int:
    """The length of an epoch of datasets that have so many items.

    In any part of a run the visits of a dataset lie between two bounds. An epoch that must not
    visit an item twice counts the upper one, and one that visits all items the lower one.
    """
    if until not in UNTIL:
        raise ValueError(
            f"until={until!r}; allowed are {', '.join(UNTIL)}{suggestion(str(until), UNTIL)}"
        )
    items = list(counts)
    if until == "longest":
        items = [count if count == max(counts) else 0 for count in counts]
    left = items
    for stage, later in zip(stages, [*stages[1:], None], strict=True):
        run = sum(stage.shares)
        length = None if later is None else later.begin - stage.begin
        runs = _runs(stage, left, until)
        if runs is not None and (length is None or runs * run < length):
            if until == "first" and not stage.begin + runs * run:
                # A dataset has fewer items than a run has of it: about as many as of others.
                pairs = zip(items, stage.shares, strict=True)
                least = max(1, min(count * run // share for count, share in pairs if share))
                return least if length is None else min(least, length)
            return stage.begin + runs * run
        if length is None:
            raise ValueError(f"until={until!r}: the last stage never visits a dataset that is left")
        whole, rest = divmod(length, run)
        left = [
            max(0, count - whole * share - _of_part(rest, run, share, until))
            for count, share in zip(left, stage.shares, strict=True)
        ]
    raise AssertionError("the last stage has no end")


def _runs(stage: Stage, left: Sequence[int], until: str) -> int | None:
    """After how many runs of a stage the epoch ends, if it does in a stage without an end."""
    pairs = list(zip(left, stage.shares, strict=True))
    if until == "first":
        return min(count // share for count, share in pairs if share)
    if any(count and not share for count, share in pairs):
        return None
    return max((-(-count // share) for count, share in pairs if share), default=0)


def _of_part(rest: int, run: int, share: int, until: str) -> int:
    """How many of ``rest`` positions of a run are those of a dataset: at most, or at least."""
    return min(rest, share) if until == "first" else max(0, rest - run + share)
