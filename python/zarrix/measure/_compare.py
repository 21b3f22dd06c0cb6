"""The ways to save an array, compared on the user's own data: size, write, read, crops."""

from __future__ import annotations

import importlib
import json
import math
import pickle
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._array.array import Array
from zarrix._array.create_array import create_array
from zarrix._display.table import Printed
from zarrix._errors import ConversionError
from zarrix._hierarchy.open import open as open_node
from zarrix.convert._export import export
from zarrix.measure._access import Access, accesses_of

__all__ = ["Comparison", "FormatRow", "compare"]

_CROP_SECONDS = 0.5
_TEXT_BYTES = 64 * 2**20
_LOSSY = ("jpeg",)
# The side of a chunk of JPEG.
_TILE = 512


@dataclass(frozen=True)
class FormatRow:
    """One way to save the array.

    Attributes
    ----------
    format, how : str
    stored_bytes : int
    write_s, read_s : float
        Seconds to write and to read all of it.
    crops_per_s : float
        Random reads of the access, a second.
    why_not : str
        Why it was left out; the figures are 0.
    psnr_db : float or None
        How near a lossy format is to what was written, in dB; None if it is equal.

    Examples
    --------
    >>> from zarrix.measure import FormatRow
    >>> FormatRow("npy", "as it is", 128, 0.1, 0.1, 10.0).why_not
    ''
    """

    format: str
    how: str
    stored_bytes: int = 0
    write_s: float = 0.0
    read_s: float = 0.0
    crops_per_s: float = 0.0
    why_not: str = ""
    psnr_db: float | None = None


@dataclass
class Comparison(Printed):
    """All formats, the array that was saved, and the access.

    Attributes
    ----------
    shape : tuple of int
    dtype, access : str
    nbytes : int
    rows : list of FormatRow

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> found = zarr.compare(np.zeros((8, 8)), formats=["npy", "zarr"], seconds=0.01)
    >>> [row.format for row in found.rows]
    ['npy', 'zarr']
    """

    shape: tuple[int, ...]
    dtype: str
    access: str
    nbytes: int
    rows: list[FormatRow] = field(default_factory=list)

    def to_json(self) -> str:
        """The comparison as JSON.

        Returns
        -------
        str

        Examples
        --------
        >>> from zarrix.measure import Comparison
        >>> Comparison((2,), "<f8", "all", 16).to_json()[:29]
        '{"version": 1, "shape": [2], '
        """
        return json.dumps({"version": 1, **asdict(self)})

    def to_svg(self) -> str:
        """Size against crops a second: a named dot for each format; up and right is better.

        Returns
        -------
        str
            An SVG document.

        Examples
        --------
        >>> from zarrix.measure import Comparison
        >>> Comparison((2,), "<f8", "all", 16).to_svg()[:4]
        '<svg'
        """
        rows = [one for one in self.rows if not one.why_not and one.crops_per_s > 0]
        width, height, left, low = 560, 360, 70, 310
        speeds = [math.log10(one.crops_per_s) for one in rows]
        ratios = [self.nbytes / max(1, one.stored_bytes) for one in rows]
        slowest, fastest = min(speeds, default=0.0), max(speeds, default=0.0)
        span, largest = max(fastest - slowest, 0.1), max(ratios, default=1.0)
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="12">',
            f'<path d="M{left} 20V{low}H{width - 20}" fill="none" stroke="#888"/>',
            f'<text x="{left}" y="{height - 12}">crops a second, {10**slowest:,.0f} '
            f"to {10**fastest:,.0f} (logarithmic)</text>",
            f'<text x="8" y="14">times smaller, up to {largest:.2f}</text>',
        ]
        for one, speed, ratio in zip(rows, speeds, ratios, strict=True):
            x = left + 20 + (width - left - 140) * (speed - slowest) / span
            y = low - 10 - (low - 50) * ratio / largest
            colour = "#c30" if one.format == "zarr" else "#06c"
            parts.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="{colour}"/>'
                f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{one.format}</text>'
            )
        return "".join([*parts, "</svg>"])

    def _table(self) -> tuple[str, Sequence[str], list[list[str]], str]:
        """What comes before a table, its columns, its rows, and what comes after it."""
        rows = []
        for one in self.rows:
            if one.why_not:
                rows.append([one.format, f"left out: {one.why_not}", *[""] * 5])
                continue
            rows.append([
                one.format, one.how, f"{one.stored_bytes:,}",
                f"{self.nbytes / max(1, one.stored_bytes):.2f}x", f"{one.write_s:.3f} s",
                f"{one.read_s:.3f} s", f"{one.crops_per_s:,.1f}",
            ])  # fmt: skip
        columns = ("format", "how", " bytes", " smaller", " write", " read", " crops/s")
        return self._title(), columns, rows, ""

    def _title(self) -> str:
        return f"{self.shape} of {self.dtype}, {self.nbytes:,} bytes; crops are {self.access!r}"

    def __str__(self) -> str:
        lines = [
            self._title(),
            f"{'format':<10} {'how':<28} {'bytes':>13} {'smaller':>8} {'write':>9} {'read':>9} "
            f"{'crops/s':>10}",
        ]
        for one in self.rows:
            if one.why_not:
                lines.append(f"{one.format:<10} left out: {one.why_not}")
                continue
            lines.append(
                f"{one.format:<10} {one.how:<28} {one.stored_bytes:>13,} "
                f"{self.nbytes / max(1, one.stored_bytes):>7.2f}x {one.write_s:>7.3f} s "
                f"{one.read_s:>7.3f} s {one.crops_per_s:>10,.1f}"
            )
        return "\n".join(lines)


