"""Every public name of zarr-python 2.18 and 3 is here, or it is said why not."""

import importlib
import inspect
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from peer_names.absent import ABSENT, OTHER_PARAMETERS

FOLDER = Path(__file__).parent / "peer_names"
PEERS = {
    version: json.loads((FOLDER / f"zarr-{version}.json").read_text())
    for version in ("2.18.7", "3.4.2")
}
# What an asynchronous handle is asked for goes to the handle below it, as its class cannot show.
INSTANCES = {
    "AsyncArray": zarr.AsyncArray(zarr.zeros(1)),
    "AsyncGroup": zarr.AsyncGroup(zarr.group()),
}
MISSING = object()


def found(whole: str) -> Any:
    """What zarrix has under a whole name of zarr-python's; `MISSING` if it is nothing."""
    if ":" in whole:
        return zarr.config.get(whole.partition(":")[2], MISSING)
    parts = whole.split(".")[1:]
    thing: Any = zarr
    for place, name in enumerate(parts):
        inner = getattr(thing, name, MISSING)
        if inner is MISSING and inspect.ismodule(thing):
            try:
                inner = importlib.import_module(".".join(["zarrix", *parts[: place + 1]]))
            except ModuleNotFoundError:
                return MISSING
        thing = inner
        if thing is MISSING:
            return MISSING
        thing = INSTANCES.get(name, thing) if place < len(parts) - 1 else thing
    return thing


def has(whole: str) -> bool:
    owner, _, field = whole.rpartition(".")
    if found(whole) is not MISSING:
        return True
    # Fields of dataclasses are there on objects only.
    return ":" not in whole and field in getattr(found(owner), "__dataclass_fields__", {})


def missing_parameters(thing: Any, wanted: list[str]) -> Iterator[str]:
    try:
        named = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return
    if not any(one.kind is one.VAR_KEYWORD for one in named):
        yield from sorted(set(wanted) - {one.name for one in named})


@pytest.mark.parametrize("version", PEERS)
def test_a_name_that_is_not_here_has_a_reason_and_no_other_has(version: str) -> None:
    absent = {name for name in PEERS[version] if not has(name)}
    reasons = ABSENT[version]
    without = [name for name in absent if not any(fnmatchcase(name, one) for one in reasons)]
    assert without == []
    idle = [one for one in reasons if not any(fnmatchcase(name, one) for name in absent)]
    assert idle == []


@pytest.mark.parametrize("version", PEERS)
def test_functions_and_methods_take_the_parameters_of_the_peers(version: str) -> None:
    """Of the package itself, of what users hold, and of stores; other modules have the names."""
    lacking = {}
    for name, wanted in PEERS[version].items():
        parts = name.split(".")
        held = len(parts) == 2 or (parts[1][0].isupper() and len(parts) == 3) or "Store." in name
        if not (wanted and held and has(name)):
            continue
        missing = list(missing_parameters(found(name), wanted))
        if missing and not any(fnmatchcase(name, one) for one in OTHER_PARAMETERS):
            lacking[name] = missing
    assert lacking == {}
