"""Consolidated metadata beyond ``config.max_document_bytes``: read in pieces, within its memory."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix._nodes import long_documents
from zarrix._nodes.consolidate import consolidate

LIMIT = 20_000


@pytest.fixture(autouse=True)
def small_limit(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(long_documents, "_WINDOW", 1000)
    before = zarr.config.max_document_bytes
    zarr.config.max_document_bytes = LIMIT
    yield
    zarr.config.max_document_bytes = before


def hierarchy(store: Any, zarr_format: int, count: int = 100) -> None:
    """A hierarchy whose consolidated metadata is longer than the limit, made without it."""
    zarr.config.max_document_bytes = 1 << 26
    root = zarr.create_group(store, zarr_format=zarr_format, attributes={"title": "é" * 50})
    for number in range(count):
        root.create_array(f"g{number % 3}/a{number}", shape=(3, number + 1), dtype="i4")
    zarr.consolidate_metadata(store)
    zarr.config.max_document_bytes = LIMIT


PLACE = {2: ".zmetadata", 3: "zarr.json"}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_root_with_a_long_document_opens_and_shows_its_attributes(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    assert len(store._engine.get(PLACE[zarr_format])) > 2 * LIMIT
    root = zarr.open_group(store, mode="r")
    assert root.attrs["title"] == "é" * 50
    assert sorted(root) == ["g0", "g1", "g2"]
    assert root["g1/a4"].shape == (3, 5)
    assert dict(zarr.open_group(store, mode="r").attrs.asdict()) == {"title": "é" * 50}


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_long_consolidated_metadata_is_served(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    # Without the nodes' own documents, only the consolidated ones can be shown.
    mirror = zarr.MemoryStore()
    mirror[PLACE[zarr_format]] = bytes(store._engine.get(PLACE[zarr_format]))
    zarr.config.max_document_bytes = 1 << 26
    expected = {path: node.shape for path, node in _arrays(zarr.open_consolidated(mirror))}
    zarr.config.max_document_bytes = len(mirror._engine.get(PLACE[zarr_format])) - 1
    found = {path: node.shape for path, node in _arrays(zarr.open_consolidated(mirror))}
    assert found == expected
    assert len(found) == 100


def _arrays(root: zarr.Group) -> Iterator[tuple[str, zarr.Array]]:
    for path, node in root.members(max_depth=None):
        if isinstance(node, zarr.Array):
            yield path, node


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_is_kept_is_limited_and_not_how_many_nodes(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    with pytest.raises(zarr.errors.MetadataError, match="max_document_bytes"):
        zarr.open_consolidated(store)
    alike = {f"a{n}/{_array(zarr_format)}": _document(zarr_format) for n in range(100)}
    if zarr_format == 2:
        alike[".zgroup"] = {"zarr_format": 2}
    document = _consolidated(zarr_format, alike)
    assert len(document) > LIMIT * 1.5
    store = zarr.MemoryStore()
    store[PLACE[zarr_format]] = document
    assert len(list(zarr.open_consolidated(store))) == 100


def _array(zarr_format: int) -> str:
    return ".zarray" if zarr_format == 2 else "zarr.json"


def _document(zarr_format: int) -> dict[str, Any]:
    store = zarr.MemoryStore()
    zarr.create_array(store, shape=(2, 3), dtype="i4", zarr_format=zarr_format)
    found: dict[str, Any] = json.loads(bytes(store[_array(zarr_format)]))
    return found


def _consolidated(zarr_format: int, documents: dict[str, Any], indent: int = 4) -> bytes:
    if zarr_format == 2:
        whole = {"metadata": documents, "zarr_consolidated_format": 1}
    else:
        inside = {key.removesuffix("/zarr.json"): one for key, one in documents.items()}
        inline = {"kind": "inline", "must_understand": False, "metadata": inside}
        whole = {
            "zarr_format": 3, "node_type": "group", "attributes": {"x": 1},
            "consolidated_metadata": inline,
        }  # fmt: skip
    return json.dumps(whole, indent=indent or None).encode()


def _shuffled(value: Any, rng: random.Random, depth: int = 0) -> Any:
    """JSON values of all kinds, with texts that look like structure."""
    kinds = [1, -2.5e300, None, True, 'a"}{][\\', "é\u2028\\u0041", "", 10**18]
    if depth > 3 or rng.random() < 0.5:
        return rng.choice(kinds)
    some = range(rng.randint(0, 4))
    if rng.random() < 0.5:
        return [_shuffled(value, rng, depth + 1) for _ in some]
    return {f'k{n}"{{': _shuffled(value, rng, depth + 1) for n in some}


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("window", [1, 7, 64, 4096])
def test_pieces_give_what_json_gives(
    seed: int, window: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(long_documents, "_WINDOW", window)
    entries = {f'n{n}"/zarr.json': {"v": _shuffled(None, rng)} for n in range(20)}
    store = zarr.MemoryStore()
    store["zarr.json"] = _consolidated(3, entries, rng.choice([0, 1, 4]))
    own, found = {}, {}
    for path, value, text in long_documents._Reader(store, "zarr.json").parts():
        assert json.loads(text) == value
        (own if isinstance(path, tuple) else found)[path] = value
    assert found == {key.removesuffix("/zarr.json"): one for key, one in entries.items()}
    assert own[("attributes",)] == {"x": 1}
    assert own[("consolidated_metadata", "kind")] == "inline"


HOSTILE = {
    "cut": lambda text: text[: len(text) // 2],
    "cut before the end": lambda text: text[:-2],
    "two documents": lambda text: text + b"{}",
    "not text": lambda text: text.replace(b"inline", b"\xff\xfe"),
    "deep": lambda text: text.replace(b'"x": 1', b'"x": ' + b"[" * 15_000 + b"]" * 15_000),
    "long value": lambda text: text.replace(b'"x": 1', b'"x": "' + b"y" * 3 * LIMIT + b'"'),
    "a list": lambda text: b"[" + text + b"]",
    "no colon": lambda text: text.replace(b'"x": ', b'"x" '),
    "no comma": lambda text: text.replace(b'"inline",', b'"inline"'),
    "a name that is a number": lambda text: text.replace(b'"kind"', b"12"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_long_document_is_an_error_that_names_it(name: str) -> None:
    documents = {f"a{n}/zarr.json": {**_document(3), "n": n} for n in range(100)}
    store = zarr.MemoryStore()
    store["zarr.json"] = HOSTILE[name](_consolidated(3, documents))
    for call in (zarr.open_group, zarr.open_consolidated):
        with pytest.raises(zarr.errors.MetadataError, match=r"zarr\.json"):
            call(store, mode="r")


def test_a_value_that_is_replaced_meanwhile_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, 3)
    new = bytes(store._engine.get("zarr.json")).replace(b"\\u00e9", b"\\u00e8")
    parts, calls = long_documents._Reader.parts, []

    def replacing(self: Any) -> Iterator[Any]:
        calls.append(1)
        for number, one in enumerate(parts(self)):
            if len(calls) == 1 and number == 0:
                store["zarr.json"] = new
            yield one

    monkeypatch.setattr(long_documents._Reader, "parts", replacing)
    assert zarr.open_group(store, mode="r").attrs["title"] == "è" * 50
    assert len(calls) >= 2


_LARGE = """
import os, resource, sys
import zarrix as zarr

