"""Credentials of fsspec's file systems: in no pickle and no repr, and found again or asked for."""

import pickle
from typing import Any

import pytest
import zarrix as zarr
from elsewhere import forget_secrets
from zarrix import storage
from zarrix._stores.open import as_store

fsspec = pytest.importorskip("fsspec")
SECRET = "verysecretword"


class Guarded(type(fsspec.filesystem("memory"))):
    """Files in memory, for those who have the password."""

    protocol = "guarded"

    def __init__(self, user: str = "", password: str = "", **options: Any) -> None:
        super().__init__(**options)
        self.password = password

    def cat_file(self, *arguments: Any, **options: Any) -> Any:
        if self.password != SECRET:
            raise PermissionError("wrong password")
        return super().cat_file(*arguments, **options)


MAKE = {
    "by name": lambda: storage.FSStore("/guarded", fs=Guarded(user="me", password=SECRET)),
    "by position": lambda: storage.FsspecStore(Guarded("me", SECRET), path="/guarded"),
    "a mapping": lambda: as_store(fsspec.FSMap("/guarded", Guarded("me", SECRET))),
    "inside another": lambda: storage.FsspecStore(
        fsspec.filesystem("dir", path="/guarded", fs=Guarded("me", SECRET)), path="x"
    ),
}


@pytest.fixture(params=MAKE)
def store(request: pytest.FixtureRequest) -> Any:
    made = MAKE[request.param]()
    zarr.save_array(made, [1, 2, 3])
    yield made
    Guarded("me", SECRET).rm("/guarded", recursive=True)


def test_a_pickle_has_no_credentials_and_this_process_still_opens_it(store: Any) -> None:
    pickled = pickle.dumps(store)
    assert SECRET.encode() not in pickled
    assert SECRET not in repr(store)
    twin = pickle.loads(pickled)
    assert twin == store
    assert zarr.open(twin, mode="r")[:].tolist() == [1, 2, 3]
    array = pickle.dumps(zarr.open(store, mode="r"))
    assert SECRET.encode() not in array
    assert pickle.loads(array)[:].tolist() == [1, 2, 3]


def test_another_process_is_told_what_it_lacks(store: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    pickled = pickle.dumps(store)
    forget_secrets(monkeypatch)
    with pytest.raises(PermissionError, match="password of a Guarded were given"):
        pickle.loads(pickled)
    monkeypatch.setitem(fsspec.config.conf, "guarded", {"password": SECRET})
    assert zarr.open(pickle.loads(pickled), mode="r")[:].tolist() == [1, 2, 3]


def test_a_service_that_the_engine_knows_finds_them_in_its_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    s3fs = pytest.importorskip("s3fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    fs = s3fs.S3FileSystem(key="AK", secret=SECRET, endpoint_url="http://127.0.0.1:1")
    pickled = pickle.dumps(storage.FsspecStore(fs, path="bucket/x"))
    assert SECRET.encode() not in pickled
    forget_secrets(monkeypatch)
    with pytest.raises(PermissionError, match="key, secret of a S3FileSystem were given"):
        pickle.loads(pickled)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AK")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    again = pickle.loads(pickled)
    assert again.fs.storage_options == {"endpoint_url": "http://127.0.0.1:1"}


def test_a_password_in_an_address_is_not_shown() -> None:
    pytest.importorskip("aiohttp")
    store = storage.FSStore(f"http://me:{SECRET}@127.0.0.1:1/x")
    assert repr(store) == "<zarrix.storage.FSStore 'http://127.0.0.1:1/x'>"
    assert SECRET.encode() not in pickle.dumps(store)
