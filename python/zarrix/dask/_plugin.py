"""Plugins of distributed workers."""

from __future__ import annotations

import importlib
from typing import Any

# distributed takes only subclasses of its own classes.
from distributed.diagnostics.plugin import WorkerPlugin

__all__ = ["AsZarr"]


class AsZarr(WorkerPlugin):
    """A plugin of dask workers by which ``import zarr`` imports zarrix.

    Programs whose tasks import zarr then run on zarrix in every worker, also in workers that start
    later. Arrays of zarrix need no plugin: their pickles name its classes.

    Examples
    --------
    >>> from dask.distributed import Client  # doctest: +SKIP
    >>> client = Client()  # doctest: +SKIP
    >>> client.register_plugin(zarrix.dask.AsZarr())  # doctest: +SKIP
    """

    name = "zarrix-as-zarr"
    idempotent = True

    def setup(self, worker: Any) -> None:
        """Install the alias in the process of ``worker``; distributed calls it.

        Parameters
        ----------
        worker : distributed.Worker

        Raises
        ------
        RuntimeError
            The process has imported zarr-python already.

        Examples
        --------
        >>> zarrix.dask.AsZarr().setup(worker)  # doctest: +SKIP
        """
        # By its name, because it is built on all rooms of the package.
        importlib.import_module("zarrix.as_zarr")
