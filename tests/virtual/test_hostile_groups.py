"""Documents of virtual groups in which anything was changed: the same elements, or an error."""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix import virtual
from zarrix.errors import ZarrixError

_VALUES: list[Any] = [
    None, True, -1, 0, 1, 2, 3, 2**31, 2**63, 0.5, 1e308, "", "t", "..", "/", "../x", "a/b",
    "file:///x", [], [0], [[]], {}, {"x": 1}, "AAAA",
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of each value in a document."""
    found = [path]
    items = value.items() if isinstance(value, dict) else ()
    items = enumerate(value) if isinstance(value, list) else items
    for key, inside in items:
        found += places(inside, (*path, key))
    return found


def changed(document: Any, rng: random.Random) -> Any:
    """The document with one value replaced, dropped, doubled, or moved to another name."""
    made = copy.deepcopy(document)
    *above, last = rng.choice(places(made)[1:])
    parent = made
    for key in above:
        parent = parent[key]
    how = rng.randrange(4)
    if how == 0:
        del parent[last]
    elif how == 1 and isinstance(parent, list):
        parent.insert(last, copy.deepcopy(parent[last]))
    elif how == 1:
        parent[rng.choice(["", "t/x", "../t", "zarr.json", "x"])] = parent.pop(last)
    else:
        parent[last] = copy.deepcopy(rng.choice(_VALUES))
    return made


def test_changed_documents_are_read_or_refused(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    for number in range(2):
        group = zarr.open_group(tmp_path / f"{number}.zarr", mode="w", zarr_format=3)
        rows = np.arange(6.0).reshape(2, 3) + number
        for name, dimensions, values in (
            ("time", ["time"], np.arange(2) + 2 * number),
            ("t", ["time", "x"], rows),
            ("x", ["x"], np.arange(3)),
        ):
            group.create_array(name, data=values, dimension_names=dimensions)
    path = tmp_path / "all.json"
    virtual.save(virtual.join([tmp_path / "0.zarr", tmp_path / "1.zarr"], "time"), path)
    document = json.loads(path.read_bytes())
    whole = zarr.open(path, mode="r")["t"][...]
    rng, ended = random.Random(5), Counter[str]()
    for _ in range(3000 if pytestconfig.getoption("--long") else 150):
        path.write_text(json.dumps(changed(document, rng), separators=(",", ":")))
        try:
            opened: Any = virtual.open(path)
            for name in ("t", "time", "x"):
                if name in opened and opened[name].nbytes < 2**20:
                    opened[name][...]
            ended["same" if np.array_equal(opened["t"][...], whole) else "other"] += 1
        except (ZarrixError, OSError, MemoryError) as error:
            ended[type(error).__name__] += 1
    # Some changes mean nothing, and a list that names fewer pieces is one with a hole.
    assert ended["same"] > 5
    assert ended["CorruptStoreError"] > 60
    assert ended["other"] < 10 or pytestconfig.getoption("--long")
