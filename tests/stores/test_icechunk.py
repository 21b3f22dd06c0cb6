"""Icechunk repositories: golden ones that their package wrote (tests/golden/icechunk/make.py)."""

import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from icechunk_files import NAMES, contents, files, unpacked
from zarrix.cli import main
from zarrix.storage import IcechunkStore

HERE = "file:///golden/outside/"


@pytest.fixture
def outside(tmp_path: Path) -> dict[str, str]:
    """Where the file of the virtual chunks is by now."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "data file.bin").write_bytes(b"head" + contents.CLIMATE.tobytes())
    return {HERE: str(tmp_path / "outside")}


def arrays(root: zarr.Group) -> dict[str, zarr.Array]:
    members = root.members(max_depth=None)
    return {array.path: array for _, array in members if isinstance(array, zarr.Array)}


@pytest.mark.parametrize("of_files", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_every_version_has_the_arrays_that_their_package_wrote(
    name: str, of_files: bool, tmp_path: Path, outside: dict[str, str]
) -> None:
    repository = unpacked(name, tmp_path) if of_files else files(name)
    for version, state in contents.states(moves=name == "v2").items():
        store = IcechunkStore(repository, version, allowed=outside)
        root = zarr.open_group(store, mode="r")
        number = 1 if version in ("tag:v1", "branch:dev") else 2
        assert dict(root.attrs) == {"title": "größe", "n": number}
        found = arrays(root)
        assert found.keys() == state.keys()
        for path, values in state.items():
            z = found[path]
            assert (z.shape, z.dtype) == (values.shape, values.dtype), (version, path)
            assert np.array_equal(z[...], values), (version, path)
        assert root["wave"].attrs["unit"] == "m"
        assert found["größe/数据"].metadata.dimension_names == ("y", "x")


def test_parts_of_shards_and_of_virtual_files_are_read(
    tmp_path: Path, outside: dict[str, str]
) -> None:
    store = IcechunkStore(unpacked("v2", tmp_path), "tag:v1", allowed=outside)
    root = zarr.open_group(store, mode="r")
    state = contents.states(moves=True)["tag:v1"]
    for path in ("shards", "virtual", "split", "wave"):
        assert np.array_equal(root[path][3:17, 9:10], state[path][3:17, 9:10])
        assert np.array_equal(
            root[path].oindex[[19, 0, 7], [1, 18]], state[path][[[19], [0], [7]], [1, 18]]
        )
    assert store["group/small/c/1"][:0] == b""
    assert store.getitems(["group/small/c/9", "zarr.json"]).keys() == {"zarr.json"}
    assert root["shards"].nchunks_initialized == 64
    assert root["unwritten"].nchunks_initialized == 0
    assert root["virtual"].nbytes_stored == 1600 + len(store["virtual/zarr.json"])


def test_listings_are_those_of_the_nodes_and_of_the_stored_chunks(tmp_path: Path) -> None:
    store = IcechunkStore(unpacked("v2", tmp_path))
    assert store.listdir() == [
        "empty",
        "group",
        "größe",
        "renamed",
        "split",
        "texts",
        "virtual",
        "wave",
        "zarr.json",
    ]
    assert store.listdir("group") == ["c", "deep", "small", "zarr.json"]
    assert store.listdir("group/deep/scalar") == ["c", "zarr.json"]
    assert store.listdir("group/small") == ["c", "zarr.json"]
    assert store.listdir("group/small/c") == ["0", "1", "2", "3"]
    assert store.listdir("empty") == ["zarr.json"]
    # The last chunk has become the fill value.
    chunks = [f"wave/c/{i}/{j}" for i in range(4) for j in range(4) if (i, j) != (3, 3)]
    assert [key for key in store if key.startswith("wave/c")] == chunks
    assert list(store) == sorted(store)
    assert all(
        key in store and store.getsize(key) == len(store[key])
        for key in store
        if "virtual/c" not in key
    )
    for key in (
        "c",
        "wave/c",
        "wave/c/0",
        "wave/c/00/0",
        "wave/c/0/0/0",
        "wave/0/0",
        "group/c/1",
        "x/zarr.json",
        ".zgroup",
    ):
        assert key not in store, key
        assert store.get(key) is None, key


def test_a_repository_opens_by_its_path_and_by_a_url(tmp_path: Path) -> None:
    path = unpacked("v1", tmp_path)
    state = contents.states(moves=False)
    for place, version in [
        (str(path), "branch:main"),
        (path, "branch:main"),
        (f"icechunk://{path}", "branch:main"),
        (f"icechunk://{path}@tag:v1", "tag:v1"),
        (f"icechunk+file://{path}@branch:dev", "branch:dev"),
    ]:
        root = zarr.open(place, mode="r")
        assert isinstance(root.store, IcechunkStore), place
        assert np.array_equal(root["group/small"][:], state[version]["group/small"]), place
        z = zarr.open_array(place, mode="r", path="group/small")
        assert np.array_equal(z[:], state[version]["group/small"])
    snapshot = IcechunkStore(path, "tag:v1").snapshot_id
    assert IcechunkStore(path, f"snapshot:{snapshot}").snapshot_id == snapshot


def test_a_folder_that_is_not_a_repository_stays_a_directory(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "x", mode="w", zarr_format=3)
    root.create_group("snapshots").create_array("a", shape=3, dtype="i4")
    (tmp_path / "x" / "repo").write_bytes(b"something else")
    again = zarr.open_group(tmp_path / "x", mode="r+")
    assert type(again.store) is zarr.DirectoryStore
    assert list(again["snapshots"]) == ["a"]


@pytest.mark.parametrize(
    "version", ["tag:gone", "tag:v2", "branch:v1", "snapshot:x", "snapshot:" + "0" * 20]
)
@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_version_is_an_error_that_names_it(name: str, version: str) -> None:
    with pytest.raises(zarr.errors.VersionNotFoundError) as raised:
        IcechunkStore(files(name), version)
    assert repr(version.partition(":")[2]) in str(raised.value)
    for wrong in ("v1", "", "tag:", "commit:1", None):
        with pytest.raises(ValueError, match="'branch:NAME', 'tag:NAME' or 'snapshot:ID'"):
            IcechunkStore(files(name), wrong)  # type: ignore[arg-type]


def test_where_no_repository_is_nothing_is_opened(tmp_path: Path) -> None:
    for missing in (tmp_path / "none", {}, {"zarr.json": b"{}"}):
        with pytest.raises(FileNotFoundError, match="there is no Icechunk repository"):
            IcechunkStore(missing)
    assert not (tmp_path / "none").exists()


def test_every_change_is_refused_and_names_the_package(tmp_path: Path) -> None:
    path = unpacked("v2", tmp_path)
    before = {one: one.read_bytes() for one in path.rglob("*") if one.is_file()}
    store = IcechunkStore(path)
    changes: list[Any] = [
        lambda: zarr.open_group(path, mode="w"),
        lambda: zarr.open_group(path, mode="r+").create_group("new"),
        lambda: zarr.open_group(path, mode="a").attrs.update(n=3),
        lambda: zarr.open_array(path, mode="r+", path="wave").__setitem__(0, 1),
        lambda: store.__setitem__("a", b"1"),
        lambda: store.__delitem__("zarr.json"),
        lambda: store.rmdir("wave"),
        lambda: store.rename("wave", "other"),
        store.clear,
        lambda: zarr.save_array(path, [1, 2]),
        lambda: zarr.consolidate_metadata(path),
    ]
    for number, change in enumerate(changes):
        with pytest.raises(zarr.errors.ReadOnlyError) as raised:
            change()
        assert "icechunk" in str(raised.value) or "read-only" in str(raised.value), number
    with pytest.raises(zarr.errors.ReadOnlyError, match=r"writable_session\('main'\) of icechunk"):
        store["a"] = b"1"
    assert before == {one: one.read_bytes() for one in path.rglob("*") if one.is_file()}


def test_a_store_keeps_its_snapshot_when_the_branch_moves_on(tmp_path: Path) -> None:
    path = unpacked("v1", tmp_path)
    store = IcechunkStore(path)
    z = zarr.open_array(store, path="group/small", mode="r")
    kept = pickle.dumps((store, z))
    shutil.copy(path / "refs/branch.dev/ref.json", path / "refs/branch.main/ref.json")
    assert zarr.open(path, mode="r")["group/small"][:].tolist() == [-5] * 5
    other, again = pickle.loads(kept)
    assert again[:].tolist() == z[:].tolist() == [0, 1, 2, 3, 4, 50, 60]
    assert other == store != IcechunkStore(path)


def test_virtual_chunks_are_read_only_where_the_caller_allows_it(
    tmp_path: Path, outside: dict[str, str]
) -> None:
    path = unpacked("v1", tmp_path)
    place = str(tmp_path / "outside")
    for refused in (
        {},
        {"file:///golden/out": place},
        {"file:///golden/outside/data": place},
        [place],
    ):
        z = zarr.open_array(IcechunkStore(path, allowed=refused), path="virtual", mode="r")
        with pytest.raises(
            PermissionError, match=r"'?file:///golden/outside/data%20file.bin'?.*allowed="
        ):
            z[:]
    for allowed in (outside, {"file:///golden/outside": place}, {"file:///": "/", HERE: place}):
        z = zarr.open_array(IcechunkStore(path, allowed=allowed), path="virtual", mode="r")
        assert np.array_equal(z[:], contents.CLIMATE)
    (tmp_path / "outside" / "data file.bin").write_bytes(b"short")
    with pytest.raises(zarr.errors.CorruptChunkError, match="is shorter than a manifest says"):
        z[:]
    (tmp_path / "outside" / "data file.bin").unlink()
    with pytest.raises(zarr.errors.CorruptChunkError, match="is missing"):
        z[:]


@pytest.mark.parametrize("damage", ["missing", "short"])
def test_a_chunk_whose_file_is_damaged_is_never_the_fill_value(damage: str) -> None:
    repository = files("v2")
    z = zarr.open_array(IcechunkStore(repository, "tag:v1"), path="wave", mode="r")
    assert np.array_equal(z[:], contents.states(True)["tag:v1"]["wave"])
    for key in [one for one in repository if one.startswith("chunks/")]:
        if damage == "missing":
            del repository[key]
        else:
            repository[key] = repository[key][:-1]
    z = zarr.open_array(IcechunkStore(repository, "tag:v1"), path="wave", mode="r")
    with pytest.raises(zarr.errors.CorruptChunkError, match=r"is missing|is shorter"):
        z[:]


def test_version_opens_a_branch_a_tag_or_a_snapshot(tmp_path: Path) -> None:
    path = unpacked("v2", tmp_path)
    state = contents.states(moves=True)
    for version in (
        "tag:v1",
        "branch:dev",
        f"snapshot:{IcechunkStore(path, 'tag:v1').snapshot_id}",
    ):
        expected = state.get(version, state["tag:v1"])["group/small"]
        for root in (zarr.open(path, version=version), zarr.open_group(path, version=version)):
            assert np.array_equal(root["group/small"][:], expected), version
        z = zarr.open_array(path, path="group/small", version=version)
        assert np.array_equal(z[:], expected)
        assert z.read_only
    with pytest.raises(zarr.errors.VersionNotFoundError, match="has no tag 'v9'"):
        zarr.open(path, version="tag:v9")
    with pytest.raises(ValueError, match="'branch:NAME', 'tag:NAME' or 'snapshot:ID'"):
        zarr.open(path, version="v1")


def test_a_version_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = unpacked("v2", tmp_path)
    assert main(["tree", f"{path}@tag:v1"]) == 0
    assert "unwritten" in capsys.readouterr().out
    assert main(["tree", str(path)]) == 0
    assert "unwritten" not in capsys.readouterr().out
