"""Batches whose process dies at any request or moment: readers see one state or the other."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from servers.faulty import FaultyServer

KEY = {2: ".zmetadata", 3: "zarr.json"}
NEW: dict[str, Any] = {"shape": 10, "chunks": 10, "dtype": "i4"}


def change(root: zarr.Group) -> None:
    """A batch that creates, changes, resizes and deletes."""
    with root.batch():
        for number in range(4):
            root.create_array(f"new/a{number}", attributes={"n": number}, **NEW)
        root["old/a1"].attrs["n"] = -1
        root["old/a2"].resize(20)
        del root["old/a3"]


def prepared(store: Any, zarr_format: Any, **options: Any) -> zarr.Group:
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format, **options)
    metadata = root.create_array("x", **NEW).metadata
    list(root.create_hierarchy({f"old/a{n}": metadata for n in range(5)}))
    zarr.consolidate_metadata(root.store)
    return root


def nodes(values: dict[str, bytes]) -> dict[str, Any]:
    """The documents of the nodes that exist, read by nothing of ours; each is complete."""
    found = {}
    for key, value in values.items():
        name = key.rpartition("/")[2]
        if name in (".zarray", ".zgroup", ".zattrs", "zarr.json"):
            document = json.loads(value)
            document.pop("consolidated_metadata", None)
            found[key] = document
    marks = (".zarray", ".zgroup", "zarr.json")
    there = {key.rpartition("/")[0] for key in found if key.rpartition("/")[2] in marks}
    # Attributes of v2 alone do not make a node.
    return {key: one for key, one in found.items() if key.rpartition("/")[0] in there}


def consolidated(values: dict[str, bytes], zarr_format: int) -> dict[str, Any]:
    whole = json.loads(values[KEY[zarr_format]])
    inside = whole if zarr_format == 2 else whole["consolidated_metadata"]
    found = {}
    for key, document in inside["metadata"].items():
        document.pop("consolidated_metadata", None)
        found[key if zarr_format == 2 else f"{key}/zarr.json"] = document
    return found


def expect_either(
    found: dict[str, bytes], before: dict[str, bytes], after: dict[str, bytes], zarr_format: int
) -> str:
    """Check what a batch has left that died; which of the states consolidated metadata has."""
    mine, old, new = nodes(found), nodes(before), nodes(after)
    for key in {*old, *new}:
        assert mine.get(key) in (old.get(key), new.get(key)), key
    for key in set(mine).difference(old, new):
        # A v2 node without its attributes yet.
        raise AssertionError(f"{key} is of neither state")
    shown = consolidated(found, zarr_format)
    states = {
        "before": consolidated(before, zarr_format), "after": consolidated(after, zarr_format),
    }  # fmt: skip
    for name, state in states.items():
        if shown == state:
            return name
    # Every entry is one that a node has or had, if a part of the changes is shown.
    for key in {*shown, *states["before"], *states["after"]}:
        assert shown.get(key) in [one.get(key) for one in states.values()], key
    return "a part"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_batch_that_dies_at_each_request(
    faulty: FaultyServer, zarr_format: int, is_long: bool
) -> None:
    root = prepared(f"{faulty.url}/h", zarr_format, storage_options=faulty.options)
    start = dict(faulty.values)

    def values() -> dict[str, bytes]:
        return {k.removeprefix("h/"): v for k, (v, _) in faulty.values.items()}

    before = values()
    faulty.requests.clear()
    change(zarr.open_group(root.store, mode="r+", use_consolidated=False))
    count, after = len(faulty.requests), values()
    dying = {**faulty.options, "key": "dying", "max_retries": 0}
    seen: dict[str, int] = {}
    for number in range(0, count, 1 if is_long else 3):
        faulty.values.clear()
        faulty.values.update(start)
        faulty.cut_off = {"dying": number}
        with pytest.raises((OSError, zarr.errors.ZarrixError)):
            change(zarr.open_group(f"{faulty.url}/h", mode="r+", storage_options=dying))
        state = expect_either(values(), before, after, zarr_format)
        seen[state] = seen.get(state, 0) + 1
        zarr.consolidate_metadata(root.store)
        again = zarr.open_group(root.store, mode="r+", use_consolidated=False)
        for name in ("old/a1", "old/a2", "old/a3"):
            assert name not in again or again[name].dtype == "i4"
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            shown = [path for path, _ in zarr.open_consolidated(root.store).members(None)]
        assert shown == [path for path, _ in again.members(None)]
    print(f"v{zarr_format}: {count} requests, consolidated metadata afterwards: {seen}")
    assert seen["before"] > 1


_PROGRAM = """
import sys
sys.path[:0] = sys.argv[3:]
import zarrix as zarr
from test_batch_kills import change
root = zarr.open_group(sys.argv[1], mode="r+", storage_options=eval(sys.argv[2]))
print("begin", flush=True)
change(root)
print("end", flush=True)
"""


def _killed(place: str, options: Any, delay: float) -> bool:
    """Run the batch in a process that is killed so long after its begin; whether it had ended."""
    more = [str(Path(__file__).parent), str(Path(__file__).parents[2])]
    ran = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, place, repr(options), *more], stdout=subprocess.PIPE
    )
    assert ran.stdout is not None
    assert ran.stdout.readline() == b"begin\n"
    time.sleep(delay)
    ran.send_signal(signal.SIGKILL)
    rest = ran.stdout.read()
    ran.stdout.close()
    ran.wait(60)
    return b"end" in rest


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("place", ["disk", "server"])
def test_a_batch_that_is_killed(
    faulty: FaultyServer, tmp_path: Path, zarr_format: int, place: str, is_long: bool
) -> None:
    options = faulty.options if place == "server" else None
    url = f"{faulty.url}/h" if place == "server" else str(tmp_path / "h")

    def values() -> dict[str, bytes]:
        if place == "server":
            return {k.removeprefix("h/"): v for k, (v, _) in faulty.values.items()}
        files = [file for file in tmp_path.rglob("*") if file.is_file()]
        return {
            str(file.relative_to(tmp_path / "h")): file.read_bytes() for file in files
            if not file.name.endswith(".partial")
        }  # fmt: skip

    prepared(url, zarr_format, storage_options=options)
    before = values()
    change(zarr.open_group(url, mode="r+", use_consolidated=False, storage_options=options))
    after = values()
    rng = random.Random(zarr_format)
    seen: dict[str, int] = {}
    for _ in range(60 if is_long else 4):
        prepared(url, zarr_format, storage_options=options)
        _killed(url, options, rng.random() * 0.08)
        state = expect_either(values(), before, after, zarr_format)
        seen[state] = seen.get(state, 0) + 1
        group = zarr.consolidate_metadata(
            zarr.storage.RemoteStore(url, options) if options else url
        )
        assert {"x", "old"} <= {path for path, _ in group.members(None)}
    print(f"v{zarr_format}, {place}: killed {sum(seen.values())} times: {seen}")
