"""What JAX needs: arrays on a device, or divided among the devices of all processes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from zarrix.ml._reading.arrays import with_arrays

__all__ = ["OnDevice", "Sharded", "each_array"]


def each_array(batch: Any, kinds: dict[str, str], made: Callable[[Any], Any]) -> Any:
    """The batch with ``made`` of each array of numbers; ``kinds`` names fields of bfloat16."""
    # Optional: jax is only needed by those who ask for its arrays.
    jax: Any = importlib.import_module("jax")

    def convert(value: Any, is_bfloat16: bool) -> Any:
        if is_bfloat16:
            value = value.view(jax.numpy.bfloat16.dtype)
        elif not value.dtype.isnative:
            value = value.astype(value.dtype.newbyteorder("="))
        return made(value)

    return with_arrays(batch, kinds, convert)


class OnDevice:
    """Arrays of jax on one device, the default one if it is None."""

    def __init__(self, device: Any) -> None:
        self.device = device

    def __call__(self, batch: Any, kinds: dict[str, str]) -> Any:
        # Optional: jax is only needed by those who ask for its arrays.
        jax: Any = importlib.import_module("jax")
        return each_array(batch, kinds, lambda value: jax.device_put(value, self.device))


class Sharded:
    """``Loader(to=Sharded(sharding))``: one array for the batches of all processes.

    Each process loads the samples of its own rank and puts them on its own devices; the array that
    jax sees has those of all ranks, in the order of ranks.

    Parameters
    ----------
    sharding : jax.sharding.Sharding
        Its first axis divides the samples, such as
        ``NamedSharding(mesh, PartitionSpec("data"))``.

    Raises
    ------
    ImportError
        jax is not installed, when the first batch is made.

    Examples
    --------
    >>> from zarrix import ml
    >>> loader = ml.Loader(rows, 64, to=ml.jax.Sharded(sharding))  # doctest: +SKIP
    """

    __module__ = "zarrix.ml.jax"

    def __init__(self, sharding: Any) -> None:
        self.sharding = sharding

    def __call__(self, batch: Any, kinds: dict[str, str]) -> Any:
        """The batch, with global arrays of jax."""
        # Optional: jax is only needed by those who ask for its arrays.
        jax: Any = importlib.import_module("jax")
        make = jax.make_array_from_process_local_data
        return each_array(batch, kinds, lambda value: make(self.sharding, value))
