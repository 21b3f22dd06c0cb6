"""Every public name of zarr-python 2.18 and 3 is here, or it is said why not."""

import importlib
import inspect
import json
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numcodecs
import pytest
import zarrix as zarr
from peer_names.absent import ABSENT, ATTRIBUTES, MODULES, OTHER_PARAMETERS, lines

FOLDER = Path(__file__).parents[1] / "peer_names"
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
    """Names of the package itself, of the classes of users' objects, and of stores; other
    modules have the same names.
    """
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


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_said_to_be_absent_is(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name.replace("zarr", "zarrix", 1))


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_that_is_said_to_be_absent_is(name: str) -> None:
    assert found(name) is MISSING


def test_the_page_on_migration_lists_what_is_absent() -> None:
    """Where it differs, its table is what `peer_names.absent.lines` gives."""
    page = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
    table = page.partition("## What is absent")[2].partition("\n## ")[0]
    assert [line for line in table.splitlines() if line.startswith("| ")][1:] == lines()


STAR = """
from zarrix import *
assert Blosc().codec_id == "blosc" and SQLiteStore and Delta and register_codec
assert get_codec({"id": "zlib"}).codec_id == "zlib"
"""


def test_a_star_import_has_what_it_has_in_zarr_2() -> None:
    exec(STAR, {})


def test_small_names_of_both_versions_mean_what_they_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert zarr.version.version == zarr.__version__
    assert zarr.types.DIMENSION_SEPARATOR.__args__ == (".", "/")
    assert isinstance(zarr.creation.normalize_store_arg({}), zarr.KVStore)
    assert zarr.context.Context(meta_array=1) == {"meta_array": 1}
    for module, name in (
        ("core.array", "AsyncArray"),
        ("core.common", "ZarrFormat"),
        ("core.config", "config"),
        ("api.asynchronous", "AsyncArray"),
    ):
        assert getattr(importlib.import_module(f"zarrix.{module}"), name) is not None


def test_without_msgpack_its_codec_names_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("numcodecs.MsgPack", raising=False)
    monkeypatch.delattr("numcodecs.MsgPack", raising=False)
    with pytest.raises(AttributeError, match="MsgPack needs msgpack: pip install"):
        zarr.MsgPack  # noqa: B018


def test_metadata_say_their_parts_in_the_words_of_format_3() -> None:
    z = zarr.create_array({}, shape=(4, 6), chunks=(2, 3), shards=(4, 6), dtype="f4")
    assert isinstance(z.metadata.data_type, zarr.dtype.Float32)
    assert z.metadata.chunk_grid.chunk_shape == (4, 6)
    assert z.metadata.chunk_grid.name == "regular"
    assert (z.metadata.chunk_key_encoding.name, z.metadata.chunk_key_encoding.separator) == (
        "default",
        "/",
    )
    old = zarr.zeros(3, dtype=">i2")
    assert isinstance(old.metadata.data_type, zarr.dtype.Int16)
    assert old.metadata.chunk_key_encoding == ("v2", ".")


@pytest.mark.parametrize("chosen", [numcodecs.Zstd(1), {"id": "zstd", "level": 1}, None])
def test_the_default_compressor_can_be_assigned_as_in_zarr_2(
    chosen: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zarr.storage, "default_compressor", chosen, raising=False)
    for z in (zarr.zeros(3), zarr.group().create_dataset("x", shape=3)):
        assert z.compressor == (chosen and numcodecs.Zstd(1))
    monkeypatch.undo()
    assert zarr.zeros(3).compressor.codec_id == "blosc"
