"""No public function takes a word or a value that it does not know without an error.

Functions, methods and their options are found by inspection: what is added later is tested too.
"""

import asyncio
import dataclasses
import enum
import importlib
import inspect
import re
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

MODULES = (
    zarr,
    *(importlib.import_module(f"zarrix.{name}") for name in zarr._MODULES),
    importlib.import_module("zarrix.api.synchronous"),
    importlib.import_module("zarrix.api.asynchronous"),
    importlib.import_module("zarrix.interop"),
)
NONSENSE = "no-such-value"

# Where keywords are names of the user's own, or words of another library, which checks them.
OTHER_WORDS = {
    "zarrix.save": "names of arrays",
    "zarrix.save_group": "names of arrays",
    "zarrix.api.asynchronous.save": "names of arrays",
    "zarrix.api.asynchronous.save_group": "names of arrays",
    "zarrix.Attributes.update": "names of attributes",
    **dict.fromkeys(
        ("zarrix.Array.isel", "zarrix.Array.sel", "zarrix.Group.isel", "zarrix.Group.sel"),
        "names of dimensions, of which others are errors",
    ),
    "zarrix.ml.Batch": "names of fields",
    "zarrix.storage.FSStore": "fsspec's",
    "zarrix.FSStore": "fsspec's",
    "zarrix.storage.Store": "the base of stores: those of the subclass",
    "zarrix.MongoDBStore": "pymongo's, which connects later",
    "zarrix.RedisStore": "redis', which connects later",
    "zarrix.LMDBStore": "lmdb's",
    "zarrix.dask.AsZarr": "no keyword at all",
    "zarrix.convert.Format": "a named tuple",
    "zarrix.sync.Synchronizer": "a protocol, which is not instantiated",
}
# Options whose values are not a fixed set, though the documentation has braces there.
OPEN_SETS = {
    ("zarrix.ABSStore", "dimension_separator"): "needs an account",
    ("zarrix.MongoDBStore", "dimension_separator"): "needs a server",
    ("zarrix.RedisStore", "dimension_separator"): "needs a server",
    ("zarrix.LMDBStore", "dimension_separator"): "needs lmdb",
}
_FIXED = re.compile(r"\b(Literal|Mode|Order|Format|Separator|Durability|IfExists)\b")
_BRACES = re.compile(r"^(\w[\w, ]*) : .*?\{", re.MULTILINE)


def public() -> dict[str, Callable[..., Any]]:
    """Functions, classes and methods by a name under which users have them; each once."""
    found: dict[str, Callable[..., Any]] = {}
    seen: set[Any] = set()

    def add(name: str, thing: Any) -> None:
        core = getattr(thing, "__func__", thing)
        if core not in seen:
            seen.add(core)
            found[name] = thing

    for module in MODULES:
        shown = sorted(module.__all__) if module is zarr else dir(module)
        for name in (name for name in shown if not name.startswith("_")):
            thing = getattr(module, name)
            if not callable(thing) or not getattr(thing, "__module__", "").startswith("zarrix"):
                continue
            if not isinstance(thing, type):
                if inspect.isroutine(thing):
                    add(f"{module.__name__}.{name}", thing)
                continue
            if typing.is_typeddict(thing) or issubclass(thing, enum.Enum | BaseException):
                continue
            if not dataclasses.is_dataclass(thing):
                add(f"{module.__name__}.{name}", thing)
            for inner in (inner for inner in dir(thing) if not inner.startswith("_")):
                method = getattr(thing, inner)
                home = getattr(method, "__module__", None) or ""
                if inspect.isroutine(method) and home.startswith("zarrix"):
                    add(f"{module.__name__}.{name}.{inner}", method)
    return found


PUBLIC = public()


