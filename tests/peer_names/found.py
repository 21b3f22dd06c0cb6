"""What a package that stands for zarr-python lacks of what was recorded, as JSON.

    python tests/peer_names/found.py zarrix zarr-3.4.2.json
    python tests/peer_names/found.py zarr zarr-3.4.2.json       # under the alias

`absent` are names, `lacking` are parameters that a function is without, by its name.
"""

from __future__ import annotations

import importlib
import inspect
import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MISSING = object()


class Package:
    """The names of zarr-python, looked up in another package."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.top = importlib.import_module(name)
        # What an asynchronous handle is asked for goes to the handle below it, as its class
        # cannot show.
        self.instances = {
            "AsyncArray": self.top.AsyncArray(self.top.zeros(1)),
            "AsyncGroup": self.top.AsyncGroup(self.top.group()),
        }

    def found(self, whole: str) -> Any:
        """What is there under a whole name; `MISSING` if it is nothing."""
        if ":" in whole:
            return self.top.config.get(whole.partition(":")[2], MISSING)
        parts = whole.split(".")[1:]
        thing: Any = self.top
        for place, name in enumerate(parts):
            inner = getattr(thing, name, MISSING)
            if inner is MISSING and inspect.ismodule(thing):
                try:
                    inner = importlib.import_module(".".join([self.name, *parts[: place + 1]]))
                except ModuleNotFoundError:
                    return MISSING
            thing = inner
            if thing is MISSING:
                return MISSING
            thing = self.instances.get(name, thing) if place < len(parts) - 1 else thing
        return thing

    def has(self, whole: str) -> bool:
        owner, _, field = whole.rpartition(".")
        if self.found(whole) is not MISSING:
            return True
        # Fields of dataclasses are there on objects only.
        return ":" not in whole and field in getattr(self.found(owner), "__dataclass_fields__", {})

    def lacking(self, whole: str, wanted: list[str]) -> list[str]:
        """The parameters that a function is without."""
        try:
            named = inspect.signature(self.found(whole)).parameters.values()
        except (TypeError, ValueError):
            return []
        if any(one.kind is one.VAR_KEYWORD for one in named):
            return []
        return sorted(set(wanted) - {one.name for one in named})


def compared(package: Package, names: dict[str, Any]) -> dict[str, Any]:
    """What the package lacks of recorded names."""
    absent = sorted(name for name in names if not package.has(name))
    lacking = dict(_lacking(package, names, {*absent}))
    return {"absent": absent, "lacking": lacking}


def _lacking(package: Package, names: dict[str, Any], absent: set[str]) -> Iterator[Any]:
    for name, wanted in names.items():
        if wanted and name not in absent and (missing := package.lacking(name, wanted)):
            yield name, missing


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if sys.argv[1] == "zarr":
        importlib.import_module("zarrix.as_zarr")
    record = json.loads((Path(__file__).parent / sys.argv[2]).read_text())
    print(json.dumps(compared(Package(sys.argv[1]), record)))
