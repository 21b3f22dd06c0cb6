"""`Group.batch`: one rewrite of consolidated metadata for many changes, none of which is lost."""

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

FORMATS = (2, 3)
PLACE = {2: ".zmetadata", 3: "zarr.json"}


class Counting(dict[str, Any]):
    """A mapping that keeps the keys that were stored."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[str] = []

    def __setitem__(self, key: str, value: Any) -> None:
        self.stored.append(key)
        super().__setitem__(key, value)


def consolidated(store: Any, zarr_format: int) -> zarr.Group:
    root = zarr.create_group(store, zarr_format=zarr_format)
    root.create_array("old", shape=4, dtype="i2")
    root.create_array("gone/deep", shape=4, dtype="i2")
    root.create_array("from/a", shape=4, dtype="i2")
    zarr.consolidate_metadata(store)
    return zarr.open_group(store, mode="r+", use_consolidated=False)


def told(store: Any, zarr_format: int) -> dict[str, Any]:
    """The consolidated documents of the root, as stored, in JSON."""
    document = json.loads(bytes(store[PLACE[zarr_format]]))
    inline = document if zarr_format == 2 else document["consolidated_metadata"]
    return dict(inline["metadata"])


def require_true(store: Any, zarr_format: int) -> None:
    before = told(store, zarr_format)
    zarr.consolidate_metadata(store)
    assert before == told(store, zarr_format)


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_a_batch_rewrites_the_document_once(zarr_format: int) -> None:
    store = Counting()
    root = consolidated(store, zarr_format)
    store.stored.clear()
    with root.batch() as inside:
        assert inside is root
        for number in range(20):
            root.create_array(f"x/{number}", shape=3, dtype="f4", attributes={"n": number})
        root["old"].attrs["k"] = 1
        del root["gone"]
        root.move("from", "to")
        root["old"].resize(9)
        assert PLACE[zarr_format] not in store.stored
        assert root["x/7"].attrs["n"] == 7
    assert store.stored.count(PLACE[zarr_format]) == 1
    require_true(store, zarr_format)
    found = told(store, zarr_format)
    keys = {key.removesuffix("/.zarray") for key in found}
    assert {"x/19", "to/a"} <= keys
    assert not any(key.startswith(("gone", "from")) for key in keys)


@pytest.mark.parametrize("zarr_format", FORMATS)
@pytest.mark.parametrize("seed", range(6))
def test_any_changes_give_what_consolidating_again_gives(seed: int, zarr_format: int) -> None:
    random = np.random.default_rng(seed)
    store = zarr.MemoryStore()
    root = consolidated(store, zarr_format)
    inner = root.require_group("a/b")
    zarr.consolidate_metadata(store, path="a")
    names = ["a", "a/b", "a/b/c", "d", "d/e"]
    with root.batch():
        for _ in range(30):
            name = str(random.choice(names))
            step = random.integers(4)
            if step == 0:
                root.require_group(name).attrs["n"] = int(random.integers(9))
            elif step == 1 and name in root:
                del root[name]
            elif step == 2:
                root.create_array(f"{name}/z", shape=3, dtype="i4", overwrite=True)
            elif step == 3 and f"{name}/z" in root:
                root[f"{name}/z"].resize(int(random.integers(1, 9)))
    require_true(store, zarr_format)
    if "a" in root and f"a/{PLACE[zarr_format]}" in store:
        own = json.loads(store[f"a/{PLACE[zarr_format]}"])
        if zarr_format == 2 or "consolidated_metadata" in own:
            zarr.consolidate_metadata(store, path="a")
            assert json.loads(store[f"a/{PLACE[zarr_format]}"]) == own
    assert inner.path == "a/b"


@pytest.mark.parametrize("zarr_format", FORMATS)
def test_an_error_ends_the_batch_with_what_was_stored(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    root = consolidated(store, zarr_format)

    def work() -> None:
        with root.batch():
            root.create_group("new")
            root.create_array("old", shape=3, dtype="i4")

    with pytest.raises(zarr.errors.ContainsArrayError):
        work()
    assert "new" in zarr.open_consolidated(store)
    require_true(store, zarr_format)


def test_batches_inside_one_are_part_of_it() -> None:
    store = Counting()
    root = consolidated(store, 3)
    store.stored.clear()
    like = root["old"].metadata
    with root.batch():
        with root.require_group("x").batch():
            root.create_array("x/a", shape=3, dtype="i4")
        root.create_hierarchy({"y/b": like, "y/c": like})
        zarr.copy(root["x"], root, name="z")
        assert "zarr.json" not in store.stored
    assert store.stored.count("zarr.json") == 1
    require_true(store, 3)


def test_what_creates_many_nodes_is_a_batch_of_its_own(tmp_path: Path) -> None:
    store = Counting()
    root = consolidated(store, 3)
    like = root["old"].metadata
    source = zarr.group()
    for name in "abc":
        source[f"in/{name}"] = np.arange(3)
    calls = [
        lambda: root.create_hierarchy({f"h/{n}": like for n in range(5)}),
        lambda: zarr.create_hierarchy(store=store, nodes={f"i/{n}": like for n in range(5)}),
        lambda: zarr.copy(source["in"], root, name="copied"),
        lambda: zarr.copy_all(source, root, without_attrs=True),
    ]
    for call in calls:
        store.stored.clear()
        call()
        assert store.stored.count("zarr.json") == 1
        require_true(store, 3)


def test_a_batch_that_changes_nothing_writes_nothing() -> None:
    store = Counting()
    root = consolidated(store, 3)
    store.stored.clear()
    with root.batch():
        assert root["old"].shape == (4,)
    assert store.stored == []


def test_another_store_and_a_node_outside_are_not_held_back(tmp_path: Path) -> None:
    one, other = zarr.MemoryStore(), zarr.MemoryStore()
    root, apart = consolidated(one, 3), consolidated(other, 3)
    with root.require_group("x").batch():
        apart.create_group("now")
        root.create_group("xy")
        assert "now" in told(other, 3)
        assert "xy" in told(one, 3)


def test_threads_share_the_batches_and_each_ends_complete(tmp_path: Path) -> None:
    consolidated(tmp_path, 3)
    both = threading.Barrier(2)

    def work(name: str) -> bool:
        root = zarr.open_group(tmp_path, mode="r+")
        with root.batch():
            both.wait()
            for number in range(10):
                root.create_array(f"{name}/{number}", shape=3, dtype="i4")
        return {f"{name}/{number}" for number in range(10)} <= set(
            told(zarr.open_group(tmp_path).store, 3)
        )

    with ThreadPoolExecutor(2) as pool:
        assert all(pool.map(work, ["p", "q"]))
    require_true(zarr.open_group(tmp_path).store, 3)


def test_threads_started_inside_are_in_the_batch(tmp_path: Path) -> None:
    root = consolidated(tmp_path, 3)
    store = root.store
    with root.batch():
        before = store["zarr.json"]
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(root.create_group, [f"t{n}" for n in range(12)]))
        assert store["zarr.json"] == before
    require_true(store, 3)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_is_forked_inside_is_in_no_batch(tmp_path: Path) -> None:
    root = consolidated(tmp_path, 3)
    store = root.store
    with root.batch():
        root.create_group("parent")
        child = os.fork()
        if child == 0:
            status = 1
            try:
                root.create_group("child")
                found = told(store, 3)
                status = 0 if "child" in found and "parent" not in found else 2
            finally:
                os._exit(status)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert "parent" not in told(store, 3)
    require_true(store, 3)


_WORKER = """
import sys
import zarrix as zarr

