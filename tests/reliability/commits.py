"""Commits that are killed at random moments, and readers beside commits.

A process commits in a loop: two arrays are rewritten and hold one number in all elements, two are
appended to, an array is replaced, and an attribute counts. It is killed some milliseconds after it
began, and so is its recovery, twice. Then all arrays and the attribute have to be of one version,
array by array and in consolidated metadata, and no other key may be left.

    python -m tests.reliability.commits --python OTHER/bin/python     its libraries read beside them
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tests.reliability.children import call
from tests.reliability.figures import Figure
from tests.reliability.libraries import Library

ROOT = Path(__file__).resolve().parents[2]
_ROWS = 3
READS = 1000
"""How often each kind of reader reads, beside commits."""
_VERSIONS = 3
_READERS_S = 900


def run(library: Library, folder: Path, scale: float) -> list[Figure]:
    """2000 kills of committers of v3 and v2, and 1000 reads of each kind of reader."""
    kills = max(60, round(2000 * scale))
    figures = []
    for zarr_format in (3, 2):
        counts = _killed(folder / f"v{zarr_format}", zarr_format, kills // 2)
        what = f"{kills // 2} kills of commits of v{zarr_format}: "
        figures += [
            Figure(f"{what}mixed versions or keys left", counts["broken"], "= 0"),
            Figure(f"{what}versions that were acknowledged and lost", counts["lost"], "= 0"),
            Figure(f"{what}rolled back", counts["back"], ""),
            Figure(f"{what}rolled forward", counts["forward"], ""),
            Figure(f"{what}nothing to do", counts["nothing"], ""),
        ]
    return figures + readers(folder / "readers", max(40, round(READS * scale)))


def make(folder: Path, zarr_format: int) -> None:
    import zarrix as zarr

    root = zarr.open_group(folder, mode="w", zarr_format=zarr_format, attributes={"version": 0})
    for name in ("a", "b"):
        data = np.zeros((6, 4), "i4")
        root.create_dataset(name, data=data, chunks=(2, 3), **_dimensions(root, name))
    for name in ("rows", "times"):
        more = _dimensions(root, name)
        root.create_dataset(name, shape=(0, 2), chunks=(4, 2), dtype="i4", **more)
    more = _dimensions(root, "swap")
    root.create_dataset("swap", data=np.zeros((1, 2), "i4"), chunks=(2, 1), **more)
    zarr.consolidate_metadata(folder)


def _dimensions(root: Any, name: str) -> dict[str, Any]:
    """What xarray needs; no two arrays have an axis in common."""
    if (Path(root.store.path) / "zarr.json").exists():
        return {"dimension_names": [f"{name} 0", f"{name} 1"]}
    return {}


def commit(folder: Path, version: int) -> None:
    import zarrix as zarr

    with zarr.commit(folder) as root:
        for name in ("a", "b"):
            root[name][:] = version
        for name in ("rows", "times"):
            root[name].append(np.full((_ROWS, 2), version, "i4"))
        data = np.full((version % 5 + 1, 2), version, "i4")
        more = _dimensions(root, "swap")
        root.create_dataset("swap", data=data, chunks=(2, 1), overwrite=True, **more)
        root.attrs["version"] = version


def version_of(root: Any) -> int:
    """The version of all arrays; -1 if there are several."""
    version = int(root.attrs["version"])
    for name in ("a", "b", "swap"):
        if not np.all(root[name][:] == version):
            return -1
    expected = np.repeat(np.arange(1, version + 1), _ROWS)[:, None].repeat(2, axis=1)
    if any(not np.array_equal(root[name][:], expected) for name in ("rows", "times")):
        return -1
    return version


def _loop(folder: Path, begin: int, said: int) -> None:
    _promise_nothing()
    for version in range(begin, begin + 10_000):
        commit(folder, version)
        os.write(said, f"{version}\n".encode())


def _promise_nothing() -> None:
    # Each array is rewritten some times in a second.
    from zarrix.commits import _left

    _left.PROMISED = 0.0


def _killed(folder: Path, zarr_format: int, kills: int) -> Counter[str]:
    import zarrix as zarr

    _promise_nothing()
    random.seed(zarr_format)
    make(folder, zarr_format)
    counts: Counter[str] = Counter()
    version = 0
    for number in range(kills):
        if number % 40 == 39:
            # Otherwise each check reads more.
            make(folder, zarr_format)
            version = 0
        said = _kill(partial(_loop, folder, version + 1))
        done = max((int(line) for line in said.split()), default=version)
        seen = call(lambda: version_of(zarr.open_consolidated(folder)))
        for _ in range(2):
            _kill(lambda _: zarr.recover(folder), most_ms=8)
        counts[zarr.recover(folder).direction] += 1
        found = call(partial(_check, folder))
        if found.ended != "ok" or found.answer != seen.answer or found.answer < 0:
            counts["broken"] += 1
            continue
        version = found.answer
        counts["lost"] += version < done
    return counts


def _kill(work: Callable[[int], Any], most_ms: float = 120) -> str:
    """Run work in a child that is killed after a random time; returns what it has said."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        try:
            work(writer)
        finally:
            os._exit(0)
    os.close(writer)
    time.sleep(random.uniform(0, most_ms / 1000))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with open(reader, encoding="ascii") as lines:
        return lines.read()


