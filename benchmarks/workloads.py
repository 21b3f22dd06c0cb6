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

from benchmarks import elsewhere, floor, strings
from benchmarks.contenders import OURS, ZARR, AnyArray, Contender, Key, named
from benchmarks.data import LAYOUTS, Layout, full_values
from benchmarks.measure import Call

Keys = Callable[[Layout, np.random.Generator], list[Key]]


@dataclass(frozen=True)
class Place:
    """Where the run keeps its files.

    data : of the arrays that are read
    scratch : of what is written while measuring, in memory where the machine has such a place
    tiny : arrays of a size that tests the harness, and no speed
    """

    data: Path
    scratch: Path
    tiny: bool

    def layout(self, name: str) -> Layout:
        """An array at the size of this run."""
        return LAYOUTS[name].sized(self.tiny)


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
            return float(subprocess.check_output([sys.executable, "-c", code]))

        return Call(run, seconds=True)

    def result(self, contender: Contender, place: Place) -> list[AnyArray]:
        return []


def everything(layout: Layout, rng: np.random.Generator) -> list[Key]:
    """The whole array."""
    return [(slice(None),) * len(layout.shape)]


def boxes(size: tuple[int | None, ...], count: int) -> Keys:
    """Boxes at random places: a length for each axis, None for all of it."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        keys: list[Key] = []
        for _ in range(count):
            box = []
            for wanted, length in zip(size, layout.shape, strict=True):
                extent = min(wanted or length, length)
                start = int(rng.integers(length - extent + 1))
                box.append(slice(start, start + extent))
            keys.append(tuple(box))
        return keys

    return draw


def indices(axis: int, count: int) -> Keys:
    """One index of one axis, everything of the others."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        before = (slice(None),) * axis
        return [(*before, int(i)) for i in rng.integers(layout.shape[axis], size=count)]

    return draw


def chunks(count: int) -> Keys:
    """Whole chunks at random places."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        keys: list[Key] = []
        for _ in range(count):
            starts = [
                c * int(rng.integers(n // c))
                for n, c in zip(layout.shape, layout.chunks, strict=True)
            ]
            keys.append(tuple(slice(s, s + c) for s, c in zip(starts, layout.chunks, strict=True)))
        return keys

    return draw


def elements(count: int) -> Keys:
    """Single elements at random places."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [tuple(int(rng.integers(n)) for n in layout.shape) for _ in range(count)]

    return draw


def crops(side: int, count: int = 8) -> Keys:
    """Square crops of one frame with all its channels, as a data loader takes them."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        drawn = boxes((1, None, side, side), count)(layout, rng)
        return [(box[0].start, *box[1:]) for box in drawn]

    return draw


def points(count: int) -> Keys:
    """Elements at random places, by one array of coordinates per axis."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [tuple(rng.integers(n, size=count) for n in layout.shape)]

    return draw


def rows(count: int) -> Keys:
    """Indices of the first axis in any order, everything of the second."""

    def draw(layout: Layout, rng: np.random.Generator) -> list[Key]:
        return [(rng.integers(layout.shape[0], size=count), slice(None))]

    return draw


PYTHON3 = ("zarr-python", "zarr-python fused")
PYTHON = (*PYTHON3, "zarr-python 2")
"""Those with the data types and groups of zarr-python."""

FORMAT3 = (*PYTHON3, "zarrs", "zarrista", "TensorStore")
"""Those who read v3."""

SELECTING = (*PYTHON, "zarrs", "TensorStore")
"""Those with `vindex` and `oindex`."""

OTHERS = ("h5py", "b2nd", "TileDB")
"""Those who read a format of their own."""

