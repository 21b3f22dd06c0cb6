"""The libraries that the experiments are made with: zarrix, and its peers where installed.

An experiment knows arrays of one axis of ``<i4``, and what it does to them: make, open, write a
range, read a range, append, set an attribute. What a library cannot do is `None` in its table, and
the experiment is left out for it. Peers are opened anew by every process, as their users would.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Library:
    """How one library does what the experiments ask for.

    Attributes
    ----------
    name, needs : str
        Its name in tables, and the module that has to be installed.
    make : callable of (folder, length, chunk, shard)
        An array of zeros; ``shard`` is None or the length of an inner chunk, and ``chunk`` then
        the length of a shard.
    open : callable of folder
        The array, for reading and writing.
    append : callable of (array, values), optional
    attributes : callable of folder, optional
        A mutable mapping that stores at once.
    shards, forks : bool
        Whether it has shards; whether its handles are to be used after a fork at all.
    """

    name: str
    needs: str
    make: Callable[[Path, int, int, int | None], Any]
    open: Callable[[Path], Any]
    append: Callable[[Any, Any], Any] | None = None
    attributes: Callable[[Path], Any] | None = None
    shards: bool = True
    forks: bool = True

    @property
    def title(self) -> str:
        """Its name with its version, where that is not known from the name."""
        version = importlib.metadata.version(self.needs)
        return self.name if self.name == "zarrix" else f"{self.name} {version}"

    @property
    def installed(self) -> bool:
        """Whether this interpreter has it."""
        return importlib.util.find_spec(self.needs) is not None


def _zarrix_make(folder: Path, length: int, chunk: int, shard: int | None) -> Any:
    import zarrix as zarr

    if shard is None:
        return zarr.open_array(folder, mode="w", shape=length, chunks=chunk, dtype="<i4")
    return zarr.create_array(
        folder, shape=length, chunks=shard, shards=chunk, dtype="<i4", overwrite=True
    )


def _zarrix_open(folder: Path) -> Any:
    import zarrix as zarr

    return zarr.open_array(folder, mode="r+")


def _zarr_make(folder: Path, length: int, chunk: int, shard: int | None, **more: Any) -> Any:
    import zarr

    if zarr.__version__.startswith("2."):
        return zarr.open_array(
            str(folder), mode="w", shape=length, chunks=chunk, dtype="<i4", **more
        )
    shards = None if shard is None else (chunk,)
    return zarr.create_array(
        store=str(folder),
        shape=(length,),
        chunks=(shard or chunk,),
        shards=shards,
        dtype="<i4",
        overwrite=True,
    )


def _zarr_open(folder: Path, **more: Any) -> Any:
    import zarr

    return zarr.open_array(str(folder), mode="r+", **more)


def _synchronized(folder: Path) -> dict[str, Any]:
    import zarr

    return {"synchronizer": zarr.ProcessSynchronizer(str(folder.with_suffix(".sync")))}


def _zarrs_open(folder: Path) -> Any:
    import zarr
    import zarrs  # noqa: F401  registers its pipeline

    zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return _zarr_open(folder)


def _attributes(open_: Callable[[Path], Any]) -> Callable[[Path], Any]:
    return lambda folder: open_(folder).attrs


class _TensorStore:
    """A TensorStore array with the brackets of the others."""

    def __init__(self, folder: Path) -> None:
        import tensorstore as ts

        kvstore = {"driver": "file", "path": str(folder)}
        self._array = ts.open({"driver": "zarr3", "kvstore": kvstore}).result()

    def __getitem__(self, key: Any) -> Any:
        return self._array[key].read().result()

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[key].write(np.asarray(value, "<i4")).result()


def _tensorstore_make(folder: Path, length: int, chunk: int, shard: int | None) -> Any:
    """The document that zarr 3 writes by default, so that no other library is needed for it."""
    codecs: list[dict[str, Any]] = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        {"name": "zstd", "configuration": {"level": 0, "checksum": False}},
    ]
    if shard is not None:
        index = [codecs[0], {"name": "crc32c"}]
        configuration = {"chunk_shape": [shard], "codecs": codecs, "index_codecs": index}
        codecs = [{"name": "sharding_indexed", "configuration": configuration}]
    document = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [length],
        "data_type": "int32",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [chunk]}},
        "chunk_key_encoding": {"name": "default"},
        "fill_value": 0,
        "codecs": codecs,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "zarr.json").write_text(json.dumps(document))
    return _TensorStore(folder)


def _append(array: Any, values: Any) -> Any:
    return array.append(values)


LIBRARIES: dict[str, Library] = {
    library.name: library
    for library in (
        Library("zarrix", "zarrix", _zarrix_make, _zarrix_open, _append, _attributes(_zarrix_open)),
        Library(
            "zarr", "zarr", _zarr_make, _zarr_open, _append, _attributes(_zarr_open), shards=True
        ),
        Library(
            "ProcessSynchronizer of zarr",
            "zarr",
            lambda folder, *rest: _zarr_make(folder, *rest, **_synchronized(folder)),
            lambda folder: _zarr_open(folder, **_synchronized(folder)),
            _append,
            lambda folder: _zarr_open(folder, **_synchronized(folder)).attrs,
            shards=False,
        ),
        Library("zarrs", "zarrs", _zarr_make, _zarrs_open, None, None, forks=False),
        Library("TensorStore", "tensorstore", _tensorstore_make, _TensorStore, forks=False),
    )
}


def has_shards(library: Library) -> bool:
    """Whether shards can be made: the library has them, in the version that is installed."""
    if library.needs == "zarr":
        return library.shards and hasattr(importlib.import_module("zarr"), "create_array")
    return library.shards
