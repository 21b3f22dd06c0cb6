"""Rows of the benchmark are kept one by one: what is stored, marked, repeated and written."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from waiting import line_of

ROOT = Path(__file__).resolve().parents[2]
ROW = "odd tiles: box"


@pytest.fixture(autouse=True)
def _package(monkeypatch):
    """The package beside the tests, which is not installed."""
    monkeypatch.syspath_prepend(str(ROOT))


def command(tmp_path, *words):
    given = ["--here", "--tiny", "--rounds", "3", "--data", str(tmp_path), *words]
    return [sys.executable, "-m", "benchmarks", *given]


def run(tmp_path, *words, check=True):
    found = subprocess.run(
        command(tmp_path, *words), cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert not check or found.returncode == 0, found.stderr
    return found


def kept(tmp_path):
    from benchmarks.stored import read

    return read(tmp_path / "tiny" / "rows.jsonl")


def record(name=ROW, ours=1.0, peer=2.0, **more):
    """A row of three rounds, as a run stores it."""
    return {
        "form": "15 rounds, 20 s", "commit": "one", "engine": "e", "machine": "2 x A", "seed": 0,
        "versions": "python 3.12.1, zarr 3.4.2", "tiny": False, "at": "2026-01-02T03:04:05Z",
        "row": name, "seconds": {"zarrix": [ours] * 3, "TensorStore": [peer] * 3},
        "processor_s": {"zarrix": [ours] * 3, "TensorStore": [peer] * 3},
        "ranked": ["TensorStore"], "peak_bytes": {}, "faults": {}, "load": {}, "disturbed": "",
        **more,
    }  # fmt: skip


def test_a_stored_row_says_what_where_and_beside_what_it_was_measured(tmp_path):
    from benchmarks import stored

    run(tmp_path, "--only", ROW)
    (found,) = kept(tmp_path)
    assert (found["row"], found["tiny"]) == (ROW, True)
    assert found["machine"] == stored.machine()
    assert found["commit"] == stored.commit()
    assert "zarrix" in found["versions"]
    assert "python" in found["versions"]
    assert set(found["load"]) == {"others", "steal", "switches", "load", "seconds"}
    wall, cpu = found["seconds"]["zarrix"], found["processor_s"]["zarrix"]
    assert (len(wall), len(cpu)) == (3, 3)
    assert min(*wall, *cpu) > 0


# A run that is killed as soon as its first row is stored.
DYING = """
import os, signal, sys
from benchmarks.__main__ import main
from benchmarks.stored import Records
append = Records.append
def dies(self, record):
    append(self, record)
    os.kill(os.getpid(), signal.SIGKILL)
Records.append = dies
main(sys.argv[1:])
"""


def test_a_run_that_is_killed_between_rows_goes_on_where_it_stopped(tmp_path):
    chosen = ["--only", "odd tiles"]
    words = command(tmp_path, *chosen)
    dying = [sys.executable, "-c", DYING, *words[3:]]
    killed = subprocess.run(dying, cwd=ROOT, capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = kept(tmp_path)
    assert [one["row"] for one in before] == ["odd tiles: all"]
    again = run(tmp_path, *chosen)
    after = kept(tmp_path)
    assert after[: len(before)] == before
    assert [one["row"] for one in after] == [f"odd tiles: {one}" for one in ("all", "box", "write")]
    # What was measured before is in the table, and was not measured again.
    assert again.stderr.count("...") == 2
    assert all(one["row"] in again.stdout for one in after)
    # A third run measures nothing.
    assert "..." not in run(tmp_path, *chosen).stderr
    assert kept(tmp_path) == after


@pytest.mark.parametrize("change", [["--rounds", "4"], ["--quick"], ["--seed", "5"]])
def test_a_row_of_another_form_or_seed_is_measured(tmp_path, change):
    run(tmp_path, "--only", ROW)
    run(tmp_path, "--only", ROW, *change)
    assert len(kept(tmp_path)) == 2


def test_complete_runs_take_turns(tmp_path):
    chosen = ["--only", ROW, "--only", "odd tiles: all"]
    run(tmp_path, *chosen)
    run(tmp_path, *chosen, "--repeat", "3")
    rows = [one["row"] for one in kept(tmp_path)]
    assert rows == ["odd tiles: all", ROW] * 3


def test_a_row_that_was_disturbed_is_marked_and_measured_again_by_itself(tmp_path):
    run(tmp_path, "--only", "odd tiles")
    path = tmp_path / "tiny" / "rows.jsonl"
    rows = [{**one, "disturbed": ""} for one in kept(tmp_path)]
    rows[1]["disturbed"] = "other processes used 90% of a processor"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows))
    marked = run(tmp_path, "--only", "odd tiles")
    assert "..." not in marked.stderr
    assert f"  {ROW}: other processes used 90% of a processor" in marked.stdout
    again = run(tmp_path, "--only", "odd tiles", "--again", "disturbed")
    assert again.stderr.count("...") == 1
    after = kept(tmp_path)
    assert after[:3] == rows
    assert [one["row"] for one in after[3:]] == [ROW]


def test_another_load_is_seen_and_the_own_one_is_not():
    from benchmarks.disturbance import Load, Seen, between

    begin = Seen(wall=0.0, busy=100.0, stolen=0.0, own=50.0, switches=0)
    alone = Seen(wall=2.0, busy=104.02, stolen=0.0, own=54.0, switches=300)
    assert between(begin, alone).reason == ""
    assert between(begin, alone).switches == 150
    beside = Seen(wall=2.0, busy=104.0, stolen=0.0, own=53.0, switches=300)
    assert between(begin, beside).reason == "other processes used 50% of a processor"
    taken = Seen(wall=2.0, busy=104.0, stolen=0.4, own=54.0, switches=0)
    assert between(begin, taken).reason == "a hypervisor took 20% of a processor"
    # One tick of the clock is not a load, however short a row is.
    short = Seen(wall=0.05, busy=100.07, stolen=0.0, own=50.05, switches=0)
    assert between(begin, short).reason == ""
    assert Load(others=None, steal=None, seconds=1).reason == ""


# A process that the watched one did not start: its parent ends at once.
ORPHAN = """
import os, sys, time
if os.fork():
    os._exit(0)
