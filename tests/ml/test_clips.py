"""Clips: runs of frames that stay in their episode, by number or by time."""

from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml
from zarrix.ml._order.visits import Visits

FRAMES = 40
ENDS = [13, 17, 40]
VALUES = np.random.default_rng(1).integers(0, 99, (FRAMES, 2, 10, 12)).astype("i2")


def video(**options: Any) -> ml.Clips:
    fields = {
        "rgb": zarr.array(VALUES, chunks=(4, 2, 5, 12)),
        "action": zarr.array(VALUES[:, 0, 0, :3], chunks=(7, 3)),
    }
    return ml.Clips(fields, dims={"rgb": "tcyx", "action": "tc"}, **options)


def frames_of(border: str, start: int, end: int, low: int, every: int, count: int) -> list[int]:
    """The frames of a clip that begins at ``start`` in the episode [low, end); -1 is padding."""
    padded = np.arange(low, end)
    wanted = start - low + every * np.arange(count)
    more = max(0, int(wanted[-1]) - len(padded) + 1)
    if border == "pad":
        return [int(padded[one]) if one < len(padded) else -1 for one in wanted]
    return np.pad(padded, (0, more), mode=border if len(padded) > 1 else "edge")[wanted].tolist()


@pytest.mark.parametrize("border", ["inside", "edge", "reflect", "pad"])
@pytest.mark.parametrize(("every", "stride"), [(1, 1), (1, 3), (2, 4), (5, 2)])
def test_clips_are_the_frames_of_one_episode(border: str, every: int, stride: int) -> None:
    clips = video(frames=4, every=every, stride=stride, episodes=ENDS, border=border, pad_value=-7)
    starts = []
    for low, end in zip([0, *ENDS], ENDS, strict=False):
        starts += [
            (start, low, end)
            for start in range(low, end, stride)
            if border != "inside" or start + 3 * every < end
        ]
    assert len(clips) == len(starts)
    for batch in ml.Loader(clips, batch_size=8, shuffle="block"):
        for row, item in enumerate(batch["item"].tolist()):
            start, low, end = starts[item]
            frames = frames_of("edge" if border == "inside" else border, start, end, low, every, 4)
            assert batch["start"][row].tolist() == [start, 0, 0, 0]
            for name, values in (("rgb", VALUES), ("action", VALUES[:, 0, 0, :3])):
                wanted = np.stack(
                    [np.full_like(values[0], -7) if one < 0 else values[one] for one in frames]
                )
                assert np.array_equal(batch[name][row], wanted)
            if border != "inside":
                inside = sum(start + every * step < end for step in range(4))
                assert batch["inside"][row].tolist() == [0, inside]


def test_crops_of_clips_are_aligned_and_random() -> None:
    clips = video(frames=3, stride=5, size={"y": 4, "x": 6})
    places = set()
    for epoch in range(4):
        batch = clips._batch(clips._draws(Visits(np.arange(len(clips)), 0, epoch)))[0]
        places |= {tuple(start[2:]) for start in batch["start"].tolist()}
    assert len(places) > 10
    for batch in ml.Loader(clips, batch_size=3):
        for row, (t, _, y, x) in enumerate(batch["start"].tolist()):
            assert np.array_equal(batch["rgb"][row], VALUES[t : t + 3, :, y : y + 4, x : x + 6])


def test_time_may_be_any_axis_and_fields_may_lack_it() -> None:
    values = np.arange(5 * 20 * 2).reshape(5, 20, 2)
    fields = {
        "x": zarr.array(values, chunks=(5, 4, 2)),
        "place": zarr.array(np.arange(5), chunks=2),
        "audio": zarr.array(np.arange(60), chunks=7),
    }
    dims = {"x": "ctz", "place": "c", "audio": "t"}
    clips = ml.Clips(fields, dims=dims, frames=3, every=2, time="t")
    batch = next(iter(ml.Loader(clips, batch_size=4)))
    for row, t in enumerate(batch["start"][:, 1].tolist()):
        assert np.array_equal(batch["x"][row], values[:, [t, t + 2, t + 4]])
        assert np.array_equal(batch["place"][row], np.arange(5))
        rate = [3 * frame + one for frame in (t, t + 2, t + 4) for one in range(3)]
        assert batch["audio"][row].tolist() == rate


def test_clips_by_time_take_the_nearest_frames() -> None:
    times = np.cumsum(np.random.default_rng(2).uniform(0.5, 1.5, 30))
    fields = {"x": zarr.array(np.arange(30), chunks=7)}
    clips = ml.Clips(fields, dims="t", frames=4, every=2.0, times=times, episodes=[11, 30])
    assert len(clips) > 10
    for item in range(len(clips)):
        sample = clips[item]
        start = int(sample["start"][0])
        low, end = (0, 11) if start < 11 else (11, 30)
        wanted = [
            low + int(np.argmin(abs(times[low:end] - times[start] - 2.0 * k))) for k in range(4)
        ]
        assert sample["x"].tolist() == wanted
        assert times[start] + 6.0 <= times[end - 1] + 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frames": 0}, "frames=0"),
        ({"frames": 2, "every": 1.5}, "whole numbers of frames"),
        ({"frames": 2, "episodes": [5, 3]}, "does not ascend"),
        ({"frames": 2, "episodes": [5, 99]}, "ends at 99"),
        ({"frames": 99}, "has no items"),
        ({"frames": 2, "time": "q"}, "'q' is not one"),
        ({"frames": 2, "times": [1, 2]}, "for \\[40\\] frames"),
        ({"frames": 2, "size": {"t": 3}}, "whose length frames="),
    ],
)
def test_what_does_not_fit_is_an_error_that_says_so(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        video(**options)
