"""Arrays that the tests of loaders read, with their values in memory."""

from typing import Any

import numpy as np
import zarrix as zarr


def scenes(frames: int = 12, **keywords: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Frames, flow at half and depth at a third of their resolution: arrays and their values."""
    random = np.random.default_rng(0)
    values = {
        "rgb": random.integers(0, 255, (frames, 3, 72, 96)).astype("u1"),
        "flow": random.standard_normal((frames, 2, 36, 48)).astype("f2"),
        "depth": random.integers(0, 60000, (frames, 1, 24, 32)).astype("u2"),
    }
    chunks = {"rgb": (1, 3, 24, 40), "flow": (2, 2, 36, 20), "depth": (5, 1, 24, 32)}
    arrays = {
        name: zarr.array(value, chunks=chunks[name], **keywords) for name, value in values.items()
    }
    return arrays, values


def numbered(count: int, chunk: int = 4) -> Any:
    """An array whose rows are their numbers."""
    return zarr.array(np.arange(count), chunks=chunk)


def items_of(loader: Any) -> list[int]:
    """The items that the next pass over a loader delivers, in order."""
    return [item for batch in loader for item in batch["item"].tolist()]
