"""What is in the golden repositories, by version; it needs NumPy only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["CLIMATE", "LOCATION", "TEXTS", "states"]

# The file of virtual chunks: where the repositories say that it is, and what it has.
LOCATION = "file:///golden/outside/data%20file.bin"
CLIMATE = np.arange(400, dtype="<i4").reshape(20, 20) * 3
TEXTS = ["", "größe", "数据" * 3, "x" * 200]

State = dict[str, NDArray[np.generic]]


def states(moves: bool) -> dict[str, State]:
    """The arrays of every version, by path; ``moves`` for versions of the format that have them."""
    wave = np.sin(np.arange(1600.0)).reshape(40, 40)
    first: State = {
        "wave": wave,
        "group/small": np.arange(5, dtype="<i4"),
        "group/deep/scalar": np.array(7, dtype="<i2"),
        "group/c/0": np.arange(6, dtype="u1"),
        "empty": np.zeros((0, 3), dtype="<f4"),
        "unwritten": np.full((4, 4), 9, dtype="<i8"),
        "größe/数据": np.arange(12, dtype="<u2").reshape(3, 4),
        "shards": np.arange(64 * 64, dtype="<i4").reshape(64, 64),
        "texts": np.array(TEXTS, dtype="T"),
        "split": np.arange(30 * 30, dtype="<i4").reshape(30, 30),
        "virtual": CLIMATE,
    }
    changed = wave.copy()
    changed[0, :] = -1.0
    changed[30:, 30:] = 0.0
    second = {**first, "wave": changed, "group/small": np.array([0, 1, 2, 3, 4, 50, 60], "<i4")}
    del second["unwritten"]
    if moves:
        second["renamed"] = second.pop("shards")
    dev = {**first, "group/small": np.full(5, -5, dtype="<i4")}
    return {"tag:v1": first, "branch:main": second, "branch:dev": dev, "tag:späte": second}
