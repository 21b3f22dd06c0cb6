"""Buckets and addresses that are wrong."""

import pytest
import zarrix as zarr
from servers import free_ports


def test_a_bucket_that_is_not_there_is_missing_to_every_operation(s3_bucket) -> None:
    for mode in ("r", "r+", "w"):
        with pytest.raises(FileNotFoundError, match="zarrix-none/x"):
            zarr.open("s3://zarrix-none/x", mode=mode, shape=3, storage_options=s3_bucket.options)


def test_an_address_where_nobody_answers_is_named() -> None:
    (port,) = free_ports(1)
    options = {
        "key": "k",
        "secret": "verysecret",
        "endpoint_url": f"http://127.0.0.1:{port}",
        "retries": 0,
    }
    with pytest.raises(ConnectionError, match=rf"to http://127\.0\.0\.1:{port}: .*refused") as told:
        zarr.open("s3://bucket/x", mode="r", storage_options=options)
    assert "verysecret" not in str(told.value)
