"""The options of formats: their names, kinds and defaults, from the functions that take them."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from zarrix._errors import OptionError, shorten, suggestion

__all__ = ["Option", "check_options", "options_of"]

# What each option means, in one line.
_MEANINGS = {
    "allow_pickle": "load Python objects, which can run any program",
    "channels": "the axis of colours: first or last",
    "compression": "the codec of the file; null for none",
    "deflate": "compress members",
    "delimiter": "what separates columns",
    "dtype": "the data type, as NumPy writes it",
    "follow": "read what lies in other files, too",
    "keep_chunks": "chunks that are pictures become files, byte for byte",
    "labels": "folder: images lie in a folder for each label",
    "level": "of the compression, 0 to 9",
    "names": "the first line has the names of columns",
    "offset": "bytes before the first element",
    "order": "C or F",
    "planes": "rgb, or the stored yuv",
    "rate": "frames in a second",
    "scales": "make dimension names dimension scales",
    "shape": "lengths along the axes, such as 3,4",
    "skip": "lines before the data",
    "tile": "side of a tile, a multiple of 16",
}
_KINDS: dict[Any, str] = {
    bool: "true or false", int: "a whole number", float: "a number", str: "text",
    type(None): "null",
}  # fmt: skip


class Option(NamedTuple):
    """An option of a format.

    Parameters
    ----------
    name : str
    kinds : tuple
        The types of its values, or the values themselves; empty for any.
    default : object
    what : str
        What it means.
    """

    name: str
    kinds: tuple[Any, ...]
    default: Any
    what: str

    @property
    def takes(self) -> str:
        """What its values are, in words."""
        told = [_KINDS.get(one, repr(one)) for one in self.kinds]
        return " or ".join(told) if told else "a value"


def options_of(function: Any) -> dict[str, Option]:
    """The options of a converter, by name: the keywords of its function."""
    try:
        hints = typing.get_type_hints(function)
    except (NameError, TypeError):
        # A converter of another package names types that it imports for its checks only.
        hints = {}
    return {
        one.name: Option(
            one.name, _kinds(hints.get(one.name, Any)), one.default, _MEANINGS.get(one.name, "")
        )
        for one in inspect.signature(function).parameters.values()
        if one.kind is inspect.Parameter.KEYWORD_ONLY
    }


def _kinds(hint: Any) -> tuple[Any, ...]:
    """The types and values that an annotation allows; empty for any."""
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)
    parts = typing.get_args(hint) or (hint,)
    found: list[Any] = []
    for part in parts:
        if typing.get_origin(part) is typing.Literal:
            found += typing.get_args(part)
        elif part in _KINDS:
            found.append(part)
        else:
            return ()
    return tuple(found)


def check_options(function: Any, options: Mapping[str, Any], name: str, does: str) -> None:
    """Raise an error for an option that a format does not have, or of another kind.

    Parameters
    ----------
    function : function
        The converter.
    options : mapping
    name : str
        The name of the format.
    does : {"read", "write"}

    Raises
    ------
    OptionError
        Naming the options that the format has.
    """
    known = options_of(function)
    for one, value in options.items():
        if one not in known:
            listed = ", ".join(f"{option.name} ({option.takes})" for option in known.values())
            has = f"its options are {listed}" if known else "it has none"
            raise OptionError(
                f"{one!r} is not an option to {does} {name}{suggestion(one, known)}; {has}"
            )
        if not _fits(value, known[one].kinds):
            raise OptionError(
                f"{one}={shorten(value)} is not {known[one].takes}, which this option to {does} "
                f"{name} takes"
            )


def _fits(value: Any, kinds: tuple[Any, ...]) -> bool:
    if not kinds:
        return True
    if isinstance(value, bool | np.bool_):
        return bool in kinds
    return any(
        isinstance(value, one if one not in (int, float) else (one, int, np.integer))
        if isinstance(one, type)
        else value == one
        for one in kinds
    )
