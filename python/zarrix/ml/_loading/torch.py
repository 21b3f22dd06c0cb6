"""What torch's DataLoader needs: a sampler of batches, and a function that collates them.

`BatchSampler` has more than six parameters, because each is a choice of its user, by name.
"""

from __future__ import annotations

import functools
import importlib
import inspect
from collections.abc import Iterator, Mapping
from typing import Any

from zarrix.ml._datasets.dataset import Dataset
from zarrix.ml._loading.loader import Loader
from zarrix.ml._reading.batch import Batch, Samples
from zarrix.ml._reading.to_torch import to_torch

__all__ = ["BatchSampler", "DataLoader", "collate"]


class BatchSampler:
    """The batches of a `Loader`, as lists of indices for ``DataLoader(batch_sampler=)``.

    Each index carries seed and epoch, so that workers that persist give the samples of the epoch
    that was asked for. Order, ranks and state are those of a `Loader`. A DataLoader asks for
    batches before it delivers them: take states from `zarrix.ml.torch.DataLoader`, which counts
    what was delivered, or pass ``delivered``.

    Parameters
    ----------
    dataset : dataset of zarrix.ml
    batch_size : int
    shuffle, seed, rank, world, drop_last, weights, samples, memory, partitions : optional
        As for `Loader`.

    Raises
    ------
    ValueError
        An option is not one of those of `Loader`.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.zeros((5, 2))})
    >>> sampler = ml.torch.BatchSampler(rows, 2, seed=0)
    >>> [len(batch) for batch in sampler]
    [2, 2, 1]
    """

    __module__ = "zarrix.ml.torch"

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
        memory: int | str = "512 MiB",
        partitions: int | None = None,
    ) -> None:
        self._loader = Loader(
            dataset,
            batch_size,
            shuffle=shuffle,
            seed=seed,
            rank=rank,
            world=world,
            drop_last=drop_last,
            weights=weights,
            samples=samples,
            memory=memory,
            partitions=partitions,
        )
        self.batch_size = batch_size
        self.drop_last = bool(drop_last)

    def __iter__(self) -> Iterator[list[int]]:
        return self._loader._indices()

    def __len__(self) -> int:
        return len(self._loader)

    @property
    def epoch(self) -> int:
        """The epoch of the next batch."""
        return self._loader.epoch

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration one of this epoch, as `Loader.set_epoch`.

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
        >>> sampler = ml.torch.BatchSampler(ml.Rows({"x": zarr.zeros((5, 2))}))
        >>> sampler.set_epoch(3)
        >>> sampler.epoch
        3
        """
        self._loader.set_epoch(epoch)

    def state_dict(self, *, delivered: int | None = None) -> dict[str, Any]:
        """Where this sampler is, as `Loader.state_dict`.

        Parameters
        ----------
        delivered : int, optional
            How many batches of this iteration have arrived; all that were asked for when omitted.

        Returns
        -------
        dict

        Raises
        ------
        ValueError
            ``delivered`` is more than were asked for.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> sampler = ml.torch.BatchSampler(ml.Rows({"x": zarr.zeros((5, 2))}), 2)
        >>> batches = list(sampler)
        >>> sampler.state_dict(delivered=1)["seen"]
        2
        """
        return self._loader._state_after(delivered)

    def load_state_dict(self, state_dict: Mapping[str, Any], *, strict: bool = True) -> None:
        """Go on where a state was taken, as `Loader.load_state_dict`.

        Parameters
        ----------
        state_dict : mapping
        strict : bool

        Raises
        ------
        StateError
            ``state_dict`` is not a state, or that of another dataset or order.

        Examples
        --------
        >>> import zarrix as zarr
        >>> from zarrix import ml
        >>> sampler = ml.torch.BatchSampler(ml.Rows({"x": zarr.zeros((5, 2))}), 2)
        >>> sampler.load_state_dict(sampler.state_dict())
        """
        self._loader.load_state_dict(state_dict, strict=strict)


def collate(samples: Any) -> Any:
    """The whole batch as tensors that share its memory: the batch is not put together again.

    Parameters
    ----------
    samples : list
        What a dataset's ``__getitems__`` returned.

    Returns
    -------
    Batch
        A dict of tensors; its ``seeds`` are those of a `Loader`.

    Raises
    ------
    TypeError
        ``samples`` are not those of a dataset of zarrix.ml, or were taken one by one.

    Examples
    --------
    >>> from zarrix import ml
    >>> ml.torch.collate([1, 2])
    Traceback (most recent call last):
        ...
    TypeError: collate takes what a dataset of zarrix.ml returns for a batch, not a list
    """
    if not isinstance(samples, Samples):
        raise TypeError(
            "collate takes what a dataset of zarrix.ml returns for a batch, not a "
            f"{type(samples).__name__}"
        )
    # Optional: only a program that has torch comes here.
    torch: Any = importlib.import_module("torch")
    batch = Batch(samples.batch)
    batch.seeds = samples.batch.seeds
    shared = getattr(samples, "shared", {})
    kinds = getattr(samples, "kinds", {})
    for name, storage in shared.items():
        kind = to_torch(Batch({name: batch[name][:0]}), kinds)[name].dtype
        shape, strides = batch[name].shape, batch[name].strides
        size = max(1, batch[name].itemsize)
        tensor = torch.empty(0, dtype=kind)
        batch[name] = tensor.set_(storage, 0, shape, tuple(stride // size for stride in strides))
    made = to_torch(batch, kinds)
    if samples.layout is not None:
        samples.layout.finish(made)
    return made


def DataLoader(  # noqa: N802, as torch names it
    dataset: Dataset, batch_size: int = 1, **options: Any
) -> Any:
    """A torch DataLoader with the order, the batches and the exact state of a `Loader`.

    Parameters
    ----------
    dataset : dataset of zarrix.ml
    batch_size : int
    **options
        Those of `BatchSampler`, and those of ``torch.utils.data.DataLoader`` that a batch sampler
        leaves, such as ``num_workers``, ``persistent_workers`` and ``pin_memory``.

    Returns
    -------
    torch.utils.data.DataLoader
        It also has ``set_epoch``, ``state_dict`` and ``load_state_dict``; a state counts batches
        that were delivered, and not those that workers have ready.

    Raises
    ------
    ImportError
        torch is not installed.
    TypeError
        torch's DataLoader does not have such an option.

    Examples
    --------
    >>> import zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.zeros((5, 2))})
    >>> loader = ml.torch.DataLoader(rows, 2, seed=0, num_workers=2)  # doctest: +SKIP
    """
    named = inspect.signature(BatchSampler).parameters.keys() - {"dataset", "batch_size"}
    own = {name: options.pop(name) for name in named if name in options}
    sampler = BatchSampler(dataset, batch_size, **own)
    options.setdefault("collate_fn", collate)
    return _loader_class()(dataset, batch_sampler=sampler, **options)


@functools.cache
def _loader_class() -> Any:
    """The class of loaders; it needs torch, and pickles by torch's own class."""
    # Optional: only a program that has torch comes here.
    data: Any = importlib.import_module("torch.utils.data")

    # torch need not be installed, so type checkers may not know the base.
    class Delivering(data.DataLoader):  # type: ignore[misc]
        """A DataLoader that counts what it delivered."""

        def __iter__(self) -> Iterator[Any]:
            batches = super().__iter__()
            self._delivered = 0

            def deliver() -> Iterator[Any]:
                for batch in batches:
                    self._delivered += 1
                    yield batch

            return deliver()

        def set_epoch(self, epoch: int) -> None:
            self.batch_sampler.set_epoch(epoch)

        @property
        def epoch(self) -> int:
            return int(self.batch_sampler.epoch)

        def state_dict(self) -> dict[str, Any]:
            found: dict[str, Any] = self.batch_sampler.state_dict(
                delivered=getattr(self, "_delivered", 0)
            )
            return found

        def load_state_dict(self, state_dict: Mapping[str, Any], *, strict: bool = True) -> None:
            self.batch_sampler.load_state_dict(state_dict, strict=strict)
            self._delivered = 0

    return Delivering