def compare(
    array: Any,
    *,
    formats: Any = None,
    access: Any = None,
    seconds: float = _CROP_SECONDS,
    scratch: str | None = None,
) -> Comparison:
    """Save an array in each format, read it whole and by crops, and compare.

    Every format is read by its own library, and what it gives back is compared with the array. The
    files are removed.

    Parameters
    ----------
    array : array, Store, str or Path
        An array, or an npy file. It is loaded into memory.
    formats : sequence of str, optional
        All of ``zarr``, ``npy``, ``memmap``, ``npz``, ``raw``, ``text``, ``pickle``, ``hdf5``,
        ``tiff`` and ``bits`` that the array has, if omitted.
    access : str, optional
        The crops, as for `suggest`; half of each of the last two axes if omitted.
    seconds : float
        For the crops of each format.
    scratch : str, optional
        The folder in which files are written; one of the system's when omitted.

    Returns
    -------
    Comparison

    Raises
    ------
    ConversionError
        A format is not known, or gave back other values.

    Examples
    --------
    >>> import numpy as np, zarrix as zarr
    >>> found = zarr.compare(np.arange(64.0).reshape(8, 8), formats=["text"], seconds=0.01)
    >>> found.rows[0].stored_bytes > 0
    True
    """
    value = _loaded(array)
    crop = _access(value, access)
    result = Comparison(tuple(value.shape), value.dtype.str, crop.text, int(value.nbytes))
    names = list(formats or _FORMATS)
    unknown = [one for one in names if one not in _FORMATS]
    if unknown:
        raise ConversionError(f"{unknown[0]!r} is not one of {', '.join(_FORMATS)}")
    with tempfile.TemporaryDirectory(dir=scratch, prefix="zarrix-compare-") as folder:
        for name in names:
            result.rows.append(_row(name, value, crop, Path(folder) / name, seconds))
    return result


def _loaded(array: Any) -> Any:
    if isinstance(array, Array) or (hasattr(array, "shape") and hasattr(array, "dtype")):
        return np.asarray(array)
    path = str(array)
    if path.endswith(".npy"):
        return np.load(path)
    node: Any = open_node(path, mode="r")
    return np.asarray(node[...])