def parameters(thing: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    try:
        return dict(inspect.signature(thing).parameters)
    except ValueError:
        return {}


def passes_on(thing: Callable[..., Any]) -> bool:
    """Whether Python itself takes any keyword for this function."""
    core = thing.__init__ if isinstance(thing, type) else inspect.unwrap(thing)
    try:
        named = inspect.signature(core).parameters.values()
    except ValueError:
        return False
    return any(one.kind is one.VAR_KEYWORD for one in named)


def options(thing: Callable[..., Any]) -> Iterator[str]:
    """Parameters with a fixed set of values, by their types or by their documentation."""
    named = parameters(thing)
    braces = {
        one
        for match in _BRACES.finditer(inspect.getdoc(thing) or "")
        for one in match.group(1).split(", ")
    }
    for name, one in named.items():
        if name in braces or _FIXED.search(str(one.annotation)):
            yield name


def store_of_group() -> Any:
    store = zarr.MemoryStore()
    zarr.group(store).zeros("x", shape=3)
    zarr.consolidate_metadata(store)
    return store


def group_on_disk(folder: Path) -> str:
    """The path of a group: stores in memory have no commits."""
    zarr.open_group(folder / "root", mode="a")
    return str(folder / "root")


def arguments(thing: Callable[..., Any], name: str, folder: Path) -> dict[str, Any]:
    """A value for each parameter that has to be given, and a shape."""
    owner = name.split(".")[-2]
    grouped = zarr.group(store_of_group())
    needs_group = "consolidated" in name or "consolidate" in name or name.endswith("load")
    values: dict[str, Any] = {
        "self": {
            "Group": grouped,
            "AsyncGroup": grouped.async_group,
            "Array": zarr.zeros((4, 4)),
            "AsyncArray": zarr.zeros((4, 4)).async_array,
            "Attributes": grouped.attrs,
            "Bool": zarr.dtype.Bool(),
        }.get(owner),
        "store": store_of_group() if needs_group else zarr.MemoryStore(),
        "store_cls": zarr.MemoryStore,
        "source": store_of_group() if name.endswith("copy_store") else grouped["x"],
        "dest": zarr.MemoryStore() if name.endswith("copy_store") else zarr.group(),
        "shape": (3,) if name.endswith("suggest") else 3,
        "suffixes": (".x",),
        "what": "x",
        "module": "x",
        "file": str(folder / "new.npy"),
        "name": "new",
        "a": zarr.zeros(3),
        "arr": np.arange(3),
        "data": np.arange(3),
        "fill_value": 0,
        "starts": [[0, 0]],
        "factor": 2,
        "entries": [],
        "nodes": {},
        "path": str(folder / "new"),
        "url": str(folder / "new"),
        "store_path": zarr.MemoryStore(),
        "metadata_key": ".zmetadata",
        "level": "INFO",
        "fields": {"x": zarr.zeros((4, 4))},
        "array": zarr.zeros((4, 4)),
        "size": {"y": 2},
        "method": "area",
        "frame": {"species": ["owl", "fox"]},
        "frames": 2,
        "sources": [zarr.zeros((4, 4))],
        "placed": [((0, 0), zarr.zeros((4, 4)))],
        "parts": {"train": 0.5},
        "mask": np.ones((4, 4), bool),
        "labels": [0, 1],
        "dims": "ty",
        "dataset": zarr.ml.Rows({"x": zarr.zeros((4, 4))}),
        "datasets": {"rows": zarr.ml.Rows({"x": zarr.zeros((4, 4))})},
        "epoch": 1,
        "state_dict": zarr.ml.Loader(zarr.ml.Rows({"x": zarr.zeros((4, 4))})).state_dict(),
        "func": print,
        "dtype_spec": "int8",
        "function": "numpy:abs",
        "count": 2,
        "dtype": "u1",
        "access": "chunk 2x2",
        "root": group_on_disk(folder),
        "node": zarr.open_group(group_on_disk(folder)),
    }
    if owner == "Versions":
        values["self"] = zarr.Versions(group_on_disk(folder))
    if name.endswith("snapshot"):
        values["store"] = group_on_disk(folder)
    if name == "zarrix.jobs.stack":
        np.save(folder / "x.npy", np.arange(3))
        values["files"] = [folder / "x.npy"]
    if name == "zarrix.measure.suggest" or name == "zarrix.suggest":
        values["shape"] = (4, 4)
    if name in ("zarrix.import_", "zarrix.convert.open_file", "zarrix.convert.virtual"):
        np.save(folder / "x.npy", np.arange(3))
        values |= {"source": folder / "x.npy", "file": folder / "x.npy"}
        values["dest"] = folder / ("x.json" if name.endswith("virtual") else "x.zarr")
    if name == "zarrix.virtual.mosaic":
        values["shape"] = (4, 4)
    if name == "zarrix.virtual.join":
        times = zarr.group(zarr_format=3)
        times.create_array("time", data=np.arange(3), dimension_names=["time"])
        values |= {"sources": [times], "along": "time"}
    if name == "zarrix.append":
        values |= {"sources": [], "along": "time"}
    if name == "zarrix.export":
        values["dest"] = folder / "x.npy"
    if name == "zarrix.jobs.pyramid":
        values["source"] = zarr.group().zeros("image", shape=(4, 4))
    if name == "zarrix.jobs.update_pyramid":
        image = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
        image["0"] = np.zeros((4, 4))
        values["group"] = zarr.jobs.pyramid(image["0"], levels=2)
    if name == "zarrix.dask.to_zarr":
        values["array"] = pytest.importorskip("dask.array").zeros(3)
    if name.endswith(("copy_all",)):
        values["source"] = grouped
    if name.endswith("full_like"):
        values["data"] = zarr.zeros(3)
    if name.endswith("read_windows"):
        values["shape"] = (2, 2)
    if name.endswith(("Array.open", "zarrix.Array")):
        values["store"] = zarr.zeros(3).store
    if name.endswith(("Group.open", "zarrix.Group")):
        values["store"] = store_of_group()
    given = {"foo": np.arange(3)} if name.endswith((".save", ".save_group")) else {}
    if name.startswith("zarrix.ml.") and "dims" in parameters(thing):
        given["dims"] = values["dims"]
    for word, one in parameters(thing).items():
        needed = one.default is one.empty and one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)
        if needed or word == "shape":
            assert word in values, f"{name} needs {word}"
            given[word] = values[word]
    return given


