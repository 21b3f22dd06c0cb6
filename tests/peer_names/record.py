"""What the zarr package of an interpreter exports, as JSON: run it with a peer's Python.

    python tests/peer_names/record.py > tests/peer_names/zarr-3.4.2.json

By module, every public name; of functions and methods their parameters, of classes their members.
`tests/test_peer_names.py` holds zarrix against what was recorded.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import types
import warnings
from typing import Any

MODULES = {
    "2": (
        "zarr zarr.attrs zarr.codecs zarr.convenience zarr.core zarr.creation zarr.errors "
        "zarr.hierarchy zarr.indexing zarr.meta zarr.storage zarr.sync zarr.util"
    ),
    "3": (
        "zarr zarr.abc.buffer zarr.abc.codec zarr.abc.metadata zarr.abc.numcodec zarr.abc.store "
        "zarr.api.asynchronous zarr.api.synchronous zarr.buffer zarr.codecs "
        "zarr.codecs.numcodecs zarr.core.config zarr.core.group zarr.core.metadata zarr.dtype "
        "zarr.errors zarr.experimental.cache_store zarr.metadata.migrate_v3 zarr.registry "
        "zarr.storage zarr.types"
    ),
}
# Methods whose parameters users pass by name; of other classes their presence is what counts.
OPERATORS = {
    "__array__",
    "__bool__",
    "__complex__",
    "__contains__",
    "__delitem__",
    "__enter__",
    "__eq__",
    "__exit__",
    "__float__",
    "__getitem__",
    "__index__",
    "__int__",
    "__iter__",
    "__len__",
    "__setitem__",
}


def parameters(thing: Any) -> list[str] | None:
    """Names of parameters without self; None where there is no signature."""
    try:
        named = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return None
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return [marks.get(p.kind, "") + p.name for p in named if p.name not in ("self", "cls")]


def members(cls: type) -> dict[str, list[str] | None]:
    """Public members that the class or its bases in the package define."""
    found: dict[str, list[str] | None] = {}
    for base in reversed(cls.__mro__):
        if base.__module__.split(".")[0] not in ("zarr", "numcodecs"):
            continue
        for name, member in vars(base).items():
            if name.startswith("_") and name not in OPERATORS:
                continue
            inner = getattr(member, "__func__", member)
            function = isinstance(inner, types.FunctionType)
            found[name] = parameters(inner) if function else None
    return dict(sorted(found.items()))


def public(module: Any) -> list[str]:
    """The names that a module says are public; else what it defines, not what it imports."""
    names = getattr(module, "__all__", None)
    if names is not None:
        return sorted(name for name in names if not name.startswith("_") or name == "__version__")
    here = (module.__name__, module.__name__.replace(".", "._", 1) + ".")
    return sorted(
        name
        for name, thing in vars(module).items()
        if not name.startswith("_")
        and callable(thing)
        and str(getattr(thing, "__module__", "")).startswith(here)
    )


def settings(config: Any, prefix: str = "") -> list[str]:
    """Dotted names of settings."""
    found: list[str] = []
    for name, value in config.items():
        whole = f"{prefix}{name}"
        found += settings(value, f"{whole}.") if isinstance(value, dict) and value else [whole]
    return found


def record() -> dict[str, Any]:
    """All of it."""
    package = importlib.import_module("zarr")
    version = str(package.__version__)
    found: dict[str, Any] = {"version": version, "modules": {}}
    for name in MODULES[version[0]].split():
        module = importlib.import_module(name)
        things: dict[str, Any] = {}
        for public_name in public(module):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                thing = getattr(module, public_name, None)
            if inspect.isclass(thing):
                things[public_name] = {"parameters": parameters(thing), "members": members(thing)}
            elif callable(thing):
                things[public_name] = {"parameters": parameters(thing)}
            else:
                things[public_name] = {}
        found["modules"][name.partition(".")[2]] = things
    if version[0] == "3":
        found["config"] = sorted(settings(package.config.to_dict()))
    return found


if __name__ == "__main__":
    json.dump(record(), sys.stdout, indent=1)
    print()
