"""An epoch of training batches: the loader of zarrix beside the loops that people write by hand.

All load the same crops in the same order: those of the loader, whose batches have their corners.
"""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import zarrix as zarr
from zarrix import ml
from zarrix.cli._demo.contenders import CONTENDERS, ZARR, Shape

__all__ = ["Epoch", "epochs", "sentences"]

_BATCH = 8
_PER_FRAME = 4


@dataclass(frozen=True)
class Epoch:
    """One loader: what it is, and how many crops it delivered in how many seconds."""

    name: str
    crops: int
    seconds: float

    @property
    def crops_per_s(self) -> float:
        return self.crops / self.seconds


def epochs(folder: Path, shape: Shape, seconds: float, check: Callable[[], None]) -> list[Epoch]:
    """Time each loader for an epoch, or until ``seconds`` are over; their values are compared.

    Raises
    ------
    ValueError
        A loader gave other values than the first one.
    """
    gt = zarr.open_group(str(folder / ZARR.target), mode="r")["gt"]
    size = {"y": shape.crop, "x": shape.crop}
    crops = ml.Crops({"gt": gt}, dims="tcyx", size=size, per_item=_PER_FRAME)
    loader = ml.Loader(crops, _BATCH, seed=0)
    corners: list[Any] = []

    def ours() -> Iterator[NDArray[np.uint8]]:
        for batch in loader:
            corners.append(batch["start"][:, [0, 2, 3]].tolist())
            yield batch["gt"]

    sums: list[int] = []
    found = [_timed("zarrix.ml.Loader", ours(), seconds, sums, check)]
    png = next(one for one in CONTENDERS if one.name == "PNG")
    with png.reader(folder / png.target, shape.crop) as crop:
        by_hand = (np.stack([crop(*at) for at in batch]) for batch in corners)
        found.append(_timed("a loop over PNG files", by_hand, seconds, sums, check))
    peer = _zarr_python()
    if peer is not None:
        theirs = peer.open_group(str(folder / ZARR.target), mode="r")["gt"]
        side = shape.crop
        slices = (
            np.stack([theirs[t, :, y : y + side, x : x + side] for t, y, x in batch])
            for batch in corners
        )
        name = f"a loop over zarr-python {peer.__version__}"
        found.append(_timed(name, slices, seconds, sums, check))
    return found


def _timed(
    name: str,
    batches: Iterator[NDArray[np.uint8]],
    seconds: float,
    sums: list[int],
    check: Callable[[], None],
) -> Epoch:
    crops, spent, number = 0, 0.0, 0
    while spent < seconds or not number:
        check()
        begun = time.perf_counter()
        batch = next(batches, None)
        spent += time.perf_counter() - begun
        if batch is None:
            break
        _compare(name, int(batch.sum(dtype=np.int64)), sums, number)
        crops, number = crops + len(batch), number + 1
    return Epoch(name, crops, spent)


def _compare(name: str, total: int, sums: list[int], number: int) -> None:
    if name.startswith("zarrix"):
        sums.append(total)
    elif sums[number : number + 1] not in ([], [total]):
        raise ValueError(f"{name} gave another batch {number}; please report this")


def _zarr_python() -> Any:
    """zarr-python if it is installed, and is not zarrix itself under that name."""
    try:
        peer = importlib.import_module("zarr")
    except ImportError:
        return None
    return None if peer is zarr or peer.__name__ != "zarr" else peer


def sentences(epochs: Sequence[Epoch]) -> list[str]:
    """Each loader with its speed, and how the first one compares."""
    lines = [f"{epochs[0].name}: {epochs[0].crops_per_s:.1f} crops/s"]
    for one in epochs[1:]:
        ratio = epochs[0].crops_per_s / one.crops_per_s
        against = f"{ratio:.1f}x slower" if ratio >= 1 else f"{1 / ratio:.1f}x faster"
        lines.append(f"{one.name}: {one.crops_per_s:.1f} crops/s, {against}")
    return lines
