"""What an import makes for a purpose, and that it stays readable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.convert._presets import PRESETS, layout
from zarrix.convert._source import SourceArray


def of(shape: tuple[int, ...], dtype: str = "u1") -> SourceArray:
    return SourceArray(shape, np.dtype(dtype), lambda region: None)


@pytest.mark.parametrize(
    ("preset", "shape", "chunks", "shards"),
    [
        ("training", (900, 3, 1080, 1920), (1, 3, 512, 512), None),
        ("training", (900, 1080, 1920, 3), (1, 512, 512, 3), None),
        ("training", (9, 300, 400), (1, 300, 400), None),
        ("training", (50,), (50,), None),
        ("measure", (900, 1080, 1920), "1 MiB", None),
        ("cloud", (0, 5), "1 MiB", None),
        ("archive", (4, 4), (4, 4), None),
    ],
)
def test_layouts_of_a_purpose(preset: str, shape: Any, chunks: Any, shards: Any) -> None:
    assert layout(preset, of(shape), "1 MiB") == (chunks, shards)


@pytest.mark.parametrize("preset", ["cloud", "archive", "training"])
def test_shards_have_whole_chunks_and_a_bounded_size(preset: str) -> None:
    chunks, shards = layout(preset, of((60_000, 640, 480)), "1 MiB")
    assert shards is not None
    assert all(s % c == 0 for s, c in zip(shards, chunks, strict=True))
    assert np.prod(chunks) <= (2**19 if preset == "cloud" else 2**20)
    assert np.prod(shards) <= {"archive": 2**28}.get(preset, 2**26)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_gives_the_values_back(preset: Any, tmp_path: Path) -> None:
    value = np.arange(6 * 3 * 300 * 200, dtype="i4").reshape(6, 3, 300, 200)
    np.savez(tmp_path / "x.npz", x=value)
    words = ["import", str(tmp_path / "x.npz"), str(tmp_path / "x.zarr"), "--for", preset, "-q"]
    assert main(words) == 0
    group = zarr.open(tmp_path / "x.zarr", mode="r")
    assert np.array_equal(group["x"][...], value)
    assert (group["x"].shards is not None) == (preset in ("cloud", "archive"))
    assert (group.metadata.consolidated_metadata is not None) == (preset == "cloud")


def test_chunks_that_are_asked_for_are_not_changed(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((40, 50)))
    zarr.import_(tmp_path / "x.npy", tmp_path / "x.zarr", preset="cloud", chunks=(7, 8))
    assert zarr.open(tmp_path / "x.zarr", mode="r").chunks == (7, 8)
    with pytest.raises(ValueError, match="preset is one of"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "y.zarr", preset="what")


def test_values_are_rounded_only_where_an_error_is_named(tmp_path: Path) -> None:
    value = np.random.default_rng(4).normal(size=(40, 50)).astype("f4")
    np.save(tmp_path / "x.npy", value)
    made = zarr.import_(tmp_path / "x.npy", tmp_path / "x.zarr", max_error=0.01, verify="full")
    found = zarr.open(tmp_path / "x.zarr", mode="r")[...]
    error = float(np.abs(found - value).max())
    assert 0 < error <= 0.01
    assert made.notes == [
        f"the array: values are rounded by at most 0.01; the largest error is {error:.3g}"
    ]
    exact = zarr.import_(tmp_path / "x.npy", tmp_path / "y.zarr")
    assert exact.stored_bytes > 1.5 * made.stored_bytes
    assert exact.notes == []
    with pytest.raises(ValueError, match="keep_chunks copies encoded chunks"):
        zarr.import_(tmp_path / "x.npy", tmp_path / "z.zarr", max_error=1.0, keep_chunks=True)
