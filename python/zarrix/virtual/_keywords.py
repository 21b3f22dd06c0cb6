"""Keywords that all functions that make a virtual array of pieces have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

__all__ = ["PieceKeywords", "ServerKeywords", "check_reading", "reading_of"]


class ServerKeywords(TypedDict, total=False):
    """How new sources are found that are URLs."""

    storage_options: Mapping[str, Any] | None


class PieceKeywords(TypedDict, total=False):
    """How pieces are found and read; `zarrix.virtual.concat` has the defaults."""

    dtype: Any
    decode: Literal["cf"] | None
    missing: Literal["error", "fill"]
    storage_options: Mapping[str, Any] | None


def reading_of(keywords: PieceKeywords) -> tuple[Any, Any, str]:
    """``dtype``, ``decode`` and ``missing``, with their defaults."""
    return keywords.get("dtype"), keywords.get("decode"), keywords.get("missing", "error")


def check_reading(decode: Any, missing: Any) -> None:
    """Raise a `ValueError` if one of the two is not what functions take."""
    if decode not in (None, "cf"):
        raise ValueError(f"decode={decode!r}; allowed are None and 'cf'")
    if missing not in ("error", "fill"):
        raise ValueError(f"missing={missing!r}; allowed are 'error' and 'fill'")
