"""Documents of arrays, each parsed once while it is among the last ones.

Parsing and binding are most of the cost of opening and of creating an array, and members of a group
often have equal documents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from zarrix._metadata.array import ArrayMetadata
from zarrix._runtime.config import limits_of_documents
from zarrix._runtime.dialect import DIALECT

__all__ = ["parsed_once"]

Parse = Callable[..., ArrayMetadata]

_MOST_CACHED_BYTES = 2**14
_MOST_CACHED = 256


def parsed_once(default: str) -> Callable[[Parse], Parse]:
    """A parser of documents that keeps the results for the last ones of moderate length.

    The result for an equal document has the label of the call, or the ``default``. A result is not
    kept for a mapping, nor for other limits of the size of chunks and documents.
    """
    return functools.partial(_keeping, default)


def _keeping(default: str, parse: Parse) -> Parse:
    kept: dict[tuple[bytes, str | None, tuple[int, int], bool], ArrayMetadata] = {}

    @functools.wraps(parse)
    def parsed(document: Any, label: str = default, **separator: Any) -> ArrayMetadata:
        if type(document) is not bytes or len(document) > _MOST_CACHED_BYTES:
            return parse(document, label, **separator)
        default_separator = separator.get("default_separator")
        question = (document, default_separator, limits_of_documents(), DIALECT.is_zarr3)
        found = kept.get(question)
        if found is not None:
            return found.at(label)
        found = parse(document, label, **separator)
        if len(kept) >= _MOST_CACHED:
            kept.clear()
        kept[question] = found
        return found

    return parsed
