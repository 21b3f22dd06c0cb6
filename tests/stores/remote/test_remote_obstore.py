"""Instances of obstore on a server: served by the engine, and called where they have to be."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers import KEY, REGION, SECRET, Running
from zarrix import storage

obstore = pytest.importorskip("obstore.store")


@pytest.mark.parametrize("name", ["seaweedfs", "moto"])
@pytest.mark.parametrize("is_native", [True, False])
def test_arrays_on_a_bucket(serve: Callable[[str], Running], name: str, is_native: bool) -> None:
    found = serve(name)
    more: dict[str, Any] = {} if is_native else {"retry_config": {"max_retries": 3}}
    place = obstore.S3Store(
        found.bucket.partition("://")[2],
        prefix=f"obstore-{is_native}",
        access_key_id=KEY,
        secret_access_key=SECRET,
        endpoint=found.endpoint,
        region=REGION,
        client_options={"allow_http": True},
        **more,
    )
    z = zarr.create_array(place, shape=1024, chunks=16, shards=512, dtype="i4")
    z[:] = np.arange(1024)
    z[7] = -7
    assert zarr.open(place, mode="r")[5:9].tolist() == [5, 6, -7, 8]
    kind = "ObjectStore" if is_native else "PythonStore"
    store: Any = storage.ObjectStore(place)
    assert type(store._engine).__name__ == kind
    assert sorted(store) == ["c/0", "c/1", "zarr.json"]
