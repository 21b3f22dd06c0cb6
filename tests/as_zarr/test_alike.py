"""zarrix under the name of zarr does what zarr-python 3 does, in drawn programs.

Two processes run the same program (`hierarchies.py`), one with each package: after every step, what
was returned, what the store holds, and the kind of the error are equal. It needs an environment
with zarr-python; CI runs it in one, and

    ZARRIX_ALIKE_STEPS=100000 pytest -s tests/as_zarr/test_alike.py

lets Hypothesis draw others, and cut one that differs short.
"""

import base64
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from importlib.machinery import PathFinder
from pathlib import Path
from random import Random
from typing import Any

import pytest
import zarrix
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

PROGRAM = Path(__file__).parent / "hierarchies.py"
SOURCES = str(Path(zarrix.__file__).parents[1])
LONG = int(os.environ.get("ZARRIX_ALIKE_STEPS", "0"))
STEPS = 16
NUMBERS = st.binary(min_size=4, max_size=4).map(int.from_bytes)

pytestmark = pytest.mark.skipif(
    PathFinder.find_spec("zarr") is None, reason="zarr-python is not in this environment"
)


class Package:
    """The program in a process of its own, with one of the packages as ``zarr``."""

    def __init__(self, *options: str, group: str) -> None:
        environment = {**os.environ, "PYTHONPATH": SOURCES}
        self.process = subprocess.Popen(
            [sys.executable, *options, str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        assert json.loads(self.line()) == f"zarr {group}"

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def run(self, numbers: list[int]) -> list[dict[str, Any]]:
        assert self.process.stdin is not None
        print(json.dumps(numbers), file=self.process.stdin, flush=True)
        outcomes: list[dict[str, Any]] = json.loads(self.line())
        return outcomes

    def close(self) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        self.process.wait(30)
        self.process.stdout.close()


@pytest.fixture(scope="module")
def packages() -> Iterator[tuple[Package, Package]]:
    theirs = Package(group="zarr.core.group")
    ours = Package("-m", "zarrix.as_zarr", group="zarrix.hierarchy")
    yield theirs, ours
    theirs.close()
    ours.close()


def same_documents(value: Any) -> Any:
    """A document without what differs on purpose; docs/ecosystem.md lists it."""
    if isinstance(value, list):
        return [same_documents(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = dict(value)
    if value.get("zarr_format") == 2:
        value.pop("consolidated_metadata", None)
        if str(value.get("dtype")).startswith("|S"):
            value["fill_value"] = base64.b64decode(value["fill_value"] or "").rstrip(b"\0")
    return {key: same_documents(item) for key, item in value.items()}


def compare(theirs: list[dict[str, Any]], ours: list[dict[str, Any]], seen: Counter[str]) -> None:
    """The outcomes are equal, as far as zarr-python has what a step needs."""
    story = []
    for their, our in zip(theirs, ours, strict=True):
        story.append(f"{their['step']} {their.get('drawn', '')}")
        about = "\n".join(story)
        if "NotImplementedError" in their.get("error", ()):
            seen["zarr-python cannot"] += 1
            return
        assert their["step"] == our["step"], about
        seen[f"{their['step']}: {'error' if 'error' in their else 'done'}"] += 1
        assert ("error" in their) == ("error" in our), f"{about}\n{their}\n{our}"
        if "error" in their:
            assert set(their["error"]) & set(our["error"]), f"{about}\n{their}\n{our}"
        assert their.get("returned") == our.get("returned"), about
        assert same_documents(their["held"]) == same_documents(our["held"]), about


def test_both_packages_do_the_same(
    packages: tuple[Package, Package], capsys: pytest.CaptureFixture[str]
) -> None:
    seen: Counter[str] = Counter()

    def run(numbers: list[int]) -> None:
        theirs, ours = (package.run(numbers) for package in packages)
        compare(theirs, ours, seen)

    if LONG:

        @settings(
            max_examples=LONG // STEPS,
            derandomize=False,
            deadline=None,
            database=None,
            phases=(Phase.generate, Phase.shrink),
            suppress_health_check=list(HealthCheck),
        )
        @given(st.lists(NUMBERS, min_size=STEPS + 1, max_size=STEPS + 1))
        def explore(numbers: list[int]) -> None:
            run(numbers)

        explore()
    else:
        for number in range(2000 // STEPS):
            random = Random(number)
            run([random.getrandbits(32) for _ in range(STEPS + 1)])
    with capsys.disabled():
        print(f"\n{sum(seen.values())} outcomes: {dict(sorted(seen.items()))}")
    if LONG:
        return  # What is drawn is chance; the counts are there to be read.
    steps = {name.split(":")[0] for name, count in seen.items() if name.endswith("done")}
    assert steps >= {"create_array", "create_from", "put", "resize", "append", "move", "end"}
    assert seen["zarr-python cannot"] < 20


def test_the_benchmark_of_the_alias_has_its_rows() -> None:
    # How fast they are depends on the load: the exit status, 1 below the bar, is not looked at.
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.as_zarr", "--rounds", "1", "--formats", "3"],
        cwd=root,
        env={**os.environ, "PYTHONPATH": SOURCES},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    lines = done.stdout.splitlines()
    assert lines[0] == "zarr-python: zarr 3.4.2 zarr.core.array, alias: zarr 3.4.2 zarrix.core"
    assert [line.split(",")[0] for line in lines[3:]] == [
        "| open an array",
        "| open a group and a member",
        "| series at a point",
        "| one point",
    ], done.stderr
