"""What `plan()` proposes, against what is then read."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

SHAPE = (60, 3, 180, 320)
SIZE = {"y": 64, "x": 64}


class Counting(dict[str, Any]):
    """A store that counts the chunks that are asked for."""

    chunks = 0

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        self.chunks += "." in key and not key.startswith(".z")
        return value


def video(chunks: tuple[int, ...]) -> tuple[Any, Counting]:
    store = Counting()
    z = zarr.create(SHAPE, chunks=chunks, dtype="u1", store=store, zarr_format=2, compressor=None)
    z[:] = np.arange(60, dtype="u1")[:, None, None, None]
    return z, store


def crops(z: Any, **options: Any) -> ml.Crops:
    return ml.Crops({"rgb": z}, dims="tcyx", size=SIZE, **options)


def measured(dataset: Any, store: Counting, chunks: tuple[int, ...], **options: Any) -> float:
    """Bytes of the chunks that an epoch asks for, over those that samples have."""
    loader = ml.Loader(dataset, 4, memory="1 MiB", **options)
    store.chunks = 0
    count = sum(len(batch["item"]) for batch in loader)
    return store.chunks * float(np.prod(chunks)) / (count * 3 * 64 * 64)


def test_the_chunks_that_are_named_read_what_was_promised() -> None:
    before = (1, 3, 180, 320)
    z, store = video(before)
    plan = ml.Loader(crops(z), 4, memory="1 MiB", shuffle="full").plan()
    (advice,) = (text for text in plan.advice if text.startswith("rgb: chunks of"))
    found = re.search(
        r"chunks of \((.*?)\) would decode ([\d.]+) times .* decode ([\d.]+) times", advice
    )
    assert found is not None
    chunks = tuple(int(number) for number in found[1].split(","))
    promised, now = float(found[2]), float(found[3])
    assert measured(crops(z), store, before, shuffle="full") == pytest.approx(now, rel=0.02)
    other, other_store = video(chunks)
    assert measured(crops(other), other_store, chunks, shuffle="full") == pytest.approx(
        promised, rel=0.02
    )
    assert promised * 2 < now
    assert np.prod(chunks) >= 2**15
    again = ml.Loader(crops(other), 4, memory="1 MiB", shuffle="full").plan()
    assert not any("chunks of" in text for text in again.advice)


def test_more_crops_of_a_frame_gain_what_was_promised() -> None:
    chunks = (1, 3, 180, 320)
    z, store = video(chunks)
    plan = ml.Loader(crops(z), 4, memory="1 MiB", shuffle="full").plan()
    (advice,) = (text for text in plan.advice if text.startswith("per_item=8"))
    numbers = [float(text) for text in re.findall(r"([\d.]+) times", advice)]
    got = measured(crops(z, per_item=8), store, chunks, shuffle="block")
    assert got == pytest.approx(numbers[0], rel=0.05)
    assert numbers[1] == pytest.approx(plan.amplification, rel=0.02)


def test_nothing_is_advised_where_nothing_is_wasted() -> None:
    z, _ = video((1, 3, 180, 320))
    whole = ml.Rows({"rgb": z})
    memory = ml.Crops({"rgb": z[:]}, dims="tcyx", size=SIZE)
    for dataset in (whole, memory):
        assert not any("would decode" in text for text in ml.Loader(dataset, 4).plan().advice)


def test_nothing_is_read_for_advice() -> None:
    z, store = video((1, 3, 180, 320))
    dataset = crops(z)
    store.chunks = 0
    ml.Loader(dataset, 4).plan()
    assert store.chunks == 0
