"""The results of a demo, as a table for people or as JSON for programs."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

import zarrix as zarr
from zarrix.cli._demo.contenders import Shape
from zarrix.cli._demo.epochs import Epoch, sentences

# Columns of a terminal: for the table, and for the table with a column on storage.
_WIDTH_OF_TABLE = 64
_WIDTH_WITH_HOW = 100


@dataclass(frozen=True)
class Row:
    """One format: its size and its speed.

    stored_bytes : int
        On disk, of the frames alone.
    write_s : float
    crops : int
        How many were loaded, in ``crop_s`` seconds.
    crop_s : float
    """

    name: str
    how: str
    stored_bytes: int
    write_s: float
    crops: int
    crop_s: float

    @property
    def crops_per_s(self) -> float:
        return self.crops / self.crop_s


@dataclass(frozen=True)
class Report:
    """All results of a demo; the first row is zarrix.

    dataset, sheet : Path
        Where the data set and the contact sheet are.
    elapsed_s : float
        The whole demo.
    left_bytes : int
        Bytes in the folder of the data set.
    epochs : sequence of Epoch
        Loaders of training batches; the first one is that of zarrix.
    """

    shape: Shape
    rows: list[Row]
    dataset: Path
    sheet: Path
    elapsed_s: float
    left_bytes: int
    epochs: Sequence[Epoch] = ()

    @property
    def raw_bytes(self) -> int:
        return self.shape.frames * self.shape.frame_bytes

    def as_json(self) -> str:
        ours = self.rows[0].crops_per_s
        return json.dumps(
            {
                "zarrix": zarr.__version__,
                "shape": self.shape.array,
                "crop": self.shape.crop,
                "raw_bytes": self.raw_bytes,
                "rows": [
                    {
                        **asdict(row),
                        "crops_per_s": row.crops_per_s,
                        "relative": row.crops_per_s / ours,
                        "ratio": self.raw_bytes / row.stored_bytes,
                    }
                    for row in self.rows
                ],
                "loaders": [{**asdict(one), "crops_per_s": one.crops_per_s} for one in self.epochs],
                "dataset": str(self.dataset),
                "contact_sheet": str(self.sheet),
                "elapsed_s": self.elapsed_s,
                "left_bytes": self.left_bytes,
            },
            indent=2,
        )

    def print_table(self, console: Console) -> None:
        """Print a table; on a narrow console, the rest below it or as a list."""
        print_rows = self._print_columns if console.width >= _WIDTH_OF_TABLE else self._print_list
        print_rows(console)
        console.print(
            "Every format loaded the same crops in the same order, one at a time, from the page "
            "cache; each was compared with the frame it came from. "
            f"Done in {self.elapsed_s:.0f} s.",
            highlight=False,
        )
        if self._is_cached_by_hdf5:
            console.print(
                "HDF5 caches the last decoded chunks, and chunks this small stay in its cache: "
                "most of its crops were copied, not decoded. zarrix does the same if "
                "zarrix.config.chunk_cache_bytes is set.",
                highlight=False,
            )
        if self.epochs:
            console.print("\nAn epoch of batches for training, the same crops:", highlight=False)
            for line in sentences(self.epochs):
                console.print(f"- {line}", highlight=False, markup=False)
        console.print()
        for name, path in (("Data set", self.dataset), ("Contact sheet", self.sheet)):
            # A path is copied as one word, however long the line gets.
            console.print(f"{name + ':':15}{path}", soft_wrap=True, markup=False, highlight=False)
        console.print(
            f"The folder keeps {_megabytes(self.left_bytes)} MB. To remove it:\n"
            f"rm -r {shlex.quote(str(self.dataset.parent))}\n\n"
            f"Look at it in the browser:\nzarrix view {shlex.quote(str(self.dataset))}",
            soft_wrap=True,
            markup=False,
            highlight=False,
        )

    @property
    def _title(self) -> str:
        shape = self.shape
        frames = "1 frame" if shape.frames == 1 else f"{shape.frames} frames"
        return (
            f"{frames} of 3 x {shape.height} x {shape.width} uint8, "
            f"{_megabytes(self.raw_bytes)} MB; crops of {shape.crop} x {shape.crop}"
        )

    @property
    def _is_cached_by_hdf5(self) -> bool:
        found = (row for row in self.rows if row.name == "HDF5")
        return any(row.crops_per_s > self.rows[0].crops_per_s for row in found)

    def _print_columns(self, console: Console) -> None:
        is_wide = console.width >= _WIDTH_WITH_HOW
        table = Table(
            title=self._title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold"
        )
        table.add_column("format", min_width=6)
        if is_wide:
            table.add_column("how")
        for heading, widest in (
            ("MB", 5),
            ("smaller", 7),
            ("write s", 7),
            ("crops/s", 7),
            ("vs zarrix", 12),
        ):
            table.add_column(heading, justify="right", no_wrap=True, min_width=widest)
        for row in self.rows:
            cells = (row.name, row.how) if is_wide else (row.name,)
            style = "bold" if row is self.rows[0] else None
            table.add_row(*cells, *self._cells(row), style=style)
        console.print(table)
        if not is_wide:
            for row in self.rows:
                console.print(f"  {row.name + ':':8}{row.how}", highlight=False)
            console.print()

    def _print_list(self, console: Console) -> None:
        console.print(self._title, style="bold", highlight=False)
        for row in self.rows:
            megabytes, smaller, write_s, crops, against = self._cells(row)
            console.print(f"\n{row.name}: {row.how}", style="bold", highlight=False)
            console.print(f"  {megabytes} MB, {smaller} smaller, write {write_s} s")
            console.print(f"  {crops} crops/s{against and f', {against}'}", highlight=False)
        console.print()

    def _cells(self, row: Row) -> tuple[str, str, str, str, str]:
        """MB, smaller, write s, crops/s, vs zarrix."""
        ours = self.rows[0]
        return (
            _megabytes(row.stored_bytes),
            f"{self.raw_bytes / row.stored_bytes:.2f}x",
            f"{row.write_s:.1f}",
            f"{row.crops_per_s:.1f}" if row.crops_per_s < 100 else f"{row.crops_per_s:.0f}",
            "" if row is ours else _against(row.crops_per_s / ours.crops_per_s),
        )


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}" if count < 100e6 else f"{count / 1e6:.0f}"


def _against(speed: float) -> str:
    return f"{speed:.1f}x faster" if speed >= 1 else f"{1 / speed:.1f}x slower"