def call(thing: Callable[..., Any], given: dict[str, Any]) -> Any:
    first = (given.pop("self"),) if "self" in given else ()
    if thing is zarr.jobs.map_chunks:
        first = (given.pop("function"), zarr.zeros(3))
    result = thing(*first, **given)
    if thing is zarr.jobs.reserve:
        with result:  # a context, which begins when it is entered
            return None
    return asyncio.run(result) if inspect.iscoroutine(result) else result


KEYWORDS = [name for name, thing in PUBLIC.items() if passes_on(thing) and name not in OTHER_WORDS]
OPTIONS = [
    (name, option)
    for name, thing in PUBLIC.items()
    for option in options(thing)
    if (name, option) not in OPEN_SETS
]


def test_the_functions_and_options_that_are_known_today_are_found() -> None:
    assert {"zarrix.zeros", "zarrix.open", "zarrix.Group.create_dataset"} <= {*KEYWORDS}
    assert {("zarrix.open", "mode"), ("zarrix.create", "order"), ("zarrix.copy", "if_exists")} <= {
        *OPTIONS
    }
    assert len(KEYWORDS) > 40
    assert len(OPTIONS) > 150


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("name", KEYWORDS)
def test_an_unknown_keyword_is_refused(name: str, tmp_path: Path) -> None:
    given = arguments(PUBLIC[name], name, tmp_path)
    with pytest.raises(TypeError, match="no_such_word"):
        call(PUBLIC[name], {**given, "no_such_word": 1})


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_an_unknown_value_is_refused(name: str, option: str, tmp_path: Path) -> None:
    given = arguments(PUBLIC[name], name, tmp_path)
    with pytest.raises((TypeError, ValueError), match=f"(?i){NONSENSE}|{option}"):
        call(PUBLIC[name], {**given, option: NONSENSE})


EXISTING = [
    (name, option) for name, option in OPTIONS if name in ("zarrix.open", "zarrix.open_array")
]


@pytest.mark.parametrize(("name", "option"), EXISTING)
def test_an_unknown_value_is_refused_where_nothing_is_created(name: str, option: str) -> None:
    """Options of creation have no effect on what exists, and are checked all the same."""
    store = zarr.zeros(3).store
    with pytest.raises((TypeError, ValueError), match=f"{NONSENSE}|{option}"):
        PUBLIC[name](store, **{option: NONSENSE})
