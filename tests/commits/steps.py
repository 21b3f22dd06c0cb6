"""A hierarchy that commits change step by step, and what must be true of it at any moment.

Step ``n`` appends to two arrays and to an array of times, changes elements of a mask, replaces an
array, creates one and deletes that of the step before, and sets attributes. A reader that sees half
of a step finds it by `version_of`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import zarrix as zarr
from zarrix.commits import _left

# Otherwise the second commit of a v2 array would wait for ten seconds.
_left.PROMISED = 0.0

ROWS = 3
# Names of built-in functions and of methods of the engine that change what is stored.
_CHANGES = {
    "carry", "carry_late", "clear_outside", "delete", "delete_node", "delete_prefix", "ftruncate",
    "put", "remove_leftover", "replace", "unlink", "update", "write",
}  # fmt: skip


def make(path: Path, zarr_format: int) -> None:
    """The hierarchy before the first step; chunks and steps have no common borders."""
    root = zarr.open_group(path, mode="w", zarr_format=zarr_format, attributes={"step": 0})
    for name in ("a", "deep/b"):
        root.create_dataset(name, shape=(0, 4), chunks=(2, 3), dtype="i4")
    root.create_dataset("mask", data=np.zeros((5, 4), "i4"), chunks=(2, 3))
    root.create_dataset("swap", data=np.zeros((1, 2), "i4"), chunks=(2, 1))
    root.create_dataset("new/0", data=np.zeros(3))
    root.create_dataset("time", shape=0, chunks=4, dtype="i4", attributes={"step": 0})
    zarr.consolidate_metadata(root.store)


def values(step: int) -> Any:
    return np.full((ROWS, 4), step, "i4")


def change(root: zarr.Group, step: int) -> None:
    """The changes of one step."""
    for name in ("a", "deep/b"):
        root[name].append(values(step))
    root["time"].append(np.full(ROWS, step, "i4"))
    root["time"].attrs["step"] = step
    root["mask"][1:3] = step
    root["mask"].vindex[[0, 4], [0, 3]] = step
    root.create_dataset("swap", data=np.full((step + 1, 2), step), chunks=(2, 1), overwrite=True)
    root.create_dataset(f"new/{step}", data=np.full(3, step), chunks=2)
    del root[f"new/{step - 1}"]
    root.attrs["step"] = step


def commit(path: Path, step: int, **options: Any) -> None:
    with zarr.commit(path, message=f"step {step}", **options) as root:
        change(root, step)


def version_of(root: Any) -> int:
    """The step that all nodes show; an error if they show several."""
    a, b, time = root["a"], root["deep/b"], root["time"]
    step = root.attrs["step"]
    found = [len(a) / ROWS, len(b) / ROWS, len(time) / ROWS, time.attrs["step"]]
    assert found == [step] * 4, (step, found)
    expected = np.repeat(np.arange(1, step + 1), ROWS)
    for z in (a, b):
        assert np.array_equal(z[:], np.repeat(expected[:, None], 4, axis=1))
    assert np.array_equal(time[:], expected)
    mask = np.zeros((5, 4), "i4")
    mask[1:3] = mask[0, 0] = mask[4, 3] = step
    assert np.array_equal(root["mask"][:], mask)
    assert np.array_equal(root["swap"][:], np.full((step + 1, 2), step))
    assert list(root["new"]) == [str(step)]
    assert np.array_equal(root[f"new/{step}"][:], [step] * 3)
    return int(step)


def is_clean(path: Path) -> None:
    """Assert that no document is older than another, and that no key is left that none names."""
    root = zarr.open_group(path, mode="r")
    version = version_of(root)
    assert version_of(zarr.open_consolidated(path)) == version
    assert not list(path.rglob(".zarrix-commit*"))
    zarr.sweep(path, now=True)
    assert version_of(root) == version
    expected = set()
    for _, array in root.members(None):
        if isinstance(array, zarr.Array):
            expected |= {key for key, _ in array._snapshot.io.stored_chunks()}
    documents = (".zarray", ".zgroup", ".zattrs", ".zmetadata", "zarr.json")
    stored = {key for key in root.store if key.rpartition("/")[2] not in documents}
    assert stored == expected, stored ^ expected


def die_at(number: int, call: Callable[[], Any]) -> None:
    """Make a call, and kill this process at its ``number``th change of what is stored."""
    left = number

    def profile(_: FrameType, event: str, function: Any) -> None:
        nonlocal left
        if event == "c_call" and function.__name__ in _CHANGES:
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.setprofile(profile)
        call()
    finally:
        sys.setprofile(None)


def dies_at(number: int, call: Callable[[], Any]) -> bool:
    """Make a call in a forked process that is killed at its ``number``th change of what is stored.

    Returns whether there were so many.
    """
    child = os.fork()
    if child == 0:
        try:
            die_at(number, call)
        except BaseException as error:
            os.write(2, f"{type(error).__name__}: {error}\n".encode())
            os._exit(1)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    assert status in (0, signal.SIGKILL), status
    return status == signal.SIGKILL


def document(path: Path) -> Any:
    """The intent that is stored, parsed."""
    return json.loads((path / ".zarrix-commit.json").read_bytes())
