"""The batches of a schedule before they are read, and which of them one call reads."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from dataclasses import replace
from typing import Any, NamedTuple

from zarrix.ml._datasets.dataset import Draws
from zarrix.ml._loading.fill_size import FillSize
from zarrix.ml._loading.options import Options
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._order.visits import Visits
from zarrix.ml._reading.pace import Pace

__all__ = ["Planned", "fills_of", "planned_batches"]


class Planned(NamedTuple):
    """A batch that is not read yet; from sample ``inside`` on it belongs to later windows."""

    draws: Draws
    valid: Any
    window: int
    inside: int

    @property
    def is_divided(self) -> bool:
        """Whether some samples belong to later windows."""
        return self.inside < len(self.draws)


def planned_batches(options: Options, schedule: Schedule, skipped: int) -> Iterator[Planned]:
    """The batches of a schedule but the first ones."""
    schedule = replace(schedule, first=schedule.first + skipped * schedule.whole)
    for share in schedule.shares():
        items, rounds = schedule.order.at(share.positions)
        visits = Visits(items, options.seed, options.epoch, rounds)
        draws = options.dataset._draws(visits)
        draws.extras["seeds"] = visits.draw("batch")[0]
        begin = 0
        for place, size in enumerate(share.sizes):
            part = slice(begin, begin + size)
            begin += size
            valid = None if share.valid is None else share.valid[part]
            window = 0 if share.windows is None else int(share.windows[place])
            inside = size if share.inside is None else min(size, int(share.inside[place]))
            yield Planned(draws[part], valid, window, inside)


def fills_of(
    batches: Iterator[Planned], size: FillSize, waiting: Sized, pace: Pace
) -> Iterator[list[Planned]]:
    """The batches in fills, each of one window.

    ``waiting`` are batches that were read and not used yet, and ``pace`` is that of the consumer.
    """
    allowed, fill = size.first, list[Planned]()
    for planned in batches:
        if fill and (len(fill) >= allowed or planned.window != fill[-1].window):
            yield fill
            allowed = size.after(allowed, waiting, pace)
            fill = []
        fill.append(planned)
    if fill:
        yield fill
    if size.delivers_while_reading:
        # What is left of a batch whose samples are of two windows.
        yield []
