"""The loader: batches of a dataset, in the order of an epoch, from a position on.

`Loader` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from zarrix._display.table import info_table
from zarrix._errors import StateError, suggestion
from zarrix._runtime.sizes import parse_size
from zarrix.ml._datasets.dataset import Dataset, digest_of
from zarrix.ml._datasets.mix import Mix
from zarrix.ml._loading.epochs import choose, cumulative_weights, order_of
from zarrix.ml._loading.filler import ReadHere
from zarrix.ml._loading.options import CorruptRule, Options
from zarrix.ml._loading.passes import Batches, Indices
from zarrix.ml._loading.plan import Plan, plan_of
from zarrix.ml._loading.preview import Preview, preview_of
from zarrix.ml._order.position import Position
from zarrix.ml._order.rank import rank_and_world
from zarrix.ml._order.schedule import Schedule
from zarrix.ml._order.state import OrderChoice, State, checked_epoch
from zarrix.ml._reading.batch import Batch
from zarrix.ml._reading.deliver import deliverer
from zarrix.ml._reading.slots import Slots, pageable
from zarrix.ml._reading.staging import with_caches
from zarrix.ml._reading.stats import Counters, Stats
from zarrix.ml._reading.threads import threads_of_loader
from zarrix.ml._reading.uploads import OnItsWay, Uploads, page_locked
from zarrix.ml._staging.stage import Stage
from zarrix.ml._transforms.samples import SampleFunction
from zarrix.ml._transforms.workers import Workers, checked_workers

__all__ = ["Loader"]

_ON_ERROR = ("raise", "replace", "fill")
_FREE = ("full", "block")


class Loader:
    """Batches of a dataset: each one native call, read ahead by a thread, exact to resume.

    The order of an epoch is a function of seed, epoch and position. The state is one position;
    nothing is lost or repeated when another run, of any number of ranks and any batch size, goes on
    from it. A fresh run has the same order with any of these for "full" and False; "block" depends
    on ``memory`` and ``partitions``, too. Samples never repeat within an epoch, except those that
    pad the last batch, which ``batch["valid"]`` marks, and those of ``weights`` and of a `Mix`.

    Parameters
    ----------
    dataset : Crops, Clips, Rows, Ragged, Grid or Mix
    batch_size : int
        Samples of a batch on one rank.
    shuffle : bool or {"full", "block"}
        "full" is any order of all items; "block" reads the chunks of some blocks together and
        shuffles what lies in them, where clips cross chunks in runs of neighbouring blocks. True
        takes "block" if its batches have at least 0.9 of the different blocks of a full shuffle,
        else "full"; the state says which. False is the order of items.
    seed : int
    rank, world : int, optional
        Which of how many processes this is; from torch.distributed, RANK and WORLD_SIZE, or jax
        when omitted.
    drop_last : bool, optional
        Whether samples that fill no whole batch on all ranks are left out. True for several ranks
        when omitted. If False, several ranks pad the last batch with the first samples of the
        epoch, which are not ``valid``; one rank alone has a short batch. All batches then
        have ``valid``.
    weights : array of float, shape (items,), or str, optional
        Items are drawn with replacement, in proportion to them. The name of a column of a joined
        table draws each of its values equally often.
    samples : int, optional
        The length of an epoch of a `Mix`, or with ``weights``.
    prefetch : int
        Batches that are read ahead; 0 reads in the calling thread.
    memory : int or str
        The most memory of all batches that are read ahead, such as "512 MiB".
    to : {"numpy", "torch", "jax"} or callable
        What arrays become.
    device : optional
        Where torch or jax puts them. For a CUDA device of torch, batches are read into page-locked
        memory and copied by a stream of their own while the step before them runs; the stream that
        is current in the thread that asks for a batch waits for its copy, and nothing else does.
    transform : callable, optional
        ``transform(batch, rng)`` runs in the reading thread, with a NumPy generator of the batch.
    transform_sample : callable, optional
        ``transform_sample(sample, rng)`` runs there for each sample, before ``transform``. The
        generator depends on seed, epoch and item alone, and not on how samples are batched. The
        sample has views of the batch, and may be changed in place. If mappings, lists or tuples of
        arrays are returned, the batch has these, with a new first axis; shapes and dtypes are equal
        in all samples.
    transform_workers : int
        How many processes run ``transform_sample``; 0 is the thread that reads. Batches are equal
        for any number. They are started as `multiprocessing` is set to, see `set_start_method`.
    on_error : {"raise", "replace", "fill"}
        What a corrupt chunk does: raise `CorruptChunkError`; another item, which depends on seed,
        epoch and item alone, instead of each sample that touches it; or the fill value and False in
        ``batch["valid"]``. `errors` has a record of each.
    max_errors : int
        More records than these are an error in every mode.
    error_log : path, optional
        A file to which each record of `errors` is appended, as a line of JSON.
    partitions : int, optional
        Into how many streams "block" divides the blocks; the number of ranks when omitted.
    frozen : bool
        Your promise that the arrays do not change while the loader is used. Without it, each use
        of a cached chunk of a remote store asks the server whether it is current; with it, only
        the first use does. `stats` says that it was given.
    stage : path or Stage, optional
        A folder on a local disk, where decoded chunks are kept: see `Stage`. Arrays of numbers are
        staged that are in a directory, or on a server if ``frozen``; others are read as without it.
    reduce : {2, 4, 8}, optional
        Pictures of JPEG chunks are decoded in a smaller size, by this factor along each side. The
        loader is one of the same dataset of `Array.reduced`: a window has its ``size``, as
        many pixels as without, of a larger part of the picture; its corners count smaller pixels.
        It is the first field that is reduced, and all others of JPEG; masks and other fields on
        the grid of the first one remain aligned with it.
    threads : int, optional
        How many threads decode; when omitted, those of the engine divided by LOCAL_WORLD_SIZE, of
        which one is left to the program from four on.

    Raises
    ------
    ValueError
        An option is not one of those above, or the first field has no smaller pictures.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.array(np.arange(20).reshape(10, 2), chunks=(5, 2))})
    >>> loader = ml.Loader(rows, batch_size=4, seed=0)
    >>> [batch["x"].shape for batch in loader]
    [(4, 2), (4, 2), (2, 2)]
    >>> batches = iter(loader)
    >>> first = next(batches)
    >>> state = loader.state_dict()
    >>> state["epoch"], state["seen"], state["size"]
    (1, 4, 10)
    """

    __module__ = "zarrix.ml"

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int = 1,
        *,
        shuffle: bool | str = True,
        seed: int = 0,
        rank: int | None = None,
        world: int | None = None,
        drop_last: bool | None = None,
        weights: Any = None,
        samples: int | None = None,
        prefetch: int = 2,
        memory: int | str = "512 MiB",
        to: Any = "numpy",
        device: Any = None,
        transform: Callable[[Batch, np.random.Generator], Any] | None = None,
        transform_sample: SampleFunction | None = None,
        transform_workers: int = 0,
        on_error: str = "raise",
        max_errors: int = 100,
        error_log: str | os.PathLike[str] | None = None,
        partitions: int | None = None,
        frozen: bool = False,
        stage: str | os.PathLike[str] | Stage | None = None,
        reduce: int | None = None,
        threads: int | None = None,
    ) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"a loader takes a dataset of zarrix.ml, not {type(dataset).__name__}")
        positive = {"batch_size": batch_size, "partitions": partitions, "samples": samples}
        _check_counts(positive, {"prefetch": prefetch, "max_errors": max_errors})
        if on_error not in _ON_ERROR:
            raise ValueError(
                f"on_error={on_error!r}; allowed are {', '.join(_ON_ERROR)}"
                f"{suggestion(str(on_error), _ON_ERROR)}"
            )
        if dataset._layout is not None:
            _check_layout(on_error, transform_sample)
        if reduce is not None:
            dataset = dataset._reduced(reduce)
        self._staging, dataset = with_caches(dataset, bool(frozen), stage)
        self.dataset, self.batch_size, self.seed = dataset, int(batch_size), int(seed)
        self.frozen, self._shuffle, self._partitions = bool(frozen), shuffle, partitions
        self._threads = threads_of_loader(threads)
        self._requested_rank, self._drop_last = (rank, world), drop_last
        self.rank, self.world = rank_and_world(rank, world)
        self._cumulative, self._samples = cumulative_weights(dataset, weights, samples)
        log = None if error_log is None else os.path.abspath(error_log)
        self._corrupt = CorruptRule(on_error, int(max_errors), log)
        self._prefetch, self._memory = int(prefetch), parse_size(memory, "memory")
        self._transform, self._transform_sample = transform, transform_sample
        self._transform_workers = checked_workers(transform_workers, transform_sample)
        self._deliver = deliverer(to, device)
        self._choice = choose(
            dataset, shuffle, self.batch_size, self._memory, partitions or self.world, self.world
        )
        self._position = Position()
        self._counters = Counters()
        self._running: Batches | Indices | None = None
        self._slots: Slots | None = None
        self._workers: Workers | None = None
        self._slots_pid = 0
        #: What corrupt chunks did so far: a mapping for each.
        self.errors: list[dict[str, Any]] = []

    # Batches

    def __iter__(self) -> Iterator[Any]:
        schedule = self._begin()
        options = self._options()
        if options.workers is not None:
            options.workers.start()
        batches = self._running = Batches(self, options, schedule)
        return batches

    def _indices(self) -> Iterator[list[int]]:
        """The batches of the next pass as indices, for a DataLoader of another library."""
        schedule = self._begin()
        indices = self._running = Indices(self, self.dataset, self.seed, schedule)
        return indices

    def _begin(self) -> Schedule:
        """Go to where the next pass begins: at the position of a state, or in the next epoch."""
        self._position = self._position.of_next_pass()
        return self._schedule(self._position.seen)

    def _state_after(self, delivered: int | None) -> dict[str, Any]:
        """The state after so many batches of the pass that runs; all that were taken if None."""
        running, has_pass = self._running, self._position.has_pass
        if delivered is None or not isinstance(running, Indices) or not (has_pass or delivered):
            return self.state_dict()
        size = running.schedule.order.size
        seen = min(running.schedule.first + delivered * running.schedule.whole, size)
        if not has_pass or seen > min(running.position.seen, size):
            raise ValueError(f"delivered={delivered}, and fewer batches were asked for")
        return replace(self._state(), seen=seen).to_json()

    def __len__(self) -> int:
        """Batches of a whole epoch on each rank, also where one is resumed.

        Trainers count batches of an epoch from its begin. ``len(iter(loader))`` are those that are
        left.
        """
        return len(self._schedule(0))

    def _schedule(self, first: int) -> Schedule:
        self.rank, self.world = rank_and_world(*self._requested_rank)
        drop_last = self.world > 1 if self._drop_last is None else self._drop_last
        order = self._order(self._position.epoch)
        return Schedule(order, self.batch_size, self.rank, self.world, drop_last, first)

    def _order(self, epoch: int) -> Any:
        return order_of(
            self.dataset, self._choice, self.seed, epoch, self._cumulative, self._samples
        )

    @property
    def epoch(self) -> int:
        """The epoch of the next batch: the one that runs, or after its end the next one."""
        position, running = self._position, self._running
        is_over = position.has_pass and running is not None and running.finished
        return position.epoch + 1 if is_over else position.epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration one of this epoch, from its begin.

        The position of an epoch that was resumed is kept, if it is this epoch.

        Parameters
        ----------
        epoch : int

        Raises
        ------
        ValueError
            ``epoch`` is negative, or more than 4294967295.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> loader = ml.Loader(ml.Rows({"x": zarr.zeros((4, 2))}), batch_size=2)
        >>> loader.set_epoch(7)
        >>> loader.epoch
        7
        """
        epoch = checked_epoch(epoch)
        if self._position.has_pass or epoch != self._position.epoch:
            self._position = Position(epoch)

    # State

    def state_dict(self) -> dict[str, Any]:
        """Where this loader is: a mapping of JSON below 1 KB, equal on all ranks.

        It counts what was delivered, and never what was only read ahead.

        Returns
        -------
        dict
            Seed, epoch, the position in it, the order, and a fingerprint of the dataset.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> ml.Loader(ml.Rows({"x": zarr.zeros((4, 2))}), seed=5).state_dict()["seed"]
        5
        """
        return self._state().to_json()

    def _state(self) -> State:
        size, choice, position = self._order_size(), self._choice, self._position
        seen, prints = min(position.seen, size), self._fingerprint(choice)
        return State(choice, self.seed, position.epoch, seen, size, prints)

    def _fingerprint(self, choice: OrderChoice) -> dict[str, str]:
        """Digests of all that samples and an order depend on, apart from values of arrays."""
        digests = self.dataset._fingerprint()
        if self._cumulative is not None:
            digests["weights"] = digest_of(self._cumulative)
        if choice.has_blocks:
            digests["blocks"] = digest_of(self.dataset._blocks)
        return digests

    def _order_size(self) -> int:
        if isinstance(self.dataset, Mix):
            return self._samples or self.dataset._epoch
        return self._samples or len(self.dataset)

    def load_state_dict(self, state_dict: Mapping[str, Any], *, strict: bool = True) -> None:
        """Go on where a state was taken: the next iteration continues its epoch, once.

        It may have been taken with any number of ranks, batch size and prefetch.

        Parameters
        ----------
        state_dict : mapping
            What `state_dict` returned.
        strict : bool
            Whether another dataset or order is an error. If not, the epoch after that of the state
            begins.

        Raises
        ------
        StateError
            ``state_dict`` is not a state, is of an earlier version, or is that of another dataset
            or order; the message lists what differs.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.zeros((6, 2))})
        >>> loader = ml.Loader(rows, batch_size=2)
        >>> first = next(iter(loader))
        >>> resumed = ml.Loader(rows, batch_size=3)
        >>> resumed.load_state_dict(loader.state_dict())
        >>> sum(len(batch["item"]) for batch in resumed)
        4
        """
        state = State.of(state_dict)
        own = replace(self._state(), fingerprint=self._fingerprint(state.order))
        differs = own.differences(state)
        layout = self.dataset._layout
        if state.order.bunch and not (layout is not None and layout.edges):
            differs.append(f"the order {state.order} in the state is of buckets")
        # The kind that shuffle=True chose may have been chosen otherwise elsewhere.
        free = _FREE if self._shuffle is True and not isinstance(self.dataset, Mix) else ()
        kinds = {own.order.kind, state.order.kind}
        if len(kinds) > 1 and not kinds.issubset(free):
            differs.append(f"the order is {own.order} here and {state.order} in the state")
        if differs and strict:
            raise StateError(
                "the state is of another dataset or order: "
                + "; ".join(differs)
                + "; strict=False begins its next epoch"
            )
        is_over = bool(differs) or state.seen >= state.size
        next_epoch = checked_epoch(state.epoch + 1) if is_over else state.epoch
        self.seed = state.seed
        self._position = Position(next_epoch, 0 if is_over else state.seen)
        if not differs:
            self._choice = state.order

    def plan(self) -> Plan:
        """What an epoch will cost: read amplification, randomness and memory; nothing is read.

        It is estimated from the first calls of epoch 0.

        Returns
        -------
        Plan

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> rows = ml.Rows({"x": zarr.zeros((64, 10), chunks=(8, 10))})
        >>> ml.Loader(rows, batch_size=8, shuffle="full").plan().order
        'full/1'
        """
        return plan_of(self, self._choice, self._schedule(0))

    def preview(self, samples: int = 8) -> Preview:
        """A contact sheet of the first samples of the epoch; the position does not move.

        Parameters
        ----------
        samples : int
            The most rows of the picture.

        Returns
        -------
        Preview
            A notebook shows it; `Preview.save` writes a PNG file.

        Raises
        ------
        ValueError
            No field is a picture.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> loader = ml.Loader(ml.Rows({"x": zarr.zeros((8, 16, 16))}), batch_size=4)
        >>> loader.preview(samples=2)
        Preview(x: 104 x 204 pixels)
        """
        options = replace(self._options(), transform=None, transform_sample=None, deliver=None)
        batch = _first_of(options, self._schedule(0))
        kinds, layout = self.dataset._kinds(), self.dataset._layout
        apart = () if layout is None or layout.kind == "pad" else layout.pads
        names = [
            c.name
            for c in self.dataset._shown()
            if kinds.get(c.name) != "bfloat16" and c.name not in apart
        ]
        return preview_of({name: batch[name][:samples] for name in names}, names)

    def _first(self) -> Any:
        """The first batch of the epoch, as it is delivered; the position does not move."""
        return _first_of(self._options(), self._schedule(0))

    def stats(self) -> Stats:
        """What was loaded so far, how long the caller waited, and what limits.

        Returns
        -------
        Stats

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> loader = ml.Loader(ml.Rows({"x": zarr.zeros((4, 2))}), batch_size=2)
        >>> batches = list(loader)
        >>> loader.stats().samples
        4
        """
        staged = 0 if self._staging is None else self._staging.windows
        return self._counters.stats(len(self.errors), self.frozen, staged)

    # Life

    def close(self) -> None:
        """End reading ahead, and wait until it has ended; batches that were delivered stay valid.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> with ml.Loader(ml.Rows({"x": zarr.zeros((4, 2))})) as loader:
        ...     first = next(iter(loader))
        """
        if self._running is not None:
            self._running.close()
        if self._workers is not None:
            self._workers.close()
        self._slots = self._workers = None

    def __enter__(self) -> Loader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, "_running": None, "_slots": None, "_workers": None}
        del state["_counters"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _counters=Counters())

    def _repr_html_(self) -> str:
        position, size = self._position, self._order_size()
        return info_table(
            [
                ("Dataset", repr(self.dataset)),
                ("Batch size", f"{self.batch_size}, rank {self.rank} of {self.world}"),
                ("Order", f"{self._choice}, seed {self.seed}"),
                ("Position", f"epoch {position.epoch}, {position.seen} of {size} samples"),
            ]
        )

    def __repr__(self) -> str:
        ranks = f", rank {self.rank} of {self.world}" if self.world > 1 else ""
        position, size = self._position, self._order_size()
        return (
            f"Loader({self.dataset!r}, batch_size={self.batch_size}, order {self._choice}, "
            f"seed={self.seed}{ranks}, epoch {position.epoch} at {position.seen} of {size})"
        )

    def _options(self) -> Options:
        return Options(
            dataset=self.dataset,
            seed=self.seed,
            epoch=self._position.epoch,
            kind=self._choice.kind,
            sample_bytes=self.dataset._most_bytes(self.batch_size),
            share=self._share,
            prefetch=self._prefetch,
            memory=self._memory,
            slots=self._slots_here(),
            workers=self._workers,
            threads=self._threads,
            corrupt=self._corrupt,
            errors=self.errors,
            marks=self._drop_last is False,
            transform=self._transform,
            transform_sample=self._transform_sample,
            deliver=self._deliver,
            counters=self._counters,
        )

    @functools.cached_property
    def _share(self) -> float:
        return self.dataset._share()

    def _slots_here(self) -> Slots:
        """The memory of batches, used again in each epoch; a forked child has its own."""
        if self._slots is None or self._slots_pid != os.getpid():
            allocate = page_locked if isinstance(self._deliver, Uploads) else pageable
            self._workers = None
            if self._transform_workers and self._transform_sample is not None:
                self._workers = Workers(self._transform_workers, self._transform_sample)
                allocate = self._workers.memory
            self._slots, self._slots_pid = Slots(self._memory, allocate), os.getpid()
        return self._slots


