"""Batches, and the samples that they are cut into."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Batch", "Samples"]


class Batch(dict[str, Any]):
    """A batch: a dict from names to arrays whose first axis counts samples.

    Beside the fields it has ``item``, the number of each sample's item, ``start``, the corner of
    its window on the grid of the first field, and ``valid`` where a batch may have samples that
    do not count: those that pad the last batch of an epoch, and those whose chunks are corrupt.

    Attributes
    ----------
    seeds : ndarray of uint64, shape (samples,)
        A number for each sample that depends on seed, epoch and item alone: augmentations that are
        seeded by it do not depend on how samples are batched, nor on which loader reads them.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> from zarrix import ml
    >>> rows = ml.Rows({"x": zarr.array(np.arange(6).reshape(3, 2))})
    >>> batch = next(iter(ml.Loader(rows, batch_size=2, shuffle=False)))
    >>> batch["x"].shape, batch["item"]
    ((2, 2), array([0, 1]))
    """

    __module__ = "zarrix.ml"

    seeds: npt.NDArray[np.uint64] | None = None


class Samples(list[dict[str, Any]]):
    """The samples of a batch as views of it, and the batch itself.

    Any function that collates samples does so; that of `zarrix.ml.torch` takes the batch instead.
    """

    batch: Batch
    # Storages of torch that fields are in, and what fields are converted to, by their names.
    shared: dict[str, Any]
    kinds: dict[str, str]
    # How the batch holds samples that differ in length.
    layout: Any = None

    @classmethod
    def of(cls, batch: Batch) -> Samples:
        count = len(batch["item"])
        samples = cls({name: value[i] for name, value in batch.items()} for i in range(count))
        samples.batch, samples.shared, samples.kinds = batch, {}, {}
        return samples
