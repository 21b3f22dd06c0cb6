"""What a loader did: counted while it runs, and summed up on request."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

from zarrix._display.table import info_table

__all__ = ["Counters", "Stats"]


@dataclass(frozen=True)
class Stats:
    """What a loader did so far; `print` shows it as sentences.

    Attributes
    ----------
    samples, batches : int
        Delivered to the caller.
    seconds : float
        From the first request for a batch to the last delivery.
    waited_s : float
        How much of this the caller waited in ``next``.
    read_s, transform_s : float
        How long the reading thread read, and ran ``transform``.
    bytes : int
        Of all fields that were delivered or read ahead.
    errors : int
        Records of corrupt chunks.
    limited_by : {"store or decode", "transform", "consumer", "unknown"}
        What the next faster run would have to change.
    rejected : int
        Samples with too much NaN, which other items have replaced.
    frozen : bool
        Whether the caller promised that nothing changes, so that caches were not validated.
    staged : int
        Windows that were read from the stage, also where they were staged just before.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> loader = ml.Loader(ml.Rows({"x": zarr.zeros((8, 2))}), batch_size=4)
    >>> for batch in loader:
    ...     pass
    >>> loader.stats().batches
    2
    """

    __module__ = "zarrix.ml"

    samples: int
    batches: int
    seconds: float
    waited_s: float
    read_s: float
    transform_s: float
    bytes: int
    errors: int
    limited_by: str
    frozen: bool = False
    rejected: int = 0
    staged: int = 0

    @property
    def waited(self) -> float:
        """The share of time that the caller waited, from 0 to 1."""
        return self.waited_s / self.seconds if self.seconds else 0.0

    def _repr_html_(self) -> str:
        return info_table(
            [
                ("Delivered", f"{self.samples} samples in {self.batches} batches"),
                ("Waited", f"{self.waited:.1%} of {self.seconds:.2f} s"),
                ("Read", f"{self.bytes / 1e6:.1f} MB in {self.read_s:.2f} s"),
                ("Limited by", self.limited_by),
                ("Corrupt windows", self.errors),
                ("Replaced for their NaN", self.rejected),
                ("Frozen", "yes: caches are not validated" if self.frozen else "no"),
                ("Windows from the stage", self.staged),
            ]
        )

    def __str__(self) -> str:
        rate = self.samples / self.seconds if self.seconds else 0.0
        return (
            f"{self.samples} samples in {self.batches} batches, {rate:.0f}/s; waited "
            f"{self.waited:.1%} of the time; limited by: {self.limited_by}; read "
            f"{self.bytes / 1e6:.1f} MB in {self.read_s:.2f} s"
            + (f"; {self.errors} corrupt windows" if self.errors else "")
            + (f"; {self.rejected} replaced for their NaN" if self.rejected else "")
            + (f"; {self.staged} windows from the stage" if self.staged else "")
            + ("; frozen" if self.frozen else "")
        )


@dataclass
class Counters:
    """Sums of one loader, added to by its threads."""

    samples: int = 0
    batches: int = 0
    calls: int = 0
    rejected: int = 0
    waited_s: float = 0.0
    read_s: float = 0.0
    transform_s: float = 0.0
    bytes: int = 0
    begun: float | None = None
    last: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def delivered(self, samples: int, since: float) -> None:
        now = time.perf_counter()
        if self.begun is None:
            self.begun = since
        self.samples += samples
        self.batches += 1
        self.waited_s += now - since
        self.last = now

    def read(self, seconds: float, count: int) -> None:
        with self._lock:
            self.read_s += seconds
            self.bytes += count
            self.calls += 1

    def stats(self, errors: int, frozen: bool = False, staged: int = 0) -> Stats:
        seconds = 0.0 if self.begun is None else self.last - self.begun
        if not self.batches:
            limited = "unknown"
        elif self.waited_s < 0.05 * seconds:
            limited = "consumer"
        else:
            limited = "transform" if self.transform_s > self.read_s else "store or decode"
        return Stats(
            self.samples,
            self.batches,
            seconds,
            self.waited_s,
            self.read_s,
            self.transform_s,
            self.bytes,
            errors,
            limited,
            frozen,
            self.rejected,
            staged,
        )
