"""Names of ``zarr.types`` that zarrix lacks, for annotations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

__all__ = ["DTypeConfig_V2", "DTypeJSON"]

DTypeJSON = str | int | float | Sequence[Any] | Mapping[str, object] | None


class DTypeConfig_V2(TypedDict):  # noqa: N801  # zarr-python's name.
    """A data type of v2: its name, and the codec of its objects."""

    name: Any
    object_codec_id: str | None
