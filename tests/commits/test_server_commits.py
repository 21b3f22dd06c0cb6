"""Commits on servers: all or nothing, one committer at a time, and no harm by late ones."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from servers.faulty import FaultyServer
from zarrix.commits import _claim, _commit, _fenced, _server
from zarrix.errors import (
    CommitBusyError,
    CommitConflictError,
    CommitLostError,
    LostUpdateWarning,
    NotAtomicError,
)


@pytest.fixture
def server() -> Iterator[FaultyServer]:
    with FaultyServer() as server:
        yield server


@pytest.fixture(params=[2, 3])
def hierarchy(request: pytest.FixtureRequest, server: FaultyServer) -> "Hierarchy":
    return Hierarchy(f"{server.url}/x.zarr", server.options, request.param)


class Hierarchy:
    """Two arrays that grow together."""

    def __init__(self, url: str, options: dict[str, Any], zarr_format: int) -> None:
        self.url, self.options = url, options
        root = zarr.create_group(url, zarr_format=zarr_format, storage_options=options)
        for name in "ab":
            root.create_array(name, shape=(0, 4), chunks=(1, 2), dtype="i4", fill_value=0)

    def commit(self, **options: Any) -> Any:
        return zarr.commit(self.url, storage_options=self.options, **options)

    def append(self, owner: int, count: int = 1) -> None:
        with self.commit() as new:
            for name in "ab":
                new[name].append(rows(owner, count))

    def seen(self, consolidated: bool = True) -> dict[str, Any]:
        opened = zarr.open_consolidated if consolidated else zarr.open_group
        root = opened(self.url, mode="r", storage_options=self.options)
        return {name: root[name][:] for name in sorted(root.array_keys())}

    def require(self, owners: list[int]) -> None:
        """Both arrays have one row of each owner, in this order, for both kinds of readers."""
        for consolidated in (True, False):
            seen = self.seen(consolidated)
            for name in "ab":
                assert [int(row[0]) for row in seen[name]] == owners, (consolidated, name)
                expected = [rows(owner, 1)[0] for owner in owners]
                np.testing.assert_array_equal(seen[name], np.reshape(expected, (-1, 4)))


def rows(owner: int, count: int) -> Any:
    """Half of the chunks of a row are of the fill value."""
    return np.array([[owner, owner, 0, 0]] * count, "i4")


def test_a_commit_is_seen_as_a_whole_at_its_end(hierarchy: Hierarchy) -> None:
    hierarchy.append(1)
    with hierarchy.commit(message="the second") as new:
        new["a"].append(rows(2, 1))
        new.attrs["step"] = 2
        made = new.create_array("c", shape=3, chunks=2, dtype="i4", fill_value=0)
        made[2] = 9
        hierarchy.require([1])
        assert new["a"].shape == (2, 4)
        new["b"].append(rows(2, 1))
    hierarchy.require([1, 2])
    root = zarr.open_consolidated(hierarchy.url, storage_options=hierarchy.options)
    assert root.attrs["step"] == 2
    assert [*root["c"][:]] == [0, 0, 9]


def test_an_error_in_the_block_leaves_nothing(hierarchy: Hierarchy, server: FaultyServer) -> None:
    hierarchy.append(1)
    before = sorted(server.values)
    with pytest.raises(KeyError), hierarchy.commit() as new:  # noqa: PT012
        new["a"].append(rows(2, 1))
        new["nothing"]
    assert sorted(server.values) == before
    hierarchy.require([1])
    hierarchy.append(3)
    hierarchy.require([1, 3])


def test_chunks_of_the_fill_value_are_stored(hierarchy: Hierarchy, server: FaultyServer) -> None:
    hierarchy.append(5)
    names = {key.partition("/a/")[2] for key in server.values if "/a/" in key}
    assert len(names - {"zarr.json", ".zarray", ".zattrs"}) == 2


def test_a_boundary_chunk_keeps_what_is_seen(server: FaultyServer) -> None:
    url = f"{server.url}/x.zarr"
    root = zarr.create_group(url, storage_options=server.options)
    array = root.create_array("a", shape=(3,), chunks=4, dtype="i4", fill_value=7)
    array[:] = [1, 2, 3]
    with zarr.commit(url, storage_options=server.options) as new:
        new["a"].resize(6)
        new["a"][4] = 5
    assert [*zarr.open_group(url, storage_options=server.options)["a"][:]] == [1, 2, 3, 7, 5, 7]


def test_another_writer_of_a_boundary_chunk_is_a_conflict(server: FaultyServer) -> None:
    url = f"{server.url}/x.zarr"
    root = zarr.create_group(url, storage_options=server.options)
    array = root.create_array("a", shape=(3,), chunks=4, dtype="i4", fill_value=7)
    array[:] = [1, 2, 3]
    read = _fenced.FencedValues._read

    def read_and_change(self: Any, key: str) -> Any:
        found = read(self, key)
        array[0] = 11
        return found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_fenced.FencedValues, "_read", read_and_change)
        with (
            pytest.raises(CommitConflictError, match="another writer"),
            zarr.commit(url, storage_options=server.options) as new,
        ):
            new["a"].append([4])
    assert [*zarr.open_group(url, storage_options=server.options)["a"][:]] == [11, 2, 3]


def test_a_second_committer_waits_or_is_refused(hierarchy: Hierarchy) -> None:
    with hierarchy.commit() as new:
        for name in "ab":
            new[name].append(rows(1, 1))
        with pytest.raises(CommitBusyError, match="process"), hierarchy.commit(wait=0):
            pass
    hierarchy.append(2)
    hierarchy.require([1, 2])


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Claims do not beat, and are taken over at once."""
    monkeypatch.setattr(_commit, "PATIENCE", 0.0)
    monkeypatch.setattr(_claim.Claim, "_begin_beats", lambda claim: None)


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("late", ["end", "append"])
def test_a_committer_that_was_overtaken_changes_nothing(hierarchy: Hierarchy, late: str) -> None:
    with pytest.raises(CommitLostError, match="taken over"), hierarchy.commit() as old:  # noqa: PT012
        old["a"].append(rows(1, 1))
        if late == "end":
            old["b"].append(rows(1, 1))
        hierarchy.append(2)
        if late == "append":
            old["b"].append(rows(1, 1))
    hierarchy.require([2])
    hierarchy.append(3)
    hierarchy.require([2, 3])


