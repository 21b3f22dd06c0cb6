"""The table of formats: their names, suffixes, modules, and the packages that they need.

Formats of others are found by the entry point group ``zarrix.converters``: each names a module or
an object with ``suffixes``, ``open_source`` and, if it can be exported to, ``save``.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from zarrix._errors import ConversionError, OptionError, suggestion
from zarrix._stores.keys import DOCUMENTS
from zarrix.convert._options import check_options, options_of
from zarrix.convert._source import Source

__all__ = [
    "FORMATS",
    "Format",
    "check_known",
    "choose",
    "converter",
    "format_of",
    "formats",
    "open_source",
]


class Format(NamedTuple):
    """A format of files.

    Parameters
    ----------
    name : str
    suffixes : tuple of str
        Names of files that end so are of this format.
    what : str
        A description of one line.
    module : str
        The module in this package; empty for a format of another package.
    exports : bool
        Whether arrays can be exported to it.

    Examples
    --------
    >>> from zarrix.convert import formats
    >>> [one.what for one in formats() if one.name == "hdf5"]
    ['HDF5']
    """

    name: str
    suffixes: tuple[str, ...]
    what: str
    module: str
    exports: bool = False


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("npy", (".npy",), "NumPy's npy, versions 1 to 3", "_npy", True),
        Format("npz", (".npz",), "NumPy's npz, stored or deflated", "_npz", True),
        Format("raw", (".raw", ".bin"), "elements without a header", "_raw", True),
        Format("text", (".csv", ".txt", ".tsv"), "text of numbers or words", "_text", True),
        Format("pickle", (".pkl", ".pickle"), "pickles of arrays: refused", "_pickle"),
        Format("safetensors", (".safetensors",), "safetensors", "_safetensors", True),
        Format("hdf5", (".h5", ".hdf5", ".he5", ".hdf"), "HDF5", "_hdf5", True),
        Format("netcdf", (".nc", ".nc4", ".cdf"), "NetCDF 3 or 4", "_netcdf", True),
        Format("mat", (".mat",), "MATLAB 7.3", "_mat"),
        Format("tiff", (".tif", ".tiff", ".btf"), "TIFF, BigTIFF, OME-TIFF", "_tiff", True),
        Format(
            "images",
            (".png", ".jpg", ".jpeg", ".webp", ".bmp"),
            "an image, or a folder of images",
            "_images",
            True,
        ),
        Format("video", (".mkv", ".mp4", ".avi", ".mov", ".webm"), "video (PyAV)", "_video", True),
        Format("tar", (".tar",), "WebDataset", "_tar", True),
        Format("n5", (".n5",), "N5", "_n5"),
    )
}


# What a suffix says about a file beside its format.
_SUFFIX_OPTIONS: dict[str, dict[str, Any]] = {
    ".csv": {"delimiter": ","},
    ".tsv": {"delimiter": "\t"},
}


@cache
def _others() -> Mapping[str, Any]:
    """The converters of other packages, by name."""
    # Import time: it takes longer than everything else that a conversion imports.
    from importlib.metadata import entry_points

    return {point.name: point for point in entry_points(group="zarrix.converters")}


def formats() -> tuple[Format, ...]:
    """All formats that files can be converted from, and to if they say so.

    Returns
    -------
    tuple of Format

    Examples
    --------
    >>> from zarrix.convert import formats
    >>> [one.suffixes for one in formats() if one.name == "npy"]
    [('.npy',)]
    """
    found = list(FORMATS.values())
    for name in _others():
        module = converter(name)
        suffixes = tuple(module.suffixes)
        found.append(Format(name, suffixes, _first_line(module), "", hasattr(module, "save")))
    return tuple(found)


def _first_line(module: Any) -> str:
    return (module.__doc__ or "").strip().partition("\n")[0]


def converter(name: str) -> Any:
    """The module or object that converts a format.

    Raises
    ------
    ConversionError
        There is no such format.
    """
    if name in FORMATS:
        return importlib.import_module(f"zarrix.convert.{FORMATS[name].module}")
    if name in _others():
        return _others()[name].load()
    raise _unknown(name)


def _unknown(name: str) -> ConversionError:
    known = [*FORMATS, *_others()]
    suffixes = [suffix[1:] for one in FORMATS.values() for suffix in one.suffixes]
    return ConversionError(
        f"{name!r} is not a format{suggestion(name, [*known, *suffixes])}; formats are "
        f"{', '.join(known)}"
    )


def format_of(path: str | os.PathLike[str]) -> str | None:
    """The name of the format that a path's name, or its folder, says."""
    name = os.fspath(path).rstrip("/").lower()
    found = [
        (len(suffix), one.name)
        for one in FORMATS.values()
        for suffix in one.suffixes
        if name.endswith(suffix)
    ]
    if found:
        return max(found)[1]
    for other in _others():
        if name.endswith(tuple(converter(other).suffixes)):
            return other
    return None


def choose(
    path: str | os.PathLike[str], format: str | None, does: Literal["read", "write"]
) -> tuple[str, dict[str, Any]]:
    """The name of the format of a file, and the options that its suffix means.

    ``format`` is the name of a format or one of its suffixes, such as ``csv``; the name of the
    file if omitted.

    Raises
    ------
    ConversionError
        There is no such format, or the name of the file does not say it.
    """
    name, suffix = format, Path(path).suffix
    if format is not None and format not in FORMATS and format not in _others():
        suffix = f".{format.lower().lstrip('.')}"
        name = format_of(f"x{suffix}")
        if name is None:
            raise _unknown(format)
    elif format is None:
        name = format_of(path)
        if name is None and does == "read" and Path(path).is_dir():
            name = "images"
    if name is None:
        told = "--to" if does == "write" else "--from"
        raise ConversionError(
            f"the name of {path} does not say its format; pass format= ({told}), one of "
            f"{', '.join(one.name for one in formats() if one.exports or does == 'read')}"
        )
    return name, dict(_SUFFIX_OPTIONS.get(suffix.lower(), {})) if name == "text" else {}


def open_source(
    path: str | os.PathLike[str], format: str | None, options: Mapping[str, Any]
) -> Source:
    """Open a file for reading; unknown options are errors.

    Raises
    ------
    ConversionError
        The format is not known, or the file is not of that format.
    OptionError
        The format does not have an option.
    """
    path = Path(path)
    if not path.exists():
        raise FileNotFoundError(2, os.strerror(2), str(path))
    if format is None and any((path / one).is_file() for one in DOCUMENTS):
        raise ConversionError(
            f"{path} is Zarr, and not a file of another format; 'zarrix cp' or "
            "zarrix.copy_store copies it"
        )
    name, meant = choose(path, format, "read")
    opens = converter(name).open_source
    check_options(opens, options, name, "read")
    found: Source = opens(path, **{**meant, **options})
    return found


def check_known(options: Mapping[str, Any], function: str) -> None:
    """Raise `OptionError` for an option that no format has, before anything is opened."""
    if not options:
        return
    known: set[str] = set()
    for name in (*FORMATS, *_others()):
        module = converter(name)
        known |= {*options_of(module.open_source)}
        known |= {*options_of(module.save)} if hasattr(module, "save") else set()
    for name in options:
        if name not in known:
            raise OptionError(
                f"{function}() has no parameter {name!r}, and no format has an option of that name"
                f"{suggestion(name, known)}; 'zarrix formats' lists the options of each"
            )
