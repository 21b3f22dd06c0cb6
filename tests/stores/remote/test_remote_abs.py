"""`ABSStore` of zarr 2.18 on Azurite, by names and by a client of Azure's package."""

import pickle
from collections.abc import Callable

import numpy as np
import pytest
import zarrix as zarr
from servers import Running
from zarrix import storage


def test_an_array_by_names_and_by_a_client(serve: Callable[[str], Running]) -> None:
    found = serve("azurite")
    options, container = found.options, found.bucket.partition("://")[2]
    store = storage.ABSStore(
        container,
        "abs/x",
        account_name=options["account_name"],
        account_key=options["account_key"],
        blob_service_kwargs={"account_url": options["account_host"]},
        dimension_separator="/",
    )
    z = zarr.create((8, 8), chunks=(4, 4), dtype="i4", store=store)
    z[:] = np.arange(64).reshape(8, 8)
    assert sorted(store) == [".zarray", "0/0", "0/1", "1/0", "1/1"]
    assert options["account_key"].encode() not in pickle.dumps(store)
    blob = pytest.importorskip("azure.storage.blob", reason="pip install azure-storage-blob")
    client = blob.ContainerClient(
        options["account_host"], container, credential=options["account_key"]
    )
    again = storage.ABSStore(client=client, prefix="abs/x")
    assert zarr.open(again, mode="r")[3, :].tolist() == [*range(24, 32)]
    client.close()


def test_a_container_has_to_be_named() -> None:
    with pytest.raises(ValueError, match="needs the name of a container"):
        storage.ABSStore()
