"""The other implementations: where each is, and all of the cases run through it at once.

A peer is one process for all of its cases; where it dies, the case that it died of is noted and
another process goes on with the rest. `LIMITS` says what a peer cannot do, with the reason.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
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


# What peers cannot do: the peer, a pattern found in "<way> <case>: <what went wrong>", the reason.
# zarr-python 2 is asked for format 2 only.
LIMITS = (
    ("zarr-python", r"write 2/nested/.*cannot include dtype 'M'", "numcodecs buffers no times"),
    (
        "zarr-python-2",
        r"write 2/binary/.*expected byte string, found ''",
        "fills what is not written of a chunk of bytes with text, which its codec refuses",
    ),
    ("tensorstore", r"filters are not supported", "no filters in format 2"),
    ("tensorstore", r"\"compressor\".*(not registered|extra members)", "not among its codecs"),
    ("tensorstore", r"Unsupported zarr dtype", "not among its data types"),
    ("tensorstore", r"data type is not one of the supported", "not among its data types"),
    ("tensorstore", r"3.*/(numcodecs|packbits)", "no codecs of numcodecs in format 3"),
    ("tensorstore", r" (2|3.*)/(fields|nested)/", "structures are read a field at a time"),
    ("tensorstore", r" .*/V[17]/", "raw bits are an axis of bytes more"),
    ("tensorstore", r" 2/S.*base64-encoded", "wants all bytes of a fill value"),
    ("zarrista", r"Array(Create)?Error:.*(not supported|unsupported)", "says so"),
    ("zarrista", r" 2/(fields|nested)/", "no structures in format 2"),
    ("zarrista", r"read .*TypeError: data type '.*' not understood", "no NumPy dtype for them"),
    (
        "zarrista",
        r"write .*fixed length array bytes with a variable",
        "no text of its own to write",
    ),
    ("zarrista", r"read 3.*/(text|binary)/transpose", "no transposed elements without a size"),
    ("zarrista", r"read 2/binary", "takes them for text"),
    ("zarrista", r"read .*bytes instead of elements", "gives elements without a size as bytes"),
    ("zarrita", r"Unknown codec|Unsupported|unsupported", "says so"),
    ("zarrita", r"write .*Failed to encode chunk via codec", "reads with these codecs only"),
    ("zarrita", r"match is not a function", "no data types with a configuration"),
    ("zarrita", r" 2/(c|f2|M8|m8|V).*NotFoundError", "not among its data types"),
    ("zarrita", r"write 2/(S|U).*not iterable", "no text of fixed length to write"),
    ("zarrita", r"read 2/S.*other elements", "takes bytes for UTF-8"),
    ("zarrita", r"write 2/binary/.*(process ended|vlen)", "not among its data types"),
    ("zarrita", r"read 3-sharded/f4/index-start", "takes the index for being at the end"),
    ("zarrs", r"Unsupported(Metadata|DataType)Error", "left to the pipeline of zarr-python"),
    ("zarrs", r" 2/.*-big/.*Non-native byte order", "no other byte order in format 2"),
    (
        "zarrs",
        r"read 3.*/c(8|16)/big-gzip: .*elements differ",
        "misreads big-endian complex numbers in chunks that the edge of the array cuts",
    ),
    ("zarrs", r"F-zlib.*C contiguous", "no other order of elements in format 2"),
)


def limit_of(peer: str, way: str, case: str, fault: str) -> str | None:
    """The reason why a peer cannot do a case; None if it should."""
    what = f"{way} {case}: {fault}"
    found = (why for who, how, why in LIMITS if peer.startswith(who) and re.search(how, what))
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
