"""Every way to fail to open an address, and that nothing which is then shown tells its secrets."""

import io
import logging
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.recorder import Recorder
from zarrix import cli, storage
from zarrix._stores.open import as_store
from zarrix._stores.redaction import public_text, public_url

fsspec = pytest.importorskip("fsspec")

ADDRESSES = [
    "foo://user:SEKRET@host/x",
    "foo::https://user:SEKRET@127.0.0.1:1/x",
    "http://{here}/x?X-Amz-Signature=SEKRET",
    "http://{here}/x.zip?X-Amz-Signature=SEKRET",
    "http://{here}/refs.json?X-Amz-Signature=SEKRET",
    "http://{here}/x#SEKRET",
    "http://user:SEKRET@{here}/x",
    "http://user:SEKRET@{here}/x.zip",
    "http://SEKRET@{here}/x",
    "http://user:SEKRET@127.0.0.1:1/x",
    "http://user:SEKRET@127.0.0.1:1/x?sig=SEKRET",
    "http://user:SEKRET@/x",
    "simplecache::http://user:SEKRET@{here}/x",
    "simplecache::http://{here}/x?sig=SEKRET",
    "zip::http://user:SEKRET@{here}/x.zip",
    "s3://AKIA:SEKRET@bucket/x",
    "s3://AKIA:a/SEKRET@bucket/x",
    "gs://SEKRET@bucket/x",
    "az://SEKRET:SEKRET@bucket/x",
    "abfs://SEKRET:SEKRET@account.dfs.core.windows.net/x",
    "hdfs://user:SEKRET@127.0.0.1:1/x?SEKRET",
    "ftp://user:SEKRET@127.0.0.1:1/x",
    "redis://:SEKRET@127.0.0.1:1/0",
]

Way = Callable[[str], Any]
WAYS: dict[str, Way] = {
    "open": zarr.open,
    "open r": lambda url: zarr.open(url, mode="r"),
    "open w": lambda url: zarr.open(url, mode="w", shape=3),
    "open with a path": lambda url: zarr.open(url, mode="r", path="a/b"),
    "open_array": lambda url: zarr.open_array(url, mode="r"),
    "open_array r+": lambda url: zarr.open_array(url, mode="r+"),
    "open_group": lambda url: zarr.open_group(url, mode="r"),
    "open_group a": lambda url: zarr.open_group(url, mode="a"),
    "open_consolidated": zarr.open_consolidated,
    "consolidate_metadata": zarr.consolidate_metadata,
    "group": lambda url: zarr.group(store=url),
    "create": lambda url: zarr.create(3, store=url),
    "create_array": lambda url: zarr.create_array(url, shape=3, dtype="i4"),
    "create_group": lambda url: zarr.create_group(url),
    "save": lambda url: zarr.save(url, np.arange(3)),
    "save_group": lambda url: zarr.save_group(url, a=np.arange(3)),
    "load": zarr.load,
    "copy_store from": lambda url: zarr.copy_store(url, zarr.MemoryStore()),
    "copy_store to": lambda url: zarr.copy_store({"a": b"1"}, url),
    "migrate": lambda url: zarr.migrate(url, to=3),
    "verify": zarr.verify,
    "repair": zarr.repair,
    "digests": zarr.digests,
    "diff": lambda url: zarr.diff(url, url),
    "as_store": lambda url: as_store(url)["a"],
    "as_store with options": lambda url: as_store(url, {"nonsense": 1, "other": 2})["a"],
    "a key": lambda url: as_store(url)["a/b"],
    "write a key": lambda url: as_store(url).__setitem__("a", b"1"),
    "delete a key": lambda url: as_store(url).__delitem__("a"),
    "list": lambda url: as_store(url).listdir(),
    "rmdir": lambda url: as_store(url).rmdir("a"),
    "rename": lambda url: as_store(url).rename("a", "b"),
    "update a key": lambda url: as_store(url).update_value("a", lambda old: b"1"),
    "FSStore": lambda url: storage.FSStore(url, mode="r")["a"],
    "FSStore, check": lambda url: storage.FSStore(url, check=True),
    "FSStore, create": lambda url: storage.FSStore(url, create=True),
    "FSStore, list": lambda url: storage.FSStore(url).listdir(),
    "FSStore, size": lambda url: storage.FSStore(url).getsize("a"),
    "FSStore, keys": lambda url: list(storage.FSStore(url)),
    "FSStore, rmdir": lambda url: storage.FSStore(url).rmdir("a"),
    "FSStore, rename": lambda url: storage.FSStore(url).rename("a", "b"),
    "FSStore, delete": lambda url: storage.FSStore(url).__delitem__("a"),
    "FSStore, write": lambda url: storage.FSStore(url).setitems({"a": b"1"}),
    "FSStore, open": lambda url: zarr.open(storage.FSStore(url, mode="r"), mode="r"),
    "FsspecStore": lambda url: storage.FsspecStore.from_url(url)["a"],
    "FsspecStore, open": lambda url: zarr.open(storage.FsspecStore.from_url(url), mode="r"),
    "RemoteStore": lambda url: storage.RemoteStore(url)["a"],
    "RemoteStore with options": lambda url: storage.RemoteStore(url, {"nonsense": 1})["a"],
    "RemoteZipStore": lambda url: storage.RemoteZipStore(url)["a"],
    "ReferenceStore": lambda url: storage.ReferenceStore(url),
    "ReferenceStore of JSON": lambda url: storage.ReferenceStore(f"{url}.json"),
    "a target of references": lambda url: storage.ReferenceStore({"a": [f"{url}/y", 0, 1]})["a"],
    "a target not allowed": lambda url: storage.ReferenceStore({"a": [url]}, allowed=[url + "/x"])[
        "a"
    ],
    "ZipStore": lambda url: storage.ZipStore(url, mode="r")["a"],
    "LRUStoreCache": lambda url: storage.LRUStoreCache(url, 1000)["a"],
    "LoggingStore": lambda url: storage.LoggingStore(as_store(url))["a"],
    "DirectoryStore": lambda url: zarr.open(storage.DirectoryStore(url), mode="r"),
    "cli info": lambda url: cli.main(["info", url]),
    "cli tree": lambda url: cli.main(["tree", url]),
    "cli verify": lambda url: cli.main(["verify", url]),
    "cli repair": lambda url: cli.main(["repair", url]),
    "cli diff": lambda url: cli.main(["diff", url, url]),
}
# Their argument is a path of this machine, which they show.
OF_PATHS = {"ZipStore", "DirectoryStore"}
# fsspec's own clients of these would look for a machine of their cloud.
CLOUDS = ("gs:", "az:", "abfs:", "hdfs:")
OF_FSSPEC = ("FSStore", "FsspecStore")


