"""Puts under a condition, and listings in the order of keys, on servers."""

import threading
from typing import Any

import pytest
import zarrix as zarr
from servers import s3_client
from servers.faulty import FaultyServer
from zarrix._stores.open import as_store
from zarrix.errors import NotAtomicError


@pytest.fixture
def store(bucket: Any) -> Any:
    if bucket.server.scheme == "hdfs":
        pytest.skip("HDFS has no conditional writes")
    store = as_store(bucket.url, bucket.options)
    if not store.keeps_conditions("a"):
        pytest.skip(f"{bucket.server.name} ignores conditional writes, and that is said")
    return store


def test_a_put_replaces_the_version_with_its_tag_and_no_other(store: Any) -> None:
    first = store.put_if("a/b", b"1", None)
    assert first.is_stored
    assert store.put_if("a/b", b"2", None).result == "refused"
    second = store.put_if("a/b", b"22", first.tag)
    assert second.is_stored
    assert second.tag != first.tag
    assert store.put_if("a/b", b"3", first.tag).result == "refused"
    assert store.put_if("c", b"3", first.tag).result == "refused"
    assert store.head("a/b") == ("a/b", 2, second.tag)
    found = store.get_tagged("a/b")
    assert (found.value, found.tag) == (b"22", second.tag)
    assert second.name in found.changes.split()
    assert store.head("c") is None
    assert store.get_tagged("c") is None
    assert [row for page in store.list_pages() for row in page] == [store.head("a/b")]
    assert store.put_if("a/b", b"4", "*").is_stored
    assert store["a/b"] == b"4"