root = zarr.open_group(sys.argv[1], mode="r+")
with root.batch():
    for number in range(int(sys.argv[3])):
        root.create_array(f"{sys.argv[2]}/{number}", shape=3, dtype="i4")
    if len(sys.argv) > 4:
        import os
        os._exit(9)
"""


def test_two_processes_at_once_lose_nothing(tmp_path: Path) -> None:
    consolidated(tmp_path, 3)
    both = [
        subprocess.Popen([sys.executable, "-c", _WORKER, str(tmp_path), name, "15"])
        for name in ("p", "q")
    ]
    assert [one.wait(timeout=120) for one in both] == [0, 0]
    store = zarr.open_group(tmp_path).store
    assert {f"{name}/{n}" for name in "pq" for n in range(15)} <= set(told(store, 3))
    require_true(store, 3)


def test_a_process_that_dies_inside_leaves_nodes_that_consolidating_shows(tmp_path: Path) -> None:
    consolidated(tmp_path, 3)
    command = [sys.executable, "-c", _WORKER, str(tmp_path), "p", "3", "die"]
    assert subprocess.run(command, timeout=120, check=False).returncode == 9
    root = zarr.open_group(tmp_path, mode="r+", use_consolidated=False)
    assert sorted(root["p"]) == ["0", "1", "2"]
    assert "p" not in told(root.store, 3)
    zarr.consolidate_metadata(tmp_path)
    assert "p/2" in told(root.store, 3)


class Failing(zarr.MemoryStore):
    """A store that refuses to change the document of the root when told to."""

    refuses = False

    def update_value(self, key: str, change: Any) -> bytes | None:
        if self.refuses and key == "zarr.json":
            raise OSError("no space left")
        return super().update_value(key, change)


@pytest.mark.parametrize("fails", [False, True])
def test_a_failing_update_says_what_is_stored(fails: bool) -> None:
    store = Failing()
    root = consolidated(store, 3)

    def work() -> None:
        with root.batch():
            root.create_group("new")
            root.create_group("other")
            store.refuses = True
            if fails:
                raise KeyError("mine")

    with pytest.raises((OSError, KeyError)) as caught:
        work()
    notes = " ".join(caught.value.__notes__)
    if fails:
        assert "no space left" in notes
    else:
        assert "'new' (and of 1 further nodes) itself is stored" in notes
    store.refuses = False
    assert "new" in root
    # The batch is over: later changes are seen at once.
    root.create_group("later")
    assert "later" in told(store, 3)


_OTHER = """
import sys
import zarrix as zarr

