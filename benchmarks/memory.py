"""The peak memory of a row: one contender, one run, a process of its own.

What counts is how far the resident memory rises above where it was when the array was open, so
interpreter and imports are not in it, and the result of a read is.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.contenders import Contender
from benchmarks.setup import ROOT
from benchmarks.workloads import Place, Read, Workload


def peak_bytes(workload: Workload, contender: Contender, place: Place) -> int | None:
    """Bytes at the peak of one run of a read; None for rows that are not reads."""
    if not isinstance(workload, Read):
        return None
    request = {
        "workload": workload.name,
        "contender": contender.name,
        "data": str(place.data),
        "tiny": place.tiny,
        "seed": place.seed,
        "path": [str(ROOT)] if contender.python else sys.path,
    }
    code = (
        "import json, sys\n"
        "request = json.loads(sys.argv[1])\n"
        "sys.path[:0] = request['path']\n"
        "from benchmarks.memory import measure_here\n"
        "print(measure_here(request))"
    )
    python = str(contender.python or sys.executable)
    output = subprocess.check_output([python, "-c", code, json.dumps(request)])
    return int(output.split()[-1])


def measure_here(request: dict[str, Any]) -> int:
    """The work of the other process: the rise of the high-water mark over one run, in bytes."""
    from benchmarks.contenders import named
    from benchmarks.rows import row_named

    workload = row_named(request["workload"])
    data = Path(request["data"])
    place = Place(data, data, bool(request["tiny"]), int(request["seed"]))
    call = workload.call(named(request["contender"]), place)
    Path("/proc/self/clear_refs").write_text("5")  # the high-water mark falls to where we are
    before = _status_bytes("VmRSS")
    call.run()
    return max(0, _status_bytes("VmHWM") - before)


def _status_bytes(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field + ":"))
