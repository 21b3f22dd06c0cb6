"""The modules ``zarr`` and ``zarr.x``, each made of a module of zarrix and one of names.

``zarr.x`` has the names of ``zarrix._as_zarr.names.x`` and then those of ``zarrix.x``; either may
be missing. It is a module of its own and not ``zarrix.x`` itself, because a few names have to be
those of zarr-python 3 for its users, and those of 2.18 for everybody else.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from zarrix._as_zarr.distribution import find_distributions
from zarrix._as_zarr.kit import find_kit, is_kit
from zarrix._as_zarr.support import REFUSED

__all__ = ["FINDER", "AliasModule", "remove_modules"]

_NAMES = "zarrix._as_zarr.names"


class AliasModule(ModuleType):
    """A module whose names are looked up in other modules, the first that has one."""

    _parts: tuple[ModuleType, ...]

    def __getattr__(self, name: str) -> Any:
        if _spec(f"{_NAMES}{self.__name__[len('zarr') :]}.{name}") is not None:
            # zarrix may have something else by that name, such as a module of numcodecs.
            return importlib.import_module(f"{self.__name__}.{name}")
        for part in self.__dict__.get("_parts", ()):
            try:
                found = getattr(part, name)
            except AttributeError:
                continue
            if isinstance(found, ModuleType) and _is_ours(found):
                break
            if not name.startswith("_"):
                self.__dict__[name] = found
            return found
        if not name.startswith("_"):
            # Submodules of zarr-python are attributes as soon as anything is imported.
            try:
                return importlib.import_module(f"{self.__name__}.{name}")
            except ModuleNotFoundError as error:
                if error.name != f"{self.__name__}.{name}":
                    raise
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{_note()}")

    def __reduce__(self) -> Any:
        # dask pickles modules that a function refers to.
        return importlib.import_module, (self.__name__,)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *(name for part in self._parts for name in dir(part))})


def _is_ours(module: ModuleType) -> bool:
    return module.__name__.partition(".")[0] == "zarrix"


def _note() -> str:
    return "; zarrix runs here as zarr, and zarrix.as_zarr.support() says what it supports"


class Finder:
    """Finds ``zarr``, all modules below it, and its installed version, before all other finders."""

    find_distributions = staticmethod(find_distributions)

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: Any = None) -> ModuleSpec | None:
        """The specification of a module; None if its name is not zarr-python's.

        Raises
        ------
        ModuleNotFoundError
            zarr-python may have the module, but zarrix does not.
        """
        if name != "zarr" and not name.startswith("zarr."):
            return None
        if is_kit(name) and (kit := find_kit(name)) is not None:
            return kit
        parts = find_module(name)
        if not parts:
            reason = next((why for part, why in REFUSED.items() if _is_below(name, part)), "")
            detail = f": {reason}" if reason else ""
            raise ModuleNotFoundError(f"No module named {name!r}{detail}{_note()}", name=name)
        # A finder that is a class has what the loader needs.
        spec = ModuleSpec(name, Finder, origin=parts[0].origin, is_package=True)  # type: ignore[arg-type]
        spec.loader_state = [part.name for part in parts]
        return spec

    @staticmethod
    def create_module(spec: ModuleSpec) -> AliasModule:
        """An empty module."""
        return AliasModule(spec.name)

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Import the modules that have its names."""
        spec = module.__spec__
        assert spec is not None
        parts = tuple(importlib.import_module(name) for name in spec.loader_state)
        listed = {name for part in parts for name in getattr(part, "__all__", ())}
        module.__dict__.update(
            _parts=parts,
            __all__=sorted(listed),
            # The second line is for pytest, whose hook could not rewrite the module.
            __doc__=f"{parts[0].__doc__}\n\nPYTEST_DONT_REWRITE",
            __file__=spec.origin,
        )


FINDER = Finder()


def find_module(name: str) -> list[ModuleSpec]:
    """The modules that have the names of ``name``, "zarr" or below, in the order of precedence."""
    below = name[len("zarr") :]
    private = any(part.startswith("_") and part != "__main__" for part in below.split("."))
    # The private modules of zarrix are not those of zarr-python, which some programs import.
    homes = (_NAMES,) if private else (_NAMES, "zarrix")
    return [spec for home in homes if (spec := _spec(f"{home}{below}")) is not None]


def _spec(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except ModuleNotFoundError:
        # A parent does not exist, or is not a package.
        return None


def _is_below(name: str, above: str) -> bool:
    return name == above or name.startswith(f"{above}.")


def remove_modules() -> None:
    """Remove all alias modules from ``sys.modules``."""
    for name, module in [*sys.modules.items()]:
        if isinstance(module, AliasModule) or is_kit(name):
            del sys.modules[name]
