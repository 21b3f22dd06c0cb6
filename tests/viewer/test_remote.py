"""An array on S3: values, missing chunks and plans are right, and nothing lists the bucket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from servers import Running, new_bucket
from viewer.asgi import Client
from zarrix import viewer


def test_an_array_on_s3_is_shown(serve: Callable[[str], Running]) -> None:
    server = serve("moto")
    url = f"{new_bucket(server, 'viewer-bucket')}/data.zarr"
    options: dict[str, Any] = server.options
    values = np.random.default_rng(4).integers(0, 256, (2, 3, 20, 24), "u1")
    z = zarr.open(url, mode="w", path="rgb", shape=values.shape, chunks=(1, 3, 8, 8), dtype="u1",
                  write_empty_chunks=False, storage_options=options)  # fmt: skip
    values[1, :, 8:16, 8:16] = 0
    z[:] = values
    client = Client(viewer.app(zarr.open(url, mode="r", storage_options=options)))
    assert client.get("/api/hello").json()["first"] == "rgb"
    node = client.get("/api/node", path="rgb").json()
    assert (node["remote"], node["guess"]["kind"]) == (True, "rgb")
    assert np.array_equal(client.get("/api/tile", path="rgb", sel="1").array(), values[1])
    found = client.get("/api/stored", path="rgb", sel="1").json()
    assert (found["stored"], found["runs"]) == (8, [0, 4, 1, 4])
    assert client.get("/api/chunk", path="rgb", coords="1,0,1,1").json()["stored"] is False
    assert client.get("/api/plan", path="rgb", sel="1").json()["missing"] == 1
    assert options["secret"] not in client.get("/api/code", path="rgb").body.decode()
    assert options["secret"] not in client.get("/api/hello").body.decode()
