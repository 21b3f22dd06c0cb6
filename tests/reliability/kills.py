"""Writers that are killed at random moments, and what they leave.

A writer replaces chunks, attributes or the shape in a loop, saying each time what it is done with.
It is killed some milliseconds after it began; then a fresh reader must find every chunk in one
complete version, no older than the last one that was acknowledged, and every document readable.
What is left over must be invisible, at most one file for each key, and gone after the next write.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library, has_shards

CHUNKS = 4
CHUNK_LENGTH = 1 << 18
PATTERN = np.random.default_rng(5).integers(0, 1 << 24, CHUNK_LENGTH, dtype="<i4")


@dataclass
class Damage:
    """What was found after the kills of one kind of writer."""

    done: int = 0
    """The newest number that is stored for sure."""
    length: int = 0
    torn: int = 0
    unreadable: int = 0
    lost: int = 0
    most_strays: int = 0
    visible: int = 0
    kept: int = 0


@dataclass(frozen=True)
class Kind:
    """What a writer repeats, and how it is looked at."""

    name: str
    begin: Callable[[Library, Path], Callable[[int], Any]]
    check: Callable[[Library, Path, Damage], None]
    inner: int | None = None


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """500 kills of writers of chunks, of shards, of attributes and of the shape."""
    kills = max(8, round(500 * scale))
    kinds = [Kind("chunks", write_chunks, _check_chunks)]
    if has_shards(library):
        kinds.append(Kind("shards", write_chunks, _check_chunks, inner=CHUNK_LENGTH // 16))
    if library.attributes is not None:
        kinds.append(Kind("attributes", _set_attribute, _check_attributes))
    if library.append is not None:
        kinds.append(Kind("the shape", _append, _check_length))
    figures = []
    for kind in kinds:
        damage = _kill(library, folder / kind.name.replace(" ", "-"), kills, kind)
        what = f"{kills} kills of a writer of {kind.name}: "
        figures += [
            Figure(f"{what}torn", damage.torn, "= 0"),
            Figure(f"{what}unreadable", damage.unreadable, "= 0"),
            Figure(f"{what}acknowledged and lost", damage.lost, "= 0"),
            Figure(f"{what}most strays of one key", damage.most_strays, "<= 1"),
            Figure(f"{what}strays in listings", damage.visible, "= 0"),
            Figure(f"{what}strays after the next write", damage.kept, _kept(library, kills)),
        ]
    return figures


def _kept(library: Library, kills: int) -> str:
    """The bound of what stays: the next writer replaces it where kernels have numbers."""
    if library.needs == "zarrix":
        from zarrix import _engine

        if _engine.SYSTEM not in ("linux", "macos"):
            return f"<= {kills}"
    return "= 0"


def _version(number: int) -> Any:
    return PATTERN ^ np.int32(number)


def write_chunks(library: Library, folder: Path) -> Callable[[int], None]:
    """A step that replaces the next of the chunks by its version of that number."""
    array = library.open(folder)

    def step(number: int) -> None:
        chunk = number % CHUNKS
        array[chunk * CHUNK_LENGTH : (chunk + 1) * CHUNK_LENGTH] = _version(number)

    return step


def _set_attribute(library: Library, folder: Path) -> Callable[[int], None]:
    def step(number: int) -> None:
        library.attributes(folder).update(number=number, text="x" * 20_000)  # type: ignore[misc]

    return step


def _append(library: Library, folder: Path) -> Callable[[int], None]:
    array = library.open(folder)
    return lambda number: library.append(array, np.asarray([number], "<i4"))  # type: ignore[misc]


def _kill(library: Library, folder: Path, kills: int, kind: Kind) -> Damage:
    chance = random.Random(17)
    call(lambda: library.make(folder, CHUNKS * CHUNK_LENGTH, CHUNK_LENGTH, kind.inner) and None)
    call(lambda: _writes(library, folder, kind, 0))
    damage = Damage(done=CHUNKS - 1, length=CHUNKS * CHUNK_LENGTH)
    for _ in range(kills):
        damage.done = _one(library, folder, kind, damage.done + 1, chance.uniform(0, 0.03))
        strays = [path for path in folder.rglob("*") if _is_stray(path)]
        names = [path.name.split(".partial")[0] for path in strays]
        damage.most_strays = max([damage.most_strays, *map(names.count, names)])
        damage.visible += _visible(library, folder)
        found = call(partial(_checked, library, folder, kind, damage)).answer
        damage = found or replace(damage, unreadable=damage.unreadable + 1)
    call(lambda: _writes(library, folder, kind, damage.done + 1))
    damage.kept = sum(map(_is_stray, folder.rglob("*")))
    return damage


def _writes(library: Library, folder: Path, kind: Kind, first: int) -> None:
    step = kind.begin(library, folder)
    for number in range(first, first + CHUNKS):
        step(number)


def _checked(library: Library, folder: Path, kind: Kind, damage: Damage) -> Damage:
    """The damage with what a fresh reader, in a process of its own, finds."""
    try:
        kind.check(library, folder, damage)
    except Exception:
        damage.unreadable += 1
    return damage


def _one(library: Library, folder: Path, kind: Kind, first: int, after_s: float) -> int:
    """Kill one writer; the last number that it acknowledged."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with contextlib.suppress(BaseException):
            step = kind.begin(library, folder)
            os.write(writer, struct.pack("<q", first - 1))
            for number in range(first, first + 1_000_000):
                step(number)
                os.write(writer, struct.pack("<q", number))
        os._exit(1)
    os.close(writer)
    last = os.read(reader, 8)
    time.sleep(after_s)
    os.kill(child, signal.SIGKILL)
    while more := os.read(reader, 1 << 16):
        last = more[-8:]
    os.waitpid(child, 0)
    os.close(reader)
    return int(struct.unpack("<q", last)[0]) if last else first - 1


