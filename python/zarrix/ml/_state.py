"""Where a loader is: a mapping of JSON below 1 KB, equal on all ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

__all__ = ["VERSION", "Order", "State", "check_state"]

VERSION = 1
KINDS = ("full", "block", "sequential", "mixed", "interleaved")
_KEYS = {"zarrix.ml", "order", "seed", "epoch", "seen", "size", "partitions", "fingerprint"}


@dataclass(frozen=True)
class Order:
    """The kind of an order with all that was chosen for it, so that nothing is chosen again."""

    kind: str
    group: int = 0
    partitions: int = 1

    def __str__(self) -> str:
        return f"{self.kind}/1" + (f":{self.group}" if self.group else "")

    @classmethod
    def parsed(cls, text: str, partitions: int) -> Order:
        """The order with this name; an error if another version of zarrix made it."""
        kind, _, rest = text.partition("/")
        version, _, group = rest.partition(":")
        if version != "1" or kind not in KINDS or not (group.isdigit() or not group):
            raise ValueError(f"order {text!r} of the state is not one of this version of zarrix")
        return cls(kind, int(group or 0), partitions)


@dataclass(frozen=True)
class State:
    """A position in an epoch."""

    order: Order
    seed: int
    epoch: int
    seen: int
    size: int
    fingerprint: str

    def to_json(self) -> dict[str, Any]:
        return {
            "zarrix.ml": VERSION,
            "order": str(self.order),
            "seed": self.seed,
            "epoch": self.epoch,
            "seen": self.seen,
            "size": self.size,
            "partitions": self.order.partitions,
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def of(cls, state: Any) -> State:
        """The state in a mapping, after all of it was checked."""
        check_state(state)
        return cls(
            Order.parsed(state["order"], state["partitions"]),
            state["seed"],
            state["epoch"],
            state["seen"],
            state["size"],
            state["fingerprint"],
        )


def check_state(state: Any) -> None:
    """Raise ValueError if ``state`` is not one that `Loader.state_dict` returned."""
    if not isinstance(state, Mapping) or state.keys() != _KEYS:
        found = sorted(state) if isinstance(state, Mapping) else type(state).__name__
        raise ValueError(f"the state of a loader has the keys {sorted(_KEYS)}, not {found}")
    if state["zarrix.ml"] != VERSION:
        raise ValueError(
            f"the state is of version {state['zarrix.ml']!r}; this release reads version {VERSION}"
        )
    for name in ("seed", "epoch", "seen", "size", "partitions"):
        value = state[name]
        if not isinstance(value, int) or isinstance(value, bool) or (value < 0 and name != "seed"):
            raise ValueError(f"{name!r} of the state is {value!r}, not a count")
    for name in ("order", "fingerprint"):
        if not isinstance(state[name], str):
            raise ValueError(f"{name!r} of the state is {state[name]!r}, not text")
