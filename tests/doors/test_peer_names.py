"""Every public name of zarr-python 2.18 and 3 is here, or it is said why not."""

import functools
import importlib
import json
import subprocess
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numcodecs
import pytest
import zarrix as zarr
from peer_names.absent import (
    ABSENT,
    ATTRIBUTES,
    ONLY_AS_ZARR,
    OTHER_PARAMETERS,
    lines,
    patterns,
)
from peer_names.found import MISSING, Package, compared

FOLDER = Path(__file__).parents[1] / "peer_names"
PEERS = {
    version: json.loads((FOLDER / f"zarr-{version}.json").read_text())
    for version in ("2.18.7", "3.4.2")
}
ZARRIX = Package("zarrix")


@functools.cache
def lacks(package: str, version: str) -> dict[str, Any]:
    """What zarrix, or zarr under the alias, in a process of its own, lacks of a version."""
    if package == "zarrix":
        return compared(ZARRIX, PEERS[version])
    program = [sys.executable, str(FOLDER / "found.py"), package, f"zarr-{version}.json"]
    done = subprocess.run(program, capture_output=True, text=True, check=True, timeout=300)
    return dict(json.loads(done.stdout))


def outermost(absent: list[str]) -> set[str]:
    """Absent names without the members of absent classes and modules."""
    every = {*absent}
    return {name for name in absent if name.rpartition(".")[0] not in every}


def matched(names: Iterable[str], table: dict[str, str]) -> set[str]:
    return {name for name in names if any(fnmatchcase(name, one) for one in patterns(table))}


@pytest.mark.parametrize(
    ("package", "version"), [("zarrix", "2.18.7"), ("zarr", "2.18.7"), ("zarr", "3.4.2")]
)
def test_a_name_is_absent_just_if_the_list_has_it(package: str, version: str) -> None:
    absent, table = {*lacks(package, version)["absent"]}, ABSENT[version]
    listed = matched(PEERS[version], table)
    assert outermost([*absent]) - listed == set(), "absent, and not on the list"
    assert listed - absent == set(), "on the list, and not absent"
    every = [one for one in patterns(table) if not any(fnmatchcase(n, one) for n in absent)]
    assert every == [], "patterns that match nothing"


def test_what_zarrix_lacks_without_the_alias_is_listed_too() -> None:
    absent, aliased = ({*lacks(one, "3.4.2")["absent"]} for one in ("zarrix", "zarr"))
    assert aliased - absent == set(), "there without the alias, and not with it"
    only = absent - aliased
    listed = matched(PEERS["3.4.2"], ONLY_AS_ZARR)
    assert outermost([*only]) - listed == set()
    assert listed - absent == set(), "on the list, and there without the alias"
    idle = [one for one in patterns(ONLY_AS_ZARR) if not any(fnmatchcase(n, one) for n in only)]
    assert idle == []


@pytest.mark.parametrize(("package", "version"), [("zarrix", "2.18.7"), ("zarr", "3.4.2")])
def test_functions_and_methods_take_the_parameters_of_the_peers(package: str, version: str) -> None:
    lacking = lacks(package, version)["lacking"]
    listed = matched(lacking, OTHER_PARAMETERS)
    assert {name: given for name, given in lacking.items() if name not in listed} == {}


def test_no_parameter_is_listed_that_is_there() -> None:
    lacking = [
        name
        for pair in (("zarrix", "2.18.7"), ("zarr", "3.4.2"))
        for name in lacks(*pair)["lacking"]
    ]
    idle = [
        one for one in patterns(OTHER_PARAMETERS) if not any(fnmatchcase(n, one) for n in lacking)
    ]
    assert idle == []


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_an_attribute_that_is_said_to_be_absent_is(name: str) -> None:
    assert ZARRIX.found(name) is MISSING


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
