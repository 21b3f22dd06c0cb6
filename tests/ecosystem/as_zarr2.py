"""The pytest plugin that runs the tests of zarr 2.18 on zarrix: ``pytest -p as_zarr2``.

The modules ``zarr`` and ``zarr.x`` are those of zarrix. The tests also import names of zarr's
private modules, and a few public ones that zarrix does not have. Each is here a class that fails
with its name as soon as a test uses it, so that only these tests fail and not their whole file.
``zarr.tests`` is the folder of tests below the current directory.
"""

from __future__ import annotations

import importlib
import os
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import zarrix
import zarrix.meta

# The tests of packages that pytest imports itself, by their file, are under the name `zarr` too.
os.environ["PY_IGNORE_IMPORTMISMATCH"] = "1"

PUBLIC = (
    *("attrs", "codecs", "context", "convenience", "core", "creation", "errors", "hierarchy"),
    *("indexing", "meta", "storage", "sync", "types", "util"),
)


def outer(a: np.ndarray, key: Any) -> tuple[Any, ...]:
    """The key by which NumPy selects along each axis of ``a`` by itself."""
    key = key if isinstance(key, tuple) else (key,)
    if any(item is Ellipsis for item in key):
        at = next(at for at, item in enumerate(key) if item is Ellipsis)
        rest = (slice(None),) * (a.ndim - len(key) + 1)
        key = (*key[:at], *rest, *key[at + 1 :])
    key += (slice(None),) * (a.ndim - len(key))
    axes = [np.arange(n)[item] for n, item in zip(a.shape, key, strict=True)]
    shown = [axis for axis, one in enumerate(axes) if one.ndim]
    shape = {axis: [1] * len(shown) for axis in shown}
    for at, axis in enumerate(shown):
        shape[axis][at] = -1
    return tuple(one.reshape(shape[axis]) if one.ndim else one for axis, one in enumerate(axes))


def set_outer(a: np.ndarray, key: Any, value: Any) -> None:
    """Assign to it."""
    a[outer(a, key)] = value


PRIVATE: dict[str, dict[str, Any]] = {
    "zarr._storage": {},
    "zarr._storage.store": {
        "BaseStore": zarrix.storage.Store,
        "DEFAULT_ZARR_VERSION": 2,
        "v3_api_available": False,
    },
    "zarr._storage.v3": {"KVStore": zarrix.storage.KVStore},
    "zarr._storage.v3_storage_transformers": {"v3_sharding_available": False},
    "zarr.n5": {"n5_keywords": ()},
    "zarr.indexing": {"oindex": lambda a, key: a[outer(a, key)], "oindex_set": set_outer},
    "zarr.tests": {"__path__": [str(Path.cwd() / "zarr" / "tests")]},
}
"""Modules that zarrix does not have, with the names that have to have a value."""


ATTRIBUTES: dict[type, dict[str, Any]] = {
    zarrix.Array: {
        "_version": property(lambda z: z.zarr_format),
        "_dimension_separator": property(lambda z: z.metadata.dimension_separator),
        "_filters": property(lambda z: z.filters),
        "_key_prefix": property(lambda z: f"{z.path}/" if z.path else ""),
        "_chunk_key": lambda z, coords: (
            z._key_prefix + z.metadata.dimension_separator.join(map(str, coords))
        ),
    },
    zarrix.Group: {"_version": property(lambda group: group.zarr_format)},
    zarrix.storage.Store: {"_metadata_class": zarrix.meta.Metadata2},
}
"""Private attributes of zarr that tests read, to check what they do with public ones."""


class AbsentError(Exception):
    """A test uses a name that zarrix does not have."""


def absent(name: str) -> type:
    """A class that tests can import and derive from, and that refuses to be made."""

    def refuse(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise AbsentError(name)

    return type(name.rpartition(".")[2], (), {"__new__": refuse, "__absent__": name})


class TheirModule(ModuleType):
    """A module of zarrix under zarr's name; what it lacks is absent."""

    def __init__(self, name: str, ours: ModuleType | None, values: dict[str, Any]) -> None:
        super().__init__(name)
        self.__dict__.update(_ours=ours, **values)
        self.__dict__.setdefault("__path__", [])
        self.__spec__ = ModuleSpec(name, None, is_package=True)

    def __getattr__(self, name: str) -> Any:
        ours = self.__dict__["_ours"]
        if ours is not None and hasattr(ours, name):
            return getattr(ours, name)
        if name.startswith("__") or self.__name__ in ("zarr", "zarr.tests"):
            raise AttributeError(name)
        self.__dict__[name] = found = absent(f"{self.__name__}.{name}")
        return found


def install() -> None:
    """Put zarrix's public modules, and stand-ins for the others, under the names of zarr."""
    # Tests write beside the folder of the package.
    package = {"__version__": "2.18.7", "__file__": str(Path.cwd() / "zarr" / "__init__.py")}
    sys.modules["zarr"] = TheirModule("zarr", zarrix, package)
    for name in PUBLIC:
        put(f"zarr.{name}", importlib.import_module(f"zarrix.{name}"), {})
    for name, values in PRIVATE.items():
        put(name, getattr(sys.modules.get(name), "_ours", None), values)
    for owner, attributes in ATTRIBUTES.items():
        for name, value in attributes.items():
            setattr(owner, name, value)


def put(name: str, ours: ModuleType | None, values: dict[str, Any]) -> None:
    """Install one module, as an attribute of its parent too."""
    module = sys.modules[name] = TheirModule(name, ours, values)
    above, _, own = name.rpartition(".")
    setattr(sys.modules[above], own, module)


install()
