"""Commits on servers that change elements which readers see, delete nodes, and shorten arrays."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits.rewritten import Rewritten, died
from servers.faulty import FaultyServer
from zarrix.commits import _claim, _commit, _left, _server, _server_sweep
from zarrix.errors import (
    CommitConflictError,
    CommitLostError,
    CommitVisibleError,
    LateWriteWarning,
    NotAtomicError,
)

CUTS = 5
"""Requests at which a client is cut off, for each test; there are twelve such tests."""


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        yield server


@pytest.fixture(params=[2, 3])
def hierarchy(request: pytest.FixtureRequest, server: FaultyServer) -> Rewritten:
    return Rewritten(server, request.param)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims do not beat, and are taken over at once."""
    monkeypatch.setattr(_commit, "PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._recover.PATIENCE", 0.0)
    monkeypatch.setattr("zarrix.commits._sweep.PATIENCE", 0.0)
    monkeypatch.setattr(_claim.Claim, "_begin_beats", lambda claim: None)
    monkeypatch.setattr(_left, "PROMISED", 0.0)


def test_readers_see_the_old_content_until_the_end(hierarchy: Rewritten) -> None:
    handle = hierarchy.open()["a"]
    with hierarchy.commit() as new:
        hierarchy.change(new, 2)
        np.testing.assert_array_equal(new["a"][:], [[2, 2], [9, 9], [9, 9]])
        hierarchy.require(1)
    hierarchy.require(2)
    # An open handle goes on with its old content, and after a sweep with the new one.
    assert handle[0, 0] == 1
    assert zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
    assert handle[0, 0] == 2
    hierarchy.require(2)


def test_zarr_python_reads_what_was_committed(hierarchy: Rewritten) -> None:
    pytest.importorskip("zarr.core.buffer", reason="zarr-python is not installed")
    hierarchy.rewrite(2)
    for consolidated in (True, False):
        root = hierarchy.by_zarr_python(consolidated)
        assert sorted(root.array_keys()) == ["a", "b", "n2"]
        np.testing.assert_array_equal(root["a"][:], [[2, 2], [9, 9], [9, 9]])
        np.testing.assert_array_equal(root["b"][:], [[2, 2], [2, 2]])