@pytest.mark.usefixtures("impatient")
def test_what_a_dead_committer_has_left_is_not_seen(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        pass

    with monkeypatch.context() as patch:
        patch.setattr(_commit, "give_up", lambda *_: None)
        with pytest.raises(Died), hierarchy.commit() as new:  # noqa: PT012
            new["a"].append(np.full((3, 4), 9, "i4"))
            raise Died
    with hierarchy.commit() as new:
        for name in "ab":
            new[name].append(rows(1, 1))
            # Nothing is written to the second row.
            new[name].resize(2, 4)
    seen = hierarchy.seen()
    np.testing.assert_array_equal(seen["a"], [[1, 1, 0, 0], [0] * 4])
    np.testing.assert_array_equal(seen["b"], seen["a"])


@pytest.mark.usefixtures("impatient")
def test_the_next_commit_finishes_one_that_died_after_it_was_seen(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Died

    with monkeypatch.context() as patch:
        patch.setattr(_server, "store_documents", die)
        with pytest.raises(Died):
            hierarchy.append(1)
    seen = [len(hierarchy.seen(consolidated)["a"]) for consolidated in (True, False)]
    assert seen == [1, 0]
    hierarchy.append(2)
    hierarchy.require([1, 2])


PUTS = 9
"""The least puts of an append to two arrays of four chunks: claim, chunks, root, and documents."""


@pytest.mark.parametrize("mode", ["answer to a put", "connection after a put", "503"])
def test_an_answer_that_is_lost_makes_no_change_twice(
    hierarchy: Hierarchy, server: FaultyServer, mode: str
) -> None:
    """Each append loses the answer to another one of its puts."""
    hierarchy.append(1)
    fault, puts, lost = server.fault, [0], [0]

    def nth(method: str) -> str:
        puts[0] += method == "PUT"
        return mode if method == "PUT" and puts[0] == lost[0] else ""

    server.fault = nth  # type: ignore[method-assign]
    for number in range(1, PUTS + 1):
        puts[0], lost[0] = 0, number
        hierarchy.append(number + 1)
        assert puts[0] >= number
    server.fault = fault  # type: ignore[method-assign]
    hierarchy.require([*range(1, PUTS + 2)])


@pytest.mark.usefixtures("impatient")
def test_recover_finishes_what_was_seen_and_removes_the_claim(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Died(BaseException):
        pass

    def die(*_: Any) -> None:
        raise Died

    def recover(**options: Any) -> str:
        return zarr.recover(hierarchy.url, storage_options=hierarchy.options, **options).direction

    monkeypatch.setattr("zarrix.commits._recover.PATIENCE", 0.0)
    assert recover() == "nothing"
    with monkeypatch.context() as patch:
        patch.setattr(_server, "store_documents", die)
        with pytest.raises(Died):
            hierarchy.append(1)
    assert recover(dry_run=True) == recover() == "forward"
    assert recover() == "nothing"
    hierarchy.require([1])


def test_other_writers_of_the_root_are_kept(hierarchy: Hierarchy) -> None:
    root = zarr.open_group(hierarchy.url, mode="r+", storage_options=hierarchy.options)
    with hierarchy.commit() as new:
        for name in "ab":
            new[name].append(rows(1, 1))
        new.attrs["mine"] = 1
        root.attrs["theirs"] = 2
    hierarchy.require([1])
    found = zarr.open_consolidated(hierarchy.url, storage_options=hierarchy.options)
    assert dict(found.attrs) == {"mine": 1, "theirs": 2}


def test_a_change_of_the_same_attribute_is_a_conflict(hierarchy: Hierarchy) -> None:
    root = zarr.open_group(hierarchy.url, mode="r+", storage_options=hierarchy.options)
    with pytest.raises(CommitConflictError, match="attribute x"), hierarchy.commit() as new:  # noqa: PT012
        new["a"].append(rows(1, 1))
        new.attrs["x"] = 1
        root.attrs["x"] = 2
    hierarchy.require([])


def test_stores_without_conditions_have_no_commits(server: FaultyServer) -> None:
    hierarchy = Hierarchy(f"{server.url}/x.zarr", {**server.options, "timeout": 18}, 3)
    server.mode, server.only = "ignore conditions", ("PUT",)
    hierarchy.options = {**server.options, "timeout": 17}
    with (
        pytest.warns(LostUpdateWarning),
        pytest.raises(NotAtomicError, match="conditional writes"),
        hierarchy.commit(),
    ):
        pass
    with pytest.raises(NotAtomicError), zarr.commit(zarr.create_group({})):
        pass


@pytest.mark.parametrize("committers", [2, 4, 16])
def test_every_row_of_many_committers_has_its_owners_data(
    committers: int, server: FaultyServer, is_long: bool
) -> None:
    append_together(Hierarchy(f"{server.url}/x.zarr", server.options, 3), committers, is_long)


def test_moto_agrees_on_many_committers(serve: Any, is_long: bool) -> None:
    moto = serve("moto")
    append_together(Hierarchy(f"{moto.bucket}/commits.zarr", moto.options, 3), 3, is_long)


def append_together(hierarchy: Hierarchy, committers: int, is_long: bool) -> None:
    appends = 200 if is_long else 24 // committers + 1
    errors: list[BaseException] = []

    def append(owner: int) -> None:
        try:
            for _ in range(appends):
                with hierarchy.commit(wait=300) as new:
                    for name in "ab":
                        new[name].append(rows(owner, 1))
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=append, args=(n + 1,)) for n in range(committers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    owners = [int(row[0]) for row in hierarchy.seen()["a"]]
    assert sorted(owners) == sorted([n + 1 for n in range(committers)] * appends)
    hierarchy.require(owners)
