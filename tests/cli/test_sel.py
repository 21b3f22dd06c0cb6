"""``--sel`` in every verb that reads: labels, never indices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main

Capture = pytest.CaptureFixture[str]
VALUES = np.arange(48 * 3, dtype="f4").reshape(48, 3)


@pytest.fixture(autouse=True)
def era5(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    root = zarr.open_group("era5.zarr", mode="w", zarr_format=3)
    time = root.create_array("time", data=np.arange(48), dimension_names=["time"])
    time.attrs["units"] = "hours since 2020-01-01"
    root.create_array("lat", data=[60.0, 45.0, 30.0], dimension_names=["lat"])
    root.create_array("flag", data=[True, False], dimension_names=["flag"])
    root.create_array("on", data=[5, 6], dimension_names=["flag"])
    names = ["time", "lat"]
    root.create_array("t2m", data=VALUES, chunks=(12, 3), dimension_names=names)
    return root


def run(words: str, capsys: Capture) -> str:
    assert main(words.split()) == 0, capsys.readouterr()
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("time=2020-01-02T05,lat=45", VALUES[29, 1]),
        ("time=2020-01-02T05", VALUES[29]),
        # Either way along latitudes that descend.
        ("time=2020-01-01T01,lat=30:50", VALUES[1, 1:]),
        ("time=2020-01-01T01,lat=50:30", VALUES[1, 1:]),
        ("lat=45:,time=2020-01-02T22:00:2020-01-02T23:00", VALUES[46:, 1:]),
        ("time=:2020-01-01T01:30,lat=60", VALUES[:2, 0]),
    ],
)
def test_cat_prints_what_the_labels_select(labels: str, expected: Any, capsys: Capture) -> None:
    told = run(f"cat era5.zarr/t2m --format json --sel {labels}", capsys)
    assert told.strip() == str(expected.tolist())


def test_show_plan_and_stats_take_labels(capsys: Capture) -> None:
    assert "[24:48,0:3]" in run(
        "show era5.zarr/t2m --protocol text --sel time=2020-01-02T00:2020-01-02T23", capsys
    )
    assert "Touches 2 chunks" in run("plan era5.zarr/t2m --sel time=2020-01-02", capsys)
    assert "max            143" in run("stats era5.zarr/t2m --sel time=2020-01-02", capsys)
    assert run("cat era5.zarr/on --sel flag=false", capsys) == "6\n"


def test_export_rechunk_and_cp_take_labels(capsys: Capture) -> None:
    run("export era5.zarr/t2m x.npy --sel time=2020-01-02,lat=45", capsys)
    np.testing.assert_array_equal(np.load("x.npy"), VALUES[24:, 1])
    run("rechunk era5.zarr r.zarr --chunks time=5,lat=3 --sel time=2020-01-02", capsys)
    np.testing.assert_array_equal(zarr.open_group("r.zarr")["t2m"], VALUES[24:])
    run("cp era5.zarr c.zarr --sel time=2020-01-02", capsys)
    copy = zarr.open_group("c.zarr")
    np.testing.assert_array_equal(copy["t2m"], VALUES[24:])
    assert copy.sel(time="2020-01-02T05", lat=45)["t2m"][...] == VALUES[29, 1]
    assert Path("c.zarr/t2m/c/0/0").read_bytes() == Path("era5.zarr/t2m/c/2/0").read_bytes()


def test_cp_keeps_the_grid_of_the_source_if_told(capsys: Capture) -> None:
    labels = "time=2020-01-01T05:2020-01-01T20"
    assert main(["cp", "era5.zarr", "c.zarr", "--sel", labels, "--grid", "source"]) == 1
    assert "isel(time=slice(0, 24))" in capsys.readouterr().err
    assert not Path("c.zarr").exists()
    run(f"cp era5.zarr c.zarr --sel {labels} --grid source --align out", capsys)
    np.testing.assert_array_equal(zarr.open_group("c.zarr")["t2m"], VALUES[:24])
    run(f"cp era5.zarr d.zarr --sel {labels} --grid rectilinear", capsys)
    copy = zarr.open_group("d.zarr")["t2m"]
    np.testing.assert_array_equal(copy, VALUES[5:21])
    assert copy.read_chunk_sizes[0] == (7, 9)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("cat era5.zarr/t2m -s time=2020-01", "selected by --sel"),
        ("cat era5.zarr/t2m -s 0 --sel time=2020", "give one of them"),
        ("cat era5.zarr/t2m --sel time", "is not a dimension and its label"),
        ("cat era5.zarr/t2m --sel time=", "is not a dimension and its label"),
        ("cat era5.zarr/t2m --sel lat=1,lat=2", "given twice"),
        ("cat era5.zarr/t2m --sel time=5", "is not a date"),
        ("cat era5.zarr/t2m --sel lat=north", "is not a number"),
        ("cat era5.zarr/t2m --sel lat=1:2:3:4", "neither a number nor a slice"),
        ("cat era5.zarr/t2m --sel lon=3", "'lon' is not a dimension"),
        ("cat era5.zarr --sel time=2020", "is a group"),
        ("cat era5.zarr/on --sel flag=maybe", "true and false"),
        ("stats era5.zarr/t2m --sel time=2021", "from 2020-01-01 to 2020-01-02T23:00:00"),
        ("cp era5.zarr era5.zarr/t2m/x --sel time=2020", "era5.zarr"),
    ],
)
def test_a_mistake_is_one_sentence(words: str, told: str, capsys: Capture) -> None:
    assert main(words.split()) in (1, 2)
    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1
