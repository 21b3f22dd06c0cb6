"""The installed version of zarr-python that programs find: the one whose names are provided."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import Distribution, DistributionFinder
from typing import Any

__all__ = ["VERSION", "find_distributions"]

VERSION = "3.4.2"
"""The version of zarr-python whose names and behaviour the alias has."""


class AliasDistribution(Distribution):
    """The distribution ``zarr``, which consists of zarrix's modules."""

    def read_text(self, filename: str) -> str | None:
        """The text of a metadata file; only ``METADATA`` exists."""
        if filename != "METADATA":
            return None
        return f"Metadata-Version: 2.1\nName: zarr\nVersion: {VERSION}\n"

    def locate_file(self, path: Any) -> Any:
        """The path of an installed file."""
        return path


def find_distributions(
    context: DistributionFinder.Context | None = None,
) -> Iterator[Distribution]:
    """The distribution ``zarr``, if it or every distribution is asked for."""
    if context is None or context.name is None or context.name.lower() == "zarr":
        yield AliasDistribution()
