"""The table of formats: their names, suffixes, modules, and the packages that they need.

Formats of others are found by the entry point group ``zarrix.converters``: each names a module or
an object with ``suffixes``, ``open_source`` and, if it can be exported to, ``save``.
"""

from __future__ import annotations

import importlib
import inspect
import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from zarrix._errors import ConversionError, check_keywords, suggestion
from zarrix.convert._source import Source

__all__ = ["FORMATS", "Format", "check_known", "converter", "format_of", "formats", "open_source"]


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
    known = [*FORMATS, *_others()]
    raise ConversionError(
        f"{name!r} is not a format{suggestion(name, known)}; formats are {', '.join(known)}"
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


def open_source(
    path: str | os.PathLike[str], format: str | None, options: Mapping[str, Any]
) -> Source:
    """Open a file for reading; unknown options are errors.

    Raises
    ------
    ConversionError
        The format is not known, or the file is not of that format.
    """
    path = Path(path)
    name = format or format_of(path)
    if not path.exists():
        raise FileNotFoundError(2, os.strerror(2), str(path))
    if name is None and path.is_dir():
        name = "images"
    if name is None:
        raise ConversionError(
            f"the name of {path} does not say its format; pass format= (--from), one of "
            f"{', '.join(FORMATS)}"
        )
    opens = converter(name).open_source
    check_options(opens, options, name)
    found: Source = opens(path, **options)
    return found


def check_options(function: Any, options: Mapping[str, Any], name: str) -> None:
    """Raise `TypeError` for an option that the converter of a format does not have."""
    check_keywords(dict(options), options_of(function), f"the format {name}")


def check_known(options: Mapping[str, Any], function: str) -> None:
    """Raise `TypeError` for an option that no format has, before anything is opened."""
    if not options:
        return
    known: set[str] = set()
    for name in (*FORMATS, *_others()):
        module = converter(name)
        known |= {*options_of(module.open_source)}
        known |= {*options_of(module.save)} if hasattr(module, "save") else set()
    check_keywords(options, known, function)


def options_of(function: Any) -> list[str]:
    """The names of the options of a converter."""
    return [
        one.name
        for one in inspect.signature(function).parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    ]
