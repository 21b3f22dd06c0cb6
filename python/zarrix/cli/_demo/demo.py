"""``zarrix demo``: the tutorial as a program.

It makes a moving picture with flow and depth, stores it as the tutorial lays it out (``gt``, and
``lr`` at half and a third of the size), writes the same frames in the other formats, loads the same
random crops from each, and draws a contact sheet. The crops are compared with checksums taken from
the frames before anything was written. Frames go through one at a time, so that memory does not
grow with their number; the other formats are written from what ``demo.zarr`` gives back.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

import zarrix as zarr
from zarrix.cli._demo import sheet
from zarrix.cli._demo.contenders import CONTENDERS, ZARR, Bytes, Contender, Shape, compressor
from zarrix.cli._demo.epochs import Epoch, epochs
from zarrix.cli._demo.folder import DemoError, Folder
from zarrix.cli._demo.report import Report, Row
from zarrix.cli._demo.scene import Frame, Scene
from zarrix.cli._interrupts import Interrupts

_SHEET = "contact-sheet.png"
_NAMES = (*(contender.target for contender in CONTENDERS), _SHEET)
_DIFFERENT_CROPS = 64
# Columns of a terminal.
_WIDTH_OF_BARS = 72

CropList = list[tuple[int, int, int]]


@dataclass(frozen=True)
class Options:
    """What the flags say.

    path : Path
        The folder that everything is written to.
    frames : int
    seconds : float
        How long crops are loaded from each format.
    seed : int
        Of the scene and of the crops.
    height : int
        Of the frames, in pixels; a multiple of 36, and the width is 16/9 of it.
    progress, json : bool
    """

    path: Path
    frames: int
    seconds: float
    seed: int
    height: int
    progress: bool
    json: bool


def main(options: Options, interrupts: Interrupts) -> int:
    """Run the demo and print what it found; the exit code."""
    try:
        report = _Demo(options, interrupts).run()
    except BaseException:
        if not interrupts.pressed:
            raise
        done = ", ".join(Folder(options.path, _NAMES, interrupts).finished())
        kept = f"{done} in {options.path} complete" if done else "nothing was written"
        print(f"zarrix: interrupted; {kept}, no unfinished file is left", file=sys.stderr)
        return 130
    if options.json:
        print(report.as_json())
    else:
        console = Console()
        # A file or a pipe has no width of its own, and the 80 columns assumed are few.
        report.print_table(console if console.is_terminal else Console(width=104))
    return 0


class _Demo:
    """One run: what its steps share, and the steps."""

    def __init__(self, options: Options, interrupts: Interrupts) -> None:
        height, width = options.height, options.height * 16 // 9
        self._options = options
        self._interrupts = interrupts
        self._shape = Shape(options.frames, height, width, crop=height * 4 // 9)
        self._crops = _crop_list(self._shape, options.seed)
        self._sums: dict[tuple[int, int, int], int] = {}
        self._progress = _bars(Console(stderr=True))

    def run(self) -> Report:
        begun = time.perf_counter()
        # Without bars, none is shown, because some releases of rich end even disabled bars with an
        # empty line.
        shown = self._progress if self._options.progress else contextlib.nullcontext()
        with Folder(self._options.path, _NAMES, self._interrupts) as folder, ExitStack() as stack:
            folder.claim()
            self._check_space(folder.path)
            # Not before, because a bar that ends without having begun leaves an empty line.
            stack.enter_context(shown)
            written = {ZARR.name: self._make(folder)}
            gt = zarr.open_group(str(folder.path / ZARR.target), mode="r")["gt"]
            for contender in CONTENDERS[1:]:
                written[contender.name] = self._write(folder, contender, gt)
            rows = [self._race(folder, c, written[c.name]) for c in CONTENDERS]
            loaders = self._load(folder)
            self._draw(folder, rows[0])
        where = folder.path.absolute()
        elapsed = time.perf_counter() - begun
        left = _stored_bytes(where)
        return Report(
            self._shape, rows, where / ZARR.target, where / _SHEET, elapsed, left, loaders
        )

    def _check_space(self, folder: Path) -> None:
        # Raw once as npy, in six formats and resolutions at four fifths at most.
        needed = 6 * self._shape.frames * self._shape.frame_bytes
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise DemoError(
                f"{self._shape.frames} frames need up to {needed / 1e9:.1f} GB and {folder} has "
                f"{free / 1e9:.1f} GB; take fewer --frames, a smaller --size or another --path"
            )

    def _make(self, folder: Folder) -> float:
        """Write demo.zarr and note the checksums of the crops; the seconds that ``gt`` took."""
        shape = self._shape
        advance = self._bar(ZARR.target, shape.frames)
        gt_s = low_s = 0.0
        written = 0
        with folder.unfinished(ZARR.target) as path, ZARR.writer(path, shape) as put:
            low = _low_resolutions(zarr.open_group(str(path), mode="a"), shape)
            scene = Scene(shape.height, shape.width, self._options.seed)
            for t in range(shape.frames):
                self._interrupts.check()
                frame = scene.frame(t)
                self._note_crops(t, frame.rgb)
                parts: list[tuple[Any, NDArray[Any]]] = []
                for factor, arrays in low.items():
                    small: Iterable[NDArray[Any]] = frame.reduced(factor)
                    parts += zip(arrays, small, strict=True)
                begun = time.perf_counter()
                put(t, frame.rgb)
                between = time.perf_counter()
                for array, part in parts:
                    array[t] = part
                gt_s += between - begun
                low_s += time.perf_counter() - between
                written += frame.rgb.nbytes + sum(part.nbytes for _, part in parts)
                advance(1, f"{written / 1e6 / (gt_s + low_s):.0f} MB/s")
        return gt_s

    def _write(self, folder: Folder, contender: Contender, gt: Any) -> float:
        """Write the frames in another format; the seconds it took, without reading them."""
        reading_s = 0.0
        begun = time.perf_counter()
        advance = self._bar(contender.target, self._shape.frames)
        with (
            folder.unfinished(contender.target) as path,
            contender.writer(path, self._shape) as put,
        ):
            for t in range(self._shape.frames):
                self._interrupts.check()
                start = time.perf_counter()
                frame = gt[t]
                reading_s += time.perf_counter() - start
                put(t, frame)
                spent = time.perf_counter() - begun - reading_s
                advance(1, f"{(t + 1) * self._shape.frame_bytes / 1e6 / spent:.0f} MB/s")
        return time.perf_counter() - begun - reading_s

    def _race(self, folder: Folder, contender: Contender, write_s: float) -> Row:
        """Load crops for a while, each compared, outside the time, when it first comes."""
        path = folder.path / contender.target
        loaded, spent = 0, 0.0
        advance = self._bar(f"crops from {contender.name}", self._options.seconds)
        with contender.reader(path, self._shape.crop) as crop:
            while spent < self._options.seconds:
                self._interrupts.check()
                at = self._crops[loaded % len(self._crops)]
                begun = time.perf_counter()
                part = crop(*at)
                took = time.perf_counter() - begun
                if loaded < len(self._crops):
                    self._compare(contender, at, part)
                loaded, spent = loaded + 1, spent + took
                advance(took, f"{loaded / spent:.1f} crops/s")
        stored, how = _stored_bytes(path / contender.weighed), contender.how
        if contender.lossy:
            how = f"{how}, {self._psnr(folder, contender):.1f} dB"
        return Row(contender.name, how, stored, write_s, loaded, spent)

    def _psnr(self, folder: Folder, contender: Contender) -> float:
        """How near the first crop of a lossy format is to that of the array, in dB."""
        size = self._shape.crop
        with (
            contender.reader(folder.path / contender.target, size) as lossy,
            ZARR.reader(folder.path / ZARR.target, size) as exact,
        ):
            at = self._crops[0]
            error = np.mean((lossy(*at).astype("f4") - exact(*at)) ** 2, dtype="f8")
        return float(10 * np.log10(255**2 / max(error, 1e-9)))

    def _load(self, folder: Folder) -> list[Epoch]:
        """Load an epoch of training batches by each loader."""
        try:
            check = self._interrupts.check
            return epochs(folder.path, self._shape, self._options.seconds, check)
        except ValueError as error:
            raise DemoError(str(error)) from None

    def _draw(self, folder: Folder, ours: Row) -> None:
        shape = self._shape
        ratio = shape.frames * shape.frame_bytes / ours.stored_bytes
        frames = "frame" if shape.frames == 1 else "frames"
        title = (
            f"gt: {shape.frames} {frames} of 3 x {shape.height} x {shape.width}, "
            f"{ratio:.2f}x smaller in Blosc zstd.  Below: crops of {shape.crop} x {shape.crop} "
            f"and their flow and depth from lr/{shape.height // 2}p"
        )
        root = zarr.open_group(str(folder.path / ZARR.target), mode="r")
        with folder.unfinished(_SHEET) as path:
            halves = f"lr/{shape.height // 2}p"
            sheet.draw(root, halves, self._crops, shape.crop, title, path)

    def _note_crops(self, t: int, rgb: Bytes) -> None:
        size = self._shape.crop
        for at in self._crops:
            if at[0] == t:
                part = rgb[:, at[1] : at[1] + size, at[2] : at[2] + size]
                self._sums[at] = zlib.crc32(np.ascontiguousarray(part).data)

    def _compare(self, contender: Contender, at: tuple[int, int, int], part: Bytes) -> None:
        size = self._shape.crop
        same = contender.lossy or zlib.crc32(part.data) == self._sums[at]
        if part.shape != (3, size, size) or not same:
            raise DemoError(
                f"{contender.name} gave a crop of frame {at[0]} at {at[1:]} that differs from "
                "what was written; please report this"
            )

    def _bar(self, name: str, total: float | None) -> Callable[[float, str], None]:
        """Show a new bar; what is returned moves it on and says how fast."""
        bar = self._progress.add_task(name, total=total, rate="")
        return lambda by, rate: self._progress.update(bar, advance=by, rate=rate)


def _bars(console: Console) -> Progress:
    """Bars that fit into the console; a narrow one has percentages only."""
    description, percent = "{task.description:24}", TextColumn("{task.percentage:>3.0f}%")
    if console.width < _WIDTH_OF_BARS:
        return Progress(TextColumn(description), percent, console=console)
    rate = TextColumn("{task.fields[rate]:>12}")
    return Progress(
        TextColumn(description), BarColumn(), percent, rate, TimeElapsedColumn(), console=console
    )


def _crop_list(shape: Shape, seed: int) -> CropList:
    """The crops that every format loads: frame, top and left, drawn evenly."""
    rng = np.random.default_rng((seed, 1))
    ends = (shape.frames, shape.height - shape.crop + 1, shape.width - shape.crop + 1)
    drawn = rng.integers(0, ends, (_DIFFERENT_CROPS, 3)).tolist()
    return [(t, top, left) for t, top, left in drawn]


def _low_resolutions(root: Any, shape: Shape) -> dict[int, list[Any]]:
    """Make ``lr``: by its factor, the rgb, flow and depth arrays of each resolution."""
    chunk = (shape.height // 6, shape.width // 6)
    made = {}
    for factor in (3, 2):
        size = (shape.height // factor, shape.width // factor)
        group = root.require_group(f"lr/{size[0]}p")
        made[factor] = [
            group.create_dataset(
                name,
                shape=(shape.frames, *channels, *size),
                chunks=(1, *channels, *chunk),
                dtype=dtype,
                compressor=compressor(),
            )
            for name, channels, dtype in zip(
                Frame._fields, ((3,), (2,), ()), ("uint8", "float16", "float16"), strict=True
            )
        ]
    return made


def _stored_bytes(path: Path) -> int:
    files: Sequence[Path] = [path] if path.is_file() else [*path.rglob("*")]
    return sum(file.stat().st_size for file in files if file.is_file())
