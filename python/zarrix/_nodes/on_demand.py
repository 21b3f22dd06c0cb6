"""Classes and functions that are built on nodes, but that nodes return: imported on first use.

An array returns its parent group, its asynchronous counterpart, an object of xarray and a viewer,
whose classes depend on arrays; a job copies a subset. Importing them from the array's module would
be a circle, and would load asyncio, xarray and widgets into programs that do not use them. This
table is the only place that names them from below.
"""

from __future__ import annotations

import importlib
from typing import Any, Literal

__all__ = ["HOMES", "on_demand"]

Name = Literal[
    "AsyncArray",
    "AsyncGroup",
    "Group",
    "at_version",
    "copy",
    "create",
    "data_array",
    "dataset",
    "end_commit",
    "widget_of",
]

HOMES: dict[Name, str] = {
    "AsyncArray": "zarrix._hierarchy.asynchronous",
    "AsyncGroup": "zarrix._hierarchy.asynchronous",
    "Group": "zarrix._hierarchy.group",
    "at_version": "zarrix.versions._open",
    "copy": "zarrix.jobs._operations.copy",
    "create": "zarrix._array.create",
    "data_array": "zarrix.xarray._objects",
    "dataset": "zarrix.xarray._objects",
    "end_commit": "zarrix.commits._recover",
    "widget_of": "zarrix.viewer._widget",
}
"""The module that defines each name."""


def on_demand(name: Name) -> Any:
    """The class or function of that name."""
    return getattr(importlib.import_module(HOMES[name]), name)
