"""Servers that lie, answer without end or redirect elsewhere, and tokens that are rotated."""

import gc
import io
import os
import weakref
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
import zarrix as zarr
from servers.liar import Liar
from servers.recorder import ENDLESS, Recorder
from zarrix import storage

HEADERS = {"Authorization": "Bearer SEKRET", "X-Api-Key": "SEKRET"}
# What a test lets an endless server send: the bounds below, and what is in flight.
MOST_SENT = 1 << 28


@pytest.fixture
def recorder() -> Iterator[Recorder]:
    with Recorder({"/value": b"0123456789"}) as server:
        yield server


def test_a_redirect_to_another_host_carries_no_header_of_the_caller(recorder: Recorder) -> None:
    with Recorder({"/value": b"elsewhere"}) as other:
        recorder.values["/a"] = other.url("/value", "localhost")
        store = storage.RemoteStore(recorder.url(), {"headers": HEADERS})
        assert store["a"] == b"elsewhere"
        assert store._engine.get_slice("a", 2, 4) == b"se"
        assert recorder.headers("x-api-key") == ["SEKRET"] * 2
        assert len(other.requests) == 2
        assert {name for _, headers in other.requests for name in headers} & {
            "x-api-key",
            "authorization",
        } == set()


def test_a_redirect_within_the_host_is_followed_with_the_headers(recorder: Recorder) -> None:
    recorder.values |= {"/a": "/b", "/b": recorder.url("/value"), "/loop": "/loop"}
    store = storage.RemoteStore(recorder.url(), {"headers": HEADERS, "timeout": 5})
    assert store["a"] == b"0123456789"
    assert recorder.headers("authorization") == ["Bearer SEKRET"] * 3
    with pytest.raises(OSError, match="redirect"):
        store["loop"]
    recorder.values["/file"] = "file:///etc/passwd"
    with pytest.raises(OSError, match="redirect"):
        store["file"]


@pytest.mark.parametrize("options", [{}, {"headers": HEADERS}])
def test_a_value_without_end_is_an_error(recorder: Recorder, options: dict[str, Any]) -> None:
    recorder.values |= {"/a": ENDLESS, "/x/.zarray": ENDLESS, "/x.zip": ENDLESS}
    store = storage.RemoteStore(recorder.url(), options)
    with zarr.config(max_chunk_bytes=1 << 22, max_document_bytes=1 << 20):
        ways = [
            lambda: store["a"],
            lambda: store.getitems(["a", "value"]),
            lambda: store._engine.get_slice("a", 10, 20),
            lambda: store._engine.get_last("a", 20),
            lambda: storage.RemoteZipStore(recorder.url("/x.zip"), options)["a"],
            lambda: zarr.copy_store(storage.LoggingStore(Keys(store)), zarr.MemoryStore()),
        ]
        for way in ways:
            recorder.sent_bytes = 0
            with pytest.raises(OSError, match=r"config\.max_chunk_bytes"):
                way()
            assert recorder.sent_bytes < MOST_SENT
        with pytest.raises(zarr.errors.MetadataError, match=r"config\.max_document_bytes"):
            zarr.open(recorder.url("/x"), mode="r", storage_options=options)
        assert store["value"] == b"0123456789"
        assert store._engine.get_slice("value", 2, 4) == b"23"


class Keys(storage.WrapperStore):
    """A store that lists what a web server cannot."""

    def _list(self, prefix: str) -> list[str]:
        return ["a"]


def test_an_archive_on_a_server_is_read_with_headers(recorder: Recorder) -> None:
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("a", b"inside")
    recorder.values["/x.zip"] = archive.getvalue()
    recorder.refuse = "x-api-key"
    store = storage.RemoteZipStore(recorder.url("/x.zip"), {"headers": HEADERS})
    assert store["a"] == b"inside"


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_tokens_that_are_rotated_leave_nothing_behind(recorder: Recorder) -> None:
    from zarrix._stores import secrets as _secrets

    gc.collect()
    secrets, before = len(_secrets._held), descriptors()
    dropped = []
    for number in range(150):
        headers = {"Authorization": f"Bearer {number}"}
        store = storage.RemoteStore(recorder.url(), {"headers": headers})
        assert store["value"] == b"0123456789"
        dropped.append(weakref.ref(store._credentials))
        del store
    gc.collect()
    assert len(set(recorder.headers("authorization"))) == 150
    assert sum(one() is not None for one in dropped) == 0
    assert len(_secrets._held) <= secrets
    # The server holds its end of each connection in this process, too.
    assert descriptors() - before < 100


