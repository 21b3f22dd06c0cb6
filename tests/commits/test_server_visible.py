"""Errors of a server in a commit: each says whether the commit has become visible."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import zarrix as zarr
from commits.rewritten import Rewritten
from servers.faulty import FaultyServer
from zarrix.commits import _claim, _commit, _left
from zarrix.errors import CommitVisibleError

SAMPLES = 7
"""At how many requests the server begins to fail, spread over a commit; with --long, at all."""


@pytest.fixture(params=[2, 3])
def hierarchy(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Rewritten]:
    """Claims are taken over at once, and do not beat."""
    monkeypatch.setattr(_commit, "PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._recover.PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._sweep.PATIENCE", 0.0)
    monkeypatch.setattr(_claim.Claim, "_begin_beats", lambda claim: None)
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    with FaultyServer() as server:
        yield Rewritten(server, request.param)


@contextmanager
def failing(server: FaultyServer, first: int, mode: str, *, always: bool) -> Iterator[None]:
    """The server fails at its ``first``th request from now on, and at all after it."""
    asked, fault = 0, server.fault
    faulty: Any = server

    def nth(method: str) -> str:
        nonlocal asked
        asked += 1
        return mode if asked == first or (always and asked > first) else ""

    faulty.fault = nth
    try:
        yield
    finally:
        faulty.fault = fault


def end_of(hierarchy: Rewritten) -> str:
    """How a rewrite ends: 'done', 'complete', 'visible', 'invisible', or 'unknown'."""
    try:
        # This client repeats nothing.
        hierarchy.rewrite(2, "another")
    except CommitVisibleError as error:
        is_said = "do not make it again" in str(error) and error.__cause__ is not None
        return ("complete" if error.is_complete else "visible") if is_said else str(error)
    except OSError as error:
        said = " ".join(getattr(error, "__notes__", []))
        return "unknown" if "whether the commit is visible is not known" in said else "invisible"
    return "done"


def check(hierarchy: Rewritten, end: str) -> None:
    """Readers see what the error has said, before and after a recovery."""
    root = hierarchy.open(consolidated=True)
    owner = int(root.attrs["owner"])
    assert hierarchy.seen(consolidated=True) == hierarchy.state(owner)
    if end != "unknown":
        assert owner == (1 if end == "invisible" else 2)
    if end in ("done", "complete"):
        hierarchy.require(2)
    zarr.recover(hierarchy.url, storage_options=hierarchy.options)
    hierarchy.require(owner)
    if end == "complete":
        zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
        assert hierarchy.strangers() == []


@pytest.mark.parametrize(
    ("mode", "always"), [("500", False), ("500", True), ("answer to a put", False)]
)
def test_an_error_says_whether_the_commit_is_visible(
    hierarchy: Rewritten, mode: str, always: bool, is_long: bool
) -> None:
    server = hierarchy.server
    values = dict(server.values)
    server.requests.clear()
    assert end_of(hierarchy) == "done"
    count = len(server.requests)
    ends: list[str] = []
    for first in range(1, count + 1, 1 if is_long else count // SAMPLES):
        server.values = dict(values)
        with failing(server, first, mode, always=always):
            ends.append(end_of(hierarchy))
        check(hierarchy, ends[-1])
    found = [end for end in ends if end != "done"]
    if mode != "500":
        assert set(found) <= {"complete", "invisible"}
        return
    # There is one moment at which the commit happens.
    wanted = ["invisible", "unknown", "visible"] if always else ["invisible", "complete"]
    assert found == sorted(found, key=wanted.index)
    assert wanted[0] in found
    assert wanted[-1] in found