root = zarr.open_group(sys.argv[1], mode="r+")
root["x"].attrs["theirs"] = 1
del root["y"]
"""


def test_what_another_process_changes_of_a_new_node_is_read_again(tmp_path: Path) -> None:
    root = consolidated(tmp_path, 3)
    with root.batch():
        for name in "xyz":
            root.create_array(name, shape=3, dtype="i4")
        subprocess.run([sys.executable, "-c", _OTHER, str(tmp_path)], check=True, timeout=120)
    found = told(root.store, 3)
    assert found["x"]["attributes"] == {"theirs": 1}
    assert {"x", "z"} <= set(found)
    assert "y" not in found


def test_creating_a_hierarchy_refuses_what_is_there_before_it_stores_anything() -> None:
    store = zarr.MemoryStore()
    root = consolidated(store, 3)
    like = root["old"].metadata
    store["lost/c/0"] = b"abc"
    before = dict(store)
    refused = ["old", "gone", "old/below", "lost", "from/a"]
    for path in refused:
        nodes = {f"n{number}": like for number in range(20)} | {path: like}
        with pytest.raises((zarr.errors.ContainsArrayError, zarr.errors.ContainsGroupError)):
            root.create_hierarchy(nodes)
    assert dict(store) == before
    with pytest.raises(ValueError, match="v3 group"):
        zarr.create_hierarchy(store=store, nodes={"new": {"zarr_format": 2}})
    assert dict(store) == before
