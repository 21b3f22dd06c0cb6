"""References of strangers: what they may name, who hears credentials, and what they may cost."""

import io
import json
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from hypothesis import given
from hypothesis import strategies as st
from servers.recorder import ENDLESS, Recorder
from zarrix import storage
from zarrix._errors import CorruptStoreError
from zarrix._stores.reference import templates

HEADERS = {"Authorization": "Bearer SEKRET", "Cookie": "SEKRET", "X-Api-Key": "SEKRET"}


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder({"/value": b"0123456789"}) as server:
        yield server


def test_a_chain_or_another_scheme_is_refused_and_not_asked(
    recorder: Recorder, tmp_path: Path
) -> None:
    (tmp_path / "value").write_bytes(b"0123456789")
    urls = [
        f"simplecache::{recorder.url('/value')}",
        f"filecache::{recorder.url('/value')}",
        f"blockcache::{recorder.url('/value')}",
        f"reference://::{recorder.url('/evil.json')}/k42",
        f"simplecache::file://{tmp_path}/value",
        f"http://h::{recorder.url('/value')}",
        f"dir://value::file://{tmp_path}",
        f"REFERENCE://value::{recorder.url('/evil.json')}",
        "ftp://127.0.0.1:1/value",
        "reference://value",
    ]
    for url in urls:
        store = storage.ReferenceStore({"a/0": [url, 0, 10]})
        with pytest.raises(PermissionError, match=r"'a/0' of the references .*allowed="):
            store["a/0"]
    assert recorder.requests == []


def test_a_scheme_that_allowed_names_is_opened_by_fsspec(
    recorder: Recorder, tmp_path: Path
) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "value").write_bytes(b"0123456789")
    folder = f"simplecache::file://{tmp_path}"
    store = storage.ReferenceStore({"k": [f"{folder}/value", 2, 3]}, allowed=[folder])
    assert store["k"] == b"234"
    # Below the folder, but the chain goes on.
    url = f"{folder}/value::{recorder.url('/value')}"
    with pytest.raises(PermissionError, match="below none of allowed"):
        storage.ReferenceStore({"k": [url, 2, 3]}, allowed=[folder])["k"]
    assert recorder.requests == []


def test_a_folder_of_targets_is_never_opened_as_references_or_as_an_archive(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"0123456789")
    data = tmp_path / "data"
    data.mkdir()
    inner = {"s": [str(secret), 0, 10], "me": [f"{data}/inner.json/me", 0, 10]}
    (data / "inner.json").write_text(json.dumps(inner))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("s", b"0123456789")
    (data / "inner.zip").write_bytes(archive.getvalue())
    for target in ("inner.json/s", "inner.json/me", "inner.zip/s"):
        for allowed in (None, [str(data)]):
            store = storage.ReferenceStore({"k": [f"{data}/{target}", 0, 10]}, allowed=allowed)
            with pytest.raises(FileNotFoundError, match="'k' of the references"):
                store["k"]


def test_credentials_go_to_the_host_of_the_references_and_to_named_ones(
    recorder: Recorder,
) -> None:
    with Recorder({"/value": b"0123456789"}) as other:
        elsewhere = other.url("/value", "localhost")
        document = {"here": [recorder.url("/value"), 0, 4], "there": [elsewhere, 0, 4]}
        recorder.values["/refs.json"] = json.dumps(document).encode()
        options = {"headers": HEADERS}

        def heard(**more: Any) -> list[str | None]:
            other.requests.clear()
            store = storage.ReferenceStore(recorder.url("/refs.json"), options, **more)
            assert store["there"] == store["here"] == b"0123"
            assert b"SEKRET" not in pickle.dumps(store)
            assert pickle.loads(pickle.dumps(store))["here"] == b"0123"
            return [found for name in HEADERS for found in other.headers(name)]

        assert heard() == [None] * 3
        assert [*recorder.headers("x-api-key")] == ["SEKRET"] * 3
        named = [recorder.url(), other.url(host="localhost")]
        assert heard(allowed=named) == ["Bearer SEKRET", "SEKRET", "SEKRET"]
        assert heard(allowed=["http://"]) == [None] * 3
        theirs = {"headers": {"Authorization": "Bearer OTHER"}}
        found = heard(remote_options={other.url(host="localhost"): theirs})
        assert found == ["Bearer OTHER", None, None]


