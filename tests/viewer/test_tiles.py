"""Tiles have the bits of the stored values; everything else is exact text."""

from __future__ import annotations

import json

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer

AS_STORED = ["u1", "i1", "u2", "i2", "f2", "f4", ">u2", ">i2", ">f2", ">f4"]


def random(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values with every bit pattern that the dtype has, NaN and infinities too."""
    rng = np.random.default_rng(3)
    kind = np.dtype(dtype)
    count = int(np.prod(shape))
    bits = rng.integers(0, 256, count * kind.itemsize, dtype="u1")
    return bits.view(kind).reshape(shape)


@pytest.mark.parametrize("dtype", AS_STORED)
def test_types_of_browsers_are_sent_bit_by_bit(dtype: str) -> None:
    values = random(dtype, (40, 50))
    client = Client(viewer.app(zarr.array(values, chunks=(16, 16))))
    found = client.get("/api/tile", sel="3:30,:,")
    assert found.status == 200
    assert found.headers["x-zarrix-type"] == f"{np.dtype(dtype).kind}{np.dtype(dtype).itemsize}"
    expected = values[3:30].astype(np.dtype(dtype).newbyteorder("<"))
    assert found.body == expected.tobytes()


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8", "f8", ">f8", "?"])
def test_others_are_cast_for_drawing(dtype: str) -> None:
    values = random("u1", (30, 8)).astype(dtype)
    client = Client(viewer.app(zarr.array(values, chunks=(7, 8))))
    found = client.get("/api/tile").array()
    kind = "u1" if dtype == "?" else "f4"
    assert found.dtype == kind
    assert np.array_equal(found, values.astype(kind))


def test_complex_values_are_pairs() -> None:
    values = (np.arange(6) + 1j * np.arange(6)[::-1]).reshape(2, 3).astype("c16")
    found = Client(viewer.app(zarr.array(values))).get("/api/tile").array()
    assert found.shape == (2, 3, 2)
    assert np.array_equal(found[..., 0] + 1j * found[..., 1], values)


def test_times_are_differences_from_the_first_one() -> None:
    values = np.array(["NaT", "2020-01-02", "2020-01-05"], "M8[D]")
    found = Client(viewer.app(zarr.array(values))).get("/api/tile")
    assert found.headers["x-zarrix-origin"] == "2020-01-02"
    assert np.array_equal(found.array(), np.array([np.nan, 0, 3], "f4"), equal_nan=True)


def test_labels_keep_all_bits() -> None:
    values = np.array([0, 1, 2**24 + 1, 2**24 + 2, 2**40, 2**63 - 1, -1, 2**32 + 2], "i8")
    client = Client(viewer.app(zarr.array(values)))
    found = client.get("/api/tile", as_="label").array()
    assert found.dtype == np.dtype("u4")
    assert len(set(found.tolist())) == len(values)
    assert np.flatnonzero(found == 0).tolist() == [0]
    short = Client(viewer.app(zarr.array(values.astype("i2"))))
    assert short.get("/api/tile", as_="label").array()[6] == found[6]
    reals = Client(viewer.app(zarr.zeros(3)))
    assert reals.get("/api/tile", as_="label").status == 400


def test_headers_say_range_and_what_is_not_finite() -> None:
    values = np.array([[np.nan, np.inf], [-2.5, 7]], "f2")
    headers = Client(viewer.app(zarr.array(values))).get("/api/tile").headers
    assert headers["x-zarrix-shape"] == "2,2"
    assert (headers["x-zarrix-min"], headers["x-zarrix-max"]) == ("-2.5", "7.0")
    assert headers["x-zarrix-invalid"] == "2"
    assert headers["content-length"] == "8"


def test_an_axis_of_an_integer_is_dropped_and_an_empty_tile_is_empty() -> None:
    values = np.arange(24, dtype="u1").reshape(2, 3, 4)
    client = Client(viewer.app(zarr.array(values)))
    assert np.array_equal(client.get("/api/tile", sel="1,:,-1").array(), values[1, :, -1])
    assert client.get("/api/tile", sel="1,2,3").array() == values[1, 2, 3]
    found = client.get("/api/tile", sel="0,2:2,:")
    assert (found.status, found.body, found.headers["x-zarrix-shape"]) == (200, b"", "0,4")


def test_a_selection_may_use_names_and_steps() -> None:
    z = zarr.create_array({}, shape=(3, 8), dtype="u1", dimension_names=["t", "x"])
    z[:] = np.arange(24).reshape(3, 8)
    found = Client(viewer.app(z)).get("/api/tile", sel="t=1,x=::3").array()
    assert np.array_equal(found, z[1, ::3])


def test_an_unchanged_tile_is_not_sent_again() -> None:
    z = zarr.array(np.arange(100, dtype="u2"), chunks=10)
    client = Client(viewer.app(z))
    tag = client.get("/api/tile").headers["etag"]
    again = client.get("/api/tile", headers={"if-none-match": tag})
    assert (again.status, again.body) == (304, b"")
    z[5] = 1000
    changed = client.get("/api/tile", headers={"if-none-match": tag})
    assert changed.status == 200
    assert changed.array()[5] == 1000


def test_a_head_request_has_the_headers_alone() -> None:
    client = Client(viewer.app(zarr.zeros(50, dtype="u1")))
    found = client.get("/api/tile", method="HEAD")
    assert (found.status, found.body, found.headers["content-length"]) == (200, b"", "50")


def test_fields_of_structures_are_tiles() -> None:
    values = np.array([(1, 2.5, b"a"), (3, -1, b"b")], [("n", "u2"), ("v", "f4"), ("s", "S1")])
    client = Client(viewer.app(zarr.array(values)))
    assert client.get("/api/tile", field="v").array().tolist() == [2.5, -1]
    assert client.get("/api/tile", field="s").status == 400
    assert client.get("/api/tile").status == 400
    assert client.get("/api/cells").json()["cells"] == ["(n=1, v=2.5, s=b'a')",
                                                        "(n=3, v=-1.0, s=b'b')"]  # fmt: skip
    fields = client.get("/api/node").json()["fields"]
    assert [(one["name"], one["tile"]) for one in fields] == [("n", "u2"), ("v", "f4"), ("s", None)]


def test_values_are_exact_text() -> None:
    values = np.array([0.1, 1 / 3, np.nan, -0.0, 1e300])
    client = Client(viewer.app(zarr.array(values)))
    found = client.get("/api/cells").json()["cells"]
    assert found == ["0.1", "0.3333333333333333", "nan", "-0.0", "1e+300"]
    wide = np.array([2**63 + 1, 5], "u8")
    found = Client(viewer.app(zarr.array(wide, chunks=1))).get("/api/value", index="0").json()
    assert found == {"dtype": "uint64", "chunk": [0], "text": "9223372036854775809"}


def test_values_along_a_short_axis_come_together() -> None:
    values = np.arange(24, dtype="f2").reshape(3, 2, 4) / 8
    client = Client(viewer.app(zarr.array(values, chunks=(3, 1, 2))))
    found = client.get("/api/value", index=":,1,3").json()
    assert found["texts"] == [str(one) for one in values[:, 1, 3]]
    assert found["chunk"] == [0, 1, 1]


def test_chunks_beside_a_damaged_one_are_read() -> None:
    store: dict[str, bytes] = {}
    zarr.array(np.arange(100, dtype="f4").reshape(10, 10), chunks=(3, 4), store=store)
    store["1.2"] = store["3.0"] = b"damaged"
    client = Client(viewer.app(zarr.open(store, mode="r")))
    found = client.get("/api/tile", sel="1:,2:")
    expected = np.arange(100, dtype="f4").reshape(10, 10)[1:, 2:].copy()
    expected[2:5, 6:8] = expected[8:, :2] = 0
    assert np.array_equal(found.array(), expected)
    told = json.loads(found.headers["x-zarrix-damage"])
    assert sorted(told["boxes"]) == [[[2, 5], [6, 8]], [[8, 9], [0, 2]]]
    assert (found.headers["x-zarrix-min"], found.headers["x-zarrix-max"]) == ("12.0", "99.0")
    counted = client.get("/api/stats").json()
    assert (counted["count"], counted["damaged"]) == (100 - 6 - 4, 10)
    step = client.get("/api/tile", sel="::-2,::3")
    lost = np.zeros((5, 4), bool)
    for box in json.loads(step.headers["x-zarrix-damage"])["boxes"]:
        lost[tuple(slice(*ends) for ends in box)] = True
    assert np.argwhere(lost).tolist() == [[0, 0], [0, 1], [2, 3], [3, 3]]


def test_numbers_far_from_zero_are_differences() -> None:
    values = np.uint64(2**63) + np.array([[7, 3], [900, 4]], "u8")
    found = Client(viewer.app(zarr.array(values))).get("/api/tile")
    assert found.array().tolist() == [[4, 0], [897, 1]]
    assert found.headers["x-zarrix-offset"] == str(2**63 + 3)
    times = 1.7e9 + np.arange(6.0).reshape(2, 3)
    found = Client(viewer.app(zarr.array(times))).get("/api/tile")
    assert found.array().ravel().tolist() == [0, 1, 2, 3, 4, 5]
    near = Client(viewer.app(zarr.array(np.array([-(2**62), 2**62])))).get("/api/tile")
    assert "x-zarrix-offset" not in near.headers


def test_a_tile_without_a_sound_chunk_is_one_sentence() -> None:
    store: dict[str, bytes] = {}
    zarr.array(np.arange(100), chunks=10, store=store)
    store["3"] = b"damaged"
    client = Client(viewer.app(zarr.open(store, mode="r")))
    found = client.get("/api/tile", sel="30:40")
    assert found.status == 422
    assert found.json()["kind"] == "corrupt-chunk"
    assert "3" in found.json()["error"]
    assert client.get("/api/tile", sel=":30").status == 200
