"""What the zarr package of an interpreter exports, as JSON: run it with a peer's Python.

    python tests/peer_names/record.py > tests/peer_names/zarr-3.4.2.json

By its whole name, every public name with the names of its parameters; of classes that users hold
the members, too. `tests/doors/test_peer_names.py` holds zarrix against what was recorded.
"""

from __future__ import annotations

import importlib
import inspect
import json
import pkgutil
import types
import warnings
from collections.abc import Iterator
from typing import Any

PRIVATE = ("zarr.tests", "zarr.testing", "zarr.core.", "zarr.v2", "zarr._")
"""Beginnings of modules that are not public in one of the versions."""
PUBLIC = ("zarr.core.config", "zarr.core.group", "zarr.core.metadata")
"""Modules below these that its users import all the same."""

Parameters = list[str] | None


def parameters(thing: Any) -> Parameters:
    """Names of parameters without self; None where there is no signature."""
    try:
        named = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    many = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in named if p.name not in ("self", "cls") and p.kind not in many]


def members(cls: type) -> Iterator[tuple[str, Parameters]]:
    """Public members that the class or its bases in the package define."""
    found: dict[str, Parameters] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.split(".")[0] == "zarr":
            for name, member in vars(base).items():
                if not name.startswith("_"):
                    inner = getattr(member, "__func__", member)
                    function = isinstance(inner, types.FunctionType)
                    found[name] = parameters(inner) if function else None
    yield from found.items()


def public(module: Any) -> list[str]:
    """The names that a module says are public; else what it defines, not what it imports."""
    names = getattr(module, "__all__", None)
    if names is not None:
        return [name for name in names if not name.startswith("_") or name == "__version__"]
    here = (module.__name__, module.__name__.replace(".", "._", 1) + ".")
    return [
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and callable(thing)
        and str(getattr(thing, "__module__", "")).startswith(here)
    ]


def modules(package: Any) -> Iterator[str]:
    """The modules of the package whose names are public."""
    yield "zarr"
    for module in pkgutil.walk_packages(package.__path__, "zarr."):
        private = module.name.startswith(PRIVATE) or "._" in module.name
        if (not private or module.name in PUBLIC) and not module.name.endswith(".gpu"):
            yield module.name


def settings(config: Any, prefix: str = "") -> Iterator[str]:
    """Dotted names of settings."""
    for name, value in config.items():
        whole = f"{prefix}{name}"
        if isinstance(value, dict) and value:
            yield from settings(value, f"{whole}.")
        else:
            yield whole


def record() -> dict[str, Parameters]:
    """All of it."""
    package = importlib.import_module("zarr")
    version = str(package.__version__)[0]
    found: dict[str, Parameters] = {}
    for module_name in modules(package):
        module = importlib.import_module(module_name)
        for name in public(module):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                thing = getattr(module, name, None)
            whole = f"{module_name}.{name}"
            found[whole] = parameters(thing) if callable(thing) else None
            if isinstance(thing, type):
                found.update((f"{whole}.{member}", given) for member, given in members(thing))
    if version == "3":
        found.update((f"zarr.config:{name}", None) for name in settings(package.config.to_dict()))
    return found


if __name__ == "__main__":
    lines = [f"{json.dumps(name)}: {json.dumps(given)}" for name, given in sorted(record().items())]
    print("{", ",\n".join(lines), "}", sep="\n")
