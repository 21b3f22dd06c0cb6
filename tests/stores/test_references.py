"""kerchunk's references: the same values as fsspec's own file system of references gives."""

import base64
import json
import pickle
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import storage
from zarrix._errors import CorruptStoreError, ReadOnlyError


@pytest.fixture
def references(tmp_path: Path) -> dict[str, Any]:
    data = np.arange(24, dtype="<i4")
    (tmp_path / "data.bin").write_bytes(b"head" + data[:12].tobytes())
    (tmp_path / "whole.bin").write_bytes(data[12:18].tobytes())
    zarr.create(24, chunks=6, dtype="<i4", compressor=None, store=str(tmp_path / "z"))
    return {
        "version": 1,
        "templates": {"u": str(tmp_path)},
        "refs": {
            ".zgroup": '{"zarr_format": 2}',
            "a/.zarray": (tmp_path / "z" / ".zarray").read_text(),
            "a/0": ["{{u}}/data.bin", 4, 24],
            "a/1": ["{{u}}/data.bin", 28, 24],
            "a/2": [f"file://{tmp_path}/whole.bin"],
            "a/3": "base64:" + base64.b64encode(data[18:].tobytes()).decode(),
        },
    }


def test_arrays_are_read_as_with_fsspec(references: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_text(json.dumps(references))
    root = zarr.open(str(path), mode="r")
    assert root["a"][:].tolist() == [*range(24)]
    assert [*root] == ["a"]
    store: Any = root.store
    assert repr(store) == f"<zarrix.storage.ReferenceStore {str(path)!r}>"
    assert pickle.loads(pickle.dumps(store)) == store
    fsspec = pytest.importorskip("fsspec")
    theirs = fsspec.filesystem("reference", fo=references, remote_protocol="file").get_mapper("")
    assert {key: bytes(value) for key, value in theirs.items()} == dict(store.items())
    assert (store.getsize("a/0"), store.getsize("a/3")) == (24, 24)


def test_a_reference_that_leads_nowhere_is_an_error(references: dict[str, Any]) -> None:
    references["refs"]["a/0"] = ["{{u}}/missing.bin", 4, 24]
    references["refs"]["a/1"] = ["{{u}}/data.bin", 40, 24]
    z: Any = zarr.open(storage.ReferenceStore(references), mode="r")["a"]
    with pytest.raises(FileNotFoundError, match=r"missing\.bin', which is not there"):
        z[0]
    with pytest.raises(CorruptStoreError, match="24 bytes from 40 on, of which 12 are there"):
        z[6:12]
    del references["refs"]["a/2"]
    assert zarr.open(storage.ReferenceStore(references), mode="r")["a"][12:].tolist()[:6] == [0] * 6


def test_it_refuses_changes_and_what_it_does_not_understand(references: dict[str, Any]) -> None:
    store = storage.ReferenceStore(references)
    for change in (lambda: store.__setitem__("a", b"1"), lambda: store.rmdir(), store.clear):
        with pytest.raises(ReadOnlyError):
            change()
    with pytest.raises(CorruptStoreError, match="the reference of 'a' is 5"):
        storage.ReferenceStore({"refs": {"a": 5}})


def test_gen_and_templates_are_what_fsspec_makes_of_them() -> None:
    references = {
        "version": 1,
        "templates": {"u": "server.domain/path", "f": "{{c}}"},
        "gen": [
            {
                "key": "gen_key{{i}}",
                "url": "http://{{u}}_{{i}}",
                "offset": "{{(i + 1) * 1000}}",
                "length": "1000",
                "dimensions": {"i": {"stop": 5}},
            },
            {
                "key": "a/{{y}}.{{ x }}",
                "url": "http://{{u}}/{{ -y % 7 }}-{{x // 2 - 1}}",
                "dimensions": {"y": [3, 1], "x": {"start": 2, "stop": 9, "step": 3}},
            },
        ],
        "refs": {
            "key0": "data",
            "key1": ["http://target_url", 10000, 100],
            "key2": ["http://{{u}}", 10000, 100],
            "key3": ["http://{{f(c='text')}}", 10000, 100],
            "key4": ["http://target_url"],
        },
    }
    store = storage.ReferenceStore(references)
    assert store._references.find("gen_key4") == ("http://server.domain/path_4", 5000, 1000)
    assert store._references.find("a/1.8") == ("http://server.domain/path/6-3", 0, None)
    assert store._references.find("key3") == ("http://text", 10000, 100)
    fsspec = pytest.importorskip("fsspec")
    pytest.importorskip("jinja2")
    options = {"remote_protocol": "http", "simple_templates": False}
    theirs = fsspec.filesystem("reference", fo=references, **options).references

    def plain(found: Any) -> Any:
        if not isinstance(found, list):
            return found.encode() if isinstance(found, str) else found
        return (found[0], *(found[1:] or (0, None)))

    ours = {key: store._references.find(key) for key in store._references.names("")}
    assert ours == {key: plain(found) for key, found in theirs.items()}


@pytest.mark.parametrize(
    ("url", "fault"),
    [
        ("{{x}}", "has no template of that name: 'x'"),
        ("{{g(c='1')}}", "has no template of that name: 'g'"),
        ("{{f(1)}}", "code is not executed"),
        ("{{f.__class__}}", "code is not executed"),
        ("{{().__class__.__bases__}}", "code is not executed"),
        ("{{'a' * 999999999999}}", "is not a whole number of 64 bits"),
        ("{{9 ** 999999999}}", "code is not executed"),
        ("{{9223372036854775807 * 2}}", "is not a whole number of 64 bits"),
        ("{{1 // 0}}", "cannot be evaluated"),
        ("{{-1}}", "write a sign as '{{ -'"),
        ("{{1 +}}", "cannot be evaluated"),
        ("{{" + "(" * 500 + "}}", "cannot be evaluated"),
        ("{{f(c='{{f(c=1)}}')}}", "cannot be evaluated"),
    ],
)
def test_nothing_in_braces_is_run(url: str, fault: str) -> None:
    document = {"version": 1, "templates": {"f": "{{c}}"}, "refs": {"a": [url, 0, 1]}}
    with pytest.raises(ValueError, match=re.escape(fault)):
        storage.ReferenceStore(document)


def test_a_gen_that_fills_the_memory_is_refused() -> None:
    entry = {"key": "{{i}}", "url": "x", "dimensions": {"i": {"stop": 10**12}}}
    with pytest.raises(CorruptStoreError, match="stands for 1000000000000 references"):
        storage.ReferenceStore({"version": 1, "gen": [entry]})
    for wrong in ({"key": "a"}, {**entry, "offset": 1}, {**entry, "dimensions": {"i": 5}}, 7):
        with pytest.raises(CorruptStoreError, match="of gen"):
            storage.ReferenceStore({"version": 1, "gen": [wrong]})
