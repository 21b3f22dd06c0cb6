"""``--sel`` in every verb that reads: labels, never indices."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.cli._commands import parser_of
from zarrix.cli._table import VERBS

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


READING = {
    *("advise", "append", "bench", "cat", "compare", "cp", "diff", "digest", "export", "info"),
    *("map", "plan", "pyramid", "rechunk", "show", "stats"),
}


def test_every_verb_that_reads_elements_takes_labels() -> None:
    found = {verb for verb in VERBS if hasattr(_parsed(verb), "sel")}
    assert found == READING
    # What is stored, and not what it means; files that are not open yet; and what a browser shows.
    others = {"verify", "snapshot", "sync", "migrate", "stack", "import", "view", "serve"}
    assert others <= {*VERBS} - found


def _parsed(verb: str) -> Any:
    class Found:
        pass

    found = Found()
    for action in parser_of(verb)[0]._actions:
        setattr(found, action.dest, action.default)
    return found


def test_info_and_digest_are_of_the_part(capsys: Capture) -> None:
    assert "(24, 3)" in run("info era5.zarr/t2m --sel time=2020-01-02", capsys)
    whole = run("digest era5.zarr", capsys)
    part = run("digest era5.zarr --sel time=2020-01-02", capsys)
    digest = hashlib.sha256(Path("era5.zarr/t2m/c/2/0").read_bytes()).hexdigest()
    assert f"{digest}  t2m/c/0/0" in part
    assert f"{digest}  t2m/c/2/0" in whole


def test_diff_compares_the_part(era5: Any, capsys: Capture) -> None:
    run("cp era5.zarr other.zarr", capsys)
    zarr.open("other.zarr/t2m")[40, 0] = -1
    assert main(["diff", "era5.zarr", "other.zarr"]) == 3
    assert main(["diff", "era5.zarr", "other.zarr", "--sel", "time=2020-01-02"]) == 3
    # The chunk (3, 0) of the whole arrays is (1, 0) of the parts.
    assert capsys.readouterr().out == "/t2m chunk (3, 0)\n/t2m chunk (1, 0)\n"
    assert main(["diff", "era5.zarr", "other.zarr", "--sel", "time=2020-01-01"]) == 0


def test_jobs_take_the_part(capsys: Capture) -> None:
    run("map numpy:negative era5.zarr/t2m n.zarr --sel time=2020-01-02", capsys)
    np.testing.assert_array_equal(zarr.open("n.zarr"), -VALUES[24:])
    run("pyramid era5.zarr/t2m p.zarr --levels 1 --axes yx --sel time=2020-01-02", capsys)
    levels = [one for _, one in zarr.open_group("p.zarr").arrays()]
    assert any(np.array_equal(one, VALUES[24:]) for one in levels)


def test_append_takes_the_part_of_each_source(capsys: Capture) -> None:
    words = "append era5.zarr part.zarr --along time --variables t2m,lat"
    for labels in ("time=2020-01-02,lat=30:45", "time=2020-01-01T05,lat=45:30"):
        run(f"{words} --sel {labels}", capsys)
    part = zarr.open_group("part.zarr")
    np.testing.assert_array_equal(part["time"], [5, *range(24, 48)])
    np.testing.assert_array_equal(part["t2m"], VALUES[[5, *range(24, 48)], 1:])
    subset = zarr.open_group("era5.zarr", mode="r").sel(time="2020-01-01T06", lat=[45, 30])
    zarr.append(subset, "part.zarr", along="time", variables=["t2m", "lat"])
    np.testing.assert_array_equal(part["t2m"][1], VALUES[6, 1:])


@pytest.mark.parametrize("verb", ["advise", "bench", "compare"])
def test_measurements_are_of_the_part(verb: str, capsys: Capture) -> None:
    words = {
        "advise": "--access all",
        "bench": "--access all --seconds 0.01",
        "compare": "--format npy --seconds 0.01",
    }[verb]
    told = run(f"{verb} era5.zarr/t2m {words} --json --sel time=2020-01-02", capsys)
    assert json.loads(told)
    assert main(f"{verb} era5.zarr/t2m {words} --sel time=2021".split()) == 1


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
