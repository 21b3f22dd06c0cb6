"""The instrument itself: that it runs from end to end, and that its ratios are what it says."""

import json
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The package beside the tests, which is not installed."""
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.run

    return benchmarks


def test_every_row_runs_on_tiny_arrays_and_all_contenders_agree(tmp_path):
    table, picture = tmp_path / "rows.json", tmp_path / "rows.svg"
    command = ["--here", "--tiny", "--rounds", "1", "--data", str(tmp_path), "--every"]
    # netCDF4 names its own filters there when it is imported, and h5py cannot use them.
    environment = {name: os.environ[name] for name in os.environ if name != "HDF5_PLUGIN_PATH"}
    run = subprocess.run(
        [sys.executable, "-m", "benchmarks", *command, "--json", table, "--plot", picture],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr.count(" done")) == (0, run.stderr.count("...")), run.stderr
    rows = json.loads(table.read_text())["rows"]
    assert [row["faults"] for row in rows] == [{}] * len(rows)
    assert all(row["seconds"]["zarrix"] for row in rows)
    assert all(row["workload"] in run.stdout for row in rows)
    against_numpy = {
        row["workload"]: row["best_peer"] for row in rows if "plain" in row["workload"]
    }
    assert set(against_numpy.values()) == {"numpy.load", "numpy memmap"}
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_the_peak_of_memory_is_shown(tmp_path):
    command = ["--here", "--tiny", "--rounds", "1", "--data", str(tmp_path), "--memory"]
    command += ["--only", "odd tiles: box", "--json", str(tmp_path / "rows.json")]
    # In a process of its own: another test may have imported a module under the name of a peer.
    shown = subprocess.check_output(
        [sys.executable, "-m", "benchmarks", *command], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    assert "peak MiB" in shown
    peaks = [row["peak_bytes"] for row in json.loads((tmp_path / "rows.json").read_text())["rows"]]
    assert all(isinstance(peak["zarrix"], int) for peak in peaks), peaks


@pytest.mark.parametrize("seed", [0, 1, 798564785])
def test_odd_arrays_have_odd_extents_that_chunks_do_not_divide(benchmarks, seed):
    from benchmarks import odd

    names = [name for name in odd.NAMES if name != "odd video"]
    drawn = [odd.layout(name, seed) for name in names]
    assert drawn == [odd.layout.__wrapped__(name, seed) for name in names]
    assert drawn != [odd.layout(name, seed + 1) for name in names]
    for one in drawn:
        for extent, chunk in zip(one.shape, one.chunks, strict=True):
            assert extent < 8 or (extent % 2 and (chunk == 1 or extent % chunk)), one
        assert {np.dtype(odd.layout(f"odd {n} bytes", seed).dtype).itemsize for n in (3, 10)} == {
            3,
            10,
        }


def test_a_ratio_is_taken_round_by_round(benchmarks):
    from benchmarks.measure import Ratio

    assert Ratio.of([2.0, 30.0, 8.0], [1.0, 10.0, 2.0]) == Ratio(3.0, 2.0, 4.0, fastest=2.0)


def test_each_round_times_every_contender_once_and_the_first_one_changes(benchmarks):
    from benchmarks.measure import Call, Pace, rounds

    order: list[str] = []

    def call(name: str) -> Call:
        return Call(lambda: order.append(name), prepare=lambda: None)

    times = rounds({"a": call("a"), "b": call("b")}, Pace(rounds=3, least_s=0))
    assert "".join(order) == "abbaab"
    assert {name: len(seconds) for name, seconds in times.items()} == {"a": 3, "b": 3}


def test_a_contender_with_other_values_is_named_and_not_timed(benchmarks, tmp_path):
    from benchmarks.contenders import OURS
    from benchmarks.measure import Pace
    from benchmarks.rows import WORKLOADS
    from benchmarks.run import measure
    from benchmarks.workloads import Place

    plain = next(row for row in WORKLOADS if row.name.startswith("plain: all"))

    class Lying(type(plain)):
        def result(self, contender, place):
            found = super().result(contender, place)
            return found if contender.name == OURS else [found[0] + 1, *found[1:]]

    row = measure(Lying(**vars(plain)), Place(tmp_path, tmp_path, True), Pace(rounds=1))
    assert row.faults == {"numpy.load": "other values than the contenders before it"}
    assert (set(row.times), row.best) == ({OURS}, None)


def test_the_floor_counts_the_chunks_that_a_key_touches(benchmarks):
    from benchmarks.data import LAYOUTS
    from benchmarks.floor import selected, touched

    tiles = LAYOUTS["tiles"]
    assert touched((slice(60, 70), 130), tiles) == [(0, 2), (1, 2)]
    assert selected((slice(60, 70), 130), tiles.shape) == 10
    assert selected(np.s_[5], tiles.shape) == 4096
