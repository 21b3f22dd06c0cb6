"""Pickles: refused, because loading one can run any program; imported if the caller insists."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np

from zarrix._errors import ConversionError
from zarrix.convert._npz import path_of
from zarrix.convert._source import OpenFile, Source, SourceArray

__all__ = ["open_source"]


def open_source(path: Path, *, allow_pickle: bool = False) -> Source:
    """The array of a pickle, or the arrays of a pickled dict."""
    if not allow_pickle:
        raise ConversionError(
            f"{path} is a pickle, and loading a pickle can run any program. If you made it "
            "yourself, pass allow_pickle=True (--option allow_pickle=true)"
        )
    file = OpenFile(path)
    try:
        with open(path, "rb") as opened:
            found = pickle.load(opened)
    except Exception as error:
        raise ConversionError(f"{path} cannot be unpickled: {error!r}") from None
    finally:
        file.close()
    named = found if isinstance(found, dict) else {"": found}
    arrays: dict[str, SourceArray] = {}
    for name, value in named.items():
        if not isinstance(name, str) or not isinstance(value, np.ndarray | np.generic):
            raise ConversionError(
                f"{path} holds {type(value).__name__} under {name!r}; an array or a dict of arrays "
                "can be imported"
            )
        arrays[path_of(name, str(path)) if name else ""] = _in_memory(np.asarray(value), path)
    groups: dict[str, Any] = {} if "" in arrays else {"": {}}
    return Source(str(path), arrays, groups, identity=[file.identity])


def _in_memory(value: Any, path: Path) -> SourceArray:
    if value.dtype.hasobject:
        raise ConversionError(f"{path} has an array of Python objects, which Zarr does not keep")
    return SourceArray(value.shape, value.dtype, value.__getitem__, why_decoded="it is a pickle")