WORKLOADS: tuple[Workload, ...] = (
    Read("video zstd bitshuffle: crop 960", 1.2, 1.8, layout="video-zstd", keys=crops(960)),
    Read("video zstd bitshuffle: crop 256", None, 2.5, layout="video-zstd", keys=crops(256)),
    Read("video lz4 shuffle: crop 960", None, 1.5, layout="video-lz4", keys=crops(960)),
    Read("video lz4 shuffle: crop 256", None, 2.5, layout="video-lz4", keys=crops(256)),
    Windows(
        "video zstd bitshuffle: 32 crops 256 at once",
        None,
        4,
        layout="video-zstd",
        keys=boxes((1, None, 256, 256), 32),
    ),
    Windows(
        "video lz4 shuffle: 32 crops 256 at once",
        None,
        4,
        layout="video-lz4",
        keys=boxes((1, None, 256, 256), 32),
    ),
    Read("planes: all", None, 3, layout="planes", keys=everything),
    Read("planes: [:, :, k]", None, 1.8, layout="planes", keys=indices(2, 8)),
    Read("planes: [k]", None, 6, layout="planes", keys=indices(0, 1)),
    Write("planes: write", None, 1.5, layout="planes"),
    Write("planes: write [:, :, k]", None, None, layout="planes", key=np.s_[:, :, 3:4]),
    Read("tiles: all 4096", 1.5, 2.5, layout="tiles", keys=everything),
    Read("tiles: box 256", None, 2, layout="tiles", keys=boxes((256, 256), 16), bulk=False),
    Read("tiles: one chunk", 3, 5, layout="tiles", keys=chunks(64), bulk=False),
    Read("tiles: one element", None, 5, layout="tiles", keys=elements(64), bulk=False),
    Select(
        "tiles: vindex", None, 1.8, SELECTING, layout="tiles", keys=points(20_000), rule="points"
    ),
    Select("tiles: oindex", None, 1.8, SELECTING, layout="tiles", keys=rows(500), rule="outer"),
    Write("tiles: write", None, 1.1, layout="tiles"),
    Read("tiles: all, own formats", None, 1, OTHERS, layout="tiles", keys=everything, bulk=False),
    Read(
        "tiles: one chunk, own formats",
        None,
        1,
        OTHERS,
        layout="tiles",
        keys=chunks(64),
        bulk=False,
    ),
    Read("shards: all", None, 2, FORMAT3, layout="shards", keys=everything),
    Read(
        "shards: box 128", None, 8, FORMAT3, layout="shards", keys=boxes((128, 128), 32), bulk=False
    ),
    Write("shards: write", None, 1.5, FORMAT3, layout="shards"),
    Write("shards: write one", None, None, FORMAT3, layout="shards", key=np.s_[:2048, :2048]),
    Read("volume: all", None, 1.3, FORMAT3, layout="volume", keys=everything),
    Read(
        "volume: box 64",
        None,
        3,
        FORMAT3,
        layout="volume",
        keys=boxes((64, 64, 64), 16),
        bulk=False,
    ),
    Read(
        "plain: all, against numpy.load",
        None,
        0.9,
        ("numpy.load",),
        layout="plain",
        keys=everything,
        bulk=False,
    ),
    Read(
        "plain: window, against memmap",
        None,
        0.5,
        ("numpy memmap",),
        layout="plain",
        keys=boxes((1, 256, 256), 32),
        bulk=False,
    ),
    Text("strings: all", None, 2, PYTHON3),
    Read("datetimes: all", None, 3, PYTHON, layout="datetimes", keys=everything),
    Read("records: all", None, 3, PYTHON, layout="records", keys=everything),
    Read("big-endian: all", None, 3, PYTHON, layout="big-endian", keys=everything),
    OpenGroup("open a group of 200 and list it", None, 3, PYTHON, count=200),
    Open("open an array", None, 2, layout="tiles"),
    Import("import of open, beyond numpy", peers=("zarr-python", "TensorStore"), limit_s=0.040),
)


def scratch_folder() -> Path:
    """A new folder in memory where the machine has one, else among temporary files."""
    memory = Path("/dev/shm")
    return Path(tempfile.mkdtemp(prefix="benchmarks-", dir=memory if memory.is_dir() else None))