def _check_chunks(library: Library, folder: Path, damage: Damage) -> None:
    """Every chunk must be one version; the newest number found is where the next writer begins."""
    array = library.open(folder)
    done = damage.done
    for chunk in range(CHUNKS):
        found = np.asarray(array[chunk * CHUNK_LENGTH : (chunk + 1) * CHUNK_LENGTH]) ^ PATTERN
        number = int(found[0])
        if not (found == number).all() or number % CHUNKS != chunk:
            damage.torn += 1
            continue
        # The last version of this chunk that was acknowledged, or the one that was being written.
        damage.lost += number < done - (done - chunk) % CHUNKS
        damage.done = max(damage.done, number)


def _check_attributes(library: Library, folder: Path, damage: Damage) -> None:
    found = dict(library.attributes(folder))  # type: ignore[misc]
    number = int(found["number"])
    damage.torn += found["text"] != "x" * 20_000
    damage.lost += number < damage.done
    damage.done = max(number, damage.done)


def _check_length(library: Library, folder: Path, damage: Damage) -> None:
    """All acknowledged rows are there, in order; one that was begun may be there or be zero."""
    stored = np.asarray(library.open(folder)[:])
    rows = stored[CHUNKS * CHUNK_LENGTH :]
    rows = rows[rows > 0]
    damage.torn += bool((np.diff(rows) <= 0).any()) + (stored.size < damage.length)
    damage.lost += bool(rows.size) and int(rows[-1]) < damage.done
    damage.done = max([damage.done, *rows[-1:].tolist()])
    damage.length = stored.size


def _is_stray(path: Path) -> bool:
    """What writers make beside the documents and chunks."""
    return path.is_file() and not (
        path.name in ("zarr.json", ".zarray", ".zattrs") or path.name.replace(".", "").isdecimal()
    )


def _visible(library: Library, folder: Path) -> int:
    if library.needs != "zarrix":
        return 0
    from zarrix import _engine

    return sum(".partial" in key for key in _engine.LocalStore(str(folder)).list_prefix(""))
