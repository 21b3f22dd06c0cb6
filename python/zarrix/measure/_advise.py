"""A better layout for an array that exists: sampled, modelled, and tried."""

from __future__ import annotations

import json
import math
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from zarrix._array.create_array import create_array
from zarrix._array.dimension_names import names_of
from zarrix._hierarchy.copy_log import check_choice
from zarrix._hierarchy.open import open as open_node
from zarrix._runtime.config import config
from zarrix.measure._access import Access, accesses_of
from zarrix.measure._bench import compared
from zarrix.measure._lint import Finding, lint
from zarrix.measure._model import Layout, candidates, cost
from zarrix.measure._suggest import check_place, shards_of

__all__ = ["Advice", "Trial", "advise"]

# Bytes of the sample for each second of the budget, and at most: half of the budget is for writing.
_SAMPLE_RATE, _SAMPLE = 4 * 2**20, 32 * 2**20
_PLACES = 8
# Layouts of the first trials, and those that are tried again.
_TRIED, _KEPT = 12, 4
_CODECS = ("blosc:zstd:5:bitshuffle", "blosc:lz4:5:shuffle")
# The model's choice stays unless a trial is so much faster: noise must not decide.
_CLEARLY = 1.1


@dataclass(frozen=True)
class Trial:
    """A layout that was written from the sample and read.

    Attributes
    ----------
    chunks : tuple of int
    codec : str
    ratio : float
        Decoded bytes over stored bytes.
    access_s : float
        Median seconds of an access, weighted.
    expected_s : float
        What the model expected.
    present : bool
        Whether it is the layout of the array.

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


@dataclass
class Advice:
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
        return f"zarrix rechunk {self.name or 'SOURCE'} DEST --chunks {chunks}{shards}{codec}"

    def __str__(self) -> str:
        rows = [str(one) for one in self.findings]
        for one in self.trials:
            label = "present" if one.present else "tried"
            mark = ""
            if one.chunks == self.chunks and one.codec == self.codec:
                label = "present" if one.present else "advised"
                mark = "  <- stays" if one.present else f"  <- {self.gain:.2f}x as fast, measured"
            rows.append(
                f"{label:<8} chunks {','.join(map(str, one.chunks)):<18} {one.codec:<22} "
                f"{one.ratio:5.2f}x smaller  {1 / one.access_s:9,.1f} accesses/s{mark}"
            )
        if self.trials and self.trials[0].chunks != self.chunks:
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
            if one.chunks == self.chunks and one.codec == self.codec:
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
) -> Advice:
    """Measure which chunks and codec would be better for an array; nothing is changed.

    A sample of real data is written in the best layouts of a model and in the present one, and read
    as the accesses say. The advice is never lossy.

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

    Returns
    -------
    Advice

    Raises
    ------
    ValueError
        An access is not understood, the budget is not positive, or ``place`` is something else.

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
    check_place(place)
    node = array if hasattr(array, "shape") else open_node(array, mode="r")
    advice = Advice(findings=lint(node), name="" if hasattr(array, "shape") else str(array))
    advice.chunks = tuple(node.chunks)
    if access is None:
        advice.seconds = time.perf_counter() - begun
        return advice
    found = accesses_of(access, node.shape, names_of(node))
    with tempfile.TemporaryDirectory(dir=scratch, prefix="zarrix-advise-") as folder:
        _Trials(node, found, place, budget, seed, Path(folder)).run(advice)
    advice.seconds = time.perf_counter() - begun
    return advice


