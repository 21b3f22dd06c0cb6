"""The arrays of a dataset in a stage: `Loader(stage=)`."""

from __future__ import annotations

import os
from typing import Any

from zarrix import _engine
from zarrix._array.access import location_of, metadata_of
from zarrix.ml._reading.fetch import Frozen, Source
from zarrix.ml._staging.folder import Folder
from zarrix.ml._staging.layout import layout_of
from zarrix.ml._staging.stage import Stage
from zarrix.ml._staging.staged_array import StagedArray

__all__ = ["Staging", "with_caches"]


def with_caches(dataset: Any, is_frozen: bool, stage: Any) -> tuple[Staging | None, Any]:
    """The dataset with frozen arrays, if they are, and in the stage that a user names or makes."""
    if is_frozen:
        dataset = dataset._frozen(Frozen())
    if stage is None:
        return None, dataset
    if isinstance(stage, str | os.PathLike):
        stage = Stage(stage)
    if not isinstance(stage, Stage):
        raise TypeError(f"stage= is a path or an ml.Stage, not {type(stage).__name__}")
    staging = Staging(stage, is_frozen)
    return staging, dataset._frozen(staging)


class Staging(Frozen):
    """Sources whose decoded chunks are kept in a stage, where the generations of stored chunks are
    known: in directories, and on servers if the arrays are frozen.
    """

    def __init__(self, stage: Stage, is_frozen: bool) -> None:
        super().__init__()
        self._stage, self._is_frozen = stage, is_frozen
        self.folder = Folder(stage.path, stage.max_bytes)
        self.folder.open()
        # By the id of arrays, which are kept with them.
        self._arrays: dict[int, tuple[Any, StagedArray | None]] = {}

    def source(self, source: Source) -> Source:
        """The source with its array in the stage, if it can be there."""
        if not source.is_native:
            return source
        array = source.array
        if id(array) not in self._arrays:
            self._arrays[id(array)] = array, self._staged(array)
        return source._replace(staged=self._arrays[id(array)][1])

    def _staged(self, array: Any) -> StagedArray | None:
        store, _, _, chunks = location_of(array)
        engine = (store if chunks is None else chunks)._engine
        is_remote = self._is_frozen and isinstance(engine, _engine.ObjectStore)
        metadata = metadata_of(array)
        layout = layout_of(metadata)
        if layout is None or not (isinstance(engine, _engine.LocalStore) or is_remote):
            return None
        return StagedArray(array, metadata, layout, self.folder, self._stage.codec, self._is_frozen)

    @property
    def windows(self) -> int:
        """How many windows were read from the stage."""
        arrays = [staged for _, staged in self._arrays.values() if staged is not None]
        return sum(staged.windows for staged in arrays)