path, count = sys.argv[1], int(sys.argv[2])
entry = ('"g%d/a%d": {"shape": [100, 100], "data_type": "float32", "chunk_grid": {"name": '
         '"regular", "configuration": {"chunk_shape": [10, 10]}}, "chunk_key_encoding": {"name": '
         '"default", "configuration": {"separator": "/"}}, "fill_value": 0.0, "codecs": [{"name": '
         '"bytes", "configuration": {"endian": "little"}}], "attributes": {}, "zarr_format": 3, '
         '"node_type": "array", "storage_transformers": []}')
with open(path + "/zarr.json", "w") as file:
    file.write('{"zarr_format": 3, "node_type": "group", "attributes": {"x": 5}, '
               '"consolidated_metadata": {"kind": "inline", "must_understand": false, '
               '"metadata": {')
    for number in range(count):
        file.write(("," if number else "") + entry % (number % 1000, number))
    file.write("}}}")
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
root = zarr.open_group(path, mode="r+", use_consolidated=False)
assert root.attrs["x"] == 5
changes = (lambda: root.create_array("new", shape=3, dtype="i4"), lambda: root.attrs.update(x=6))
before_them = os.stat(path + "/zarr.json")
for change in changes[:int(sys.argv[3])]:
    try:
        change()
    except zarr.errors.MetadataError as error:
        assert "max_document_bytes" in str(error), error
    else:
        raise AssertionError("the document was changed")