class _Trials:
    """The sample, and the layouts that are written from it."""

    def __init__(
        self,
        node: Any,
        accesses: list[Access],
        place: str,
        budget: float,
        seed: int,
        folder: Path,
    ) -> None:
        self._node, self._accesses, self._place = node, accesses, place
        self._budget, self._seed, self._folder = budget, seed, folder
        self._tried = max(4, min(_TRIED, int(6 * budget)))
        self._sample = _sample(node, accesses, seed, min(_SAMPLE, int(budget * _SAMPLE_RATE)))

    def run(self, advice: Advice) -> None:
        """Try layouts, and choose: all in one codec first, then the best in other codecs."""
        node = self._node
        present = Layout(tuple(node.chunks))
        layouts = [present]
        listed = candidates(
            node.shape, node.dtype.itemsize, self._accesses, self._place, config.threads
        )
        for one in listed:
            if len(layouts) > self._tried:
                break
            if all(_differ(self._fits(one), self._fits(other)) for other in layouts[1:]):
                layouts.append(one)
        made = [(present, *self._written(present, "as it is"))]
        made += [(one, *self._written(one, _CODECS[0])) for one in layouts[1:]]
        first = compared([one[1] for one in made], self._accesses, self._budget / 4, self._seed)
        # The model's choice, and those that were the fastest, in the order of the model.
        order = sorted(range(2, len(made)), key=lambda index: first[index])[: _KEPT - 1]
        made = [one for index, one in enumerate(made) if index in (0, 1, *order)]
        for layout, *_ in made[1:3]:
            made += [(layout, *self._written(layout, codec)) for codec in _CODECS[1:]]
        times = compared([one[1] for one in made], self._accesses, self._budget / 4, self._seed)
        for index, ((layout, _, codec, ratio), seconds) in enumerate(zip(made, times, strict=True)):
            expected = cost(
                layout, node.shape, node.dtype.itemsize, self._accesses,
                place=self._place, ratio=max(ratio, 1.0), threads=config.threads,
            )  # fmt: skip
            advice.trials.append(Trial(layout.chunks, codec, ratio, seconds, expected, index == 0))
        now, *others = advice.trials
        chosen = now
        if others:
            modelled, fastest = others[0], min(others, key=lambda one: one.access_s)
            clear = modelled.access_s > fastest.access_s * _CLEARLY
            chosen = fastest if clear else modelled
            if chosen.access_s * _CLEARLY > now.access_s:
                chosen = now
        advice.chunks, advice.codec = chosen.chunks, chosen.codec
        advice.gain = now.access_s / chosen.access_s
        layout = Layout(chosen.chunks)
        advice.shards = shards_of(layout, node.shape, node.dtype.itemsize, self._place)

    def _fits(self, layout: Layout) -> tuple[int, ...]:
        """The chunks of a layout in the sample."""
        return tuple(min(c, n) for c, n in zip(layout.chunks, self._sample.shape, strict=True))

    def _written(self, layout: Layout, codec: str) -> tuple[Any, str, float]:
        """The sample in a layout; its codec, and how much smaller it is."""
        options = _options(codec, self._node)
        path = self._folder / f"{len(list(self._folder.iterdir()))}.zarr"
        made = create_array(
            path,
            shape=self._sample.shape,
            dtype=self._sample.dtype,
            chunks=self._fits(layout),
            zarr_format=2 if self._node.metadata.zarr_format == 2 else None,
            **options,
        )
        made[...] = self._sample
        stored = sum(one.stat().st_size for one in path.rglob("*") if one.is_file())
        shown = codec
        if codec == "as it is":
            shown = "present codec"
        return open_node(path, mode="r"), shown, self._sample.nbytes / max(1, stored)


def _differ(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Whether two layouts are worth a trial each: some side is at least twice as long."""
    return any(max(a, b) >= 2 * min(a, b) for a, b in zip(one, other, strict=True))


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


def _sample(node: Any, accesses: list[Access], seed: int, most: int) -> Any:
    """A box of the array of ``most`` bytes, larger than the accesses, from eight places."""
    shape = list(node.shape)
    least = [min(n, max(one.extent[i] for one in accesses)) for i, n in enumerate(shape)]
    itemsize = max(1, node.dtype.itemsize)
    while math.prod(shape) * itemsize > most:
        room = [n / k for n, k in zip(shape, least, strict=True)]
        axis = int(np.argmax(room))
        if room[axis] <= 1:
            # The accesses are larger than a sample: they are cut where they are longest.
            axis = int(np.argmax(shape))
        shape[axis] = max(1, shape[axis] // 2)
    rng = np.random.default_rng(seed)
    starts = [int(rng.integers(0, n - k + 1)) for n, k in zip(node.shape, shape, strict=True)]
    if not shape or shape[0] == node.shape[0] or shape[0] < _PLACES:
        return np.asarray(node[tuple(slice(s, s + k) for s, k in zip(starts, shape, strict=True))])
    inner = tuple(slice(s, s + k) for s, k in zip(starts[1:], shape[1:], strict=True))
    part = shape[0] // _PLACES
    parts = []
    for place in range(_PLACES):
        low = place * node.shape[0] // _PLACES
        start = min(low + int(rng.integers(0, max(1, node.shape[0] // _PLACES - part + 1))),
                    node.shape[0] - part)  # fmt: skip
        parts.append(node[(slice(start, start + part), *inner)])
    return np.concatenate(parts)


advise.__module__ = "zarrix.measure"
