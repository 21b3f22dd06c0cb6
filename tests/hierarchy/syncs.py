"""What the tests of `sync_store` share: trees of keys, and a sync that is cut off at any step."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix._hierarchy import sync_moves

# Older than what a clock with coarse ticks could hide.
LONG_AGO = 10**9


def files(folder: Path | str) -> dict[str, bytes]:
    """The values of a folder by key."""
    root = Path(folder)
    found = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and not path.name.endswith(".partial")
    }
    return dict(sorted(found.items()))


def settle(folder: Path | str) -> None:
    """Make all files old, so that the ledger may keep them."""
    for path in Path(folder).rglob("*"):
        if path.is_file():
            status = path.stat()
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns % 10**9 + LONG_AGO))


class Cut(Exception):
    """The end of a process, at a chosen step."""


@contextmanager
def cut_at(number: int, patch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """End a sync at the ``number``th change of the destination: nothing that comes later is done.

    Gives a list whose length is the number of changes that were asked for.
    """
    asked: list[int] = []
    with patch.context() as patched:
        for name in ("_copy", "delete"):
            whole = getattr(sync_moves.Mover, name)

            def step(self: Any, *arguments: Any, whole: Any = whole) -> Any:
                asked.append(1)
                if len(asked) > number:
                    raise Cut
                return whole(self, *arguments)

            patched.setattr(sync_moves.Mover, name, step)
        yield asked


def new_tree(store: MutableMapping[str, Any], zarr_format: int) -> None:
    """A group with arrays, in a group with arrays."""
    root = zarr.open_group(store=store, mode="w", zarr_format=zarr_format)
    root.attrs["title"] = "first"
    root.create_dataset("time", shape=6, chunks=3, dtype="i4")[:] = range(6)
    inner = root.create_group("inner")
    inner.create_dataset("t2m", shape=(4, 4), chunks=(2, 2), dtype="f4")[...] = 1
    inner.create_dataset("mask", shape=(4,), chunks=(4,), dtype="i1")[...] = 1
    zarr.consolidate_metadata(store)
