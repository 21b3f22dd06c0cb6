"""Clips: runs of frames in time, inside episodes, by frame number or by time stamps.

`Clips` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from zarrix.ml._datasets.dataset import Draws, digest_of
from zarrix.ml._datasets.places import Places
from zarrix.ml._datasets.split import Divisible
from zarrix.ml._datasets.windows import check_border, sizes_of
from zarrix.ml._order.random import Ints
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.fields import Column, as_fields, columns_of, required_names

__all__ = ["Clips"]


class Clips(Divisible):
    """Runs of frames along time, none of which crosses the end of an episode.

    An item is the begin of a clip. With ``size`` a clip is also cropped, at a place that is a
    function of seed, epoch and item.

    Parameters
    ----------
    fields : mapping of str to Array or Field, or a list of such mappings
        The first field is the reference, whose frames are counted. A field without the dimension of
        time is the same for all clips of a group; one with more or fewer entries has a whole ratio.
    frames : int
        Frames of a clip.
    dims : str, sequence of str, or mapping of field name to these, optional
        Names of the axes; the arrays' own dimension names when omitted.
    every : int or float
        Steps between the frames of a clip; with ``times`` the time between them.
    stride : int
        Frames between the begins of clips.
    time : str, optional
        The dimension of time; the first one of the reference when omitted.
    times : str or array, or a list of arrays, optional
        The time of each frame, ascending in each episode, or the name of the field that has it: the
        frames of a clip are those nearest to the times that it asks for.
    episodes : array of int, or a list of arrays, optional
        The end of each episode in frames, ascending; one episode when omitted.
    border : {"inside", "pad", "edge", "reflect"}
        Whether a clip may leave its episode. If it may, a clip begins every ``stride`` frames up to
        the end of the episode, frames after it are as `Crops` says, and ``batch["inside"]`` has the
        range of frames that lies inside.
    pad_value : scalar, optional
        The fill value of each array when omitted.
    size : mapping of str to int, or sequence of int, optional
        The window along each dimension that is cropped.
    seed : int
        The seed of samples that a loader of another library asks for; a `Loader` has its own.

    Raises
    ------
    ValueError
        Episodes or times do not fit the frames, or no clip fits any episode.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> z = zarr.array(np.arange(20), chunks=4)
    >>> clips = ml.Clips({"x": z}, dims="t", frames=3, every=2, stride=4, episodes=[11, 20])
    >>> [clips[item]["x"].tolist() for item in range(len(clips))]
    [[0, 2, 4], [4, 6, 8], [11, 13, 15], [15, 17, 19]]
    """

    __module__ = "zarrix.ml"

    _begins_once = True

    def __init__(
        self,
        fields: Any,
        *,
        frames: int,
        dims: Any = None,
        every: float = 1,
        stride: int = 1,
        time: str | None = None,
        times: Any = None,
        episodes: Any = None,
        border: str = "inside",
        pad_value: Any = None,
        size: Any = None,
        seed: int = 0,
    ) -> None:
        if frames < 1 or stride < 1 or every <= 0 or (times is None and every != int(every)):
            raise ValueError(
                f"frames={frames}, stride={stride}, every={every}: they are positive, and whole "
                "numbers of frames unless times= is passed"
            )
        self._given = {
            "frames": frames,
            "dims": dims,
            "every": every,
            "stride": stride,
            "time": time,
            "times": times,
            "episodes": episodes,
            "border": border,
            "pad_value": pad_value,
            "size": size,
            "seed": seed,
        }
        self._groups = as_fields(fields, "Clips")
        name, reference = next(iter(self._groups[0].items()))
        names = required_names(name, reference, dims)
        time = names[0] if time is None else time
        if time not in names:
            raise ValueError(f"time={time!r} is not one of the dimensions {names} of {name!r}")
        self._dims, self._time = names, names.index(time)
        self._size = sizes_of(size or {}, names, f"field {name!r}")
        if time in self._size:
            raise ValueError(f"size= has {time!r}, whose length frames= says")
        self._frames, self._stride, self._seed = int(frames), int(stride), int(seed)
        self._every = every if times is not None else int(every)
        self._ends_at, self._border, self._pad_value = check_border(border), "inside", pad_value
        if border == "pad":
            self._border = "pad"
        self._clocks = self._read_times(times)
        self._find_episodes(episodes)
        self._find_columns(dims, time)
        self._places = Places(self._groups, self._dims, self._size, self._columns, "inside")
        bounds = np.searchsorted(self._episode_groups, np.arange(len(self._groups) + 1))
        totals = np.concatenate([[0], np.cumsum(self._counts)])
        self._prepare(np.diff(totals[bounds]))

    # What is found when it is made

    def _read_times(self, times: Any) -> list[Any] | None:
        if times is None:
            return None
        if isinstance(times, str):
            if times not in self._groups[0]:
                raise ValueError(
                    f"times={times!r} is not one of the fields {list(self._groups[0])}"
                )
            times = [group[times].array for group in self._groups]
        elif len(self._groups) == 1:
            times = [times]
        clocks = [np.asarray(read(values), np.float64) for values in times]
        lengths = [self._length(number) for number in range(len(self._groups))]
        if [clock.shape for clock in clocks] != [(length,) for length in lengths]:
            raise ValueError(f"times= has {[c.shape for c in clocks]} for {lengths} frames")
        return clocks

    def _length(self, group: int) -> int:
        return int(next(iter(self._groups[group].values())).array.shape[self._time])

    def _find_episodes(self, episodes: Any) -> None:
        """Group, begin, end and number of clips of each episode."""
        if episodes is None:
            episodes = [[self._length(number)] for number in range(len(self._groups))]
        elif len(self._groups) == 1:
            episodes = [episodes]
        groups, begins, ends = [], [], []
        for number, group_ends in enumerate(episodes):
            last = np.asarray(read(group_ends))
            length = self._length(number)
            if last.ndim != 1 or last.dtype.kind not in "iu" or not len(last):
                raise ValueError(f"episodes= of group {number} is not a list of frame numbers")
            last = last.astype(np.int64)
            if last[0] < 0 or (np.diff(last) < 0).any() or last[-1] > length:
                raise ValueError(
                    f"episodes= of group {number} ends at {last[-1]}, of {length} frames, or does "
                    "not ascend"
                )
            groups.append(np.full(len(last), number))
            begins.append(np.concatenate([[0], last[:-1]]))
            ends.append(last)
        self._episode_groups = np.concatenate(groups)
        self._lows, self._highs = np.concatenate(begins), np.concatenate(ends)
        self._counts = self._count_clips()
        self._episode_ends = np.concatenate([[0], np.cumsum(self._counts)])

    def _count_clips(self) -> Any:
        lengths = self._highs - self._lows
        if self._ends_at != "inside":
            every: Ints = -(-lengths // self._stride)
            return every
        if self._clocks is None:
            return np.maximum(
                0, (lengths - (self._frames - 1) * self._every - 1) // self._stride + 1
            )
        counts = []
        reach = (self._frames - 1.5) * float(self._every)
        for group, low, high in zip(self._episode_groups, self._lows, self._highs, strict=True):
            clock = self._clocks[group][low:high]
            if (np.diff(clock) <= 0).any():
                raise ValueError(f"times= do not ascend in the episode from frame {low} on")
            last = np.searchsorted(clock, clock[-1] - reach, "right") if high > low else 0
            counts.append(-(-int(last) // self._stride))
        return np.array(counts, np.int64)

    def _find_columns(self, dims: Any, time: str) -> None:
        columns = columns_of(self._groups, dims, self._size, (time,))
        down = max(int(c.down[c.dims.index(time)]) for c in columns if time in c.dims)
        self._runs = (
            self._every == 1 and self._ends_at == "inside" and self._clocks is None and down == 1
        )
        if self._runs:
            # One window of all frames.
            size = {**self._size, time: self._frames}
            self._columns = columns_of(self._groups, dims, size, ())
            return
        self._columns = [self._by_frames(column, time) for column in columns]

    def _by_frames(self, column: Column, time: str) -> Column:
        """A column that is read as one window for each frame: its samples have time in front."""
        if time not in column.dims:
            return column
        axis, rest = column.dims.index(time), list(column.window)
        each = rest.pop(axis)
        if axis and each > 1:
            raise ValueError(
                f"field {column.name!r} has {each} entries a frame along {time!r}, which is "
                "not its first axis"
            )
        if column.order is not None:
            raise ValueError(f"layout= of field {column.name!r} is not for strided clips")
        sample = (self._frames * each, *rest)
        order = None
        shape = sample
        if axis:
            shape = (*rest[:axis], self._frames, *rest[axis:])
            order = (0, 1 + axis, *(1 + i for i in range(len(sample)) if i != axis))
        channel = column.channel + 1 if column.channel == axis and each == 1 else column.channel
        sampled = (axis, *(i for i in range(len(column.window)) if i != axis))
        return replace(
            column, sample=sample, shape=shape, order=order, channel=channel, sampled=sampled
        )

    # What a dataset defines

    @property
    def _axis(self) -> int:
        return self._time

    def _before(self, group: int, positions: Ints) -> Ints:
        mine = np.flatnonzero(self._episode_groups == group)
        which = np.searchsorted(self._highs[mine], positions, "right")
        here = mine[np.minimum(which, len(mine) - 1)]
        begun = -(-(positions - self._lows[here]) // self._stride)
        counted = self._episode_ends[here] + np.clip(begun, 0, self._counts[here])
        before: Ints = counted - self._episode_ends[mine[0]]
        return before

    def _corners(self, visits: Visits) -> tuple[Ints, Ints, dict[str, Any]]:
        items = visits.items
        episodes = np.searchsorted(self._episode_ends, items, "right") - 1
        groups, begins = self._frames_of(items)
        corners = self._places.corners(groups, visits)
        corners[:, self._time] = begins
        return groups, corners, {"episode": episodes}

    def _draws(self, visits: Visits) -> Draws:
        groups, corners, extras = self._corners(visits)
        episodes = extras.pop("episode")
        many = len(self._groups) > 1
        extras = {"item": visits.items, "start": corners, **extras}
        if many:
            extras["group"] = groups
        frames = corners[:, self._time, None] + np.arange(self._frames)
        if self._runs:
            starts = [column.starts(corners)[:, None] for column in self._columns]
        else:
            frames, inside = self._frame_numbers(episodes, corners[:, self._time])
            each = np.repeat(corners[:, None], self._frames, axis=1)
            each[:, :, self._time] = frames
            time = self._dims[self._time]
            starts = [
                column.starts(each if time in column.dims else each[:, :1])
                for column in self._columns
            ]
            if self._ends_at != "inside":
                extras["inside"] = inside
        if self._tables:
            # Frames that pad a clip have the label of its last one in the episode.
            high = self._highs[episodes][:, None]
            frames = np.where(frames < 0, high - 1, frames)
            extras.update(self._labels(groups, frames))
        draws = Draws(visits, groups if many else None, corners, starts, extras)
        if self._augmentation is not None:
            self._augmentation.add(draws)
        return draws

    def _frames_of(self, items: Ints) -> tuple[Ints, Ints]:
        episodes = np.searchsorted(self._episode_ends, items, "right") - 1
        begun = (items - self._episode_ends[episodes]) * self._stride
        return self._episode_groups[episodes], self._lows[episodes] + begun

    def _frame_numbers(self, episodes: Ints, begins: Ints) -> tuple[Ints, Ints]:
        """The frames of each clip, and the range of a clip that lies in its episode."""
        low, high = self._lows[episodes][:, None], self._highs[episodes][:, None]
        steps = np.arange(self._frames)
        if self._clocks is None:
            frames = begins[:, None] + steps * int(self._every)
            over = frames >= high
        else:
            frames = np.empty((len(begins), self._frames), np.int64)
            over = np.empty(frames.shape, np.bool_)
            for row, (episode, begin) in enumerate(zip(episodes, begins, strict=True)):
                first, last = int(self._lows[episode]), int(self._highs[episode])
                clock = self._clocks[self._episode_groups[episode]][first:last]
                sought = clock[begin - first] + steps * float(self._every)
                right = np.clip(np.searchsorted(clock, sought), 1, max(1, last - first - 1))
                left = right - 1
                right = np.minimum(right, last - first - 1)
                nearer = np.where(sought - clock[left] <= clock[right] - sought, left, right)
                frames[row] = first + nearer
                over[row] = sought > clock[-1] + float(self._every) / 2
        ends = self._frames - over.sum(axis=1)
        inside = np.stack([np.zeros_like(ends), ends], axis=-1)
        if self._ends_at == "reflect":
            period = np.maximum(1, 2 * (high - low - 1))
            offset = (frames - low) % period
            frames = low + np.minimum(offset, period - offset) * (high - low > 1)
        elif self._ends_at == "pad":
            # Before the array: the engine pads it.
            frames = np.where(over, -1, frames)
        else:
            frames = np.minimum(frames, high - 1)
        return frames, inside

    def _allocated(self, column: Column) -> tuple[tuple[int, ...], tuple[int, ...] | None]:
        if self._runs or column.order is None:
            return super()._allocated(column)
        # Time in front, so that frames of consecutive clips are one axis; the batch has a view.
        inverse = np.argsort(column.order)
        return column.sample, tuple(int(axis) for axis in inverse)

    def _spans(self) -> int:
        """The frames from the first to the last one of a clip: what a gap has to be."""
        return (self._frames - 1) * int(self._every) + 1 if self._clocks is None else self._frames

    def _spec(self) -> dict[str, Any]:
        every = self._every if self._clocks is None else float(self._every)
        bounds = np.stack([self._episode_groups, self._lows, self._highs])
        return {
            "frames": [self._time, self._frames, every, self._stride],
            "episodes": digest_of(bounds.astype(np.int64)),
            "times": self._clocks and [digest_of(clock) for clock in self._clocks],
            "ends": self._ends_at,
            "crop": self._places.identity(),
        }

    def _parts_by(self) -> dict[str, Ints]:
        return {"group": self._ends, "episode": self._episode_ends}


def read(values: Any) -> Any:
    """All of a stored array; anything else as it is."""
    return values[...] if hasattr(values, "shape") else values
