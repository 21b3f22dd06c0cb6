"""Where a loader is: a mapping of JSON below 1 KB, equal on all ranks.

Version 1 had a fingerprint that left out episodes, times, conversions and chunk grids, so that its
states cannot be told from those of other datasets: only the epoch after one can be begun.
"""

from __future__ import annotations

import operator
import re
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from zarrix._errors import StateError

__all__ = ["MOST_EPOCH", "VERSION", "OrderChoice", "State", "checked_epoch"]

VERSION = 2
# An index of a sampler has 32 bits for the epoch.
MOST_EPOCH = 2**32 - 1
_MOST = 2**63 - 1
# What the fingerprint of version 1 is a digest of.
_EARLIER = "version 1"
KINDS = ("full", "block", "sequential", "mixed", "interleaved")
_KEYS = {"zarrix.ml", "order", "seed", "epoch", "seen", "size", "partitions", "fingerprint"}
_COUNTS = {"epoch": MOST_EPOCH, "seen": _MOST, "size": _MOST, "partitions": _MOST}
_ORDER = re.compile(
    r"([a-z]{1,16})/1|(block|mixed)/1:([0-9]{1,18})|(block)/2:([0-9]{1,18}):([0-9]{1,18})"
    r"|(full|block)/3:([0-9]{1,18}):([0-9]{1,18}):([0-9]{1,18})"
)


@dataclass(frozen=True)
class OrderChoice:
    """The kind of an order with all that was chosen for it, so that nothing is chosen again.

    ``group`` blocks are shuffled together, in runs of ``run`` neighbours; 0 if the order has no
    blocks. Runs of more than one are of version 2 of the order of blocks. ``bunch`` neighbours are
    of one bucket, in version 3; 0 if there are no buckets.
    """

    kind: str
    group: int = 0
    partitions: int = 1
    run: int = 1
    bunch: int = 0

    def __str__(self) -> str:
        if self.bunch:
            return f"{self.kind}/3:{self.group}:{self.run}:{self.bunch}"
        if self.run > 1:
            return f"{self.kind}/2:{self.group}:{self.run}"
        return f"{self.kind}/1" + (f":{self.group}" if self.group else "")

    @property
    def has_blocks(self) -> bool:
        """Whether the order depends on where chunks end."""
        return self.group > 0

    @classmethod
    def parsed(cls, text: str, partitions: int) -> OrderChoice:
        """The order with this name; an error if another version of zarrix made it."""
        match = _ORDER.fullmatch(text)
        choice = None
        if match is not None:
            kind = match[1] or match[2] or match[4] or match[7]
            group, run = int(match[3] or match[5] or match[8] or 0), int(match[6] or match[9] or 1)
            choice = cls(kind, group, partitions, run, int(match[10] or 0))
        # What is not written so was not written by `__str__`.
        if choice is None or str(choice) != text or choice.kind not in KINDS:
            raise StateError(
                f"order {reprlib.repr(text)} of the state is not one of this version of zarrix"
            )
        if choice.kind == "block" and not 0 < choice.run <= choice.group:
            raise StateError(f"order {reprlib.repr(text)} of the state has no blocks")
        if choice.bunch and (partitions > 1 or (choice.kind == "full" and choice.group)):
            raise StateError(f"order {reprlib.repr(text)} of the state has blocks or partitions")
        return choice


@dataclass(frozen=True)
class State:
    """A position in an epoch."""

    order: OrderChoice
    seed: int
    epoch: int
    seen: int
    size: int
    fingerprint: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        return {
            "zarrix.ml": VERSION,
            "order": str(self.order),
            "seed": self.seed,
            "epoch": self.epoch,
            "seen": self.seen,
            "size": self.size,
            "partitions": self.order.partitions,
            "fingerprint": dict(self.fingerprint),
        }

    @classmethod
    def of(cls, state: Any) -> State:
        """The state in a mapping, after all of it was checked."""
        _check(state)
        prints = state["fingerprint"]
        return cls(
            OrderChoice.parsed(state["order"], state["partitions"]),
            state["seed"],
            state["epoch"],
            state["seen"],
            state["size"],
            {_EARLIER: prints} if isinstance(prints, str) else dict(prints),
        )

    def differences(self, state: State) -> list[str]:
        """What another state has of another dataset or order than this one."""
        sentences = []
        if self.size != state.size:
            sentences.append(f"size is {self.size} here and {state.size} in the state")
        if _EARLIER in state.fingerprint:
            return [
                *sentences,
                "it is of version 1, which did not say all that its order depends on",
            ]
        own, others = self.fingerprint, state.fingerprint
        names = own.keys() | others.keys()
        parts = sorted(name for name in names if own.get(name) != others.get(name))
        if parts:
            sentences.append(f"what differs by its fingerprint is {reprlib.repr(parts)[1:-1]}")
        return sentences


def checked_epoch(epoch: Any) -> int:
    """The number of an epoch; ValueError if it is not one."""
    found = operator.index(epoch)
    if not 0 <= found <= MOST_EPOCH:
        what = "is negative" if found < 0 else f"is beyond the last one, {MOST_EPOCH}"
        raise ValueError(f"epoch {reprlib.repr(found)} {what}")
    return found


def _check(state: Any) -> None:
    """Raise `StateError` if ``state`` is not one that `Loader.state_dict` returned."""
    if not isinstance(state, Mapping) or set(state) != _KEYS:
        found = sorted(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
        raise StateError(
            f"the state of a loader has the keys {sorted(_KEYS)}, not {reprlib.repr(found)}"
        )
    version = state["zarrix.ml"]
    if not _is_count(version, VERSION) or not version:
        raise StateError(
            f"the state is of version {reprlib.repr(version)}; this release reads version {VERSION}"
        )
    for name, max_count in _COUNTS.items():
        if not _is_count(state[name], max_count):
            raise StateError(
                f"{name!r} of the state is {reprlib.repr(state[name])}, not a count up to "
                f"{max_count}"
            )
    seed = state["seed"]
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise StateError(f"'seed' of the state is {reprlib.repr(seed)}, not a number")
    if not state["partitions"] or state["seen"] > state["size"]:
        raise StateError(
            f"the state has seen {state['seen']} of {state['size']} samples in "
            f"{state['partitions']} partitions, which no loader does"
        )
    if not isinstance(state["order"], str):
        raise StateError(f"'order' of the state is {reprlib.repr(state['order'])}, not text")
    prints = state["fingerprint"]
    is_mapping = isinstance(prints, Mapping) and all(
        isinstance(text, str) for pair in prints.items() for text in pair
    )
    if not (isinstance(prints, str) if version == 1 else is_mapping):
        raise StateError(
            f"'fingerprint' of the state is {reprlib.repr(prints)}, not a mapping of digests"
        )


def _is_count(value: Any, max_count: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= max_count
