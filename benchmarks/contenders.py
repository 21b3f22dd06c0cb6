"""The contenders: each is one row of a table, opened once and read through one function.

A contender is what its users would write with every setting at its default: no cache, no tuned
thread count. `Opened.read` is the bound method itself wherever the library has one, so that the
harness adds nothing to a read of a few microseconds.

zarr-python is one package with three pipelines, chosen when an array is opened. They are three
contenders in one process: an array keeps the pipeline that it was opened with, and opening
checks that it did. zarr-python 2, a package of the same name, has a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata, util
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import setup

OURS = "zarrix"

AnyArray = NDArray[Any]
Key = Any
"""Integers, slices or a tuple of both: what every contender understands alike."""


@dataclass(frozen=True)
class Opened:
    """One array, open.

    read : key -> a new array with the selected elements
    write : (key, array) -> None, returns when the bytes are where any process sees them
    points : arrays of coordinates, one per axis -> a new array with one element for each point
    outer : integers, slices and arrays -> a new array, each axis selected on its own
    windows : (starts, shape) -> all windows of that shape, in one array or in as many

    The last three are only asked of those who read Zarr; without a call of its own for windows a
    contender reads them one by one.
    """

    read: Callable[[Key], AnyArray]
    write: Callable[[Key, AnyArray], None]
    points: Callable[[Key], AnyArray] | None = None
    outer: Callable[[Key], AnyArray] | None = None
    windows: Callable[[AnyArray, tuple[int, ...]], AnyArray] | None = None


@dataclass(frozen=True)
class Contender:
    """One way to read a stored array.

    Parameters
    ----------
    name : str
        As the table shows it.
    modules : tuple of str
        What has to be importable; the first one's distribution gives the version.
    open : callable
        ``open(path, mode)`` with mode "r" or "r+".
    suffix : str
        Of the files it reads: ".zarr", or its own format beside them.
    atomic : bool
        Whether a reader of a chunk that is being written sees one whole version of it.
    list_group : callable, optional
        From the path of a group to the names and shapes of its arrays.
    python : Path, optional
        The interpreter that it lives in, where that cannot be this one.
    pin : str
        Its version there.
    """

    name: str
    modules: tuple[str, ...]
    open: Callable[[Path, str], Opened]
    suffix: str = ".zarr"
    atomic: bool = True
    list_group: Callable[[Path], list[tuple[str, tuple[int, ...]]]] | None = None
    python: Path | None = None
    pin: str = ""

    @property
    def available(self) -> bool:
        """Whether this interpreter can import it, or it has one of its own."""
        if self.python is not None:
            return self.python.exists()
        return all(util.find_spec(module) is not None for module in self.modules)

    @property
    def version(self) -> str:
        """The version of its distribution; "source tree" where it is not installed."""
        if self.pin:
            return self.pin
        try:
            return metadata.version(self.modules[0])
        except metadata.PackageNotFoundError:
            return "source tree"

    @property
    def label(self) -> str:
        """Its import name, for rows about modules rather than arrays; one for each version."""
        return self.modules[0] if self.python is None else self.name


def _open_zarrix(path: Path, mode: str) -> Opened:
    import zarrix

    array = zarrix.open_array(str(path), mode=mode)
    return Opened(
        array.__getitem__,
        array.__setitem__,
        array.vindex.__getitem__,
        array.oindex.__getitem__,
        array.read_windows,
    )


def _list_zarrix(path: Path) -> list[tuple[str, tuple[int, ...]]]:
    import zarrix

    return [(name, array.shape) for name, array in zarrix.open_group(str(path), mode="r").arrays()]


def _list_zarr(path: Path) -> list[tuple[str, tuple[int, ...]]]:
    import zarr

    return [(name, array.shape) for name, array in zarr.open_group(str(path), mode="r").arrays()]


def _zarr_pipeline(name: str) -> Callable[[Path, str], Opened]:
    def open(path: Path, mode: str) -> Opened:
        import zarr

        with zarr.config.set({"codec_pipeline.path": name}):
            array = zarr.open_array(str(path), mode=mode)
        in_use = type(array._async_array.codec_pipeline).__name__
        if in_use != name.rpartition(".")[2]:
            raise RuntimeError(f"asked zarr for {name}, the array uses {in_use}")
        vindex, oindex = array.vindex.__getitem__, array.oindex.__getitem__
        return Opened(array.__getitem__, array.__setitem__, vindex, oindex)

    return open


def _open_tensorstore(path: Path, mode: str) -> Opened:
    import tensorstore

    spec: dict[str, Any] = {
        "driver": "zarr3" if (path / "zarr.json").exists() else "zarr",
        "kvstore": {"driver": "file", "path": str(path)},
        # Nobody else waits for the disk after each chunk; with it, this would measure fsync.
        "context": {"file_io_sync": False},
    }
    array = tensorstore.open(spec, read=True, write=mode != "r").result()

    def read(key: Key) -> Any:
        return array[key].read().result()

    def write(key: Key, value: AnyArray) -> None:
        array[key].write(value).result()

    def points(key: Key) -> Any:
        return array.vindex[key].read().result()

    def outer(key: Key) -> Any:
        return array.oindex[key].read().result()

    return Opened(read, write, points, outer)


def _open_zarr2(path: Path, mode: str) -> Opened:
    import zarr

    array = zarr.open_array(str(path), mode=mode)
    vindex, oindex = array.vindex.__getitem__, array.oindex.__getitem__
    return Opened(array.__getitem__, array.__setitem__, vindex, oindex)


def _open_zarrista(path: Path, mode: str) -> Opened:
    import zarrista

    array = zarrista.Array.open(zarrista.store.FilesystemStore(str(path)))
    retrieve = array.retrieve_array_subset

    def read(key: Key) -> Any:
        values = retrieve(key).to_numpy()
        # An index keeps its axis there.
        return values.squeeze(tuple(i for i, part in enumerate(key) if isinstance(part, int)))

    return Opened(read, array.store_array_subset)


def _refuse(key: Key, value: AnyArray) -> None:
    raise NotImplementedError("read only")


def _open_npy(path: Path, mode: str) -> Opened:
    def read(key: Key) -> Any:
        return np.load(path)[key]

    return Opened(read, _refuse)


def _open_memmap(path: Path, mode: str) -> Opened:
    mapped = np.load(path, mmap_mode="r")

    def read(key: Key) -> AnyArray:
        return np.array(mapped[key])

    return Opened(read, _refuse)


def _open_hdf5(path: Path, mode: str) -> Opened:
    import h5py
    import hdf5plugin  # noqa: F401  (its import is what makes HDF5 know the codecs)

    # Without its cache of chunks: what is measured is a read, and nobody else has one.
    return Opened(h5py.File(path, "r", rdcc_nbytes=0)["values"].__getitem__, _refuse)


def _open_b2nd(path: Path, mode: str) -> Opened:
    import blosc2

    return Opened(blosc2.open(str(path), mode="r").__getitem__, _refuse)


def _open_tiledb(path: Path, mode: str) -> Opened:
    import tiledb

    return Opened(tiledb.open(str(path), "r").__getitem__, _refuse)


CONTENDERS: tuple[Contender, ...] = (
    Contender(OURS, ("zarrix",), _open_zarrix, list_group=_list_zarrix),
    Contender(
        "zarr-python",
        ("zarr",),
        _zarr_pipeline("zarr.core.codec_pipeline.BatchedCodecPipeline"),
        list_group=_list_zarr,
    ),
    Contender(
        "zarr-python fused",
        ("zarr",),
        _zarr_pipeline("zarr.core.codec_pipeline.FusedCodecPipeline"),
        list_group=_list_zarr,
    ),
    Contender("zarrs", ("zarrs", "zarr"), _zarr_pipeline("zarrs.ZarrsCodecPipeline"), atomic=False),
    Contender("zarrista", ("zarrista",), _open_zarrista, atomic=False),
    Contender("TensorStore", ("tensorstore",), _open_tensorstore),
    Contender(
        "zarr-python 2",
        ("zarr",),
        _open_zarr2,
        list_group=_list_zarr,
        python=setup.PYTHON_OF_ZARR2,
        pin=setup.PINS_OF_ZARR2[-1].partition("==")[2],
    ),
    Contender("numpy.load", ("numpy",), _open_npy, suffix=".npy"),
    Contender("numpy memmap", ("numpy",), _open_memmap, suffix=".npy"),
    Contender("h5py", ("h5py", "hdf5plugin"), _open_hdf5, suffix=".h5"),
    Contender("b2nd", ("blosc2",), _open_b2nd, suffix=".b2nd"),
    Contender("TileDB", ("tiledb",), _open_tiledb, suffix=".tiledb"),
)

ZARR = tuple(c.name for c in CONTENDERS if c.suffix == ".zarr")


def named(name: str) -> Contender:
    """The contender of that name."""
    return next(c for c in CONTENDERS if c.name == name)
