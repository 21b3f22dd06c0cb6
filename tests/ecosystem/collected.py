"""A pytest plugin with which all of zarr-python's own tests are collected under the alias.

They import hundreds of names that no program uses. A name or module that zarrix lacks stands for
itself while tests are collected, and raises in the test that uses it: that test fails, and not the
other thousand of its module.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from zarrix._as_zarr import modules

running = False


class AbsentNameError(BaseException):
    """A test uses a name that zarrix lacks. No test expects this one."""


class _Kind(type):
    """Names that zarrix lacks are classes, so that a test may inherit from one."""

    def __call__(cls, *arguments: Any, **options: Any) -> Any:
        _refuse(cls)
        # As a decorator, where a whole function or class is given.
        return arguments[0] if len(arguments) == 1 and callable(arguments[0]) else cls

    def __getattr__(cls, name: str) -> Any:
        if name.startswith(("__", "pytest")):
            raise AttributeError(name)
        _refuse(cls)
        return absent(f"{cls.__name__}.{name}")

    def __getitem__(cls, key: object) -> Any:
        return cls

    def __or__(cls, other: object) -> Any:
        return cls

    __ror__ = __or__

    def __iter__(cls) -> Iterator[Any]:
        _refuse(cls)
        return iter((cls,))

    def __instancecheck__(cls, value: object) -> bool:
        _refuse(cls)
        return False


def _refuse(cls: type) -> None:
    if running:
        raise AbsentNameError(cls.__name__)


def absent(name: str) -> Any:
    """What stands for the name."""
    return _Kind(name, (), {})


class _AbsentModule(ModuleType):
    def __getattr__(self, name: str) -> Any:
        return _absent_below(self.__name__, name)


def _absent_below(module: str, name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(name)
    return absent(f"{module}.{name}")


class _Loader:
    @staticmethod
    def create_module(spec: ModuleSpec) -> ModuleType:
        module = _AbsentModule(spec.name, "PYTEST_DONT_REWRITE")
        module.__file__ = __file__
        return module

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """There is nothing in it."""


def _is_theirs(name: str) -> bool:
    """Whether the installed zarr-python has the module."""
    installed = PathFinder.find_spec("zarr")
    for folder in (installed and installed.submodule_search_locations) or ():
        place = Path(folder, *name.split(".")[1:])
        if place.is_dir() or place.with_name(f"{place.name}.py").is_file():
            return True
    return False


def _find_spec(name: str, path: Any, target: Any = None) -> ModuleSpec | None:
    try:
        return _found_spec(name, path, target)
    except ModuleNotFoundError:
        if not _is_theirs(name):
            raise
    return ModuleSpec(name, _Loader, is_package=True)


def _getattr(module: ModuleType, name: str) -> Any:
    try:
        return _found_name(module, name)
    except AttributeError:
        return _absent_below(module.__name__, name)


_found_spec, _found_name = modules.Finder.find_spec, modules.AliasModule.__getattr__
modules.Finder.find_spec = staticmethod(_find_spec)
modules.AliasModule.__getattr__ = _getattr


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """From here on, a name that zarrix lacks is an error."""
    global running
    running = True
    try:
        return (yield)
    finally:
        running = False
