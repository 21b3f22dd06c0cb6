"""The conformance suite on every server: as it is, further down, and with a cache on local disk."""

from collections.abc import Callable
from pathlib import Path

import pytest
from every_store import HELD
from servers import SERVERS, Running
from zarrix import storage
from zarrix.testing import check_store

WEB = [name for name, server in SERVERS.items() if server.scheme == "http"]


@pytest.mark.parametrize("cached", [False, True])
def test_a_store_in_a_bucket_conforms(bucket, cached: bool, tmp_path: Path) -> None:
    options = {**bucket.options, **({"cache": str(tmp_path)} if cached else {})}
    url = f"{bucket.url}/deep/below"
    store, twin = (storage.RemoteStore(url, options) for _ in range(2))
    check_store(store, twin)
    assert (store.cache_counts is not None) == cached


@pytest.mark.parametrize("name", WEB)
def test_a_store_behind_a_web_server_conforms(name: str, serve: Callable[[str], Running]) -> None:
    found = serve(name)
    folder = found.folder / "data" / "conformance"
    for key, value in HELD.items():
        (folder / key).parent.mkdir(parents=True, exist_ok=True)
        (folder / key).write_bytes(value)
    url = f"{found.endpoint}/conformance"
    check_store(storage.RemoteStore(url), storage.RemoteStore(url), holds=HELD)
