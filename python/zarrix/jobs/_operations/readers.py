"""Files as arrays: shape, data type, and the elements of a region."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from zarrix._array.array import Array
from zarrix.jobs._running.documents import opened
from zarrix.jobs._running.places import place_of

__all__ = ["READERS", "reader_of", "region_of"]

Reader = Callable[[str, str | None], contextlib.AbstractContextManager[Any]]
"""Opens a file, and a member of it, as an object with ``shape``, ``dtype`` and slicing."""


@contextlib.contextmanager
def _npy(path: str, member: str | None) -> Iterator[Any]:
    yield np.load(path, mmap_mode="r")


@contextlib.contextmanager
def _npz(path: str, member: str | None) -> Iterator[Any]:
    with np.load(path) as found:
        yield found[_member(list(found), member, path)]


@contextlib.contextmanager
def _hdf5(path: str, member: str | None) -> Iterator[Any]:
    # Optional: the format of h5py.
    import h5py  # type: ignore[import-untyped]  # It has no types.

    with h5py.File(path, "r") as file:
        datasets: list[str] = []
        if member is None:
            file.visititems(
                lambda name, one: datasets.append(name) if isinstance(one, h5py.Dataset) else None
            )
        found = file[_member(datasets, member, path)]
        if not isinstance(found, h5py.Dataset):
            raise ValueError(f"{member!r} is a group of {path!r}; pass member= of a dataset")
        yield found


@contextlib.contextmanager
def _tiff(path: str, member: str | None) -> Iterator[Any]:
    # Optional: the format of tifffile.
    import tifffile

    yield tifffile.imread(path)


@contextlib.contextmanager
def _image(path: str, member: str | None) -> Iterator[Any]:
    # Optional: the formats of Pillow.
    from PIL import Image

    with Image.open(path) as image:
        yield np.asarray(image)


@contextlib.contextmanager
def _zarr(path: str, member: str | None) -> Iterator[Any]:
    found = opened(place_of(path))
    found = found if member is None else found[member]
    if not isinstance(found, Array):
        raise ValueError(f"{path!r} has a group; pass member= of an array")
    yield found


READERS: dict[str, tuple[Reader, tuple[str, ...]]] = {
    "npy": (_npy, (".npy",)),
    "npz": (_npz, (".npz",)),
    "hdf5": (_hdf5, (".h5", ".hdf5", ".he5", ".nc", ".nc4")),
    "tiff": (_tiff, (".tif", ".tiff")),
    "image": (_image, (".png", ".jpg", ".jpeg", ".bmp", ".webp")),
    "zarr": (_zarr, (".zarr",)),
}
"""By name: the reader, and the suffixes of its files."""


def reader_of(name: str, path: str) -> Reader:
    """The reader of a name, or with "auto" that of a file's suffix.

    Raises
    ------
    ValueError
        There is none.
    """
    if name in READERS:
        return READERS[name][0]
    suffix = os.path.splitext(path.rstrip("/"))[1].lower()
    for reader, suffixes in READERS.values():
        if name == "auto" and suffix in suffixes:
            return reader
    names = ", ".join(map(repr, READERS))
    raise ValueError(f"no reader for {path!r}; pass reader= as one of {names}, or a function")


def region_of(file: Any, region: tuple[slice, ...]) -> npt.NDArray[Any]:
    """The elements of a region of what a reader opened."""
    return np.asarray(file[region])


def _member(names: list[str], member: str | None, path: str) -> str:
    if member is not None:
        return member
    if len(names) != 1:
        found = ", ".join(map(repr, names[:5])) or "none"
        raise ValueError(f"{path!r} has {len(names)} arrays ({found}); pass member=")
    return names[0]