print("begun", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end and os.path.exists(sys.argv[1]):
    pass
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc of Linux")
def test_a_process_beside_a_row_disturbs_it(tmp_path):
    from benchmarks.disturbance import Watch

    flag = tmp_path / "goes on"
    flag.touch()
    beside = subprocess.Popen(
        [sys.executable, "-c", ORPHAN, flag], stdout=subprocess.PIPE, text=True
    )
    try:
        assert line_of(beside) == "begun"
        beside.wait()
        with Watch() as watch:
            time.sleep(2)
    finally:
        flag.unlink()
    beside.stdout.close()
    if watch.load.others is None:
        pytest.skip("the system does not count processor time")
    assert "other processes used" in watch.load.reason, watch.load


def test_a_line_that_was_cut_is_passed_over_and_the_next_one_is_whole(tmp_path):
    from benchmarks.stored import Records, read

    path = tmp_path / "rows.jsonl"
    with Records(path) as records:
        for name in ("a", "b", "ü" * 9):
            records.append({"row": name})
    whole = path.read_bytes()
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        before = read(path)
        with Records(path) as records:
            records.append({"row": "next"})
        after = read(path)
        assert [one["row"] for one in after] == [*(one["row"] for one in before), "next"]
        # Only the line that was cut is missing; one that lacks its end of line alone is whole.
        assert len(before) >= whole[:length].count(b"\n")


def test_two_runs_at_once_on_one_file_are_refused(tmp_path):
    from benchmarks.stored import Records

    run(tmp_path, "--only", ROW)
    before = kept(tmp_path)
    with Records(tmp_path / "tiny" / "rows.jsonl"):
        second = run(tmp_path, "--only", "odd tiles", check=False)
    assert second.returncode == 1
    assert "another run writes to" in second.stderr
    assert kept(tmp_path) == before
    # The lock ended with its holder.
    run(tmp_path, "--only", "odd tiles")
    assert len(kept(tmp_path)) == 3


def test_a_full_disk_ends_the_run_and_keeps_the_rows(tmp_path):
    from benchmarks.stored import Records, read

    path = tmp_path / "rows.jsonl"
    with Records(path) as records:
        records.append({"row": "first"})
    # A limit of the length of files is a disk that is full.
    code = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from benchmarks.stored import Records\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (40, 40))\n"
        "with Records(Path(sys.argv[1])) as records:\n"
        "    records.append({'row': 'x' * 99})\n"
    )
    full = subprocess.run(
        [sys.executable, "-c", code, path], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "OSError" in full.stderr
    assert path.stat().st_size == 40
    assert read(path) == [{"row": "first"}]
    with Records(path) as records:
        records.append({"row": "next"})
    assert read(path) == [{"row": "first"}, {"row": "next"}]


def test_the_time_of_a_run_is_bounded_and_the_same_command_goes_on(tmp_path):
    late = run(tmp_path, "--only", "odd tiles", "--minutes", "1e-6")
    assert "goes on with 3 rows:\n  odd tiles: all\n  odd tiles: box\n" in late.stdout
    assert kept(tmp_path) == []


# The quick form


def drawn(seed, scatter):
    """Calls that take times of a known median: ours 1, a peer 2 or a little more."""
    from benchmarks.measure import Call

    random = np.random.default_rng(seed)

    def call(median):
        # A call with something to prepare is never repeated in a timing.
        return Call(
            lambda: median * float(np.exp(random.normal(0, scatter))),
            prepare=lambda: None,
            seconds=True,
        )

    return {"zarrix": call(1.0), "peer": call(2.0)}


@pytest.mark.parametrize("scatter", [0.01, 0.05, 0.1])
def test_medians_of_the_quick_form_agree_with_the_long_ones(scatter, monkeypatch):
    from benchmarks.measure import Pace, Ratio, rounds
    from benchmarks.run import QUICK

    monkeypatch.setattr("gc.collect", lambda: 0)
    apart, counts = [], []
    for seed in range(300):
        quick = rounds(drawn(seed, scatter), QUICK)
        long = rounds(drawn(seed + 1000, scatter), Pace(rounds=40))
        ratios = [Ratio.of(one["peer"], one["zarrix"]).median for one in (quick, long)]
        apart.append(abs(ratios[0] / ratios[1] - 1))
        counts.append(len(quick["peer"]))
    # Within a tenth in 19 of 20 rows; what scatters little takes few rounds.
    assert np.quantile(apart, 0.95) < 0.1, (apart, counts)
    assert np.mean(counts) < {0.01: 8, 0.05: 15, 0.1: 40}[scatter]


def test_a_few_rounds_say_nothing_of_their_scatter():
    from benchmarks.measure import uncertainty

    assert uncertainty([1.0] * 6) == np.inf
    assert uncertainty([1.0] * 7) == 0
    assert uncertainty([1, 1, 1, 1, 2, 2, 2, 2]) > 0.2


def test_two_runs_are_compared_row_by_row():
    from benchmarks.agreement import differences, told

    ones = [record(), record("tiles: write", peer=3.0)]
    others = [record(peer=2.1), record("tiles: write", peer=3.4), record("planes: all")]
    assert differences(ones, others) == {"tiles: write": (3.0, 3.4)}
    assert told(ones, others) == 1
    assert told(ones[:1], others) == 0
    assert told([], others) == 1


# What is written


def test_pages_are_what_the_command_writes_from_the_committed_rows():
    from benchmarks import stored, written

    lines = written.lines_of(stored.read(written.COMMITTED))
    for path, text in written.pages(lines).items():
        assert (ROOT / path).read_text() == text, f"python -m benchmarks report --write: {path}"


def test_every_row_of_the_benchmark_is_in_the_table():
    from benchmarks import stored, written
    from benchmarks.rows import WORKLOADS

    lines = written.lines_of(stored.read(written.COMMITTED))
    assert [line.workload.name for line in lines] == [row.name for row in WORKLOADS]
    text = written.table(lines)
    assert all(f"    {row.name} " in text for row in WORKLOADS)


def test_rows_of_several_commits_say_so():
    from benchmarks import written

    one = written.lines_of([record(), record("tiles: write")])
    assert "commits" not in written.source(one)
    mixed = written.lines_of([record(), record("tiles: write", commit="two")])
    assert "Rows of 2 commits (two, one)" in written.source(mixed)
    assert "do not compare them" in written.source(mixed)


def test_the_newest_rows_count_and_disturbed_ones_only_alone():
    from benchmarks import written

    old = [record(peer=9.0), record(peer=9.0, disturbed="x")]
    (line,) = written.lines_of([*old, record(commit="two"), record(commit="two", peer=3.0)])
    assert (line.runs, line.median) == ((2.0, 3.0), 2.5)
    late = record(peer=9.0, commit="two", disturbed="other processes used 90% of a processor")
    (line,) = written.lines_of([record(commit="two"), late])
    assert (line.runs, line.is_disturbed) == ((2.0,), False)
    alone = written.lines_of([late])
    assert "Another load disturbed 1 of them: odd tiles: box." in written.source(alone)
    assert f"{ROW} (disturbed)" in written.table(alone)
    assert written.lines_of([record(tiny=True)]) == []


def test_a_page_without_its_marks_is_refused():
    from benchmarks import written

    lines = written.lines_of([record()])
    with pytest.raises(ValueError, match="no part between"):
        written.page("README.md", "No marks.", lines)


def test_a_row_that_loses_is_named_in_both_pages():
    from benchmarks import written

    lines = written.lines_of([record(), record("tiles: write", peer=0.8)])
    assert "| tiles: write | 0.80 | not known yet |" in written.reasons(lines)
    assert "| tiles: write, against TensorStore | 0.80 |" in written.slower(lines)
    page = "<!-- rows: {} -->\n\n\n\n<!-- end of rows -->\n"
    text = "".join(map(page.format, ("slowdowns", "slower"))) + "71 of the 76 rows"
    assert written.page("README.md", text, lines).endswith("1 of the 2 rows")


def test_the_command_shows_and_compares_stored_rows(tmp_path):
    one, other = tmp_path / "one.jsonl", tmp_path / "other.jsonl"
    one.write_text(json.dumps(record()) + "\n")
    other.write_text(json.dumps(record(peer=2.5)) + "\n")
    shown = run(tmp_path, "report", "--runs", str(one))
    assert "Rows of commit one, 2026-01-02. Measured on 2 x A." in shown.stdout
    assert ROW in shown.stdout
    compared = run(tmp_path, "agree", "--runs", str(one), "--against", str(other), check=False)
    assert compared.returncode == 1
    assert "odd tiles: box: 2.00 and 2.50" in compared.stdout
    assert run(tmp_path, "report", "--runs", str(tmp_path / "none"), check=False).returncode == 1