def test_an_error_leaves_the_old_content_and_the_next_commit_deletes_the_rest(
    hierarchy: Rewritten, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    before = chunks(hierarchy)
    with pytest.raises(KeyError), hierarchy.commit() as new:  # noqa: PT012
        hierarchy.change(new, 2)
        new["nothing"]
    hierarchy.require(1)
    with hierarchy.commit() as new:
        new.attrs["x"] = 1
    hierarchy.require(1)
    assert chunks(hierarchy) == before


def chunks(hierarchy: Rewritten) -> list[str]:
    return sorted(key for key in hierarchy.server.values if key[-1].isdigit())


def test_a_shorter_array_has_fill_values_when_it_grows_again(hierarchy: Rewritten) -> None:
    with hierarchy.commit() as new:
        new["a"].resize(1, 1)
    root = hierarchy.open("r+")
    assert root["a"].shape == (1, 1)
    root["a"].resize(3, 2)
    np.testing.assert_array_equal(root["a"][:], [[1, 0], [0, 0], [0, 0]])


def test_a_replaced_array_has_only_the_new_content(hierarchy: Rewritten) -> None:
    old = hierarchy.open("r+")["a"]
    with zarr.replacing(old) as new:
        new[2] = old[1] + 1
        hierarchy.require(1)
    np.testing.assert_array_equal(hierarchy.open()["a"][:], [[0, 0], [0, 0], [10, 10]])
    with hierarchy.commit() as new:
        made = new.create_array("b", shape=(1, 4), chunks=(1, 4), dtype="f8", overwrite=True)
        made[:] = 0.5
    assert hierarchy.open()["b"][0, 3] == 0.5


@pytest.mark.parametrize("copies", ["", "unknown", "without conditions"])
def test_the_server_copies_what_did_not_change_if_it_keeps_conditions(
    server: FaultyServer, copies: str
) -> None:
    server.copies = copies
    root = zarr.create_group(f"{server.url}/x.zarr", storage_options=server.options)
    values = np.arange(1, 13, dtype="i4").reshape(6, 2)
    root.create_array("a", shape=(6, 2), chunks=(1, 2), dtype="i4")[:] = values
    server.requests.clear()
    with zarr.commit(f"{server.url}/x.zarr", storage_options=server.options) as new:
        new["a"][0] = 0
    values[0] = 0
    read = [key for method, key in server.requests if method == "GET" and "/a/c" in key]
    assert len(read) == (0 if copies == "" else 5)
    np.testing.assert_array_equal(
        zarr.open_group(f"{server.url}/x.zarr", storage_options=server.options)["a"][:], values
    )


def test_another_chunk_that_others_change_is_carried_and_the_same_one_is_a_conflict(
    hierarchy: Rewritten, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_left, "PROMISED", 0.0)
    others = hierarchy.open("r+")
    with hierarchy.commit() as new:
        new["a"][0] = 2
        others["a"][1] = 5
    np.testing.assert_array_equal(hierarchy.open()["a"][:], [[2, 2], [5, 5], [9, 9]])
    others = hierarchy.open("r+")
    with pytest.raises(CommitConflictError, match="another writer"), hierarchy.commit() as new:  # noqa: PT012
        new["a"][0] = 3
        others["a"][0] = 4
    np.testing.assert_array_equal(hierarchy.open()["a"][:], [[4, 4], [5, 5], [9, 9]])
    with pytest.raises(CommitConflictError, match="shape"), hierarchy.commit() as new:  # noqa: PT012
        new["a"][0] = 3
        others["a"].resize(4, 2)
    np.testing.assert_array_equal(hierarchy.open()["a"][:2], [[4, 4], [5, 5]])


def test_a_late_write_is_kept_and_named(hierarchy: Rewritten) -> None:
    stored = hierarchy.server.values
    old = [key for key in chunks(hierarchy) if "/a/" in key]
    with hierarchy.commit(grace=None) as new:
        new["a"][0] = 2
    # By a program that does not look at the document again.
    stored[old[1]] = stored[old[0]]
    with pytest.warns(LateWriteWarning, match="written after a commit"):
        assert zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options) == 0
    assert stored[old[1]] == stored[old[0]]
    assert zarr.sweep(hierarchy.url, storage_options=hierarchy.options) == 0
    assert zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options) == 3
    assert hierarchy.open()["a"][1, 0] == 9


def test_a_write_by_an_older_handle_is_seen(hierarchy: Rewritten) -> None:
    handle = hierarchy.open("r+")["a"]
    with hierarchy.commit() as new:
        new["a"][0] = 2
    handle[1] = 5
    np.testing.assert_array_equal(hierarchy.open()["a"][:], [[2, 2], [5, 5], [9, 9]])


