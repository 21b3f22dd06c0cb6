"""Keywords that all functions that make a virtual array of pieces have."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict

__all__ = ["PieceKeywords", "ServerKeywords", "reading_of"]


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