def _access(value: Any, access: Any) -> Access:
    if access is None:
        sides = [max(1, n // 2) for n in value.shape[-2:]]
        access = f"crop {'x'.join(map(str, sides))}" if sides else "all"
    return accesses_of(access, value.shape)[0]


def _row(name: str, value: Any, crop: Access, path: Path, seconds: float) -> FormatRow:
    how, suffix, why_not, write, opened = _FORMATS[name]
    reason = why_not(value)
    if reason:
        return FormatRow(name, how, why_not=reason)
    file = path.with_suffix(suffix) if suffix else path
    try:
        begun = time.perf_counter()
        write(value, file)
        write_s = time.perf_counter() - begun
        begun = time.perf_counter()
        read = opened(file, value)
        whole = read(tuple(slice(0, n) for n in value.shape))
        read_s = time.perf_counter() - begun
    except ImportError as error:
        return FormatRow(name, how, why_not=str(error))
    differs = np.asarray(whole).tobytes() != value.tobytes()
    psnr_db = _psnr(np.asarray(whole), value) if differs and name in _LOSSY else None
    if psnr_db is not None:
        how = f"{how}, {psnr_db:.1f} dB"
    elif differs:
        raise ConversionError(f"{name} gave back other values than were written; please report it")
    places = crop.regions(value.shape, 0)
    spent, count = 0.0, 0
    while spent < seconds or count < 2:
        region = next(places)
        begun = time.perf_counter()
        # A program opens the file once, or for each crop: as its format allows.
        for one in region if isinstance(region, list) else [region]:
            np.ascontiguousarray(read(one))
        spent += time.perf_counter() - begun
        count += 1
    return FormatRow(name, how, _bytes_of(file), write_s, read_s, count / spent, psnr_db=psnr_db)


def _psnr(read: Any, value: Any) -> float:
    error = np.mean((read.astype("f4") - value) ** 2, dtype="f8")
    return float(10 * np.log10(255**2 / error))


def _bytes_of(file: Path) -> int:
    if file.is_file():
        return file.stat().st_size
    return sum(one.stat().st_size for one in file.rglob("*") if one.is_file())


def _any(value: Any) -> str:
    return "elements are Python objects" if value.dtype.hasobject else ""


def _numbers(value: Any) -> str:
    return _any(value) or ("" if value.dtype.kind in "biufc" else f"{value.dtype} is not numbers")


def _text(value: Any) -> str:
    if value.dtype.kind not in "iuf" or value.ndim > 2 or not value.ndim:
        return "text has numbers in 1 or 2 axes"
    return "text of it would be very large" if value.nbytes > _TEXT_BYTES else ""


def _picture(value: Any) -> str:
    fits = value.dtype.kind in "uif" and value.ndim >= 2 and value.size
    return "" if fits else "TIFF has numbers in 2 or more axes"


def _colours(value: Any) -> str:
    fits = value.dtype == np.uint8 and value.ndim > 2 and value.shape[-1] == 3 and value.size
    return "" if fits else "JPEG is for RGB of uint8, with the colours last"


def _write_jpeg(value: Any, file: Path) -> None:
    sides = [max(2, min(n, _TILE)) for n in value.shape[-3:-1]]
    chunks = (*[1] * (value.ndim - 3), *sides, 3)
    create_array(file, data=value, chunks=chunks, compressors="jpeg:90")


def _bits(value: Any) -> str:
    return "" if value.dtype == bool else "bits are for booleans"


def _write_zarr(value: Any, file: Path) -> None:
    # Import time: only this format needs numcodecs.
    from zarrix.codecs import Blosc

    codec = Blosc(cname="zstd", clevel=5, shuffle=Blosc.BITSHUFFLE)
    made = create_array(
        file, shape=value.shape, dtype=value.dtype, zarr_format=2, compressor=codec,
        chunks="1 MiB" if value.size and value.ndim else (1,) * value.ndim,
    )  # fmt: skip
    made[...] = value


def _export(value: Any, file: Path) -> None:
    chunked = create_array(data=value, zarr_format=2, compressor=None)
    export(chunked, file)


def _open_hdf5(file: Path, value: Any) -> Callable[[Any], Any]:
    opened = importlib.import_module("h5py").File(file)
    return lambda region: opened["data"][region]


def _open_zarr(file: Path, value: Any) -> Callable[[Any], Any]:
    return open_node(file, mode="r").__getitem__


def _open_tiff(file: Path, value: Any) -> Callable[[Any], Any]:
    tifffile = importlib.import_module("tifffile")
    return lambda region: tifffile.imread(file).astype(value.dtype, copy=False)[region]


def _unpickled(file: Path) -> Any:
    with open(file, "rb") as opened:
        return pickle.load(opened)


def _dumped(value: Any, file: Path) -> None:
    with open(file, "wb") as opened:
        pickle.dump(value, opened, protocol=5)


def _unpacked(file: Path, value: Any) -> Any:
    bits = np.unpackbits(np.fromfile(file, "u1"), count=math.prod(value.shape))
    return bits.view(bool).reshape(value.shape)


def _loadtxt(file: Path, value: Any) -> Any:
    return np.loadtxt(file, value.dtype, ndmin=max(1, value.ndim)).reshape(value.shape)


def _npz(file: Path) -> Any:
    with np.load(file) as opened:
        return opened["a"]


# How, suffix, why it cannot be used, write, and open for reading regions.
_FORMATS: dict[str, Any] = {
    "zarr": ("Blosc zstd 5 bitshuffle", ".zarr", _any, _write_zarr, _open_zarr),
    "npy": (
        "loaded for each crop", ".npy", _any, lambda v, f: np.save(f, v),
        lambda f, v: lambda region: np.load(f)[region],
    ),
    "memmap": (
        "npy, memory map", ".npy", lambda v: _any(v) or ("" if v.size else "it has no elements"),
        lambda v, f: np.save(f, v), lambda f, v: np.load(f, mmap_mode="r").__getitem__,
    ),
    "npz": (
        "deflated", ".npz", _any, lambda v, f: np.savez_compressed(f, a=v),
        lambda f, v: lambda region: _npz(f)[region],
    ),
    "raw": (
        "tofile, fromfile", ".raw", _any, lambda v, f: v.tofile(f),
        lambda f, v: lambda region: np.fromfile(f, v.dtype).reshape(v.shape)[region],
    ),
    "text": (
        "savetxt, loadtxt", ".txt", _text, lambda v, f: np.savetxt(f, v, fmt="%d" if
            v.dtype.kind in "iu" else "%.17g"),
        lambda f, v: lambda region: _loadtxt(f, v)[region],
    ),
    "pickle": (
        "protocol 5", ".pkl", _any, _dumped, lambda f, v: lambda region: _unpickled(f)[region],
    ),
    "hdf5": ("chunks, gzip 4", ".h5", _numbers, _export, _open_hdf5),
    "tiff": ("tiles, deflate", ".tif", _picture, _export, _open_tiff),
    "jpeg": ("JPEG 90 (lossy)", ".zarr", _colours, _write_jpeg, _open_zarr),
    "bits": (
        "packbits", ".bits", _bits, lambda v, f: np.packbits(v).tofile(f),
        lambda f, v: lambda region: _unpacked(f, v)[region],
    ),
}  # fmt: skip

compare.__module__ = "zarrix.measure"
