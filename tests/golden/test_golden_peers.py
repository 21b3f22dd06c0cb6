"""Arrays that TensorStore, zarrs, zarrista and zarrita wrote are read equal, and they read ours.

`golden/peers/make_arrays.py` made the packs and the record of which library read what; the cases
and their values are those of tests/interop. No peer is needed here.
"""

import importlib.util
import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from golden.packs import digest, place, unpack

GOLDEN = Path(__file__).parent / "peers"
OURS: dict[str, dict[str, Any]] = json.loads((GOLDEN / "ours.json").read_text())
LAYOUTS = {"2", "3", "3-sharded", "3-nested"}
PACKS = {
    path.name.removesuffix(".tar.xz"): unpack(path, depth=3)
    for path in sorted(GOLDEN.glob("*.tar.xz"))
}


@cache
def maker() -> Any:
    spec = importlib.util.spec_from_file_location("golden_peers", GOLDEN / "make_arrays.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def cases() -> dict[str, Any]:
    """The cases by name; without those of ml_dtypes where that is not installed."""
    chosen: dict[str, Any] = maker().chosen()
    return chosen


def groups(names: Any) -> dict[str, list[str]]:
    """Names by layout and data type."""
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.rpartition("/")[0], []).append(name)
    return found


def assert_equal(got: Any, want: np.ndarray[Any, Any], name: str) -> None:
    """The same elements; for fixed-size elements, the same bits."""
    got = np.asarray(got)
    if got.dtype.kind in "OT":
        assert got.tolist() == want.tolist(), name
    else:
        assert got.dtype.newbyteorder("=") == want.dtype.newbyteorder("="), name
        assert got.astype(want.dtype).tobytes() == want.tobytes(), name


@pytest.mark.parametrize(
    ("peer", "group"), [(peer, group) for peer, files in PACKS.items() for group in groups(files)]
)
def test_an_array_of_a_peer_reads_equal(peer: str, group: str, tmp_path: Path) -> None:
    for name in groups(PACKS[peer])[group]:
        if name not in cases():
            pytest.skip("needs ml_dtypes")
        place(PACKS[peer][name], tmp_path / name)
        z = zarr.open_array(str(tmp_path / name), mode="r")
        want = cases()[name].values
        assert_equal(z[...], want, name)
        assert_equal(z[1:7, 3:], want[1:7, 3:], name)


@pytest.mark.parametrize("group", groups(OURS))
def test_what_peers_read_is_what_zarrix_writes(group: str, tmp_path: Path) -> None:
    for name in groups(OURS)[group]:
        if name not in cases():
            pytest.skip("needs ml_dtypes")
        files = maker().ours(cases()[name], tmp_path / name)
        if name.endswith("/none"):
            assert digest(files) == OURS[name]["digest"], name
        z = zarr.open_array(str(tmp_path / name), mode="r")
        assert_equal(z[...], cases()[name].values, name)


def test_each_peer_wrote_and_read_both_formats_and_shards() -> None:
    assert sorted(peer.rpartition("-")[0] for peer in PACKS) == sorted(maker().PEERS)
    for peer, files in PACKS.items():
        reader = " ".join(peer.rsplit("-", 1))
        read = [name for name, row in OURS.items() if reader in row["read_equal_by"]]
        if peer.startswith("zarr-python"):
            assert set(groups(files)) == set(groups(read))
            assert len(files) == len(read) == 21
            continue
        # zarrita writes no shards, and reads none in shards.
        alone = {"2", "3"} if peer.startswith("zarrita") else LAYOUTS
        assert {name.partition("/")[0] for name in files} >= alone, peer
        assert {name.partition("/")[0] for name in read} >= {*alone, "3-sharded"}, peer
        assert min(len(read), len(files)) >= 70, peer