def _check_counts(positive: dict[str, Any], natural: dict[str, Any]) -> None:
    """Raise ValueError for a count that is not an integer, or too small; some may be omitted."""
    for name, value in {**positive, **natural}.items():
        least = int(name in positive)
        is_omitted = value is None and name in ("partitions", "samples")
        if not is_omitted and (not isinstance(value, int | np.integer) or value < least):
            raise ValueError(f"{name}={value!r}; it is an integer of at least {least}")


def _check_layout(on_error: str, transform_sample: SampleFunction | None) -> None:
    """Raise ValueError for options that samples of one shape alone can have."""
    if on_error == "replace" or transform_sample is not None:
        raise ValueError(
            "samples that differ in length are not replaced, and have no transform_sample=: "
            "on_error='fill' marks them, and transform= gets the batch"
        )


def _first_of(options: Options, schedule: Schedule) -> Any:
    """The first batch of a schedule, read here and counted nowhere."""
    if not len(schedule):
        raise ValueError(
            f"the epoch has no batch: its {schedule.order.size} samples fill none of "
            f"{schedule.whole}, and drop_last leaves them out"
        )
    options = replace(options, prefetch=0, workers=None, counters=Counters(), errors=[])
    batch = ReadHere(options, schedule).filled()[0].batch
    return batch.take() if isinstance(batch, OnItsWay) else batch
