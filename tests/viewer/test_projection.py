"""The largest, smallest and mean value along an axis: what NumPy says, bounded, and cancelled."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix._engine import CancelToken
from zarrix.viewer import _cost, _parts
from zarrix.viewer._app import root_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._routes import answer

WAYS = {"max": np.fmax.reduce, "min": np.fmin.reduce, "mean": np.nanmean}


def asked(z: Any, **parameters: Any) -> tuple[Any, Any]:
    """The answer as numbers, and its headers."""
    found = Client(viewer.app(z)).get("/api/projection", **parameters)
    assert found.status == 200, found.body
    dtype = found.headers["x-zarrix-type"]
    shape = [int(one) for one in found.headers["x-zarrix-shape"].split(",")]
    return np.frombuffer(found.body, f"<{dtype}").reshape(shape), found.headers


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "u2", "?"])
@pytest.mark.parametrize("along", [0, 1, 2])
def test_a_projection_is_that_of_numpy(
    along: int, dtype: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Several parts along each axis.
    monkeypatch.setattr(_parts, "_PART_VALUES", 2)
    rng = np.random.default_rng(along)
    data = rng.normal(0, 50, (7, 9, 11)).astype("f4")
    data = np.abs(data).astype(dtype) if dtype in ("u1", "u2") else data.astype(dtype)
    if dtype[0] == "f":
        data[rng.random(data.shape) < 0.3] = np.nan
    z = zarr.array(data, chunks=(3, 4, 5))
    axes = ",".join(str(one) for one in range(3) if one != along)
    found, headers = asked(z, axes=axes, along=along, how=how)
    expected = WAYS[how](data.astype("f8") if how == "mean" else data, axis=along)
    assert found.dtype == np.dtype("f4" if how == "mean" else "u1" if dtype == "?" else dtype)
    assert np.allclose(found, expected, rtol=1e-6, equal_nan=True)
    assert (headers["x-zarrix-every"], headers["x-zarrix-quality"]) == ("1", "exact")


def test_channels_and_packed_values_are_projected_as_what_they_mean() -> None:
    stored = np.random.default_rng(0).integers(-20, 20, (4, 2, 6, 8), "i2")
    stored[1:, 0, 2, 3] = -99
    z = zarr.create_array({}, shape=stored.shape, dtype="i2", chunks=(1, 2, 3, 4),
                          attributes={"scale_factor": 0.5, "_FillValue": -99})  # fmt: skip
    z[:] = stored
    found, _ = asked(z, axes="2,3", along=0, **{"as": "cf"})
    meant = np.where(stored == -99, np.nan, stored * 0.5)
    assert np.array_equal(found, np.fmax.reduce(meant, axis=0).astype("f4"), equal_nan=True)
    raw, _ = asked(z, axes="2,3", along=0)
    assert np.array_equal(raw, stored.max(axis=0))


def test_what_decodes_too_much_is_of_every_nth_plane(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).integers(0, 255, (64, 16, 16), "u1")
    z = zarr.array(data, chunks=(1, 16, 16))
    monkeypatch.setattr(_cost.is_affordable, "__defaults__", (16 * 256,))
    found, headers = asked(z, axes="1,2", along=0)
    assert (headers["x-zarrix-every"], headers["x-zarrix-quality"]) == ("4", "step")
    assert np.array_equal(found, data[::4].max(axis=0))


def test_a_large_plane_is_thinned_out_to_a_side() -> None:
    data = np.random.default_rng(0).integers(0, 255, (5, 40, 60), "u1")
    found, headers = asked(zarr.array(data, chunks=(2, 20, 20)), axes="1,2", along=0, side=15)
    assert np.array_equal(found, data[:, ::3, ::4].max(axis=0))
    assert headers["x-zarrix-cells"] == "0,0,3,4"


def test_damaged_chunks_do_not_count_and_are_named(tmp_path: Path) -> None:
    data = np.random.default_rng(0).integers(1, 255, (4, 8, 8), "u1")
    z = zarr.create_array(str(tmp_path / "d"), shape=data.shape, dtype="u1", chunks=(1, 4, 4),
                          compressors=[zarr.codecs.ZstdCodec()], zarr_format=3)  # fmt: skip
    z[:] = data
    (tmp_path / "d" / "c" / "2" / "0" / "1").write_bytes(b"damaged")
    found, headers = asked(zarr.open(str(tmp_path / "d"), mode="r"), axes="1,2", along=0)
    sound = np.ones(data.shape, bool)
    sound[2, :4, 4:] = False
    assert np.array_equal(found, np.where(sound, data, 0).max(axis=0))
    assert json.loads(headers["x-zarrix-damage"])["boxes"] == [[[0, 4], [4, 8]]]


@pytest.mark.parametrize(
    "parameters",
    [
        {"axes": "1,2", "along": "1"},
        {"axes": "1,1", "along": "0"},
        {"axes": "1", "along": "0"},
        {"axes": "1,2", "along": "9"},
        {"axes": "1,2", "along": "0", "sel": "0"},
        {"axes": "1,2", "along": "0", "sel": "0:0"},
        {"axes": "1,2", "along": "0", "how": "median"},
        {"axes": "1,2", "along": "0", "side": "0"},
    ],
)
def test_what_is_no_projection_is_refused(parameters: dict[str, str]) -> None:
    z = zarr.zeros((3, 4, 5), dtype="u1")
    assert Client(viewer.app(z)).get("/api/projection", **parameters).status == 400


@pytest.mark.parametrize("dtype", ["c8", "M8[s]", "U3", "a:i2,b:i2"])
def test_what_has_no_order_is_refused(dtype: str) -> None:
    kind = [one.split(":") for one in dtype.split(",")] if ":" in dtype else dtype
    kind = [tuple(one) for one in kind] if isinstance(kind, list) else kind
    z = zarr.zeros((3, 4, 5), dtype=kind, zarr_format=2)
    found = Client(viewer.app(z)).get("/api/projection", axes="1,2", along="0")
    assert (found.status, found.json()["kind"]) == (400, "not-numbers")


def test_a_cancelled_projection_ends_between_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_parts, "_PART_VALUES", 1)
    token, reads = CancelToken(), []
    from zarrix.viewer import _projection

    read = _projection.read_around

    def counted(*arguments: Any) -> Any:
        reads.append(1)
        if len(reads) == 3:
            token.cancel()
        return read(*arguments)

    monkeypatch.setattr(_projection, "read_around", counted)
    roots = Roots([root_of(zarr.ones((50, 8, 8), chunks=(1, 8, 8), dtype="u1"))])
    found = answer(roots, "projection", {"axes": "1,2", "along": "0"}, token)
    assert (found.status, len(reads)) == (503, 3)
