"""Make the golden arrays of peers, and the record that they read what zarrix writes.

    python make_arrays.py [PEER ...]
        <peer>-<version>.tar.xz for each peer, or for some of them: the files, ``<case>/<key>``, of
        each case that the peer wrote and zarrix read equal; and in ours.json the names of the peers
        that read what zarrix wrote of a case equal, and the digest of that.
        Needs the environments that tests/interop/setup makes.

The cases are some of those of tests/interop, which have the values too. zarr-python 3, whose other
arrays are beside this folder, is here for grids of several chunk lengths. What compresses may
change by a version of its library and read the same: only uncompressed arrays have a digest.
"""

import importlib.util
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from packs import digest, pack, stored_files  # noqa: E402

INTEROP = HERE.parents[1] / "interop"
PEERS = ("tensorstore", "zarrs", "zarrista", "zarrita", "zarr-python-3")
EVERY_CHAIN = ("2/i4", "2/f8", "3/f8", "3-sharded/i4")
"""Layouts and data types of which all chains are packed; of the others, those of `CHAINS`."""
CHAINS = {
    "2": ("none", "blosc", "F-zlib"),
    "3": ("none", "big-gzip", "transpose-zstd"),
    "3-sharded": ("none", "blosc", "gzip-crc32c"),
    "3-nested": ("none", "zstd"),
    "3-rectilinear": ("both", "one", "runs", "transpose", "shards"),
}


def load(name: str) -> Any:
    """A module of tests/interop."""
    spec = importlib.util.spec_from_file_location(f"interop_{name}", INTEROP / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def chosen() -> dict[str, Any]:
    """The cases by name."""
    table = load("cases").cases()
    return {name: case for name, case in table.items() if is_chosen(case, name.rpartition("/")[2])}


def is_chosen(case: Any, chain: str) -> bool:
    layout = case.group.partition("/")[0]
    return case.group in EVERY_CHAIN or chain in CHAINS[layout]


def exchange(peer: str, table: dict[str, Any], readers: dict[str, list[str]]) -> None:
    """Pack what a peer wrote, and note what it read."""
    if peer == "zarr-python-3":
        table = {name: case for name, case in table.items() if name.startswith("3-rectilinear")}
    files: dict[str, bytes] = {}
    with tempfile.TemporaryDirectory() as folder:
        outcome = load("peers").run(peer, table, Path(folder))
        for number, name in enumerate(table):
            if outcome.faults["read", name] is None:
                readers[name].append(f"{peer} {outcome.version}")
            if outcome.faults["write", name] is None:
                found = stored_files(Path(folder) / f"{number}-write")
                files |= {f"{name}/{key}": value for key, value in found.items()}
    for old in HERE.glob(f"{peer}-[0-9]*.tar.xz"):
        old.unlink()
    pack(HERE / f"{peer}-{outcome.version}.tar.xz", files)


def ours(case: Any, folder: Path) -> dict[str, bytes]:
    """The files that zarrix makes of a case."""
    case.create(str(folder))[...] = case.values
    return stored_files(folder)


def main() -> None:
    table = chosen()
    peers = sys.argv[1:] or PEERS
    record = HERE / "ours.json"
    before = json.loads(record.read_text()) if sys.argv[1:] else {}
    readers: dict[str, list[str]] = {}
    for name in table:
        known = before.get(name, {}).get("read_equal_by", [])
        readers[name] = [one for one in known if one.partition(" ")[0] not in peers]
    for peer in peers:
        exchange(peer, table, readers)
    with tempfile.TemporaryDirectory() as folder:
        rows = []
        for number, (name, case) in enumerate(table.items()):
            row: dict[str, Any] = {"read_equal_by": sorted(readers[name])}
            if name.endswith("/none"):
                row["digest"] = digest(ours(case, Path(folder) / str(number)))
            rows.append(f" {json.dumps(name)}: {json.dumps(row)}")
    record.write_text("{\n" + ",\n".join(rows) + "\n}\n")


if __name__ == "__main__":
    main()