def test_references_without_a_host_send_credentials_to_named_hosts_only(
    recorder: Recorder,
) -> None:
    document = {"k": [recorder.url("/value"), 0, 4]}
    recorder.refuse = "x-api-key"
    with pytest.raises(PermissionError, match="'k' of the references") as caught:
        storage.ReferenceStore(document, {"headers": HEADERS})["k"]
    assert "are not sent to" in str(caught.value)
    assert "allowed=" in str(caught.value)
    assert "SEKRET" not in str(caught.value)
    assert recorder.headers("authorization") == [None]
    named = storage.ReferenceStore(document, {"headers": HEADERS}, allowed=[recorder.url()])
    assert named["k"] == b"0123"


@pytest.mark.parametrize("bucket", ["evil.org#", "evil.org?", "me@evil.org", "evil.org\\"])
def test_a_bucket_is_never_a_host(bucket: str) -> None:
    options = {"key": "k", "secret": "s", "config_kwargs": {"s3": {"addressing_style": "virtual"}}}
    store = storage.ReferenceStore(
        {"k": [f"s3://{bucket}/k", 0, 1]}, {**options, "endpoint_url": "https://minio.local"}
    )
    with pytest.raises(ValueError, match="bucket"):
        store["k"]


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


@pytest.mark.parametrize(
    "document",
    [
        "[]",
        "7",
        "null",
        "no JSON",
        b"\xff\xfe",
        nested(100_000),
        '{"version": 1, "refs": ["a"]}',
        '{"version": 1, "refs": 7}',
        '{"version": 1, "refs": {}, "templates": [1]}',
        '{"version": 1, "refs": {}, "templates": {"u": {"a": 1}}}',
        '{"version": 1, "refs": {}, "gen": 5}',
        '{"version": 1, "refs": {}, "gen": {"key": "a"}}',
        '{"version": 1, "gen": [{"key": 1, "url": 2, "dimensions": {}}]}',
        '{"version": 1, "gen": [{"key": "k", "url": "u", "dimensions": {"i": {"stop": "x"}}}]}',
        '{"version": 1, "gen": [{"key": "k", "url": "u", "dimensions": {"i": [{"a": 1}]}}]}',
        '{"k": null}',
        '{"k": []}',
        '{"k": [5]}',
        '{"k": ["u", 0]}',
        '{"k": ["u", null, null]}',
        '{"k": ["u", 0, "abc"]}',
        '{"k": ["u", 0, "10"]}',
        '{"k": ["u", -1, 10]}',
        '{"k": ["u", 0, -10]}',
        '{"k": ["u", 18446744073709551616, 1]}',
        '{"k": ["u", 9223372036854775807, 1]}',
        '{"k": ["u", 0.5, 1]}',
        '{"k": ["u", true, 1]}',
        '{"k": ["u", 1e999, 1]}',
        '{"k": "base64:A"}',
        '{"k": "\\ud800"}',
        '{"k": ["{{u}}", 0, 1]}',
        '{"k": ["{{\\u0000}}", 0, 1]}',
    ],
)
def test_what_is_not_references_is_a_corrupt_store(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "refs.json"
    path.write_bytes(document if isinstance(document, bytes) else document.encode())
    with pytest.raises(CorruptStoreError) as caught:
        storage.ReferenceStore(path)
    assert ("reference of 'k'" if '{"k"' in str(document) else "refs.json") in str(caught.value)
    assert len(str(caught.value)) < 1000


def test_a_whole_number_that_is_written_as_a_float_is_taken(tmp_path: Path) -> None:
    (tmp_path / "value").write_bytes(b"0123456789")
    store = storage.ReferenceStore({"k": [f"{tmp_path}/value", 2.0, 3.0]})
    assert store["k"] == b"234"


@pytest.mark.parametrize("url", ["", "/", "http://", "http://[::1/x", "s3:///k", "a\0b", "x/"])
def test_a_target_that_names_no_file_is_told_by_its_key(url: str) -> None:
    store = storage.ReferenceStore({"k": [url, 0, 1]})
    with pytest.raises((CorruptStoreError, PermissionError), match="'k' of the references"):
        store["k"]


def test_templates_that_expand_to_gigabytes_are_refused() -> None:
    document = {
        "version": 1,
        "templates": {"u": "x" * 1_000_000},
        "refs": {"k": ["{{u}}" * 800, 0, 1]},
    }
    with pytest.raises(CorruptStoreError, match=r"'k' is .* makes more than 8192 characters"):
        storage.ReferenceStore(document)
    document["refs"] = {f"k{i}": ["{{u}}" * 8 + f"{{{{{i}}}}}", 0, 1] for i in range(40_000)}
    document["templates"] = {"u": "x" * 1000}
    with pytest.raises(CorruptStoreError, match="the templates make more than"):
        storage.ReferenceStore(document)


def test_gen_stands_for_a_bounded_number_of_references_in_all() -> None:
    def entry(stop: int) -> dict[str, Any]:
        return {"key": "{{i}}", "url": "u", "dimensions": {"i": {"stop": stop}}}

    for gen in ([entry(10_000_000)], [entry(900_000)] * 2, [entry(0)] * 1_000_001):
        with pytest.raises(CorruptStoreError, match="gen may stand for 1000000 in all"):
            storage.ReferenceStore({"version": 1, "gen": gen})
    empty = {"key": "k", "url": "u", "dimensions": {"i": {"stop": 10**12}, "j": {"stop": 0}}}
    with pytest.raises(CorruptStoreError, match="gen may stand for"):
        storage.ReferenceStore({"version": 1, "gen": [empty]})


def test_the_expressions_of_a_document_take_a_bounded_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What they make may be short: a template is counted each time it is called, too."""
    monkeypatch.setattr(templates, "_MOST_STEPS", 10_000)
    long = "{{" + "+".join(["i"] * 50) + "}}"
    axes = {"i": {"stop": 1000}}
    direct = {"key": "{{i}}", "url": "u", "offset": long, "length": "1", "dimensions": axes}
    called = {"key": "{{i}}", "url": "{{f(i=1)}}", "dimensions": axes}
    for entry in (direct, called):
        document = {"version": 1, "templates": {"f": long}, "gen": [entry]}
        with pytest.raises(CorruptStoreError, match="more than 10000 steps"):
            storage.ReferenceStore(document)
    refs = {f"k{n}": ["{{" + "+".join([str(n)] * 50) + "}}"] for n in range(1000)}
    with pytest.raises(CorruptStoreError, match="more than 10000 steps"):
        storage.ReferenceStore({"version": 1, "templates": {}, "refs": refs})


def test_the_length_of_a_document_is_bounded(recorder: Recorder, tmp_path: Path) -> None:
    recorder.values["/refs.json"] = ENDLESS
    (tmp_path / "refs.json").write_text('{"k": "' + "x" * (2 << 20) + '"}')
    with zarr.config(max_document_bytes=1 << 20):
        for place in (recorder.url("/refs.json"), tmp_path / "refs.json"):
            with pytest.raises(CorruptStoreError, match=r"config\.max_document_bytes"):
                storage.ReferenceStore(place)
    assert recorder.sent_bytes < 1 << 28


def test_a_target_without_a_length_is_bounded(recorder: Recorder) -> None:
    recorder.values |= {"/a": ENDLESS, "/b": b"012"}
    urls = {"k": [recorder.url("/a")], ".zarray": [recorder.url("/a")], "b": [recorder.url("/b")]}
    store = storage.ReferenceStore(urls)
    with zarr.config(max_document_bytes=1 << 20, max_chunk_bytes=1 << 22):
        for key in ("k", ".zarray"):
            with pytest.raises(CorruptStoreError, match="has more than"):
                store[key]
        assert store["b"] == b"012"
    assert recorder.sent_bytes < 1 << 28


def test_a_length_of_a_reference_is_bounded_before_it_takes_memory(tmp_path: Path) -> None:
    path = tmp_path / "holes"
    with open(path, "wb") as file:
        file.truncate(1 << 43)
    store = storage.ReferenceStore({name: [str(path), 0, 1 << 43] for name in ("k", ".zattrs")})
    for key in ("k", ".zattrs"):
        with pytest.raises(CorruptStoreError, match=f"'{key}' .* has more than .*max_chunk_bytes"):
            store[key]


def test_keys_in_parquet_are_listed_from_what_is_there(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "refs.parq"
    (folder / "a").mkdir(parents=True)
    (tmp_path / "value").write_bytes(b"0123456789")
    zarr.create(1, dtype="u1", chunks=1, compressor=None, store=str(tmp_path / "z"))
    document = json.loads((tmp_path / "z" / ".zarray").read_text())
    metadata = {".zgroup": {"zarr_format": 2}, "a/.zarray": {**document, "shape": [2**62]}}
    (folder / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 1}))
    table = {"path": [f"{tmp_path}/value"], "offset": [3], "size": [1], "raw": [None]}
    columns = {**table, "raw": arrow.array([None], arrow.binary())}
    parquet.write_table(arrow.table(columns), folder / "a" / f"refs.{2**61}.parq")
    (folder / "a" / f"refs.{2**62}.parq").write_bytes(b"beyond the end")
    store = storage.ReferenceStore(folder)
    chunk = f"a/{2**61}"
    assert sorted(store) == [".zgroup", "a/.zarray", chunk]
    z: Any = zarr.open(store, mode="r")["a"]
    assert (z.nchunks_initialized, z[2**61]) == (1, ord("3"))
    assert str(2**62) in str(z.info)


def test_a_partition_of_parquet_is_not_made_longer_than_it_is_encoded(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    folder = tmp_path / "refs.parq"
    (folder / "a").mkdir(parents=True)
    zarr.create(10**6, dtype="u1", chunks=1, compressor=None, store=str(tmp_path / "z"))
    document = json.loads((tmp_path / "z" / ".zarray").read_text())
    metadata = {"a/.zarray": {**document, "shape": [2**40]}}
    (folder / ".zmetadata").write_text(json.dumps({"metadata": metadata, "record_size": 2**40}))
    one = arrow.DictionaryArray.from_arrays(
        arrow.array([0] * 500_000, arrow.int32()), arrow.array(["x" * 100_000])
    )
    zeros = arrow.array([0] * 500_000, arrow.int64())
    table = arrow.table({"path": one, "offset": zeros, "size": zeros})
    parquet.write_table(table, folder / "a" / "refs.0.parq")
    store = storage.ReferenceStore(folder)
    # 50 GB, were each row to have its own copy.
    held = store._references._partition("a", 0)  # type: ignore[attr-defined]
    assert held.num_rows == 500_000
    assert held.nbytes < 50 << 20
    rows = 1_000_001
    empty = arrow.table({"offset": arrow.nulls(rows, arrow.int64())})
    parquet.write_table(empty, folder / "a" / "refs.1.parq")
    with pytest.raises(CorruptStoreError, match=f"has {rows} references"):
        store._references._partition("a", 1)  # type: ignore[attr-defined]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["{{u}}", "{{i}}", "base64:!", "refs", "/value", "s3://b/k", "a::b"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
REFERENCES = st.dictionaries(st.text(max_size=3), JSON, max_size=3)
DOCUMENTS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "version": JSON,
        "templates": JSON | st.dictionaries(st.sampled_from("uc"), st.text(max_size=5)),
        "refs": JSON | REFERENCES,
        "gen": JSON
        | st.lists(
            st.fixed_dictionaries(
                {"key": JSON, "url": JSON},
                optional={"dimensions": JSON, "offset": JSON, "length": JSON},
            ),
            max_size=2,
        ),
    },
)


@given(DOCUMENTS)
def test_any_json_is_references_or_a_corrupt_store(document: Any) -> None:
    from zarrix._stores.reference import document as _reference_json

    try:
        references = _reference_json.JsonReferences(document, "of a draw")
    except CorruptStoreError:
        return
    for key in references.names(""):
        value = references.find(key)
        assert isinstance(value, bytes) or (isinstance(value[0], str) and value[1] >= 0)
