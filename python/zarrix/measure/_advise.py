"""A better layout for an array that exists: sampled, modelled, and tried.

`advise` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import itertools
import json
import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zarrix._array.create_array import create_array
from zarrix._array.dimension_names import names_of
from zarrix._display.table import Printed
from zarrix._dtypes.rounding import check_max_error, kept_values, rounded, rounds
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.open import open as open_node
from zarrix._runtime.config import config
from zarrix._runtime.sizes import size_text
from zarrix.measure._access import accesses_of
from zarrix.measure._bench import compared, places_of
from zarrix.measure._expected import Encoding, expected_bytes
from zarrix.measure._lint import Finding, lint
from zarrix.measure._model import Layout, Use, as_read, candidates, cost
from zarrix.measure._sample import sample_of
from zarrix.measure._suggest import shards_of

__all__ = ["Advice", "Trial", "advise"]

# Bytes of the sample for each second of the budget, and at most: half of the budget is for writing.
_SAMPLE_RATE, _SAMPLE = 4 * 2**20, 32 * 2**20
# Layouts of the first trials, and those that are tried again.
_TRIED, _LEAST, _KEPT = 12, 4, 4
# If more is read, the whole sample is written: one call takes less than many.
_MOST_SHARE = 0.5
_CODECS = ("blosc:zstd:5:bitshuffle", "blosc:lz4:5:shuffle")
# If several layouts are about as fast, the model's first one is taken: noise must not decide.
# Another codec must be clearly faster, and another layout than the present one worth the change.
# The part of the budget in which chunks of the array are encoded, beside the trials.
_ESTIMATED = 0.3
# Advice that takes more bytes, or more files, than the present layout says so.
_LARGER, _MORE_FILES = 1.2, 10
_ABOUT, _CLEARLY, _WORTH = 1.02, 1.1, 1.05


@dataclass(frozen=True)
class Trial:
    """A layout that was written from the sample and read.

    Attributes
    ----------
    chunks : tuple of int
    codec : str
    ratio : float
        Decoded bytes over stored bytes, of the whole array.
    access_s : float
        Median seconds of an access, weighted.
    expected_s : float
        What the model expected.
    present : bool
        Whether it is the layout of the array.
    error : float or None
        The largest error of a sample that was rounded; None for one that was not.
    nbytes : int or None
        Bytes that the whole array takes in this layout: measured of the present one, else expected
        from chunks of the array that were encoded.
    nbytes_error : float
        The part of ``nbytes`` by which it may be wrong, in 19 of 20 cases.
    files : int or None
        Chunks, or shards, of the whole array.

    Examples
    --------
    >>> from zarrix.measure import Trial
    >>> Trial((8, 8), "none", 1.0, 1e-4, 1e-4).present
    False
    """

    chunks: tuple[int, ...]
    codec: str
    ratio: float
    access_s: float
    expected_s: float
    present: bool = False
    error: float | None = None
    nbytes: int | None = None
    nbytes_error: float = 0.0
    files: int | None = None

    @property
    def _size(self) -> str:
        """The bytes and the files of the array, as text."""
        if self.nbytes is None:
            return ""
        about = f" \u00b1{100 * self.nbytes_error:.0f} %" if self.nbytes_error else ""
        return f"{size_text(self.nbytes)}{about} in {self.files:,} files"


@dataclass
class Advice(Printed):
    """What to change, and what was measured.

    Attributes
    ----------
    chunks : tuple of int
    shards : tuple of int or None
    codec : str
    trials : list of Trial
        All layouts that were tried; the present one is the first.
    gain : float
        Seconds of an access in the present layout, over those in the advised one.
    findings : list of Finding
        What `lint` found; without accesses nothing else is done.
    seconds : float
        What the call took.
    max_error : float or None
        What values may be rounded by, if that is advised; never without ``max_error=``.

    Examples
    --------
    >>> import zarrix as zarr
    >>> z = zarr.ones((64, 64), chunks=(64, 1))
    >>> zarr.advise(z, access="frame", budget=0.5).trials[0].present
    True
    """

    chunks: tuple[int, ...] = ()
    shards: tuple[int, ...] | None = None
    codec: str = ""
    trials: list[Trial] = field(default_factory=list)
    gain: float = 1.0
    findings: list[Finding] = field(default_factory=list)
    seconds: float = 0.0
    name: str = ""
    max_error: float | None = None

    def to_json(self) -> str:
        """The advice as JSON, with every trial.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.measure import Advice
        >>> Advice().to_json()[:13]
        '{"version": 1'
        """
        return json.dumps({"version": 1, **asdict(self)})

    @property
    def command(self) -> str:
        """The command that applies the advice."""
        chunks = ",".join(map(str, self.chunks))
        shards = "" if self.shards is None else f" --shards {','.join(map(str, self.shards))}"
        codec = f" --codec {self.codec}" if ":" in self.codec else ""
        if self.max_error is not None:
            codec += f" --max-error {self.max_error:g}"
        return f"zarrix rechunk {self.name or 'SOURCE'} DEST --chunks {chunks}{shards}{codec}"

    def _is_advised(self, trial: Trial) -> bool:
        same = trial.chunks == self.chunks and trial.codec == self.codec
        return same and (trial.error is None) == (self.max_error is None)

    def _label(self, trial: Trial) -> tuple[str, str]:
        """What a trial is, and a mark if it is the advice."""
        if not self._is_advised(trial):
            return "present" if trial.present else "tried", ""
        if trial.present:
            return "present", "<- stays"
        return "advised", f"<- {self.gain:.2f}x as fast"

    def _table(self) -> tuple[str, tuple[str, ...], list[list[str]], str] | None:
        """What comes before a table, its columns, its rows, and what comes after it."""
        if not self.trials:
            return None
        rows = []
        for one in self.trials:
            label, mark = self._label(one)
            rows.append([
                label, ",".join(map(str, one.chunks)), one.codec, f"{one.ratio:.2f}x",
                one._size, f"{1 / one.access_s:,.1f}",
                "" if one.error is None else f"{one.error:.3g}", mark,
            ])  # fmt: skip
        columns = ("layout", "chunks", "codec", " smaller", " stored", " accesses/s", " error", " ")
        findings = "\n".join(map(str, self.findings))
        after = f"{self._price}\ndo it: {self.command}".strip() if self._changes() else ""
        return findings, columns, rows, after

    @property
    def _price(self) -> str:
        """What the advised layout costs beside the present one; empty if that is little."""
        chosen = next((one for one in self.trials if self._is_advised(one)), None)
        if chosen is None or chosen.nbytes is None or not self.trials[0].nbytes:
            return ""
        now = self.trials[0]
        is_larger = chosen.nbytes > _LARGER * (now.nbytes or 1)
        is_more = (chosen.files or 0) > _MORE_FILES * max(1, now.files or 1)
        if not is_larger and not is_more:
            return ""
        return f"its price: {chosen._size}; the present layout takes {now._size}"

    def _changes(self) -> bool:
        return bool(self.trials) and not self._is_advised(self.trials[0])

    def __str__(self) -> str:
        rows = [str(one) for one in self.findings]
        for one in self.trials:
            label, mark = self._label(one)
            error = "" if one.error is None else f"  rounded, error {one.error:.3g}"
            rows.append(
                f"{label:<8} chunks {','.join(map(str, one.chunks)):<18} {one.codec:<22} "
                f"{one.ratio:5.2f}x smaller  {one._size:<28} {1 / one.access_s:9,.1f} accesses/s"
                f"{error}{mark and f'  {mark}'}{', measured' if label == 'advised' else ''}"
            )
        if self._changes():
            rows += [self._price] if self._price else []
            rows.append(f"do it:   {self.command}")
        return "\n".join(rows) or "nothing to advise"

    def to_svg(self) -> str:
        """Size against speed: a dot for each trial.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> from zarrix.measure import Advice
        >>> Advice().to_svg()[:4]
        '<svg'
        """
        width, height = 480, 320
        slow = max((one.access_s for one in self.trials), default=1.0)
        small = max((one.ratio for one in self.trials), default=1.0)
        dots = []
        for one in self.trials:
            x = 40 + (width - 80) * (min(t.access_s for t in self.trials) / one.access_s)
            y = height - 40 - (height - 80) * one.ratio / small
            colour = "#888"
            if one.present:
                colour = "#06c"
            if self._is_advised(one):
                colour = "#c30"
            dots.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6" fill="{colour}"><title>'
                f"{one.chunks} {one.codec}</title></circle>"
            )
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">'
            f'<text x="40" y="{height - 10}">faster, up to {1 / slow:,.0f} times a second at the '
            f'left</text><text x="10" y="24">smaller, up to {small:.2f}x</text>'
            f"{''.join(dots)}</svg>"
        )


def advise(
    array: Any,
    *,
    access: Any = None,
    place: Literal["local", "remote"] = "local",
    budget: float = 10.0,
    seed: int = 0,
    scratch: str | None = None,
    max_error: float | None = None,
) -> Advice:
    """Measure which chunks and codec would be better for an array; nothing is changed.

    A sample of real data is written in the best layouts of a model and in the present one, and read
    as the accesses say. The advice is never lossy without ``max_error``.

    Parameters
    ----------
    array : Array, Store, str or Path
    access : str or sequence of str, optional
        As for `suggest`. Without it only `lint` runs.
    place : {'local', 'remote'}
        Where the array will be read from.
    budget : float
        Seconds of the trials on a machine of two cores: half to write them, half to read.
    seed : int
        Of the sample and of the places that are read.
    scratch : str, optional
        The folder in which trials are written; one of the system's when omitted.
    max_error : float, optional
        Try the advised layout with floating-point numbers rounded, each within this distance, too.

    Returns
    -------
    Advice

    Raises
    ------
    ValueError
        An access is not understood, ``budget`` or ``max_error`` is not positive, or ``place`` is
        something else.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> z = zarr.array(np.zeros((64, 256, 256), "u1"), chunks=(64, 1, 256))
    >>> zarr.advise(z, access="frame", budget=0.5).chunks[0]
    1
    """
    begun = time.perf_counter()
    check_choice("place", place, ("local", "remote"))
    if not budget > 0:
        raise ValueError(f"budget={budget!r} is not a number of seconds above 0")
    limits = _Limits(budget, seed, check_max_error(max_error))
    node = array if hasattr(array, "shape") else open_node(array, mode="r")
    advice = Advice(findings=lint(node), name="" if hasattr(array, "shape") else str(array))
    advice.chunks = tuple(node.chunks)
    if access is None:
        advice.seconds = time.perf_counter() - begun
        return advice
    accesses = accesses_of(access, node.shape, names_of(node))
    use = Use(node.shape, node.dtype.itemsize, accesses, place, config.threads)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="zarrix-advise-") as folder:
        _Trials(node, use, limits, Path(folder)).run(advice)
    advice.seconds = time.perf_counter() - begun
    return advice


class _Limits(NamedTuple):
    """What `advise` was told of its trials.

    Attributes
    ----------
    budget : float
        Seconds.
    seed : int
    max_error : float, optional
        By how much values may be rounded.
    """

    budget: float
    seed: int
    max_error: float | None


class _Trials:
    """The sample, and the layouts that are written from it."""

    def __init__(self, node: Any, use: Use, limits: _Limits, folder: Path) -> None:
        self._node, self._use, self._folder = node, use, folder
        self._budget, self._seed = limits.budget, limits.seed
        self._max_error = limits.max_error if rounds(node.dtype) else None
        size = min(_SAMPLE, int(limits.budget * _SAMPLE_RATE))
        self._sample = sample_of(node, use.accesses, limits.seed, size)
        # What is read of it.
        self._boxes = [
            box
            for places in places_of(use.accesses, self._sample.shape, limits.seed)
            for region in places
            for box in (region if isinstance(region, list) else [region])
        ]

    def run(self, advice: Advice) -> None:
        """Try layouts in all codecs, then the best again, and choose."""
        begun = time.perf_counter()
        made = self._first_written(begun)
        made, best = self._kept(made, self._seconds(made, self._budget / 4))
        if self._max_error is not None:
            made += [self._written(best, codec, self._max_error) for codec in _CODECS]
        # All that is left: the more rounds, the less noise.
        left = 0.9 * self._budget - (time.perf_counter() - begun)
        times = self._seconds(made, max(left, self._budget / 4))
        for index, (tried, seconds) in enumerate(zip(made, times, strict=True)):
            expected = cost(tried.layout, self._use, ratio=max(tried.ratio, 1.0))
            advice.trials.append(
                Trial(
                    tried.layout.chunks,
                    tried.codec,
                    tried.ratio,
                    seconds,
                    expected,
                    present=index == 0,
                    error=tried.error,
                )
            )
        now, chosen = advice.trials[0], _chosen(advice.trials)
        advice.chunks, advice.codec = chosen.chunks, chosen.codec
        advice.max_error = None if chosen.error is None else self._max_error
        advice.gain = now.access_s / chosen.access_s
        advice.shards = shards_of(Layout(chosen.chunks), self._use)
        # What is advised is known best.
        left = _ESTIMATED * self._budget
        order = sorted(range(len(made)), key=lambda at: advice.trials[at] is not chosen)
        for number, at in enumerate(order):
            begun = time.perf_counter()
            share = left / 2 if number == 0 else left / (len(order) - number)
            advice.trials[at] = self._estimated(advice.trials[at], share)
            left = max(0.0, left - (time.perf_counter() - begun))

    def _estimated(self, trial: Trial, seconds: float) -> Trial:
        """The trial with what the whole array takes in its layout."""
        node = self._node
        if trial.present and not node.store.is_remote:
            nbytes, error, files = int(node.nbytes_stored), 0.0, int(node.nchunks_initialized)
        else:
            shards = shards_of(Layout(trial.chunks), self._use)
            prepared = None
            if trial.error is not None and self._max_error is not None:
                kept, limit = kept_values(node.fill_value, node.attrs.asdict()), self._max_error
                prepared = lambda values: rounded(values, limit, kept)[0]  # noqa: E731
            codec = "as it is" if trial.present else trial.codec
            encoding = Encoding(trial.chunks, shards, _options(codec, node), prepared)
            nbytes, error, files = expected_bytes(node, encoding, self._seed, seconds)
        if nbytes <= 0:
            return trial
        ratio = math.prod(node.shape) * node.dtype.itemsize / nbytes
        return replace(trial, nbytes=nbytes, nbytes_error=error, files=files, ratio=ratio)

    def _first_written(self, begun: float) -> list[_Written]:
        """The present layout, and then each codec in the layouts for which there is time."""
        layouts = self._layouts()
        made = [self._written(layouts[0], "as it is")]
        each: list[list[_Written]] = []
        for layout in layouts[1:]:
            if len(each) >= _LEAST and time.perf_counter() - begun > self._budget / 2:
                break
            each.append([self._written(layout, codec) for codec in _CODECS])
        return made + [one for of_codec in zip(*each, strict=True) for one in of_codec]

    def _layouts(self) -> list[Layout]:
        """The present layout, and those to try: they differ, and the model likes them best."""
        limit = max(_LEAST, min(_TRIED, int(6 * self._budget)))
        layouts = [Layout(tuple(self._node.chunks))]
        listed = candidates(self._use)
        # What is read is always tried: it is the layout that most people would choose.
        for one in [*listed[:1], *as_read(self._use), *listed[1:]]:
            if len(layouts) > limit:
                break
            if all(_differ(self._fits(one), self._fits(other)) for other in layouts[1:]):
                layouts.append(one)
        return layouts

    def _seconds(self, made: list[_Written], budget: float) -> Sequence[float]:
        """The median seconds of an access to each."""
        arrays = [one.array for one in made]
        return compared(arrays, self._use.accesses, budget, self._seed)

    def _kept(
        self, made: list[_Written], seconds: Sequence[float]
    ) -> tuple[list[_Written], Layout]:
        """What is read again: the present layout, and of each codec the first of the model and the
        fastest, in the order of the model; and the fastest layout of all.
        """
        each = (len(made) - 1) // len(_CODECS)
        kept = {0}
        for first in range(1, len(made), max(1, each)):
            others = sorted(range(first + 1, first + each), key=lambda index: seconds[index])
            kept |= {first, *others[: _KEPT - 1]}
        best = min(range(1, len(made)), key=lambda index: seconds[index], default=0)
        return [one for index, one in enumerate(made) if index in kept], made[best].layout

    def _fits(self, layout: Layout) -> tuple[int, ...]:
        """The chunks of a layout in the sample."""
        return tuple(min(c, n) for c, n in zip(layout.chunks, self._sample.shape, strict=True))

    def _written(self, layout: Layout, codec: str, max_error: float | None = None) -> _Written:
        """The chunks of the sample that are read, in a layout; rounded if that is asked."""
        options = _options(codec, self._node)
        path = self._folder / f"{len(list(self._folder.iterdir()))}.zarr"
        sample, error = self._sample, None
        if max_error is not None:
            kept = kept_values(self._node.fill_value, self._node.attrs.asdict())
            sample, error = rounded(sample, max_error, kept)
        made = create_array(
            path,
            shape=sample.shape,
            dtype=sample.dtype,
            chunks=self._fits(layout),
            zarr_format=2 if self._node.metadata.zarr_format == 2 else None,
            **options,
        )
        parts, share = _touched(self._boxes, made.chunks, sample.shape)
        if share > _MOST_SHARE:
            parts, share = [(...,)], 1.0
        for part in parts:
            made[part] = sample[part]
        stored = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
        shown = "present codec" if codec == "as it is" else codec
        ratio = share * sample.nbytes / max(1, stored)
        return _Written(layout, open_node(path, mode="r"), shown, ratio, error)


class _Written(NamedTuple):
    """The sample in a layout."""

    layout: Layout
    array: Any
    codec: str
    ratio: float
    error: float | None


def _chosen(trials: Sequence[Trial]) -> Trial:
    """The trial that is advised: the first is the present layout, others are in the model's order.

    A codec that is clearly faster wins over a smaller one. Rounded values, which the user allowed,
    win if they are clearly smaller, and not slower than the present layout.
    """
    now = trials[0]
    exact = [one for one in trials[1:] if one.error is None]
    chosen = _about_fastest([one for one in exact if one.codec == _CODECS[0]] or [now])
    others = [one for one in exact if one.codec != _CODECS[0]]
    if others:
        other = _about_fastest(others)
        chosen = other if chosen.access_s > other.access_s * _CLEARLY else chosen
    if chosen.access_s * _WORTH > now.access_s:
        chosen = now
    lossy = [
        one
        for one in trials
        if one.error is not None
        and one.ratio > chosen.ratio * _CLEARLY
        and one.access_s <= max(now.access_s, chosen.access_s * _CLEARLY)
    ]
    return _about_fastest(lossy) if lossy else chosen


def _about_fastest(trials: Sequence[Trial]) -> Trial:
    """The first of those that are about as fast as the fastest."""
    least = min(one.access_s for one in trials)
    return next(one for one in trials if one.access_s <= least * _ABOUT)


def _touched(
    boxes: Sequence[tuple[slice, ...]], chunks: Sequence[int], shape: Sequence[int]
) -> tuple[list[tuple[Any, ...]], float]:
    """The boxes as far as their chunks reach, and which part of all elements these chunks have."""
    # An empty array may have chunks of 0.
    chunks = [max(1, one) for one in chunks]
    found = {
        tuple((b.start // c, -(-b.stop // c)) for b, c in zip(box, chunks, strict=True))
        for box in boxes
    }
    every = {at for ends in found for at in itertools.product(*(range(*one) for one in ends))}
    elements = sum(
        math.prod(min(c, n - i * c) for i, c, n in zip(at, chunks, shape, strict=True))
        for at in every
    )
    parts: list[tuple[Any, ...]] = [
        tuple(slice(a * c, min(z * c, n)) for (a, z), c, n in zip(ends, chunks, shape, strict=True))
        for ends in sorted(found)
    ]
    return parts, elements / max(1, math.prod(shape))


def _differ(chunks: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two layouts are worth a trial each: some side is at least twice as long."""
    return any(max(a, b) >= 2 * min(a, b) for a, b in zip(chunks, other, strict=True))


def _options(codec: str, node: Any) -> dict[str, Any]:
    # Import time: only advice needs numcodecs.
    from zarrix.codecs import Blosc

    if codec == "as it is":
        if node.metadata.zarr_format == 2:
            return {"compressor": node.compressor, "filters": node.filters or None}
        return {
            "compressors": node.compressors, "filters": node.filters,
            "serializer": node.serializer,
        }  # fmt: skip
    _, name, level, shuffle = codec.split(":")
    return {
        "compressor": Blosc(
            cname=name, clevel=int(level), shuffle={"shuffle": 1, "bitshuffle": 2}[shuffle]
        )
    }


advise.__module__ = "zarrix.measure"
