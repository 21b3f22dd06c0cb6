"""What is measured: one row of a table each.

A bar is how many times as fast as the best peer we have to be; a goal is the higher bar that the
project is heading for. Keys are drawn from a fixed seed. One timing of a row reads all its keys in
turn, so a row of small reads does not read one chunk that never leaves the cache of a core.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks import elsewhere, floor, odd, strings
from benchmarks.contenders import OURS, ZARR, AnyArray, Contender, Key, named
from benchmarks.data import LAYOUTS, Layout, full_values
from benchmarks.keys import Keys
from benchmarks.measure import Call, installed


@dataclass(frozen=True)
class Place:
    """Where the run keeps its files.

    data : of the arrays that are read
    scratch : of what is written while measuring, in memory where the machine has such a place
    tiny : arrays of a size that tests the harness, and no speed
    seed : draws the arrays of odd sizes
    """

    data: Path
    scratch: Path
    tiny: bool
    seed: int = 0

    def layout(self, name: str) -> Layout:
        """An array at the size of this run."""
        made = odd.layout(name, self.seed) if odd.is_odd(name) else LAYOUTS[name]
        return made.sized(self.tiny)


@dataclass(frozen=True)
class Workload:
    """One row.

    name, bar, goal : as the table shows them
    peers : the contenders beside ours
    limit_s : a bar in seconds, for the few that are absolute
    """

    name: str
    bar: float | None = None
    goal: float | None = None
    peers: tuple[str, ...] = tuple(n for n in ZARR if n != OURS)
    limit_s: float | None = None

    def contenders(self) -> list[Contender]:
        """Ours first, then those peers that this interpreter can import."""
        return [c for c in map(named, (OURS, *self.peers)) if c.available]

    def ranks(self, contender: Contender) -> bool:
        """Whether it may be the best peer; the others are shown."""
        return True

    def build(self, place: Place) -> None:
        """Make the stored arrays that it needs, unless they are there."""

    def call(self, contender: Contender, place: Place) -> Call:
        """What is timed."""
        raise NotImplementedError

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        """What must be equal for all contenders; done once, before anything is timed."""
        raise NotImplementedError

    def call_of(self, contender: Contender, place: Place) -> Call:
        """`call`, wherever the contender lives."""
        if contender.python is None:
            return self.call(contender, place)
        process = elsewhere.process_of(contender.python)
        return elsewhere.CallElsewhere(process=process, which=(self.name, contender.name, place))

    def result_of(self, contender: Contender, place: Place) -> list[AnyArray]:
        """`result`, wherever the contender lives."""
        if contender.python is None:
            return self.result(contender, place)
        process = elsewhere.process_of(contender.python)
        found: list[AnyArray] = process.ask("result", self.name, contender.name, place)
        return found

    def floor(self, place: Place) -> Call | None:
        """The floor of this row; None where there is no such thing."""
        return None


@dataclass(frozen=True, kw_only=True)
class Read(Workload):
    """Selections of an open array; only bulk ones have a floor.

    A floor is made in Python, whose own calls cost as much as opening a small file.
    """

    layout: str
    keys: Keys
    bulk: bool = True

    def build(self, place: Place) -> None:
        place.layout(self.layout).build(place.data)

    def _keys(self, place: Place) -> list[Key]:
        return self.keys(place.layout(self.layout), np.random.default_rng(1))

    def _path(self, contender: Contender, place: Place) -> Path:
        return place.layout(self.layout).build(place.data).with_suffix(contender.suffix)

    def _read(self, contender: Contender, place: Place) -> Callable[[Key], AnyArray]:
        return contender.open(self._path(contender, place), "r").read

    def call(self, contender: Contender, place: Place) -> Call:
        read = self._read(contender, place)
        keys = self._keys(place)

        def run() -> None:
            for key in keys:
                read(key)

        return Call(run, len(keys))

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        read = self._read(contender, place)
        return [read(key) for key in self._keys(place)]

    def floor(self, place: Place) -> Call | None:
        if not self.bulk:
            return None
        layout = place.layout(self.layout)
        return floor.read(layout.build(place.data), layout, self._keys(place))


@dataclass(frozen=True, kw_only=True)
class Select(Read):
    """Selections that are more than integers and slices; ``rule`` is the field of `Opened`.

    They have no floor: what of a chunk they need is not for the bare codec to say.
    """

    rule: str
    bulk: bool = False

    def _read(self, contender: Contender, place: Place) -> Callable[[Key], AnyArray]:
        opened = contender.open(self._path(contender, place), "r")
        return cast("Callable[[Key], AnyArray]", getattr(opened, self.rule))


@dataclass(frozen=True, kw_only=True)
class Windows(Read):
    """Many crops of one size: in one call where there is one, else one after the other.

    What the others read stays in as many arrays: putting them into one, as a batch needs, is not
    counted against them.
    """

    bulk: bool = False

    def call(self, contender: Contender, place: Place) -> Call:
        opened = contender.open(self._path(contender, place), "r")
        keys = self._keys(place)
        if opened.windows is None:
            return Call(lambda: [opened.read(key) for key in keys])
        windows, starts, shape = opened.windows, _starts(keys), _shape(keys[0])
        return Call(lambda: windows(starts, shape))

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        found = self.call(contender, place).run()
        return list(found)


def _starts(keys: list[Key]) -> AnyArray:
    return np.array([[part.start for part in key] for key in keys])


def _shape(key: Key) -> tuple[int, ...]:
    return tuple(part.stop - part.start for part in key)


@dataclass(frozen=True, kw_only=True)
class Write(Workload):
    """An array, or a part of it, into an empty one that is open; files go between timings."""

    layout: str
    key: Key = ...

    def ranks(self, contender: Contender) -> bool:
        return contender.atomic

    def _values(self, place: Place) -> AnyArray:
        layout = place.layout(self.layout)
        values = full_values(layout.values, layout.shape).astype(layout.dtype, copy=False)
        return np.ascontiguousarray(values[self.key])

    def call(self, contender: Contender, place: Place) -> Call:
        layout, values = place.layout(self.layout), self._values(place)
        path = place.scratch / f"{contender.name.replace(' ', '-')}.zarr"
        targets: list[Callable[[Key, AnyArray], None]] = []

        def prepare() -> None:
            for earlier in place.scratch.iterdir():
                shutil.rmtree(earlier)
            layout.make_empty(path)
            targets[:] = [contender.open(path, "r+").write]

        return Call(lambda: targets[0](self.key, values), prepare=prepare)

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        self.call_of(contender, place).timing(1)
        path = place.scratch / f"{contender.name.replace(' ', '-')}.zarr"
        readers = map(named, (*self.peers, OURS))
        reader = next(c for c in readers if c.available and c.python is None)
        stored = reader.open(path, "r").read(self.key)
        shutil.rmtree(path)
        return [stored]

    # What was written elsewhere is read here.
    result_of = result

    def floor(self, place: Place) -> Call | None:
        layout = place.layout(self.layout)
        if layout.shards or self.key is not ...:
            return None  # small inner chunks cost more in Python than in the codec
        return floor.write(lambda: place.scratch / "floor", layout, self._values(place))


@dataclass(frozen=True, kw_only=True)
class Open(Workload):
    """From a path to an array that can be read."""

    layout: str

    def build(self, place: Place) -> None:
        place.layout(self.layout).build(place.data)

    def call(self, contender: Contender, place: Place) -> Call:
        path = place.layout(self.layout).build(place.data)
        return Call(lambda: contender.open(path, "r"))

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        path = place.layout(self.layout).build(place.data)
        return [contender.open(path, "r").read((slice(0, 1),) * 2)]


@dataclass(frozen=True, kw_only=True)
class OpenGroup(Workload):
    """From a path to the names and shapes of a group's arrays."""

    count: int

    def _path(self, place: Place) -> Path:
        path = place.data / f"group-of-{self.count}.zarr"
        last = path / f"a{self.count - 1}"
        if not (last / ".zarray").exists():
            shutil.rmtree(path, ignore_errors=True)
            path.mkdir(parents=True)
            (path / ".zgroup").write_text('{"zarr_format": 2}')
            for number in range(self.count):
                LAYOUTS["tiles"].make_empty(path / f"a{number}")
        return path

    def build(self, place: Place) -> None:
        self._path(place)

    def _listed(self, contender: Contender, place: Place) -> list[AnyArray]:
        assert contender.list_group is not None
        found = sorted(contender.list_group(self._path(place)))
        names, shapes = zip(*found, strict=True)
        return [np.array(names), np.array(shapes)]

    def call(self, contender: Contender, place: Place) -> Call:
        assert contender.list_group is not None
        list_group, path = contender.list_group, self._path(place)
        return Call(lambda: list_group(path))

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        return self._listed(contender, place)


