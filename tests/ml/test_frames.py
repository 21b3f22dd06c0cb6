"""What a loader costs before its first batch: our own Python frames, counted and not guessed.

The reading thread fills the first batches meanwhile, about 120 frames for a batch of a full shuffle
and 400 for a window of eight batches. Without read-ahead the calling thread reads the first batch
itself, so that its count has all that the batch needs.
"""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

PACKAGE = str(Path(zarr.__file__).parent)
MAX_FRAMES = 250
MAX_FRAMES_WITH_READING = 330


def crops_of(chunk: int) -> ml.Crops:
    rgb = np.arange(8 * 3 * 64 * 96).astype("u1").reshape(8, 3, 64, 96)
    depth = np.ones((8, 32, 48), "f4")
    fields = {
        "rgb": zarr.array(rgb, chunks=(1, 3, chunk, chunk)),
        "depth": zarr.array(depth, chunks=(1, chunk, chunk)),
    }
    return ml.Crops(
        fields, dims={"rgb": "tcyx", "depth": "tyx"}, size={"y": 16, "x": 16}, per_item=4
    )


def frames_of(call: Callable[[], Any]) -> list[str]:
    """Names of our Python functions that a call runs on this thread."""
    frames: list[str] = []

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(PACKAGE):
            frames.append(frame.f_code.co_qualname)

    sys.setprofile(profile)
    try:
        call()
    finally:
        sys.setprofile(None)
    return frames


def frames_to_the_first_batch(crops: ml.Crops, **options: Any) -> list[str]:
    loaders: list[ml.Loader] = []

    def begin() -> None:
        loaders.append(ml.Loader(crops, batch_size=4, **options))
        assert next(iter(loaders[0]))["rgb"].shape == (4, 3, 16, 16)

    frames = frames_of(begin)
    loaders[0].close()
    return frames


@pytest.mark.parametrize("shuffle", [True, "full", "block", False])
def test_a_first_batch_takes_250_frames_at_most(shuffle: bool | str) -> None:
    frames = frames_to_the_first_batch(crops_of(32), shuffle=shuffle)
    assert len(frames) <= MAX_FRAMES, frames


@pytest.mark.parametrize("shuffle", [True, "full", "block", False])
def test_a_first_batch_that_the_caller_reads_takes_330_frames_at_most(shuffle: bool | str) -> None:
    frames = frames_to_the_first_batch(crops_of(32), shuffle=shuffle, prefetch=0)
    assert "fetch" in frames, "the caller reads"
    assert len(frames) <= MAX_FRAMES_WITH_READING, frames


def test_frames_to_the_first_batch_do_not_grow_with_chunks() -> None:
    few, many = (crops_of(chunk) for chunk in (32, 2))
    for crops in (few, many):
        # What is computed once for an array, or for a dataset.
        frames_to_the_first_batch(crops, shuffle="full", prefetch=0)
    of_few, of_many = (
        frames_to_the_first_batch(crops, shuffle="full", prefetch=0) for crops in (few, many)
    )
    assert of_few == of_many
