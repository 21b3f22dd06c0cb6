"""What the routes say is what NumPy and the store say."""

from __future__ import annotations

import io
import json
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix._array.access import io_of, metadata_of
from zarrix._array.stored import chunk_key
from zarrix.cli import main


def expanded(found: dict[str, Any]) -> np.ndarray:
    """The runs of `stored` as truth values in their box."""
    parts = [np.full(run, at % 2 == 1) for at, run in enumerate(found["runs"])]
    shape = [end - begin for begin, end in found["box"]]
    return np.concatenate([np.zeros(0, bool), *parts]).reshape(shape)


@pytest.mark.parametrize("separator", [".", "/"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_keys_of_chunks_are_those_of_the_store(zarr_format: int, separator: str) -> None:
    name = "v2" if zarr_format == 2 else "default"
    encoding = {"name": name, "separator": separator}
    for shape, chunks in (((5, 7, 3), (2, 3, 3)), ((4,), (1,)), ((), ())):
        z = zarr.create_array(
            {}, shape=shape, chunks=chunks, dtype="u1", zarr_format=zarr_format, fill_value=0,
            chunk_key_encoding=encoding,
        )  # fmt: skip
        z[...] = 1
        listed = {key: tuple(coords) for key, coords in io_of(z).stored_chunks()}
        assert listed == {chunk_key(metadata_of(z), coords): coords for coords in listed.values()}


def test_stored_chunks_of_a_plane_are_runs() -> None:
    z = zarr.zeros((3, 10, 10), chunks=(1, 3, 4), dtype="u1", write_empty_chunks=False)
    z[1, 3:6, 4:8] = 1
    z[1, 9:, 8:] = 1
    z[2] = 1
    client = Client(viewer.app(z))
    found = client.get("/api/stored", sel="1").json()
    expected = np.zeros((1, 4, 3), bool)
    expected[0, 1, 1] = expected[0, 3, 2] = True
    assert found["box"] == [[1, 2], [0, 4], [0, 3]]
    assert np.array_equal(expanded(found), expected)
    assert (found["stored"], found["unit"], found["shards"]) == (2, "chunk", None)
    assert found["bytes"] == sum(len(z.store[key]) for key in ("1.1.1", "1.3.2"))
    assert client.get("/api/stored", sel="2").json()["runs"] == [0, 12]
    assert client.get("/api/stored", sel="0").json()["runs"] == [12]
    part = client.get("/api/stored", sel="1,4:9,5").json()
    assert part["box"] == [[1, 2], [1, 3], [1, 2]]
    assert expanded(part).ravel().tolist() == [True, False]


@pytest.mark.parametrize("location", ["end", "start"])
def test_missing_inner_chunks_of_shards_are_known(location: str) -> None:
    codec = zarr.ShardingCodec(chunk_shape=(2, 2), index_location=location)
    z = zarr.create_array({}, shape=(9, 8), chunks=(4, 4), dtype="u1", fill_value=0,
                          serializer=codec, compressors=None)  # fmt: skip
    z[0:2, 2:4] = 1
    z[4:8, 4:8] = 1
    client = Client(viewer.app(z))
    found = client.get("/api/stored").json()
    expected = np.zeros((5, 4), bool)
    expected[0, 1] = True
    expected[2:4, 2:4] = True
    assert np.array_equal(expanded(found), expected)
    assert np.array_equal(expanded(found["shards"]), [[1, 0], [0, 1], [0, 0]])
    one = client.get("/api/chunk", coords="0,1").json()
    assert (one["stored"], one["bytes"], one["raw_bytes"]) == (True, 4, 4)
    assert one["shard"]["key"] == one["key"] == "c/0/0"
    assert client.get("/api/chunk", coords="0,0").json()["stored"] is False
    assert client.get("/api/chunk", coords="4,3").json()["shard"]["stored"] is False
    for coords in ("5,0", "0", "0,0,0", "-1,0", ""):
        assert client.get("/api/chunk", coords=coords).status == 400


def test_a_plan_is_that_of_the_array() -> None:
    z = zarr.array(np.arange(100).reshape(10, 10), chunks=(3, 3))
    found = Client(viewer.app(z)).get("/api/plan", sel="1:5,2").json()
    plan = z.plan((slice(1, 5), 2))
    assert found["chunks"] == plan.chunks
    assert found["bytes_fetched"] == plan.bytes_fetched
    assert found["text"] == str(plan)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f2", "f4", "f8", "i8", ">i2", "?"])
def test_statistics_are_those_of_numpy(dtype: str) -> None:
    rng = np.random.default_rng(5)
    values = (rng.normal(size=(70, 90)) * 40).clip(0 if dtype in ("u1", "?") else -99, 99)
    values = values.astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[3, :5], values[4, :2], values[5, 0] = np.nan, np.inf, -np.inf
    z = zarr.array(values, chunks=(16, 90), fill_value=0)
    client = Client(viewer.app(z))
    found = client.get("/api/stats", sel="2:60", bins="7").json()
    part = values[2:60]
    finite = part[np.isfinite(part)].astype("f8")
    assert found["count"] == finite.size
    assert found["sampled"] == part.size
    assert found["nan"] == int(np.isnan(part.astype("f8")).sum())
    assert found["inf"] == int(np.isinf(part.astype("f8")).sum())
    assert found["fill"] == int((part == 0).sum())
    assert (found["min"], found["max"]) == (finite.min(), finite.max())
    assert found["mean"] == pytest.approx(finite.mean(), rel=1e-12)
    assert found["std"] == pytest.approx(finite.std(), rel=1e-9)
    counts, edges = np.histogram(finite, 7)
    assert found["histogram"] == counts.tolist()
    assert found["edges"] == pytest.approx(edges.tolist())
    assert found["exact"] is True
    for p, value in found["percentiles"].items():
        near = np.percentile(finite, float(p), method="nearest")
        assert value == pytest.approx(near, rel=0.01, abs=1e-6)
    inside = client.get("/api/stats", sel="2:60", bins="5", range="-10,20").json()
    assert inside["histogram"] == np.histogram(finite, 5, (-10, 20))[0].tolist()


def test_statistics_of_nothing_and_of_equal_values() -> None:
    client = Client(viewer.app(zarr.array(np.full((4, 4), np.nan))))
    found = client.get("/api/stats").json()
    assert (found["count"], found["nan"], found["min"], found["histogram"]) == (0, 16, None, [])
    client = Client(viewer.app(zarr.full((4, 4), 7, dtype="f4")))
    found = client.get("/api/stats", bins="3").json()
    assert (sum(found["histogram"]), found["std"]) == (16, 0)
    for range_ in ("1", "2,1", "a,b", "nan,1", "0,inf"):
        assert client.get("/api/stats", range=range_).status == 400
    assert Client(viewer.app(zarr.array(["a", "b"]))).get("/api/stats").status == 400


def test_statistics_of_much_are_of_a_sample() -> None:
    z = zarr.full((40000, 40000), 3, chunks=(1000, 1000), dtype="f8")
    found = Client(viewer.app(z)).get("/api/stats").json()
    assert found["exact"] is False
    assert found["sampled"] == 4 * 1000 * 1000
    assert found["percentiles"]["50"] == pytest.approx(3, rel=0.01)
    assert found["min"] == found["max"] == 3


def test_a_series_has_the_values_or_the_exact_extremes() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(size=(1000, 3, 4)).astype("f4")
    values[30], values[400:410] = np.nan, np.nan
    client = Client(viewer.app(zarr.array(values, chunks=(64, 3, 2))))
    found = client.get("/api/series", axis="0", index="5,1,2", width="1000").json()
    assert (found["length"], found["step"], found["max"]) == (1000, 1, None)
    shown = np.array(found["min"], "f4")
    assert np.array_equal(shown, values[:, 1, 2], equal_nan=True)
    found = client.get("/api/series", axis="0", index="5,1,2", width="100").json()
    assert (found["step"], len(found["min"])) == (10, 100)
    bins = values[:, 1, 2].reshape(100, 10)
    assert found["min"][40] is None
    assert found["max"][40] is None
    rest = [at for at in range(100) if at != 40]
    assert [found["min"][at] for at in rest] == [float(np.nanmin(bins[at])) for at in rest]
    assert [found["max"][at] for at in rest] == [float(np.nanmax(bins[at])) for at in rest]
    assert client.get("/api/series", axis="3", index="5,1,2").status == 400
    assert client.get("/api/series", axis="0", index="5,9,2").status == 400
    assert client.get("/api/series", axis="0", index="5").status == 400


def test_an_overview_is_every_nth_element() -> None:
    values = np.arange(300 * 200, dtype="u2").reshape(300, 200)
    client = Client(viewer.app(zarr.array(values, chunks=(50, 50))))
    found = client.get("/api/overview", axes="0,1", side="100")
    assert found.headers["x-zarrix-step"] == "3,2"
    assert found.headers["x-zarrix-quality"] == "step"
    assert np.array_equal(found.array(), values[::3, ::2])
    found = client.get("/api/overview", axes="0,1", side="300")
    assert (found.headers["x-zarrix-quality"], found.body) == ("exact", values.tobytes())
    for axes in ("0", "0,0", "0,2", "", "a,b"):
        assert client.get("/api/overview", axes=axes).status == 400
    assert client.get("/api/overview", axes="0,1", sel="0").status == 400


def test_a_plane_of_100k_by_100k_has_a_bounded_overview(tmp_path: Path) -> None:
    z = zarr.open(str(tmp_path / "a"), mode="w", shape=(100_000, 100_000), chunks=(1000, 1000),
                  dtype="u1", fill_value=9)  # fmt: skip
    z[50_000:52_000, 50_000:52_000] = 200
    client = Client(viewer.app(z))
    found = client.get("/api/overview", axes="0,1", side="1024")
    assert found.headers["x-zarrix-quality"] == "coarse"
    step = [int(one) for one in found.headers["x-zarrix-step"].split(",")]
    begin = [int(one) for one in found.headers["x-zarrix-begin"].split(",")]
    assert np.array_equal(found.array(), z.oindex[begin[0] :: step[0], begin[1] :: step[1]])
    part = client.get("/api/overview", axes="0,1", side="512", sel="45000:57000,45000:57000")
    assert part.headers["x-zarrix-quality"] == "step"
    assert np.array_equal(part.array(), z[45000:57000:24, 45000:57000:24])
    assert client.get("/api/tile", sel="99999,99990:").array().tolist() == [9] * 10


def test_crops_are_windows_of_the_array() -> None:
    values = np.arange(5 * 3 * 40 * 50, dtype="u2").reshape(5, 3, 40, 50)
    client = Client(viewer.app(zarr.array(values, chunks=(1, 3, 16, 16))))
    found = client.get("/api/crops", shape="8,12", n="7", seed="3")
    starts = np.array(json.loads(found.headers["x-zarrix-starts"]))
    window = json.loads(found.headers["x-zarrix-window"])
    assert (starts.shape, window) == ((7, 4), [1, 3, 8, 12])
    assert found.array().shape == (7, 3, 8, 12)
    for crop, at in zip(found.array(), starts, strict=True):
        box = tuple(slice(a, a + n) for a, n in zip(at, window, strict=True))
        assert np.array_equal(crop, values[box][0])
    again = client.get("/api/crops", shape="8,12", n="7", seed="3")
    assert again.body == found.body
    assert client.get("/api/crops", shape="8,12", n="7", seed="4").body != found.body
    for shape in ("41,8", "8", "0,8", "8,51", "", "a,b"):
        assert client.get("/api/crops", shape=shape).status == 400


@pytest.mark.parametrize("sel", ["", "2", "1,:,3:9,::-1", "t=1,x=5:9:3", "0,0,0,0", ":,1:1"])
def test_code_reads_the_bytes_of_the_region(
    tmp_path: Path, sel: str, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    root = zarr.open_group("it's $HOME.zarr", mode="w")
    values = np.arange(3 * 2 * 10 * 12, dtype="u2").reshape(3, 2, 10, 12)
    root["in/a b"] = values
    root["in/a b"].attrs["_ARRAY_DIMENSIONS"] = ["t", "c", "y", "x"]
    client = Client(viewer.app("it's $HOME.zarr"))
    expected = client.get("/api/tile", path="in/a b", sel=sel).array()
    found = client.get("/api/code", path="in/a b", sel=sel).json()
    names: dict[str, Any] = {}
    exec(found["python"], names)
    assert names["roi"].tobytes() == expected.tobytes()
    assert names["roi"].shape == expected.shape
    file = client.get("/api/npy", path="in/a b", sel=sel)
    assert np.array_equal(np.load(io.BytesIO(file.body)), expected)
    assert np.load(io.BytesIO(file.body)).dtype == np.dtype("u2")
    assert main(shlex.split(found["cli"])[1:]) == 0
    assert np.array_equal(np.load(io.BytesIO(capfdbinary.readouterr().out)), expected)


def test_arrays_of_the_same_scene_are_found_with_their_coordinates() -> None:
    root = zarr.group()
    root.create_dataset("gt", shape=(9, 3, 1080, 1920), chunks=(1, 3, 360, 640), dtype="u1")
    root.create_dataset("lr/flow", shape=(9, 2, 540, 960), chunks=(1, 2, 180, 320), dtype="f2")
    root.create_dataset("lr/depth", shape=(9, 360, 640), chunks=(1, 180, 320), dtype="f2")
    root.create_dataset("lr/other", shape=(8, 3, 540, 960), chunks=(1, 3, 180, 320), dtype="u1")
    root.create_dataset("lr/tall", shape=(9, 540, 640), chunks=(1, 180, 320), dtype="u1")
    client = Client(viewer.app(root))
    found = client.get("/api/related", path="gt").json()
    by_path = {one["path"]: one for one in found["siblings"]}
    assert set(by_path) == {"lr/flow", "lr/depth"}
    assert by_path["lr/flow"]["ratio"] == [0.5, 0.5]
    assert by_path["lr/flow"]["guess"]["kind"] == "flow"
    assert by_path["lr/depth"]["guess"]["kind"] == "depth"
    z = zarr.create_array(root.store, name="climate/t", shape=(4, 6, 8), dtype="f4",
                          zarr_format=2)  # fmt: skip
    z.attrs["_ARRAY_DIMENSIONS"] = ["time", "lat", "lon"]
    root["climate/time"] = np.arange("2020-01-01", "2020-01-05", dtype="M8[D]")
    root["climate/lat"] = np.linspace(-90, 90, 6)
    root["climate/lon"] = np.zeros(9)
    found = client.get("/api/related", path="climate/t").json()["coordinates"]
    assert [one and one["path"] for one in found] == ["climate/time", "climate/lat", None]
    cells = client.get("/api/cells", path="climate/time").json()["cells"]
    assert cells == ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-04"]


def test_a_pyramid_has_its_levels() -> None:
    root = zarr.create_group({}, zarr_format=3)
    axes = [{"name": "c", "type": "channel"}, {"name": "y", "type": "space", "unit": "micrometer"},
            {"name": "x", "type": "space", "unit": "micrometer"}]  # fmt: skip
    channels = [{"label": "DAPI", "color": "0000FF", "window": {"start": 5, "end": 90}},
                {"label": "<b>", "color": "javascript:", "active": False}]  # fmt: skip
    image = root.create_group(
        "image",
        attributes={
            "ome": {
                "version": "0.5",
                "multiscales": [{"axes": axes, "datasets": [{"path": "s0"}, {"path": "s1"}]}],
                "omero": {"channels": channels},
            }
        },
    )
    image.create_array("s0", shape=(2, 64, 80), dtype="u2")
    image.create_array("s1", shape=(2, 32, 40), dtype="u2")
    client = Client(viewer.app(root))
    group = client.get("/api/node", path="image").json()
    assert (group["badges"], group["first"]) == (["OME"], "image/s0")
    assert [one["path"] for one in group["multiscale"]["levels"]] == ["image/s0", "image/s1"]
    found = client.get("/api/node", path="image/s1").json()
    assert found["levels"] == group["multiscale"]["levels"]
    assert found["levels"][1]["scale"] == [1, 2, 2]
    assert (found["dims"], found["units"]) == (["c", "y", "x"], [None, "micrometer", "micrometer"])
    first, second = found["guess"]["channels"]
    assert first == {"name": "DAPI", "color": "#0000ff", "range": [5, 90], "active": True}
    assert (second["color"], second["range"], second["active"]) == (None, None, False)


GUESSES = [
    ("gt", (9, 3, 8, 9), "u1", "rgb", {"c": 1}),
    ("photo", (80, 90, 3), "u1", "rgb", {"c": 2}),
    ("photo", (80, 90, 4), "u2", "rgb", {"c": 2}),
    ("lr/flow", (9, 2, 54, 96), "f2", "flow", {"c": 1}),
    ("motion", (54, 96, 2), "f4", "flow", {"c": 2}),
    ("depth", (9, 54, 96), "f2", "depth", {}),
    ("disparity", (54, 96), "f4", "depth", {}),
    ("labels/cells", (54, 96), "u4", "labels", {}),
    ("segmentation", (54, 96), "i8", "labels", {}),
    ("valid_mask", (54, 96), "u1", "mask", {}),
    ("seen", (54, 96), "?", "mask", {}),
    ("k", (54, 96), "c8", "complex", {}),
    ("volume", (40, 54, 96), "u2", "gray", {}),
    ("small", (5, 4), "f8", "table", {}),
    ("signal", (1000,), "f4", "line", None),
    ("names", (5,), "U5", "text", None),
    ("rows", (5,), [("a", "i4"), ("b", "f4")], "struct", None),
    ("one", (), "f4", "scalar", None),
]


@pytest.mark.parametrize(("name", "shape", "dtype", "kind", "axes"), GUESSES)
def test_kinds_are_guessed(
    name: str, shape: tuple[int, ...], dtype: Any, kind: str, axes: dict[str, int] | None
) -> None:
    root = zarr.group()
    root.create_dataset(name, shape=shape, dtype=dtype)
    found = Client(viewer.app(root)).get("/api/node", path=name).json()
    assert found["guess"]["kind"] == found["kinds"][0] == kind
    if axes is not None:
        shown = found["guess"]["axes"]
        assert {axis: at for axis, at in shown.items() if axis == "c"} == axes