def test_what_cannot_be_atomic_is_refused_before_anything_is_stored(
    hierarchy: Rewritten, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = hierarchy.open("r+")
    root.create_array("sparse", shape=(9, 9), chunks=(1, 1), dtype="i4")[0, 0] = 1
    if root.metadata.zarr_format == 2:
        root.create_array("one", shape=4, chunks=2, dtype="i4")[:] = 1
    monkeypatch.setattr(_server, "MOST_FILLED", 79)

    def refused(change: Any, match: str, **options: Any) -> None:
        chunks = {key for key in hierarchy.server.values if "sparse" in key or "/a/" in key}
        with pytest.raises(NotAtomicError, match=match), hierarchy.commit(**options) as new:
            change(new)
        assert {key for key in hierarchy.server.values if "sparse" in key or "/a/" in key} == chunks
        hierarchy.require(1)

    refused(lambda new: new["sparse"].__setitem__((0, 0), 2), "80 chunks of the array are not")
    refused(lambda new: new["a"].__setitem__(0, 2), "max_carry is 2", max_carry=2)
    if root.metadata.zarr_format == 2:
        refused(lambda new: new["one"].__setitem__(0, 2), "one spelling")
        refused(lambda new: new["one"].resize(2), "one spelling")
        with pytest.raises(NotAtomicError, match="local disk"), zarr.replacing(root["one"]):
            pass


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("part", range(12))
def test_a_death_at_any_request_leaves_the_old_state_or_the_new_one(
    server: FaultyServer, part: int, is_long: bool
) -> None:
    hierarchy = Rewritten(server, 2 + part % 2)
    prepared = dict(server.values)
    server.requests.clear()
    hierarchy.rewrite(2)
    count = len(server.requests)
    assert count > 40
    cuts = 167 if is_long else CUTS
    for turn in range(cuts):
        server.values = dict(prepared)
        # Each request has its turn, in the twelve tests together.
        cut = (
            (turn * 12 + part) % count if is_long else 1 + (turn * 12 + part) * count // (CUTS * 12)
        )
        with died(server, cut):
            hierarchy.rewrite(2, key="dying")
        seen = hierarchy.seen(consolidated=True)
        assert seen in (hierarchy.state(1), hierarchy.state(2)), cut
        assert all(one in (1, 2) for one in hierarchy.each()), cut
        zarr.recover(hierarchy.url, storage_options=hierarchy.options)
        assert hierarchy.seen(consolidated=False) == seen
        try:
            hierarchy.rewrite(3)
        except NotAtomicError:
            # It died while it deleted the old chunks, and v2 has two spellings of keys.
            assert part % 2 == 0
            zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
            hierarchy.rewrite(3)
        hierarchy.require(3, made=[*seen["made"], 3])
        if turn % 5 == 0:
            zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
            assert hierarchy.strangers() == []
            hierarchy.require(3, made=[*seen["made"], 3])


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("part", range(4))
def test_a_committer_that_rests_at_any_request_changes_nothing_when_it_goes_on(
    server: FaultyServer, part: int, is_long: bool
) -> None:
    hierarchy = Rewritten(server, 3)
    prepared = dict(server.values)
    server.requests.clear()
    hierarchy.rewrite(2)
    count = len(server.requests)
    turns = range(part, count, 4) if is_long else range(part * 4, count, 16)
    for turn in turns:
        server.values = dict(prepared)
        server.resting.clear()
        server.go.clear()
        server.rests = {"resting": turn}
        errors: list[BaseException] = []

        def rewrite(errors: list[BaseException] = errors) -> None:
            try:
                hierarchy.rewrite(2, key="resting")
            except BaseException as error:
                errors.append(error)
            finally:
                # It may have made fewer requests.
                server.resting.set()

        thread = threading.Thread(target=rewrite)
        thread.start()
        server.resting.wait()
        try:
            hierarchy.rewrite(3)
            seen = hierarchy.seen(consolidated=True)
            assert seen["a"] == 3
            hierarchy.rewrite(4)
        finally:
            server.go.set()
            thread.join()
        last = 4
        if not errors and 2 not in seen["made"]:
            # It had not claimed anything, and has begun from what is stored now.
            last = 2
        elif errors:
            # It was overtaken before its end, or before it was complete.
            is_visible = 2 in seen["made"]
            wanted = CommitVisibleError if is_visible else CommitLostError | CommitConflictError
            assert isinstance(errors[0], wanted), errors
        made = [*seen["made"], 4, *([2] if last == 2 else [])]
        hierarchy.require(last, made=sorted(made))


@pytest.mark.usefixtures("impatient")
def test_a_node_that_an_overtaken_commit_may_delete_is_not_made_again(
    hierarchy: Rewritten, monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("zarrix.commits._server_steps.delete_nodes", die)
        with pytest.raises(KeyboardInterrupt):
            hierarchy.rewrite(2)
    with (
        pytest.raises(NotAtomicError, match="may still delete 'c'"),
        hierarchy.commit() as new,
    ):
        new.create_array("c", shape=(1, 1), dtype="i4")
    hierarchy.require(2)
    zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
    with hierarchy.commit() as new:
        new.create_array("c", shape=(1, 1), dtype="i4")
    assert "c" in hierarchy.open()


@pytest.mark.usefixtures("impatient")
def test_keys_in_which_an_overtaken_sweep_may_delete_are_not_used_again(
    server: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hierarchy = Rewritten(server, 2)
    with hierarchy.commit(grace=None) as new:
        hierarchy.change(new, 2)

    def die(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(_server_sweep, "_delete", die)
        with pytest.raises(KeyboardInterrupt):
            zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
    with pytest.raises(NotAtomicError, match="may still delete"):
        hierarchy.rewrite(3)
    hierarchy.require(2)
    zarr.sweep(hierarchy.url, now=True, storage_options=hierarchy.options)
    hierarchy.rewrite(3)
    hierarchy.require(3, made=[2, 3])