def test_a_store_that_is_used_stays_connected(recorder: Recorder) -> None:
    used = storage.RemoteStore(recorder.url(), {"headers": HEADERS})
    for number in range(40):
        other = storage.RemoteStore(recorder.url(), {"headers": {"X-Number": str(number)}})
        assert other["value"] == used["value"] == b"0123456789"
    ports = zip(recorder.headers("x-api-key"), recorder.connections, strict=True)
    assert len({port for key, port in ports if key is not None}) == 1


ERROR = b"<?xml version='1.0'?><Error><Code>AccessDenied</Code><Message>No</Message></Error>"
ENTRY = (
    "<Contents><Key>p/{}</Key><LastModified>2026-11-21T12:00:00.000Z</LastModified>"
    "<ETag>x</ETag><Size>1</Size></Contents>"
)
MORE = "<IsTruncated>true</IsTruncated>"
TOKEN = "<NextContinuationToken>{}</NextContinuationToken>"
# What a server sends with status 200 as a page of a listing, and what is said of it.
PAGES = {
    "no token": (f"<ListBucketResult>{ENTRY.format('a')}{MORE}</ListBucketResult>", "the token"),
    "empty token": (f"<ListBucketResult>{MORE}{TOKEN.format('')}</ListBucketResult>", "the token"),
    "an error": (ERROR.decode(), "AccessDenied"),
    "another page": ("<html><body>Log in</body></html>", "is <html>"),
    "another document": (
        f"<EnumerationResults>{ENTRY.format('a')}</EnumerationResults>",
        "EnumerationResults",
    ),
    "nothing": ("", "no XML"),
    "JSON": ('{"error": "no"}', "no XML"),
}


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("service", ["s3", "gs", "az"])
def test_a_page_that_is_no_listing_is_an_error_and_not_the_end(service: str, page: str) -> None:
    body, said = PAGES[page]
    if service == "az":
        if "token" in page:
            pytest.skip("only the token says that pages follow")
        if page == "another document":
            body, said = "<ListBucketResult></ListBucketResult>", "ListBucketResult"

    def told(method: str, path: str, query: Any) -> tuple[int, bytes]:
        return (200, body.encode()) if {"list-type", "comp"} & set(query) else (404, b"")

    with Liar(told) as liar:
        url, options = liar.store_of(service)
        store = storage.RemoteStore(url, options)
        ways = [lambda: list(store), lambda: store.listdir(""), lambda: store.rmdir("")]
        for way in ways:
            with pytest.raises(OSError, match=said):
                way()
        assert not [method for method, _ in liar.requests if method in ("DELETE", "POST")]


@pytest.mark.parametrize("answer", [ERROR, b"", b"<html></html>"])
def test_a_deletion_whose_answer_is_an_error_has_not_been_made(answer: bytes) -> None:
    page = f"<ListBucketResult>{ENTRY.format('a')}{ENTRY.format('b')}</ListBucketResult>".encode()

    def told(method: str, path: str, query: Any) -> tuple[int, bytes]:
        if method == "POST":
            return 200, answer
        return (200, page) if "list-type" in query else (404, b"")

    with Liar(told) as liar:
        store = storage.RemoteStore(*liar.store_of("s3"))
        with pytest.raises(OSError, match="delete below"):
            store.rmdir("")


def test_a_copy_whose_answer_is_an_error_deletes_nothing() -> None:
    page = f"<ListBucketResult>{ENTRY.format('a/x')}</ListBucketResult>".encode()
    none = b"<ListBucketResult></ListBucketResult>"

    def told(method: str, path: str, query: Any) -> tuple[int, bytes]:
        if method == "GET" and "list-type" in query:
            return 200, page if query["prefix"].startswith("p/a") else none
        if method in ("GET", "HEAD"):
            return 404, b""
        return 200, ERROR if method == "PUT" else b"<DeleteResult/>"

    with Liar(told) as liar:
        store = storage.RemoteStore(*liar.store_of("s3"))
        with pytest.raises(OSError, match="AccessDenied"):
            store.rename("a", "b")
        assert "POST" not in [method for method, _ in liar.requests]


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["b", "a"]])
def test_pages_of_the_same_names_under_new_tokens_end(names: list[str]) -> None:
    entries = "".join(ENTRY.format(name) for name in names)

    def told(method: str, path: str, query: Any) -> tuple[int, bytes]:
        token = TOKEN.format(len(liar.requests))
        page = f"<ListBucketResult>{entries}{MORE}{token}</ListBucketResult>"
        return 200, page.encode()

    with Liar(told) as liar:
        store = storage.RemoteStore(*liar.store_of("s3"))
        with pytest.raises(OSError, match=r"would never end: .* without a new name"):
            list(store)
        assert len(liar.requests) < 1100
