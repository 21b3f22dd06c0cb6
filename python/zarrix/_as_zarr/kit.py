"""``zarr.testing``: what zarr-python gives to tests of other projects, from its own package.

Strategies of Hypothesis, tests of stores and state machines are written in the names of ``zarr``,
and test zarrix under the alias. zarrix has no second copy of them: projects that use them have
zarr-python installed.
"""

from __future__ import annotations

import importlib.util
import os
from importlib.machinery import ModuleSpec, PathFinder

__all__ = ["find_kit", "is_kit"]

_KIT = "zarr.testing"


def is_kit(name: str) -> bool:
    """Whether a module is ``zarr.testing``, or below it."""
    return name == _KIT or name.startswith(f"{_KIT}.")


def find_kit(name: str) -> ModuleSpec | None:
    """The specification of a module of the installed zarr-python; None if it is not there."""
    installed = PathFinder.find_spec("zarr")
    for folder in (installed and installed.submodule_search_locations) or ():
        place = os.path.join(folder, *name.split(".")[1:])
        if os.path.isfile(os.path.join(place, "__init__.py")):
            file, below = os.path.join(place, "__init__.py"), [place]
            return importlib.util.spec_from_file_location(
                name, file, submodule_search_locations=below
            )
        if os.path.isfile(f"{place}.py"):
            return importlib.util.spec_from_file_location(name, f"{place}.py")
    return None
