"""The viewer draws a view of JPEG chunks in a smaller size."""

from __future__ import annotations

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer


def test_a_reduced_array_is_drawn_in_its_own_size() -> None:
    z = zarr.create_array(
        {}, shape=(2, 64, 64, 3), chunks=(1, 64, 64, 3), dtype="u1", compressors="jpeg:90"
    )
    z[...] = np.arange(64, dtype="u1")[:, None, None]
    client = Client(viewer.app(z.reduced(4)))
    assert client.get("/api/node", path="").json()["shape"] == [2, 16, 16, 3]
    found = client.get("/api/npy", path="", sel="0")
    assert found.status == 200
    pixels = np.frombuffer(bytes(found.body)[-16 * 16 * 3 :], "u1").reshape(16, 16, 3)
    np.testing.assert_array_equal(pixels, z.reduced(4)[0])
