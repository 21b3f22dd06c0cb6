"""Names of ``zarr.core.config`` that zarrix lacks."""

from __future__ import annotations

from zarrix._as_zarr.names.core.common import parse_order as parse_indexing_order
from zarrix._runtime.config import config

__all__ = ["BadConfigError", "Config", "parse_indexing_order"]

Config = type(config)


class BadConfigError(ValueError):
    """A setting has a value that cannot be used."""