@dataclass(frozen=True, kw_only=True)
class Text(Workload):
    """A million short strings of v3 into NumPy's StringDType."""

    def _path(self, place: Place) -> Path:
        return strings.build(place.data, 1000 if place.tiny else strings.COUNT)

    def build(self, place: Place) -> None:
        self._path(place)

    def call(self, contender: Contender, place: Place) -> Call:
        read = contender.open(self._path(place), "r").read
        return Call(lambda: read(...))

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        return [contender.open(self._path(place), "r").read(...)]


@dataclass(frozen=True, kw_only=True)
class Import(Workload):
    """What importing ``open`` from the module adds to `import numpy`, in a new interpreter.

    Importing zarrix alone imports next to nothing; with the function comes what opening needs.
    """

    def call(self, contender: Contender, place: Place) -> Call:
        code = (
            f"import sys; sys.path[:0] = {sys.path!r}\n"
            "import time, numpy\n"
            "start = time.perf_counter()\n"
            f"from {contender.label} import open\n"
            "print(time.perf_counter() - start)"
        )

        def run() -> float:
            words = [sys.executable, "-c", code]
            return float(subprocess.check_output(words, env=installed()))

        return Call(run, seconds=True)

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        return []


def scratch_folder() -> Path:
    """A new folder in memory where the machine has one, else among temporary files."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="benchmarks-", dir=memory if memory.is_dir() else None))
