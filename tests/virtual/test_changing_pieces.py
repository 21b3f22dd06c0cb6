"""Pieces that are replaced, overwritten, cut, removed, or lead back to themselves, between reads.

Each element of a piece tells the version of the piece. A read has one version of each piece, which
the piece has had, or it is an error; a list that is opened anew has no other version of a file than
the one that it lists. An array of Zarr that is open reads chunks of the metadata that it has, as
`zarr.open` does, so that lists of these are opened anew.
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual
from zarrix.errors import ZarrixError

ROWS = 6
CHANGES = (
    *("replace", "write", "remove", "cut", "longer", "shorter", "dtype", "garbage", "loop"),
    *("folder", "itself", "back"),
)
FORMATS = ("npy", "h5", "tif", "zarr2", "zarr3")


def of(piece: int, version: int, rows: int = ROWS) -> Any:
    """The elements of a version of a piece."""
    return np.arange(rows, dtype="i4") + 1000 * piece + 10 * version


class Pieces:
    """The pieces of a list in a folder, in one format."""

    def __init__(self, folder: Path, format: str) -> None:
        self.folder, self.format, self.version = folder, format, [0, 0, 0]
        for piece in range(3):
            self.write(self.path(piece), of(piece, 0))
        self.saved = folder / "list.json"
        virtual.save(virtual.concat([self.name(piece) for piece in range(3)]), self.saved)
        self.listed = [of(piece, 0) for piece in range(3)]

    def path(self, piece: int) -> Path:
        return self.folder / f"{piece}.{self.format.rstrip('23')}"

    def name(self, piece: int) -> Path:
        return self.path(piece) / "u" if self.format == "h5" else self.path(piece)

    def write(self, path: Path, values: Any) -> None:
        if self.format == "npy":
            np.save(path, values)
        elif self.format == "tif":
            pytest.importorskip("tifffile").imwrite(path, np.stack([values] * 2, 1))
        elif self.format == "h5":
            with pytest.importorskip("h5py").File(path, "w", locking=False) as file:
                file["u"] = values
        else:
            number: Any = int(self.format[-1])
            zarr.save_array(path, values, zarr_format=number, chunks=4)

    def clear(self, piece: int) -> None:
        path = self.path(piece)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)

    def change(self, piece: int, how: str) -> None:
        """Change a piece."""
        path, new = self.path(piece), self.folder / f"new.{self.format.rstrip('23')}"
        self.version[piece] += 1
        version = self.version[piece]
        values = {
            "longer": of(piece, version, ROWS + 1),
            "shorter": of(piece, version, ROWS - 1),
            "dtype": of(piece, version).astype("f8"),
            "back": of(piece, 0),
        }.get(how, of(piece, version))
        is_file = path.is_file() and not path.is_symlink()
        if how == "write" and is_file and not self.format.startswith("zarr"):
            self.write(path, values)
        elif how == "cut" and path.exists() and not path.is_symlink():
            files = [path] if path.is_file() else sorted(one for one in path.rglob("*"))
            for file in files:
                if file.is_file():
                    os.truncate(file, file.stat().st_size // 2)
        else:
            self.clear(piece)
            if how in ("replace", "longer", "shorter", "dtype", "back", "write"):
                self.write(new, values)
                new.rename(path)
            elif how == "garbage":
                path.write_bytes(os.urandom(100))
            elif how == "loop":
                path.symlink_to(path.name)
            elif how == "folder":
                path.mkdir()
            elif how == "itself":
                path.symlink_to(self.saved.name)


def check(values: Any, begin: int, listed: list[set[int]] | None, top: list[int]) -> None:
    """Assert that each piece in a result is of one version, which it has had."""
    values = values[:, 0] if values.ndim > 1 else values
    for piece in range(3):
        low, high = max(begin, ROWS * piece), min(begin + len(values), ROWS * (piece + 1))
        if low < high:
            some = values[low - begin : high - begin].astype("i8")
            version, rest = np.divmod(some - (np.arange(low, high) - ROWS * piece), 10)
            assert not rest.any(), some
            one = {int(v) - 100 * piece for v in version}
            assert len(one) == 1, some
            assert one <= (set(range(top[piece] + 1)) if listed is None else listed[piece]), some


@pytest.mark.parametrize("format", FORMATS)
def test_a_read_has_one_version_of_each_piece_or_is_an_error(
    tmp_path: Path, format: str, pytestconfig: pytest.Config
) -> None:
    rng, ended = random.Random(7), Counter[str]()
    pieces = Pieces(tmp_path, format)
    is_file = not format.startswith("zarr")
    kept: Any = virtual.open(pieces.saved)
    for step in range(2000 if pytestconfig.getoption("--long") else 120):
        how = rng.choice(CHANGES)
        pieces.change(rng.randrange(3), how)
        begin = rng.randrange(3 * ROWS)
        stop = rng.randint(begin + 1, 3 * ROWS)
        for name in ("fresh", "kept") if is_file else ("fresh",):
            z: Any = virtual.open(pieces.saved) if name == "fresh" else kept
            # A new array has what is listed; "back" has the same elements and another time.
            listed = [{0}] * 3 if is_file and name == "fresh" else None
            try:
                check(z[begin:stop], begin, listed, pieces.version)
                ended[f"{name} read"] += 1
            except (ZarrixError, OSError) as error:
                ended[f"{name} {type(error).__name__}"] += 1
        if step % 10 == 9:
            kept = virtual.open(pieces.saved)
            for piece in range(3):
                if rng.random() < 0.5:
                    pieces.change(piece, "replace")
            try:
                kept = virtual.refresh(kept)
                check(kept[...], 0, None, pieces.version)
            except (ZarrixError, OSError) as error:
                ended[f"refresh {type(error).__name__}"] += 1
            for piece in range(3):
                pieces.change(piece, "back")
            virtual.save(
                virtual.concat([pieces.name(piece) for piece in range(3)]),
                pieces.saved,
                overwrite=True,
            )
    print(f"{format}: {step + 1} changes, {dict(ended)}")
    assert ended["fresh read"] > 5
    assert sum(count for name, count in ended.items() if "Error" in name) > 20
