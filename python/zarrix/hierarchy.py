"""Public names of ``zarr.hierarchy``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from zarrix._hierarchy.group import Group
from zarrix._hierarchy.open import group, open_group

if TYPE_CHECKING:
    from zarrix._hierarchy.subset import Subset as Subset

__all__ = ["Group", "Subset", "group", "open_group"]

group.__module__ = open_group.__module__ = __name__


def __getattr__(name: str) -> Any:
    if name == "Subset":
        # Imported when it is first named: few programs select by labels.
        from zarrix._hierarchy.subset import Subset

        return Subset
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
