"""The values of an array in the formats of other libraries, in its chunks and with its codec.

Each has its own function here, which writes, and a contender in `contenders`, which reads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from benchmarks.contenders import AnyArray
    from benchmarks.data import Layout


@dataclass(frozen=True)
class Format:
    """What writes a format, and the modules that it needs."""

    write: Callable[[Path, AnyArray, Layout], None]
    modules: tuple[str, ...]

    def build(self, path: Path, values: AnyArray, layout: Layout) -> None:
        """Write ``values`` to ``path``, unless the library is not installed."""
        if self.available:
            self.write(path, values, layout)

    @property
    def available(self) -> bool:
        """Whether this interpreter can import what it needs."""
        return all(util.find_spec(module) is not None for module in self.modules)


def _npy(path: Path, values: AnyArray, layout: Layout) -> None:
    np.save(path, values)


def _hdf5(path: Path, values: AnyArray, layout: Layout) -> None:
    import h5py
    import hdf5plugin

    with h5py.File(path, "w") as file:
        codec = hdf5plugin.Blosc(cname="lz4", clevel=5, shuffle=hdf5plugin.Blosc.SHUFFLE)
        file.create_dataset("values", data=values, chunks=layout.chunks, compression=codec)


def _b2nd(path: Path, values: AnyArray, layout: Layout) -> None:
    import blosc2

    parameters = {"codec": blosc2.Codec.LZ4, "clevel": 5, "filters": [blosc2.Filter.SHUFFLE]}
    blosc2.remove_urlpath(str(path))
    blosc2.asarray(values, chunks=layout.chunks, urlpath=str(path), cparams=parameters)


def _tiledb(path: Path, values: AnyArray, layout: Layout) -> None:
    import tiledb

    filters = tiledb.FilterList([tiledb.ByteShuffleFilter(), tiledb.LZ4Filter(level=5)])
    sizes = zip(values.shape, layout.chunks, strict=True)
    axes = [tiledb.Dim(domain=(0, n - 1), tile=c, dtype=np.uint64) for n, c in sizes]
    schema = tiledb.ArraySchema(
        domain=tiledb.Domain(*axes), attrs=[tiledb.Attr(dtype=values.dtype, filters=filters)]
    )
    if tiledb.array_exists(str(path)):
        tiledb.remove(str(path))
    tiledb.DenseArray.create(str(path), schema)
    with tiledb.open(str(path), "w") as array:
        array[...] = values


COPIES = {
    ".npy": Format(_npy, ("numpy",)),
    ".h5": Format(_hdf5, ("h5py", "hdf5plugin")),
    ".b2nd": Format(_b2nd, ("blosc2",)),
    ".tiledb": Format(_tiledb, ("tiledb",)),
}
