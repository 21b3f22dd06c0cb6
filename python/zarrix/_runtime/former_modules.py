"""Private modules under their former names, which older pickles contain.

A pickle names a class by its module. Pickles made before the private modules moved into packages
name some of them; `tests/golden/pickles` has such pickles. Classes that are pickled today are named
by a public module, so that this table does not grow.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["former_name", "install"]

# By former module and name: the module that has it now, and ":name" where it has another name.
_HOMES = {
    "zarrix._array_terms": {
        "ArrayConfig": "zarrix.core.array",
        "StorePath": "zarrix.storage",
    },
    "zarrix._chunk_grid": {"AxisGrid": "zarrix.core.metadata"},
    "zarrix._config": {"config": "zarrix._runtime.config"},
    "zarrix._consolidate": {"ConsolidatedStore": "zarrix.core.group"},
    "zarrix._display": {
        "InfoReporter": "zarrix.util",
        "TreeViewer": "zarrix.util",
    },
    "zarrix._file_systems": {"KeptFileSystem": "zarrix.storage:_FileSystemPickle"},
    "zarrix._metadata": {
        "ArrayMetadata": "zarrix.core.metadata",
        "GroupMetadata": "zarrix.core.metadata",
    },
    "zarrix._plan": {"ReadPlan": "zarrix.core"},
    "zarrix._secrets": {"_found": "zarrix.storage:_unpickled_secrets"},
}


def former_name(module: str, name: str) -> Any:
    """The object with this ``name`` in the former ``module``; ``AttributeError`` if there is
    none.
    """
    home = _HOMES[module].get(name)
    if home is None:
        raise AttributeError(f"module {module!r} has no attribute {name!r}")
    module, _, renamed = home.partition(":")
    return getattr(importlib.import_module(module), renamed or name)


class _Finder:
    """Finds a former module where no file has its name."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        return ModuleSpec(name, _Finder) if name in _HOMES else None  # type: ignore[arg-type]

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """The module is a usual one."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        def look_up(name: str) -> Any:
            return former_name(module.__name__, name)

        module.__getattr__ = look_up  # type: ignore[method-assign]


def install() -> None:
    """Let former modules be imported, last of all finders."""
    sys.meta_path.append(_Finder)