@pytest.fixture
def here() -> Iterator[str]:
    with Recorder() as server:
        yield f"127.0.0.1:{server.port}"


@pytest.fixture(autouse=True)
def fails_soon(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    from zarrix._stores.remote import options

    given = options.Options.take
    usual = {"timeout": 0.2, "retries": 0}

    def take(self: Any, *names: str) -> Any:
        found = given(self, *names)
        return usual.get(names[0]) if found is None else found

    monkeypatch.setattr(options.Options, "take", take)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "account")
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", "http://127.0.0.1:1")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)


def shown(way: Way, url: str, caplog: pytest.LogCaptureFixture) -> str:
    """All that a user could see when ``way`` is tried."""
    out, err = io.StringIO(), io.StringIO()
    text = []
    with (
        warnings.catch_warnings(record=True) as warned,
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        warnings.simplefilter("always")
        try:
            made = way(url)
            text.append(repr(made) + str(getattr(made, "info", "")))
        except Exception as error:
            told = "".join(traceback.format_exception(error))
            # Not the lines of code, which are this test's.
            text.append(told + repr(error) + str(error) + repr(vars(error)))
        except SystemExit as end:
            text.append(str(end))
    text += [str(one.message) for one in warned]
    return "".join(text) + out.getvalue() + err.getvalue() + caplog.text


@pytest.mark.parametrize("way", [name for name in WAYS if name not in OF_PATHS])
def test_no_way_to_fail_tells_what_is_secret_in_an_address(
    way: str, here: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, "zarrix")
    addresses = [
        url for url in ADDRESSES if not (way.startswith(OF_FSSPEC) and url.startswith(CLOUDS))
    ]
    told = {url: shown(WAYS[way], url.format(here=here), caplog) for url in addresses}
    telling = {url: text[max(0, text.find("SEKRET") - 150) :][:300] for url, text in told.items()}
    assert {url: text for url, text in telling.items() if "SEKRET" in text} == {}
    assert all(told.values())


def test_a_store_that_is_open_tells_none_of_it(here: str) -> None:
    for url in (f"http://user:SEKRET@{here}/x", f"http://{here}/x?sig=SEKRET"):
        stores = [as_store(url), storage.FSStore(url, mode="r")]
        for store in stores:
            kinds = [storage.LRUStoreCache(store, 100), storage.LoggingStore(store), store]
            for one in kinds:
                assert "SEKRET" not in repr(one) + str(one)
                assert "a" not in one
                with pytest.raises(KeyError):
                    one["a"]


def test_the_value_of_a_secret_option_is_not_told_by_an_error() -> None:
    class Telling(fsspec.AbstractFileSystem):  # type: ignore[misc]
        protocol = "telling"

        def _tell(self, *arguments: Any, **options: Any) -> Any:
            raise PermissionError(f"not with {self.storage_options}")

        cat_file = _open = ls = pipe_file = rm_file = _tell

    fs = Telling(token="SEKRET", client_kwargs={"headers": {"X-Api-Key": "SEKRET"}})
    store = storage.FsspecStore(fs, path="/x")
    for way in (lambda: store["a"], lambda: store.__setitem__("a", b"1"), lambda: store.listdir()):
        with pytest.raises(PermissionError, match="not with") as caught:
            way()
        assert "SEKRET" not in "".join(traceback.format_exception(caught.value))


def test_clients_of_databases_and_of_obstore_tell_no_secret() -> None:
    for package in ("redis", "pymongo", "obstore"):
        pytest.importorskip(package)
    from obstore.store import AzureStore, S3Store

    signed = AzureStore(
        "box",
        account_name="account",
        sas_key="sv=1&sig=SEKRET",
        endpoint="http://127.0.0.1:1/account",
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    keyed = S3Store(
        "box",
        access_key_id="SEKRET",
        secret_access_key="SEKRET",
        endpoint="http://127.0.0.1:1",
        client_options={"allow_http": True},
        retry_config={"max_retries": 0},
    )
    makes: list[Callable[[], Any]] = [
        lambda: storage.RedisStore(host="redis://:SEKRET@127.0.0.1:1/0", retry=None),
        lambda: storage.RedisStore(host="127.0.0.1", port=1, password="SEKRET", retry=None),
        lambda: storage.MongoDBStore(host="mongodb://me:SEK@RET@127.0.0.1:1"),
        lambda: storage.MongoDBStore(
            host="mongodb://me:SEKRET@127.0.0.1:1", serverSelectionTimeoutMS=100
        ),
        lambda: storage.ObjectStore(signed),
        lambda: storage.ObjectStore(keyed),
    ]
    uses: list[Callable[[Any], Any]] = [
        lambda store: store["a"],
        lambda store: store.__setitem__("a", b"1"),
        lambda store: store.__delitem__("a"),
        lambda store: store.getitems(["a", "b"]),
        lambda store: store.listdir(),
        lambda store: zarr.open(store, mode="r"),
    ]
    for make in makes:
        for use in uses:
            with pytest.raises(Exception) as caught:
                use(make())
            told = "".join(traceback.format_exception(caught.value)) + repr(vars(caught.value))
            assert "SEKRET" not in told, told


def given() -> dict[str, str]:
    return {"key": "SEKRETKEY", "secret": "SEKRETWORD", "token": "SEKRETTOKEN"}


def given_with_a_mistake() -> dict[str, Any]:
    return {**given(), "expires": "SEKRET"}


def unable() -> dict[str, str]:
    raise RuntimeError("no answer of http://user:SEKRET@host/x?sig=SEKRET")


@pytest.mark.parametrize("function", [given, given_with_a_mistake, unable])
@pytest.mark.parametrize("way", ["open", "open w", "as_store", "list", "shown", "save"])
def test_what_a_credentials_function_gives_is_not_told(
    function: Callable[[], Any], way: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    options = {"credentials": function, "endpoint_url": "http://127.0.0.1:1", "timeout": 0.2}
    ways: dict[str, Callable[[str], Any]] = {
        "open": lambda url: zarr.open(url, mode="r", storage_options=options),
        "open w": lambda url: zarr.open(url, mode="w", shape=3, storage_options=options),
        "as_store": lambda url: as_store(url, options)["a"],
        "list": lambda url: as_store(url, options).listdir(),
        "shown": lambda url: repr(vars(as_store(url, options))),
        "save": lambda url: zarr.save(url, np.arange(3), storage_options=options),
    }
    text = shown(ways[way], "s3://bucket/x", caplog)
    assert text
    assert "SEKRET" not in text


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("/data/x.zarr", "/data/x.zarr"),
        ("a@b/c?d", "a@b/c?d"),
        ("s3://bucket/a@b", "s3://bucket/a@b"),
        ("http://host:8080/a@b", "http://host:8080/a@b"),
        ("hdfs://ada@namenode:8020/x", "hdfs://ada@namenode:8020/x"),
        ("abfs://c@a.dfs.core.windows.net/x", "abfs://c@a.dfs.core.windows.net/x"),
        ("http://me:pw@host/x", "http://host/x"),
        ("http://me:p@w@host/x", "http://host/x"),
        ("http://me:p/w@host/x", "http://host/x"),
        ("http://host?sig=1", "http://host?***"),
        ("a::http://me:pw@host/x::file://y", "a::http://host/x::file://y"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address: str, public: str) -> None:
    assert public_url(address) == public
    assert public_text(f"cannot open '{address}'") in (
        f"cannot open '{public}'",
        f"cannot open '{address}'",
    )
