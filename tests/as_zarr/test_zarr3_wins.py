"""Where zarr-python 2.18 and 3.4.2 differ, zarrix does as 3.4.2 under the alias, and only there.

`test_alike.py` compares with zarr-python itself; these name what a user sees.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix._runtime.dialect import DIALECT


@pytest.fixture
def as_zarr3(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", True)


def document(store: Any, key: str) -> Any:
    return json.loads(bytes(store[key]))


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("shape", [(), (5,), (3, 4)])
@pytest.mark.parametrize("dtype", ["f4", "U3", str])
def test_the_default_compressor_is_zstd_without_a_checksum(shape: Any, dtype: Any) -> None:
    for make in (zarr.create, zarr.create_array):
        store: dict[str, Any] = {}
        z = make(store=store, shape=shape, dtype=dtype, zarr_format=2)
        z[...] = np.ones(shape).astype(dtype)
        assert document(store, ".zarray")["compressor"] == {"id": "zstd", "level": 0}
        again = np.asarray(zarr.open_array(store)[...]).tolist()
        assert again == np.ones(shape).astype(dtype).tolist()
        z = make(store={}, shape=shape, dtype=dtype, zarr_format=3)
        assert z.metadata.to_dict()["codecs"][-1] == {
            "name": "zstd",
            "configuration": {"level": 0, "checksum": False},
        }


@pytest.mark.usefixtures("as_zarr3")
def test_a_group_of_v2_makes_members_with_blosc() -> None:
    # As zarr-python 3.4.2, whose functions have zstd.
    root = zarr.open_group({}, mode="w", zarr_format=2)
    made = {
        "blosc": [
            root.create_array("a", shape=3, dtype="i4"),
            root.require_array("b", shape=3, dtype="i4"),
            root.create_dataset("c", shape=3, dtype="i4"),
            root.create_array("d", data=np.arange(3)),
        ],
        "zstd": [root.create("e", shape=3), root.zeros("f", shape=3), root.array("g", [1, 2])],
    }
    for codec, arrays in made.items():
        assert {z.compressor.codec_id for z in arrays} == {codec}
    assert root.create_array("h", shape=3, dtype="i4", compressors=None).compressor is None
    assert root.create_dataset("i", shape=3, compressor=None).compressor is None
    assert root.create_dataset("j", shape=3, compression="gzip").compressor.codec_id == "gzip"


def test_the_default_compressor_of_zarrix_is_another() -> None:
    assert zarr.create(shape=3, zarr_format=2).compressor.codec_id == "blosc"
    last = zarr.create_array({}, shape=3, dtype="u1").metadata.to_dict()["codecs"][-1]
    assert last["configuration"]["checksum"] is True


@pytest.mark.parametrize("writes", [True, False])
def test_every_node_of_v2_has_attributes(monkeypatch: pytest.MonkeyPatch, writes: bool) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", writes)
    store: dict[str, Any] = {}
    root = zarr.open_group(store, mode="w", zarr_format=2)
    root.create_array("a/b/c", shape=3, dtype="i4")
    root.create_group("g", attributes={"k": 1})
    root.create_group("h")
    group = {"zarr_format": 2}
    dict(zarr.create_hierarchy(store=store, nodes={"many/one": group, "many/two": group}))
    nodes = {key[: -len(".zarray")] for key in store if key.endswith((".zarray", ".zgroup"))}
    assert len(nodes) == 9
    found = {key[: -len(".zattrs")]: document(store, key) for key in store if ".zattrs" in key}
    empty: dict[str, Any] = {key: {} for key in nodes} if writes else {}
    assert found == {**empty, "g/": {"k": 1}}


@pytest.mark.usefixtures("as_zarr3")
def test_the_attributes_of_another_process_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    # It creates a group above, with attributes, just before this one does.
    from zarrix._nodes.put_new import put_new

    store = zarr.MemoryStore()
    zarr.open_group(store, mode="w", zarr_format=2)

    def late(inner: Any, key: str, *arguments: Any) -> bool:
        if key == "above/.zgroup":
            store[key] = b'{"zarr_format": 2}'
            store["above/.zattrs"] = b'{"kept": 1}'
        return put_new(inner, key, *arguments)

    monkeypatch.setattr("zarrix._nodes.nodes.put_new", late)
    zarr.create_array(store, name="above/a", shape=3, dtype="i4", zarr_format=2)
    assert document(store, "above/.zattrs") == {"kept": 1}
    assert document(store, "above/a/.zattrs") == {}


@pytest.mark.usefixtures("as_zarr3")
def test_the_separator_of_v2_is_written() -> None:
    store: dict[str, Any] = {}
    zarr.create(store=store, shape=(3, 3), chunks=2, zarr_format=2)[...] = 1
    assert document(store, ".zarray")["dimension_separator"] == "."
    assert "1.1" in store


@pytest.mark.usefixtures("as_zarr3")
def test_nothing_is_deleted_where_nothing_is_and_a_scalar_has_no_grid() -> None:
    root = zarr.open_group({}, mode="w", zarr_format=3)
    del root["nothing"]
    z = root.create_array("a", shape=(), dtype="i4")
    assert (z.cdata_shape, z.nchunks, list(root)) == ((), 1, ["a"])


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_is_believed(tmp_path: Path, zarr_format: Any) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    root.create_array("a", shape=3, dtype="i4", attributes={"k": 1})[:] = [1, 2, 3]
    root.create_array("b", shape=3, dtype="i4")
    zarr.consolidate_metadata(tmp_path)
    name = ".zarray" if zarr_format == 2 else "zarr.json"
    (tmp_path / "a" / name).write_text("")
    (tmp_path / "b" / name).unlink()
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / (".zgroup" if zarr_format == 2 else name)).write_text(
        json.dumps({"zarr_format": zarr_format, "node_type": "group", "attributes": {}})
    )
    for used in (None, True):
        found = zarr.open_group(tmp_path, mode="r", use_consolidated=used)
        assert found["a"][:].tolist() == [1, 2, 3]
        assert (sorted(found), found["a"].attrs["k"], "c" in found) == (["a", "b"], 1, False)
        with pytest.raises(KeyError):
            found["c"]
    found = zarr.open_group(tmp_path, mode="r", use_consolidated=False)
    assert "c" in found
    assert "b" not in found


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_what_is_created_in_a_consolidated_group_is_in_it(tmp_path: Path, zarr_format: Any) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    root.create_group("a")
    zarr.consolidate_metadata(tmp_path)
    found = zarr.open_group(tmp_path, mode="a")
    found.create_array("a/new", shape=3, dtype="i4")[:] = 7
    found["a"].attrs["k"] = 2
    assert found["a/new"][0] == 7
    again = zarr.open_group(tmp_path, mode="r")
    assert (again["a/new"][0], again["a"].attrs["k"]) == (7, 2)
    del found["a"]
    assert (list(found), list(zarr.open_group(tmp_path, mode="r"))) == ([], [])


@pytest.mark.usefixtures("as_zarr3")
def test_a_store_may_have_no_consolidated_metadata(tmp_path: Path) -> None:
    class Plain(zarr.MemoryStore):
        supports_consolidated_metadata = False

    store = Plain()
    root = zarr.open_group(store, mode="w", zarr_format=3)
    root.create_group("a")
    zarr.consolidate_metadata(store)
    del store["a/zarr.json"]
    assert "a" not in zarr.open_group(store)
    assert "a" in zarr.open_group(zarr.MemoryStore(dict(store)))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_folder_that_is_no_node_is_warned_of(
    tmp_path: Path, zarr_format: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    root.create_group("a")
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "x").write_text("x")
    assert list(root) == ["a"]
    monkeypatch.setattr(DIALECT, "is_zarr3", True)
    with pytest.warns(UserWarning, match="Object at odd is not recognized as a component"):
        assert list(root) == ["a"]
    assert "odd" not in root


@pytest.mark.parametrize(("is_zarr3", "fill"), [(True, 0), (False, None)])
def test_the_fill_value_of_an_empty_array_of_v2(
    monkeypatch: pytest.MonkeyPatch, is_zarr3: bool, fill: Any
) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", is_zarr3)
    assert zarr.empty(3, zarr_format=2).fill_value == fill
    assert zarr.open_group({}, mode="w", zarr_format=2).empty("a", shape=3).fill_value == fill


@pytest.mark.parametrize(("is_zarr3", "kind"), [(True, TypeError), (False, ValueError)])
def test_open_consolidated_refuses_to_do_without(
    monkeypatch: pytest.MonkeyPatch, is_zarr3: bool, kind: type[Exception]
) -> None:
    monkeypatch.setattr(DIALECT, "is_zarr3", is_zarr3)
    options: dict[str, Any] = {"use_consolidated": False}
    with pytest.raises(kind, match="use_consolidated is True here"):
        zarr.open_consolidated({}, **options)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_complex_element_may_be_a_tuple(zarr_format: Any) -> None:
    dtype: Any = zarr.dtype.parse_dtype("c16", zarr_format=3)
    found = dtype.from_json_scalar((1.0, "Infinity"), zarr_format=zarr_format)
    assert (found.real, found.imag) == (1.0, np.inf)


@pytest.mark.usefixtures("as_zarr3")
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_without_the_group_of_a_node_is_refused(
    tmp_path: Path, zarr_format: Any
) -> None:
    root = zarr.open_group(tmp_path, mode="w", zarr_format=zarr_format)
    root.create_group("images/one").create_array("0", shape=2, dtype="i4")
    zarr.consolidate_metadata(tmp_path)
    file = tmp_path / (".zmetadata" if zarr_format == 2 else "zarr.json")
    whole = json.loads(file.read_text())
    if zarr_format == 2:
        del whole["metadata"]["images/one/.zgroup"]
    else:
        del whole["consolidated_metadata"]["metadata"]["images/one"]
    file.write_text(json.dumps(whole))
    with pytest.raises(zarr.errors.GroupNotFoundError, match=r"images/one/0.*consolidate_metadata"):
        zarr.open_group(tmp_path, mode="r")
    found = zarr.open_group(tmp_path, mode="r", use_consolidated=False)
    assert found["images/one/0"].shape == (2,)
    zarr.consolidate_metadata(tmp_path)
    assert list(zarr.open_group(tmp_path, mode="r")["images"]) == ["one"]


@pytest.mark.usefixtures("as_zarr3")
def test_a_store_at_a_file_has_no_nodes_and_the_file_stays(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("mine")
    with pytest.raises(zarr.errors.GroupNotFoundError):
        zarr.open_group(zarr.storage.LocalStore(file), mode="r")
    for mode in ("a", "w"):
        with pytest.raises(OSError):
            zarr.open_group(zarr.storage.LocalStore(file), mode=mode)
    assert file.read_text() == "mine"


def test_a_store_at_a_file_is_an_error_natively(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(zarr.errors.FSPathExistNotDir):
        zarr.storage.LocalStore(tmp_path / "notes.txt")