assert os.stat(path + "/zarr.json")[:9] == before_them[:9]
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((peak - before) // 1024)
"""


def test_memory_does_not_grow_with_the_document(tmp_path: Path) -> None:
    count = 200_000
    ran = subprocess.run(
        [sys.executable, "-c", _LARGE, str(tmp_path), str(count), "0"],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "zarr.json").stat().st_size > 70 << 20
    # One value of the limit and one more byte is read first: 64 MiB.
    assert int(ran.stdout) < 160


@pytest.mark.long
def test_a_document_of_two_gigabytes_opens_and_is_not_changed(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", _LARGE, str(tmp_path), "5300000", "2"],
        capture_output=True, text=True, timeout=1200, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "zarr.json").stat().st_size > 2_000_000_000
    assert int(ran.stdout) < 200


def _peer(store: Any, zarr_format: int) -> dict[str, Any]:
    """What the consolidated metadata says, read by nothing of ours."""
    whole = json.loads(bytes(store._engine.get(PLACE[zarr_format])))
    inside = whole if zarr_format == 2 else whole["consolidated_metadata"]
    found: dict[str, Any] = inside["metadata"]
    return found


def _stored(store: Any, zarr_format: int) -> dict[str, Any]:
    """The same, from the documents of the nodes."""
    found = {}
    for key in store:
        path, _, name = key.rpartition("/")
        if name in (".zarray", ".zgroup", ".zattrs"):
            found[key] = json.loads(bytes(store[key]))
        elif name == "zarr.json" and path:
            document = json.loads(bytes(store[key]))
            if document["node_type"] == "group":
                empty = {"kind": "inline", "must_understand": False, "metadata": {}}
                document["consolidated_metadata"] = empty
            found[path] = document
    return found


CHANGES = {
    "new": lambda root: root.create_array("g1/new", shape=3, dtype="i4"),
    "many": lambda root: root.create_hierarchy({f"h/{n}": root["g0/a3"].metadata for n in "abc"}),
    "attribute": lambda root: root["g1/a4"].attrs.update(unit="K", é=[1, None, float("nan")]),
    "own attribute": lambda root: root.attrs.update(title='new "}{', more={"x": [1]}),
    "resize": lambda root: root["g1/a4"].resize(9, 9),
    "delete": lambda root: root.__delitem__("g1/a4"),
    "delete a group": lambda root: root.__delitem__("g1"),
    "delete all": lambda root: [root.__delitem__(name) for name in list(root)],
    "move": lambda root: root.move("g1", "other/g1"),
    "overwrite": lambda root: root.create_array("g1", shape=3, dtype="i4", overwrite=True),
    "consolidate": lambda root: consolidate(root.store, "", root._zarr_format, ".zmetadata"),
}


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("batch", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_below_a_long_document_is_in_it(
    zarr_format: int, batch: bool, change: str
) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    root = zarr.open_group(store, mode="r+", use_consolidated=False)
    if change == "consolidate":
        stale = bytes(store._engine.get(PLACE[zarr_format])).replace(b"i4", b"f4")
        store[PLACE[zarr_format]] = stale.replace(b"int32", b"int8")
    with root.batch() if batch else contextlib.nullcontext():
        list(CHANGES[change](root) or ()) if change == "many" else CHANGES[change](root)
    found, expected = _peer(store, zarr_format), _stored(store, zarr_format)
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True)
    own = json.loads(bytes(store[".zattrs" if zarr_format == 2 else "zarr.json"]))
    own = own if zarr_format == 2 else own["attributes"]
    own_title = 'new "}{' if change == "own attribute" else "é" * 50
    assert own["title"] == own_title == root.attrs["title"]
    assert sorted(zarr.open_group(store, mode="r")) == sorted(root)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_members_of_other_programs_in_a_long_document_stay(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    whole = json.loads(bytes(store._engine.get(PLACE[zarr_format])))
    (whole if zarr_format == 2 else whole["consolidated_metadata"])["theirs"] = {"metadata": {}}
    store[PLACE[zarr_format]] = json.dumps(whole).encode()
    zarr.open_group(store, mode="r+", use_consolidated=False)["g1/a4"].attrs["n"] = 1
    after = json.loads(bytes(store._engine.get(PLACE[zarr_format])))
    inside = after if zarr_format == 2 else after["consolidated_metadata"]
    assert inside["theirs"] == {"metadata": {}}
    assert list(after) == list(whole) or zarr_format == 2


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("batch", [False, True])
def test_a_change_below_a_document_of_many_limits_says_what_is_stored(
    zarr_format: int, batch: bool
) -> None:
    store = zarr.MemoryStore()
    hierarchy(store, zarr_format)
    zarr.config.max_document_bytes = 2000
    root = zarr.open_group(store, mode="r+", use_consolidated=False)
    inside = root.batch() if batch else contextlib.nullcontext()
    refused = pytest.raises(zarr.errors.MetadataError, match="max_document_bytes")
    with refused as caught, inside:
        root.create_array("g1/new", shape=3, dtype="i4")
    assert "'g1/new' itself is stored" in caught.value.__notes__[0]
    assert root["g1/new"].shape == (3,)
    zarr.config.max_document_bytes = 1 << 26
    zarr.consolidate_metadata(store)
    assert "g1/new" in zarr.open_consolidated(store)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_long_document_is_not_changed(name: str) -> None:
    documents = {f"a{n}/zarr.json": {**_document(3), "n": n} for n in range(100)}
    store = zarr.MemoryStore()
    store["zarr.json"] = _consolidated(3, documents)
    store["a5/zarr.json"] = json.dumps(_document(3)).encode()
    z = zarr.open_array(store, path="a5", mode="r+")
    store["zarr.json"] = damaged = HOSTILE[name](_consolidated(3, documents))
    with pytest.raises(zarr.errors.MetadataError, match=r"zarr\.json"):
        z.attrs["n"] = 1
    assert bytes(store._engine.get("zarr.json")) == damaged


def test_a_long_document_is_not_changed_while_a_commit_is_open(tmp_path: Path) -> None:
    hierarchy(tmp_path / "h", 3)
    (tmp_path / "h" / ".zarrix-commit.json").write_text("{}")
    z = zarr.open_array(tmp_path / "h", path="g1/a4", mode="r+")
    before = (tmp_path / "h" / "zarr.json").read_bytes()
    with pytest.raises(zarr.errors.MetadataError, match="not over"):
        z.attrs["n"] = 1
    assert (tmp_path / "h" / "zarr.json").read_bytes() == before