def test_of_many_creators_and_of_many_who_replace_one_wins(store: Any) -> None:
    def together(condition: str | None, first: int) -> list[str]:
        barrier, results = threading.Barrier(8), []

        def put(number: int) -> None:
            barrier.wait()
            results.append(store.put_if("k", str(number).encode(), condition).result)

        numbers = range(first, first + 8)
        threads = [threading.Thread(target=put, args=(number,)) for number in numbers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sorted(results)

    expected = ["refused"] * 7 + ["stored"]
    assert together(None, 0) == expected
    # Other bytes than before: an ETag may be that of the bytes.
    assert together(store.head("k").tag, 8) == expected


def test_a_put_keeps_the_names_of_the_changes_before_it(store: Any) -> None:
    name = store.put_if("k", b"1", None).name
    found = store.get_tagged("k")
    assert store.put_if("k", b"2", found.tag, changes=found.changes).is_stored
    assert name in store.get_tagged("k").changes.split()


def test_keys_are_listed_in_the_order_of_their_bytes(store: Any) -> None:
    names = ["a/b", "a-b", "a.b", "a0", "a/b-", "a/0", "b/c/d", "b", "c/é", "c/z", "z"]
    names.remove("b")
    for name in names:
        store[name] = name.encode()
    expected = sorted(names, key=str.encode)
    rows = [row for page in store.list_pages() for row in page]
    assert [row.key for row in rows] == expected
    assert rows == [store.head(row.key) for row in rows]
    for after in [*expected, "a", "b/", "c/"]:
        keys = [row.key for page in store.list_pages(after=after) for row in page]
        assert keys == [name for name in expected if name.encode() > after.encode()]
    keys = [row.key for page in store.list_pages("a", "a/0") for row in page]
    assert keys == ["a/b", "a/b-"]


def _listed(store: Any, **below: str) -> list[str]:
    return [row.key for page in store.list_pages(**below) for row in page]


def test_a_server_that_lists_by_folder_is_listed_in_the_order_of_bytes() -> None:
    names = ["a/b/c", "a/b-", "a-b", "a.b/c", "a0", "b/c", "b"]
    with FaultyServer(by_folder=True) as server:
        store = as_store(f"{server.url}/x", server.options)
        for name in names:
            store[name] = name.encode()
        expected = sorted(names)
        # At first the order is found out, then it is known.
        for _ in range(2):
            rows = [row for page in store.list_pages() for row in page]
            assert [row.key for row in rows] == expected
            assert rows == [store.head(row.key) for row in rows]
        for after in [*expected, "a/", "a/b", "a/c", "c"]:
            assert _listed(store, after=after) == [name for name in expected if name > after]
        assert _listed(store, prefix="a") == ["a/b-", "a/b/c"]


def test_a_server_that_sends_a_late_page_out_of_order_is_listed_by_folder_from_then_on() -> None:
    names = [f"a/{one:04}" for one in range(1500)] + ["a-b", *(f"b{one}" for one in range(1001))]
    with FaultyServer(by_folder=True) as server:
        store = as_store(f"{server.url}/x", server.options)
        for name in names:
            server.values[f"x/{name}"] = (b"", {})
        with pytest.raises(OSError, match=r'lists "x/a-b" behind "x/a/1499".*call again'):
            _listed(store)
        assert _listed(store) == sorted(names)
        assert _listed(store, after="b5") == sorted(name for name in names if name > "b5")


def test_a_server_that_is_known_to_list_by_folder_is_not_tried() -> None:
    names = [f"a/{one:04}" for one in range(1500)] + ["a-b"]
    with FaultyServer(by_folder=True, name="SeaweedFS 30GB 4.48") as server:
        store = as_store(f"{server.url}/x", server.options)
        for name in names:
            server.values[f"x/{name}"] = (b"", {})
        assert _listed(store) == sorted(names)


def test_a_server_whose_folders_never_end_is_an_error() -> None:
    class Deep(FaultyServer):
        def handler(self) -> Any:
            class Handler(super().handler()):
                def _list(self, query: dict[str, str]) -> None:
                    below = f"{query.get('prefix', '')}a/"
                    found = f"<CommonPrefixes><Prefix>{below}</Prefix></CommonPrefixes>"
                    self._send(200, f"<ListBucketResult>{found}</ListBucketResult>".encode())

            return Handler

    with Deep(name="SeaweedFS 30GB 4.48") as server:
        store = as_store(f"{server.url}/x", server.options)
        with pytest.raises(OSError, match="folders lie in each other 1024 times"):
            _listed(store)
        assert len(server.requests) < 1100


@pytest.fixture
def moto(serve: Any) -> Any:
    return serve("moto")


def test_a_thousand_keys_are_one_request(moto: Any) -> None:
    url = f"{moto.bucket}/pages"
    client = s3_client(moto)
    name = moto.bucket.partition("://")[2].partition("/")[0]
    for one in range(2100):
        client.put_object(Bucket=name, Key=f"pages/c/{one:05}", Body=b"")
    store = as_store(url, moto.options)
    pages = [[row.key for row in page] for page in store.list_pages()]
    assert [len(page) for page in pages] == [1000, 1000, 100]
    assert [key for page in pages for key in page] == [f"c/{one:05}" for one in range(2100)]
    behind = [row.key for page in store.list_pages("c", "c/01999") for row in page]
    assert behind == [f"c/{one:05}" for one in range(2000, 2100)]


@pytest.mark.parametrize("mode", ["answer to a put", "connection after a put"])
def test_a_put_whose_answer_is_lost_is_found_by_its_name(mode: str) -> None:
    with FaultyServer() as server:
        store = as_store(f"{server.url}/x", server.options)
        first = store.put_if("a", b"1", None)
        server.mode, server.count, server.only = mode, 1, ("PUT",)
        second = store.put_if("a", b"2", first.tag)
        assert second.is_stored
        assert store["a"] == b"2"
        server.count = 1
        assert store.put_if("b", b"3", None).is_stored
        server.count = 1
        assert store.put_if("a", b"4", first.tag).result == "refused"


def test_a_put_that_no_answer_ends_is_unclear() -> None:
    with FaultyServer() as server:
        options = {**server.options, "timeout": 2, "max_retries": 2}
        store = as_store(f"{server.url}/x", options)
        tag = store.put_if("a", b"1", None).tag
        server.mode, server.only = "500", ("PUT",)
        outcome = store.put_if("a", b"2", tag)
        assert outcome.result == "unclear"
        assert "500" in outcome.reason
        server.mode = ""
        assert store["a"] == b"1"
        assert store.put_if("a", b"2", tag).is_stored


def test_a_server_that_ignores_conditions_is_not_trusted() -> None:
    with FaultyServer(mode="ignore conditions", only=("PUT",)) as server:
        store = as_store(f"{server.url}/x", {**server.options, "timeout": 19})
        with pytest.warns(zarr.errors.LostUpdateWarning):
            assert not store.keeps_conditions("a")
        with pytest.raises(NotAtomicError, match="ignores conditional writes"):
            store.put_if("a", b"1", None)
        assert "a" not in store
        assert store.put_if("a", b"1", "*").is_stored
        assert store["a"] == b"1"
