"""Groups of servers that are opened through consolidated metadata: no requests, and own changes."""

from __future__ import annotations

from typing import Any

import pytest
import zarrix as zarr
from servers.faulty import FaultyServer

NEW: dict[str, Any] = {"shape": 4, "chunks": 4, "dtype": "i4"}


def opened(server: FaultyServer, zarr_format: Any) -> zarr.Group:
    root = zarr.open_group(
        f"{server.url}/h", mode="w", zarr_format=zarr_format, storage_options=server.options
    )
    for number in range(3):
        root.create_array(f"g/a{number}", attributes={"n": number}, **NEW)
    zarr.consolidate_metadata(root.store)
    return zarr.open_consolidated(f"{server.url}/h", storage_options=server.options)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_members_and_missing_names_are_no_request(faulty: FaultyServer, zarr_format: int) -> None:
    root = opened(faulty, zarr_format)
    assert root._location.store.is_remote
    faulty.requests.clear()
    assert [name for name, _ in root["g"].members()] == ["a0", "a1", "a2"]
    assert [dict(z.attrs) for _, z in root["g"].arrays()] == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert root["g"].page(2)[1] == "a1"
    assert "g/none" not in root
    assert len(root.members(max_depth=None)) == 4
    assert faulty.requests == []


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("way", ["alone", "batch", "hierarchy"])
def test_what_is_created_through_it_is_there(
    faulty: FaultyServer, zarr_format: int, way: str
) -> None:
    root = opened(faulty, zarr_format)
    if way == "alone":
        root.create_array("g/new", attributes={"n": 9}, **NEW)
        root.create_group("k")
    elif way == "batch":
        with root.batch():
            root.create_array("g/new", attributes={"n": 9}, **NEW)
            root.create_group("k")
    else:
        metadata = root.create_array("g/x", attributes={"n": 9}, **NEW).metadata
        list(root.create_hierarchy({"g/new": metadata, "k": root["g"].metadata}))
        del root["g/x"]
    for one in (root, zarr.open_consolidated(f"{faulty.url}/h", storage_options=faulty.options)):
        assert sorted(one) == ["g", "k"]
        assert sorted(one["g"]) == ["a0", "a1", "a2", "new"]
        assert dict(one["g/new"].attrs) == {"n": 9}
    with pytest.raises(zarr.errors.ContainsArrayError):
        root.create_array("g/new", **NEW)
    del root["g/a1"]
    assert sorted(root["g"]) == ["a0", "a2", "new"]
