"""The array of a codec pipeline of zarr-python, with the chunks that were planned for a call."""

from __future__ import annotations

from typing import Any

import numpy as np

from zarrix._runtime.threads import in_pool
from zarrix._selection.fancy import Indexer
from zarrix.interop._batch import Keys, selection_of
from zarrix.interop._bound import Bound, bind, where
from zarrix.interop._calls import DECLINED, read_selected, write_selected
from zarrix.interop._pool import threads

__all__ = ["PlannedArray"]


class PlannedArray:
    """An array whose selections zarr-python divides by chunks.

    `read` and `write` return whether the engine has done the call.

    Parameters
    ----------
    metadata : ArrayV2Metadata or ArrayV3Metadata
    store : zarr.abc.store.Store
    """

    def __init__(self, metadata: Any, store: Any) -> None:
        self.metadata = metadata
        self.store = store
        self.keys = Keys.of(metadata)
        self.folder = ""
        self.bound: Bound | None = None

    def __reduce__(self) -> Any:
        return type(self), (self.metadata, self.store)

    async def read(self, batch: list[Any], out: Any, drop_axes: tuple[int, ...]) -> bool:
        """Fill ``out``."""
        # Versions before 3.3 read every missing chunk as the fill value.
        if not batch or not getattr(batch[0][1].config, "read_missing_chunks", True):
            return False
        memory: Any = getattr(out, "_data", None)
        call = self._call(batch, memory, drop_axes)
        # A caller's buffer may have any dtype, to which zarr-python casts.
        if (
            call is None
            or memory is None
            or memory.dtype != call[0].dtype
            or not memory.flags.writeable
        ):
            return False
        return await in_pool(threads(), read_selected, *call, memory) is not DECLINED

    async def write(self, batch: list[Any], value: Any, drop_axes: tuple[int, ...]) -> bool:
        """Store ``value``."""
        memory: Any = getattr(value, "_data", None)
        call = self._call(batch, memory, drop_axes)
        if call is None:
            return False
        return await in_pool(threads(), write_selected, *call, memory) is not DECLINED

    def _call(
        self, batch: list[Any], memory: Any, drop_axes: tuple[int, ...]
    ) -> tuple[Bound, Indexer] | None:
        """The array and the selection of a call; None if it is left to zarr-python."""
        keys = self.keys
        if keys is None or not batch or not isinstance(memory, np.ndarray):
            return None
        path, spec = batch[0][:2]
        if getattr(path, "store", None) is not self.store or not _is_plain(spec):
            return None
        try:
            folder, _ = keys.split(path.path)
            chunks = [(keys.split(one.path)[1], inside, at) for one, _, inside, at, _ in batch]
            indexer = selection_of(chunks, spec.shape, drop_axes)
        except (ValueError, TypeError, AttributeError):
            # Not a division of a selection that is known here.
            return None
        if indexer is None or (memory.shape and memory.shape != indexer.shape):
            return None
        bound = self._bound_to(folder, spec.config, _extent(indexer))
        return None if bound is None else (bound, indexer)

    def _bound_to(self, folder: str, config: Any, extent: tuple[int, ...]) -> Bound | None:
        """The array as the engine reads it. A resize does not tell the pipeline, so that its
        array has at least the shape that zarr-python selected from.
        """
        found = self.bound
        if (
            found is None
            or self.folder != folder
            or found.attributes != len(found.own)
            or found.where != where(found.own)
            or found.config.write_empty_chunks != config.write_empty_chunks
            or any(end > size for end, size in zip(extent, found.shape, strict=True))
        ):
            metadata = self.metadata
            if metadata.zarr_format == 3 and not hasattr(metadata.chunk_grid, "chunk_shape"):
                # A resize may have changed the lengths of the chunks.
                return None
            shape = tuple(map(max, metadata.shape, extent)) if extent else ()
            grown = metadata if shape == metadata.shape else metadata.update_shape(shape)
            found = bind(self.store, folder, grown, config)
            found.attributes = len(found.own)
            self.folder, self.bound = folder, found
        return found if found.io is not None else None


def _is_plain(spec: Any) -> bool:
    """Whether the buffers of a call are NumPy arrays."""
    kinds = spec.prototype.buffer, spec.prototype.nd_buffer
    return all(
        kind.__module__ == "zarr.core.buffer.cpu" and kind.__name__ in ("Buffer", "NDBuffer")
        for kind in kinds
    )


def _extent(indexer: Indexer) -> tuple[int, ...]:
    """The shape that an array needs for a selection."""
    if indexer.coords:
        return tuple(int(axis.max()) + 1 if axis.size else 0 for axis in indexer.coords)
    ends = []
    for axis in indexer.axes:
        if isinstance(axis, tuple):
            ends.append(axis[0] + axis[1] * (axis[2] - 1) + 1)
        elif isinstance(axis, np.ndarray):
            ends.append(int(axis.max()) + 1 if axis.size else 0)
        else:
            ends.append(int(axis or 0) + 1)
    return tuple(ends)
