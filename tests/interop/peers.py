"""The other implementations: where each is, and all of the cases run through it at once.

A peer is one process for all of its cases; where it dies, the case that it died of is noted and
another process goes on with the rest. limits.toml says what a peer cannot do, with the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ENVIRONMENTS = HERE / "envs"
WAYS = ("read", "write")
PEERS = {
    "zarr-python-2": "zarr2",
    "zarr-python-3": "zarr3",
    "zarrs": "zarr3",
    "tensorstore": "zarr3",
    "zarrista": "zarr3",
    "zarrita": "node",
}
"""Names, and the environment that each is in."""


def missing(peer: str) -> str | None:
    """Why a peer cannot be run; None if it can."""
    folder = ENVIRONMENTS / PEERS[peer]
    what = folder / ("node_modules/zarrita" if peer == "zarrita" else "bin/python")
    if not what.exists():
        return f"{peer} is not there; tests/interop/setup {PEERS[peer]} makes its environment"
    return None


def command(peer: str) -> list[str]:
    if peer == "zarrita":
        return [shutil.which("node") or "node", str(HERE / "peer.mjs"), peer]
    return [str(ENVIRONMENTS / PEERS[peer] / "bin" / "python"), str(HERE / "peer.py"), peer]


@dataclass
class Outcome:
    """What became of the cases of one peer: for each way and name, None or what went wrong."""

    version: str = ""
    faults: dict[tuple[str, str], str | None] = field(default_factory=dict)


def describe(dtype: np.dtype[Any]) -> Any:
    """A dtype as jobs have it."""
    if dtype.names is not None:
        return [[name, describe(dtype[name])] for name in dtype.names]
    return dtype.name if dtype.isbuiltin == 2 else dtype.str


def encode(values: np.ndarray[Any, Any]) -> tuple[Any, bytes]:
    """What jobs say of values, and what is in their file."""
    if values.dtype.kind not in "OT":
        return describe(values.dtype), values.tobytes()
    flat = values.reshape(-1).tolist()
    if isinstance(flat[-1], bytes):
        return "binary", json.dumps([one.hex() for one in flat]).encode()
    return "text", json.dumps(flat).encode()


def run(peer: str, cases: Mapping[str, Any], folder: Path) -> Outcome:
    """Write with zarrix and read with the peer, and the other way round, all cases."""
    jobs = []
    for number, case in enumerate(cases.values()):
        described, data = encode(case.values)
        for way in WAYS:
            root = folder / f"{number}-{way}"
            z = case.create(str(root))
            values = folder / f"{number}-{way}.bin"
            if way == "read":
                z[...] = case.values
            else:
                values.write_bytes(data)
            jobs.append(
                {
                    "name": case.name,
                    "way": way,
                    "path": str(root),
                    "values": str(values),
                    "dtype": described,
                    "shape": list(case.values.shape),
                }
            )
    lines = _finish(peer, jobs, folder)
    outcome = Outcome(version=next((x["version"] for x in lines if "version" in x), "unknown"))
    done = {(x["way"], x["name"]): x for x in lines if "way" in x}
    for job in jobs:
        key = (job["way"], job["name"])
        outcome.faults[key] = _fault(job, done[key], cases[job["name"]].values)
    return outcome


def _finish(peer: str, jobs: list[dict[str, Any]], folder: Path) -> list[dict[str, Any]]:
    """The peer's lines for all jobs, however often it has to be started."""
    report, listed = folder / "report.jsonl", folder / "jobs.json"
    lines: list[dict[str, Any]] = []
    left = jobs
    while left:
        listed.write_text(json.dumps(left))
        report.write_text("")
        ended = subprocess.run(
            [*command(peer), str(listed), str(report)],
            cwd=ENVIRONMENTS / PEERS[peer],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            timeout=600,
            check=False,
        )
        new = [json.loads(line) for line in report.read_text().splitlines()]
        lines += new
        if not new:
            raise RuntimeError(f"{peer} did not start: {ended.stderr[-1000:]}")
        finished = sum("way" in one for one in new)
        if finished < len(left):
            died = {"name": left[finished]["name"], "way": left[finished]["way"]}
            lines.append({**died, "error": f"the process ended with {ended.returncode}"})
            finished += 1
        left = left[finished:]
    return lines


def _fault(job: Mapping[str, Any], done: Mapping[str, Any], want: np.ndarray[Any, Any]) -> Any:
    """What is wrong with one case; None if nothing is."""
    import zarrix as zarr

    if "error" in done:
        return f"refused: {done['error']}"
    if job["way"] == "read":
        if done["shape"] != list(want.shape):
            return f"shape {done['shape']}, not {list(want.shape)}"
        return _difference(Path(job["values"]).read_bytes(), want)
    try:
        z = zarr.open_array(job["path"], mode="r")
        got = np.asarray(z[...])
    except (zarr.errors.ZarrixError, OSError) as error:
        return f"zarrix does not read it: {type(error).__name__}: {error}"
    if got.dtype.kind in "OT" and want.dtype.kind == "O":
        return None if got.tolist() == want.tolist() else "other elements"
    if got.dtype.newbyteorder("=") != want.dtype.newbyteorder("="):
        return f"dtype {got.dtype}, not {want.dtype}"
    return _difference(got.astype(want.dtype).tobytes(), want)


def _difference(data: bytes, want: np.ndarray[Any, Any]) -> str | None:
    if want.dtype.kind in "OTUS" and data[:1] == b"[":
        elements = json.loads(data)
        texts = want.reshape(-1).tolist()
        if want.dtype.kind == "S":
            texts = [one.decode("latin1") for one in texts]
        plain = [one.hex() if isinstance(one, bytes) else one for one in texts]
        return None if elements == plain else "other elements"
    if want.dtype.kind in "OT":
        return f"{len(data)} bytes instead of elements"
    expected = want.tobytes()
    if data == expected:
        return None
    if len(data) != len(expected):
        return f"{len(data)} bytes, not {len(expected)}"
    differ = np.frombuffer(data, f"V{want.itemsize}") != np.frombuffer(
        expected, f"V{want.itemsize}"
    )
    return f"{int(differ.sum())} of {want.size} elements differ, the first at {differ.argmax()}"


LIMITS: dict[str, dict[str, str]] = tomllib.loads((HERE / "limits.toml").read_text())
"""What peers cannot do: patterns of what is said of a case, and reasons, by peer."""


def limit_of(peer: str, way: str, case: str, fault: str) -> str | None:
    """The reason why a peer cannot do a case; None if it should."""
    what = f"{way} {case}: {fault}"
    limits = (rows.items() for who, rows in LIMITS.items() if peer.startswith(who))
    found = (why for rows in limits for how, why in rows if re.search(how, what))
    return next(found, None)


def cases_for(peer: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The cases that a peer is asked for."""
    only = "2/" if peer == "zarr-python-2" else ""
    return {name: case for name, case in table.items() if name.startswith(only)}


def main() -> None:
    """Print what goes wrong with the named peers, as the table of limits is made from."""
    import tempfile

    sys.path.insert(0, str(HERE))
    from cases import cases

    table = cases()
    for peer in sys.argv[1:] or PEERS:
        with tempfile.TemporaryDirectory() as folder:
            outcome = run(peer, cases_for(peer, table), Path(folder))
        print(peer, outcome.version, len(outcome.faults), "runs")
        for (way, name), fault in outcome.faults.items():
            if fault and not limit_of(peer, way, name, fault):
                print(f"  {way} {name}: {fault}")


if __name__ == "__main__":
    main()