def _check(folder: Path) -> int:
    """The version of everything, in a fresh process; -1 if a key is left."""
    import zarrix as zarr

    root = zarr.open_group(folder, mode="r")
    version = version_of(root)
    if version != version_of(zarr.open_consolidated(folder)):
        return -1
    zarr.sweep(folder, now=True)
    named = {
        key for _, z in root.arrays() for key, _ in zarr.open_array(folder, path=z.path)
        ._snapshot.io.stored_chunks()
    }  # fmt: skip
    chunks = {key for key in root.store if key[-1].isdigit()}
    left = list(folder.rglob(".zarrix-commit*"))
    return version if chunks == named and not left else -1


# Readers beside commits


def readers(folder: Path, reads: int, python: str = sys.executable) -> list[Figure]:
    """Readers that open the hierarchy again and again while commits run, in another interpreter.

    A kind of reader whose library is not installed there is left out.
    """
    make(folder, 3)
    child = os.fork()
    if not child:
        try:
            # A promise of ten seconds would leave two commits in a minute; reads take less.
            from zarrix.commits import _left

            _left.PROMISED = 1.0
            version = 0
            while True:
                version += 1
                commit(folder, version)
                time.sleep(0.05)
        finally:
            os._exit(0)
    found: dict[str, dict[str, int]] = {}
    try:
        for kind in READERS:
            command = [python, "-m", "tests.reliability.commits", kind, str(folder), str(reads)]
            run = subprocess.run(
                command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=_READERS_S
            )
            if run.returncode == 0:
                found[kind] = json.loads(run.stdout.splitlines()[-1])
            elif "ModuleNotFoundError" not in run.stderr:
                raise RuntimeError(run.stderr)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    figures = []
    for kind, counts in found.items():
        what = f"{counts['reads']} reads of {kind} beside commits: "
        bar = "= 0" if READERS[kind] else ""
        figures += [
            Figure(f"{what}torn arrays", counts["torn"], "= 0"),
            Figure(f"{what}arrays of two versions", counts["mixed"], bar),
        ]
    return figures


# Whether a reader sees one version of all arrays.
READERS = {
    "zarrix consolidated": True,
    "zarrix plain": False,
    "zarr consolidated": True,
    "zarr plain": False,
    "xarray consolidated": True,
    "xarray by-zarrix": True,
    "tensorstore plain": False,
}


def _open(kind: str, folder: str) -> Callable[[str], Any]:
    library, _, how = kind.partition(" ")
    if library == "tensorstore":
        import tensorstore as ts

        def read(name: str) -> Any:
            kvstore = {"driver": "file", "path": f"{folder}/{name}"}
            return ts.open({"driver": "zarr3", "kvstore": kvstore}).result().read().result()

        return read
    if library == "xarray":
        import xarray

        if how == "consolidated":
            # Without it, another engine would read.
            import zarr
        engine: Any = "zarr"
        if how == "by-zarrix":
            # An interpreter in which zarrix is not installed does not know the name.
            from zarrix.xarray._backend import ZarrixBackend

            engine = ZarrixBackend
        data = xarray.open_dataset(folder, engine=engine, consolidated=True, decode_times=False)
        return lambda name: data[name].values
    if library == "zarr":
        import zarr
    else:
        import zarrix as zarr
    if how == "consolidated":
        root = zarr.open_consolidated(folder)
    else:
        root = zarr.open_group(folder, mode="r", use_consolidated=False)
    return lambda name: root[name][:]


def main(kind: str, folder: str, reads: int) -> None:
    """Read so often, and until some commits were made; count what is torn or of two versions."""
    counts = {"reads": 0, "torn": 0, "mixed": 0}
    names = ("a", "b") if kind.startswith("xarray") else ("a", "b", "swap")
    seen: set[int] = set()
    while counts["reads"] < reads or len(seen) < _VERSIONS:
        read = _open(kind, folder)
        arrays = [np.asarray(read(name)) for name in names]
        numbers = [np.unique(one) for one in arrays]
        counts["reads"] += 1
        counts["torn"] += any(len(one) != 1 for one in numbers)
        counts["mixed"] += len({tuple(one) for one in numbers}) != 1
        seen.add(int(arrays[0].flat[0]))
    print(json.dumps(counts))


def beside_commits(python: str, reads: int) -> None:
    """Print the counts of all readers that an interpreter has."""
    with tempfile.TemporaryDirectory() as folder:
        for figure in readers(Path(folder) / "x.zarr", reads, python):
            print(f"{figure.what}: {figure.value} ({figure.bar or 'told'})")


if __name__ == "__main__":
    if sys.argv[1] == "--python":
        beside_commits(sys.argv[2], READS)
    else:
        main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
