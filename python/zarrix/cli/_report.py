"""What a demo found, as a table for people or as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

import zarrix as zarr
from zarrix.cli._contenders import Shape


@dataclass(frozen=True)
class Row:
    """One format: what it takes and what it gives.

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
    """Everything a demo found; the first row is zarrix.

    dataset, sheet : Path
        Where the data set and the contact sheet are.
    elapsed_s : float
        The whole demo.
    """

    shape: Shape
    rows: list[Row]
    dataset: Path
    sheet: Path
    elapsed_s: float

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
                "dataset": str(self.dataset),
                "contact_sheet": str(self.sheet),
                "elapsed_s": self.elapsed_s,
            },
            indent=2,
        )

    def print_table(self, console: Console) -> None:
        shape = self.shape
        table = Table(
            title=f"{shape.frames} frames of 3 x {shape.height} x {shape.width} uint8, "
            f"{_megabytes(self.raw_bytes)} MB; crops of {shape.crop} x {shape.crop}",
            box=box.SIMPLE_HEAD,
            title_justify="left",
            title_style="bold",
        )
        table.add_column("format", min_width=6)
        table.add_column("how")  # the one that gives way, by wrapping, where the terminal is narrow
        for heading, widest in (
            ("MB", 5),
            ("smaller", 7),
            ("write s", 7),
            ("crops/s", 7),
            ("vs zarrix", 12),
        ):
            table.add_column(heading, justify="right", no_wrap=True, min_width=widest)
        ours = self.rows[0].crops_per_s
        for row in self.rows:
            table.add_row(
                row.name,
                row.how,
                _megabytes(row.stored_bytes),
                f"{self.raw_bytes / row.stored_bytes:.2f}x",
                f"{row.write_s:.1f}",
                f"{row.crops_per_s:.1f}" if row.crops_per_s < 100 else f"{row.crops_per_s:.0f}",
                "" if row is self.rows[0] else _against(row.crops_per_s / ours),
                style="bold" if row is self.rows[0] else None,
            )
        console.print(table)
        console.print(
            "Every format loaded the same crops in the same order, one at a time, from the page "
            "cache; each was compared with the frame it came from. "
            f"Done in {self.elapsed_s:.0f} s.",
            highlight=False,
        )
        console.print()
        for name, path in (("Data set", self.dataset), ("Contact sheet", self.sheet)):
            # A path is one word to whoever copies it, however long the line gets.
            console.print(f"{name + ':':15}{path}", soft_wrap=True, markup=False, highlight=False)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f}" if count < 100e6 else f"{count / 1e6:.0f}"


def _against(speed: float) -> str:
    return f"{speed:.1f}x faster" if speed >= 1 else f"{1 / speed:.1f}x slower"
