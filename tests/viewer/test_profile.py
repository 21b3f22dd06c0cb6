"""The values along a line: those of NumPy, each chunk once, bounded, and cancelled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix._engine import CancelToken
from zarrix.viewer import _profile
from zarrix.viewer._app import root_of
from zarrix.viewer._roots import Roots
from zarrix.viewer._routes import answer

DATA = np.random.default_rng(0).normal(0, 9, (3, 40, 50)).astype("f4")


@pytest.mark.parametrize("ends", [(0, 0, 39, 49), (39, 3, 0, 3), (5, 49, 5, 0), (7, 8, 7, 8)])
@pytest.mark.parametrize("axes", [(1, 2), (2, 1), (0, 2)])
def test_a_profile_has_the_elements_of_the_line(
    axes: tuple[int, int], ends: tuple[int, ...]
) -> None:
    data = DATA.copy()
    data[:, 5, 20] = np.nan
    z = zarr.array(data, chunks=(2, 7, 9))
    sizes = [data.shape[axis] for axis in axes] * 2
    ends = tuple(min(one, size - 1) for one, size in zip(ends, sizes, strict=True))
    listed = ",".join(map(str, ends))
    found = Client(viewer.app(z)).get(
        "/api/profile", index="1,2,3", axes=f"{axes[0]},{axes[1]}", ends=listed
    ).json()  # fmt: skip
    rows, columns = np.array(found["rows"]), np.array(found["columns"])
    assert len(rows) == max(abs(ends[2] - ends[0]), abs(ends[3] - ends[1])) + 1
    # No element is farther from the line than half of one along the shorter axis.
    assert (rows[0], columns[0], rows[-1], columns[-1]) == ends
    assert max(np.abs(np.diff(rows)).max(initial=0), np.abs(np.diff(columns)).max(initial=0)) <= 1
    at: list[Any] = [1, 2, 3]
    at[axes[0]], at[axes[1]] = rows, columns
    values = [np.nan if one is None else one for one in found["values"]]
    assert np.array_equal(np.array(values, "f4"), data[tuple(at)], equal_nan=True)
    assert np.allclose(found["distances"], np.hypot(rows - ends[0], columns - ends[1]))


def test_packed_values_are_what_they_mean() -> None:
    z = zarr.create_array({}, shape=(4, 4), dtype="i2", attributes={"scale_factor": 0.5})
    z[:] = np.arange(16).reshape(4, 4)
    client = Client(viewer.app(z))
    given = {"index": "0,0", "axes": "0,1", "ends": "0,0,3,3"}
    assert client.get("/api/profile", **given).json()["values"] == [0, 5, 10, 15]
    assert client.get("/api/profile", **given, **{"as": "cf"}).json()["values"] == [0, 2.5, 5, 7.5]


@pytest.mark.parametrize(
    "change",
    [{"index": "0,0"}, {"axes": "1,1"}, {"axes": "1"}, {"axes": "1,7"}, {"ends": "0,0,1"},
     {"ends": "0,0,40,1"}, {"index": "3,0,0"}, {"ends": "-1,0,1,1"}, {"field": "a"}],
)  # fmt: skip
def test_what_is_not_a_line_of_the_plane_is_refused(change: dict[str, str]) -> None:
    given = {"index": "0,0,0", "axes": "1,2", "ends": "0,0,9,9", **change}
    assert Client(viewer.app(zarr.array(DATA))).get("/api/profile", **given).status == 400


def test_a_line_through_too_many_chunks_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    z = zarr.array(DATA, chunks=(1, 10, 10))
    given = {"index": "0,0,0", "axes": "1,2", "ends": "0,0,39,39"}
    monkeypatch.setattr(_profile, "MOST_DECODED_BYTES", 4 * 400)
    assert Client(viewer.app(z)).get("/api/profile", **given).status == 200
    monkeypatch.setattr(_profile, "MOST_DECODED_BYTES", 4 * 400 - 1)
    assert Client(viewer.app(z)).get("/api/profile", **given).status == 413


def test_a_cancelled_profile_ends_between_two_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    token, reads = CancelToken(), []
    read = _profile.read

    def counted(*arguments: Any) -> Any:
        reads.append(1)
        token.cancel()
        return read(*arguments)

    monkeypatch.setattr(_profile, "read", counted)
    roots = Roots([root_of(zarr.array(DATA, chunks=(1, 10, 10)))])
    given = {"index": "0,0,0", "axes": "1,2", "ends": "0,0,39,39"}
    assert (answer(roots, "profile", given, token).status, len(reads)) == (503, 1)
