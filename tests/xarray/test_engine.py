"""``engine="zarrix"`` of xarray: what it reads, lazily, and what it refuses."""

import asyncio
import pickle
from collections import Counter
from importlib.metadata import entry_points
from json import JSONDecodeError
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("xarray.backends.writers")

import xarray as xr
from datasets import every_kind
from zarrix.xarray import to_zarr
from zarrix.xarray._backend import ZarrixBackend

FORMATS = pytest.mark.parametrize("zarr_format", [2, 3])


def opened(store: Any, **options: Any) -> xr.Dataset:
    return xr.open_dataset(store, engine=ZarrixBackend, **options)


@pytest.fixture
def stored(tmp_path: Path, zarr_format: int) -> str:
    path = str(tmp_path / "every.zarr")
    encoding: dict[str, Any] = {"cube": {"chunks": (2, 4, 5)}}
    if zarr_format == 3:
        encoding["cube"]["shards"] = (4, 8, 10)
    to_zarr(every_kind(), path, zarr_format=zarr_format, encoding=encoding)
    return path


def test_the_package_declares_the_engine() -> None:
    found = {one.value for one in entry_points(group="xarray.backends") if one.name == "zarrix"}
    if not found:
        pytest.skip("zarrix was installed before it had an engine; install it again")
    assert found == {"zarrix.xarray._backend:ZarrixBackend"}
    assert isinstance(xr.backends.list_engines()["zarrix"], ZarrixBackend)


@FORMATS
def test_a_dataset_comes_back_as_it_was(stored: str) -> None:
    with opened(stored) as found:
        xr.testing.assert_identical(found.load(), every_kind())


@FORMATS
def test_encodings_describe_what_is_stored(stored: str, zarr_format: int) -> None:
    with opened(stored) as found:
        encoding = found["cube"].encoding
        assert encoding["chunks"] == (2, 4, 5)
        assert encoding["preferred_chunks"] == {"t": 2, "y": 4, "x": 5}
        assert encoding["shards"] == ((4, 8, 10) if zarr_format == 3 else None)
        assert found["masked"].encoding["_FillValue"] == -999.0
        assert found["packed"].encoding["dtype"] == np.dtype("i2")
        assert found["t"].encoding["units"].startswith("days since 2020-01-01")
        assert ("serializer" in encoding) == (zarr_format == 3)


@FORMATS
@pytest.mark.parametrize(
    "selection",
    [
        {"t": 2},
        {"t": slice(4, None, -2), "x": [1, 5, 3]},
        {"t": [0, 1], "y": [3, 2]},
        {"y": np.array([True, False] * 4), "t": slice(None, None, 3)},
        {"t": [], "x": slice(8, 2, -3)},
        {"t": xr.DataArray([0, 2, 5], dims="p"), "x": xr.DataArray([8, 0, 1], dims="p")},
        {"t": xr.DataArray([[0, 2], [5, 5]], dims=("p", "q")), "y": slice(None, None, -1)},
    ],
)
def test_selections_are_those_of_the_dataset_in_memory(
    stored: str, selection: dict[str, Any]
) -> None:
    with opened(stored) as found:
        xr.testing.assert_identical(found.isel(selection).load(), every_kind().isel(selection))
        lazily = found["cube"].isel(y=slice(1, None)).isel(t=slice(None, None, -1))
        expected = every_kind()["cube"].isel(y=slice(1, None)).isel(t=slice(None, None, -1))
        wanted = {name: key for name, key in selection.items() if name != "y"}
        xr.testing.assert_identical(lazily.isel(wanted).load(), expected.isel(wanted))


@FORMATS
def test_elements_are_read_when_they_are_used(stored: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = zarr.Array.__getitem__

    def counted(self: zarr.Array, selection: Any) -> Any:
        read.append(self.path)
        return plain(self, selection)

    monkeypatch.setattr(zarr.Array, "__getitem__", counted)
    with opened(stored) as found:
        assert set(read) <= {"t", "x", "y"}
        read.clear()
        # Two selections are one read of 3 elements.
        assert found["cube"].variable[1, 2][::4].load().shape == (3,)
        assert read == ["cube"]


@FORMATS
def test_coroutines_load_the_same(stored: str) -> None:
    with opened(stored) as found:
        xr.testing.assert_identical(asyncio.run(found.load_async()), every_kind())
    with opened(stored) as found:
        some = found.isel(t=[0, 3], x=xr.DataArray([1, 2], dims="p"))
        expected = every_kind().isel(t=[0, 3], x=xr.DataArray([1, 2], dims="p"))
        xr.testing.assert_identical(asyncio.run(some.load_async()), expected)


@FORMATS
def test_pickles_open_the_arrays_again(stored: str) -> None:
    with opened(stored) as found:
        pickled = pickle.dumps(found)
        assert len(pickled) < 30_000
        xr.testing.assert_identical(pickle.loads(pickled).load(), every_kind())


@FORMATS
def test_chunks_of_the_file_become_blocks(stored: str, zarr_format: int) -> None:
    with opened(stored, chunks={}) as found:
        assert found["cube"].chunks == ((2, 2, 2), (4, 4), (5, 4))
        xr.testing.assert_identical(found.compute(scheduler="threads"), every_kind())


@FORMATS
def test_consolidated_metadata_is_not_needed_but_required_on_request(
    stored: str, tmp_path: Path, zarr_format: int
) -> None:
    with opened(stored, consolidated=True) as found:
        xr.testing.assert_identical(found.load(), every_kind())
    plain = str(tmp_path / "plain.zarr")
    to_zarr(every_kind(), plain, zarr_format=zarr_format, consolidated=False)
    with opened(plain) as found:
        xr.testing.assert_identical(found.load(), every_kind())
    with pytest.raises(FileNotFoundError, match="no consolidated metadata"):
        opened(plain, consolidated=True)


def test_a_copy_with_only_consolidated_metadata_opens(tmp_path: Path) -> None:
    path = tmp_path / "copy.zarr"
    to_zarr(every_kind(), str(path), zarr_format=2)
    for document in [*path.glob("*/.zarray"), *path.glob("*/.zattrs")]:
        document.unlink()
    with opened(str(path)) as found:
        xr.testing.assert_identical(found.load(), every_kind())


@FORMATS
def test_trees_have_all_groups(tmp_path: Path, zarr_format: int) -> None:
    tree = xr.DataTree.from_dict(
        {"/": every_kind(), "/a": every_kind()[["short"]], "/a/b": every_kind()[["cube"]]}
    )
    to_zarr(tree, tmp_path / "tree.zarr", zarr_format=zarr_format, write_inherited_coords=True)
    for options in ({}, {"consolidated": True}):
        found = xr.open_datatree(tmp_path / "tree.zarr", engine=ZarrixBackend, **options)
        assert set(found.groups) == {"/", "/a", "/a/b"}
        xr.testing.assert_identical(found["a/b/cube"].load(), tree["a/b/cube"])
        xr.testing.assert_identical(found["a"].to_dataset().load(), tree["a"].to_dataset())
        found.close()
    below = xr.open_datatree(tmp_path / "tree.zarr", engine=ZarrixBackend, group="a")
    assert set(below.groups) == {"/", "/b"}
    below.close()
    assert set(xr.open_groups(tmp_path / "tree.zarr", engine=ZarrixBackend)) == {"/", "/a", "/a/b"}


def test_groups_urls_zips_and_memory_are_opened(tmp_path: Path) -> None:
    data = every_kind()[["cube", "short"]]
    for store in (zarr.MemoryStore(), {}, tmp_path / "a.zip", f"file://{tmp_path}/b.zarr"):
        group = to_zarr(data, store)
        with opened(group) as found:
            xr.testing.assert_identical(found.load(), data)
        if not isinstance(store, Path):
            with opened(store) as found:
                xr.testing.assert_identical(found.load(), data)
        group.store.close()
    with opened(tmp_path / "a.zip") as found:
        xr.testing.assert_identical(found.load(), data)


def test_text_of_v2_is_text_of_variable_length(tmp_path: Path) -> None:
    words = np.array(["a", "", "long " * 10], dtype=object)
    root = zarr.open_group(tmp_path / "text.zarr", mode="w", zarr_format=2)
    # A fill value is xarray's mark of a missing value, also where it is the empty text.
    options = {"object_codec": zarr.VLenUTF8(), "fill_value": None}
    root.create_dataset("w", data=words, **options).attrs["_ARRAY_DIMENSIONS"] = ["x"]
    with opened(tmp_path / "text.zarr") as found:
        assert found["w"].values.tolist() == words.tolist()
        assert found["w"][1].item() == ""


def test_rectilinear_chunks_are_listed(tmp_path: Path) -> None:
    root = zarr.create_group(tmp_path / "r.zarr")
    root.create_array(
        "a", data=np.arange(10), chunks=[[3, 3, 4]], dimension_names=["x"], fill_value=0
    )
    with opened(tmp_path / "r.zarr", chunks={}) as found:
        assert found["a"].encoding["chunks"] == ((3, 3, 4),)
        assert found["a"].chunks == ((3, 3, 4),)
        assert found["a"].compute(scheduler="threads").values.tolist() == list(range(10))


@FORMATS
def test_arrays_without_names_of_dimensions_say_so(tmp_path: Path, zarr_format: Any) -> None:
    root = zarr.open_group(tmp_path / "n.zarr", mode="w", zarr_format=zarr_format)
    root.create_array("a", shape=3, dtype="i4")
    with pytest.raises(KeyError, match="'/a'"):
        opened(tmp_path / "n.zarr")


def test_dimensions_of_nczarr_are_found(tmp_path: Path) -> None:
    root = zarr.open_group(tmp_path / "nc.zarr", mode="w", zarr_format=2)
    root.create_array("a", data=np.arange(3))
    document = tmp_path / "nc.zarr" / "a" / ".zarray"
    text = document.read_text().rstrip().removesuffix("}")
    document.write_text(text + ',"_NCZARR_ARRAY": {"dimrefs": ["/x"], "storage": "chunked"}}')
    with opened(tmp_path / "nc.zarr") as found:
        assert found["a"].dims == ("x",)


def test_what_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "missing.zarr")
    to_zarr(every_kind(), tmp_path / "there.zarr")
    with pytest.raises(FileNotFoundError):
        opened(tmp_path / "there.zarr", group="missing")


def test_datasets_and_trees_take_the_same_options(tmp_path: Path) -> None:
    packed = {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}
    data = xr.Dataset({"a": ("x", [0.5, 1.5, 2.5])})
    to_zarr(data, tmp_path / "a.zarr", zarr_format=2, encoding={"a": packed})
    assert opened(tmp_path / "a.zarr")["a"].dtype == "f8"
    # The class, and not the name, as the engine: xarray has no list of its options.
    assert opened(tmp_path / "a.zarr", decode_cf=False)["a"].dtype == "i2"
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    assert group.to_xarray(decode_cf=False)["a"].dtype == "i2"
    tree = xr.open_datatree(
        tmp_path / "a.zarr", engine=ZarrixBackend, decode_cf=False, zarr_format=2
    )
    assert tree["a"].dtype == "i2"
    backend = ZarrixBackend()
    for function in (backend.open_dataset, backend.open_groups_as_dict, backend.open_datatree):
        with pytest.raises(TypeError, match="'groop'; did you mean 'group'"):
            function(tmp_path / "a.zarr", groop="x")


def test_xarray_does_not_choose_the_engine_by_itself(tmp_path: Path) -> None:
    assert not ZarrixBackend().guess_can_open(tmp_path / "x.zarr")


@FORMATS
def test_opening_requests_each_document_once(zarr_format: int) -> None:
    class Counted(dict[str, bytes]):
        def __getitem__(self, key: str) -> bytes:
            requested[key] += 1
            return super().__getitem__(key)

    requested: Counter[str] = Counter()
    store = Counted()
    data = xr.Dataset({name: ("x", np.arange(5)) for name in "abc"}, attrs={"site": "Kiel"})
    data["a"].attrs["units"] = "K"
    to_zarr(data, store, zarr_format=zarr_format, consolidated=False)
    requested.clear()
    with opened(store, consolidated=False) as found:
        assert found["a"].attrs == {"units": "K"}
        assert found.attrs == {"site": "Kiel"}
    names = (".zarray", ".zattrs") if zarr_format == 2 else ("zarr.json",)
    assert {requested[f"{one}/{name}"] for one in "abc" for name in names} == {1}
    assert requested[".zattrs" if zarr_format == 2 else "zarr.json"] == 1


def test_invalid_attributes_are_an_error_of_their_variable_only(tmp_path: Path) -> None:
    data = xr.Dataset({name: ("x", np.arange(5)) for name in "ab"})
    to_zarr(data, tmp_path / "a.zarr", zarr_format=2)
    valid = (tmp_path / "a.zarr/a/.zattrs").read_bytes()
    (tmp_path / "a.zarr/a/.zattrs").write_bytes(valid[:-1])
    with pytest.raises(JSONDecodeError, match=r"a/\.zattrs: not JSON"):
        opened(tmp_path / "a.zarr")
    members = zarr.open_group(tmp_path / "a.zarr", mode="r")._read_members()
    with pytest.raises(JSONDecodeError):
        members["a"].attrs.asdict()
    (tmp_path / "a.zarr/a/.zattrs").write_bytes(valid)
    assert members["a"].attrs["_ARRAY_DIMENSIONS"] == ["x"]


@FORMATS
def test_changed_attributes_are_those_of_one_dataset(tmp_path: Path, zarr_format: int) -> None:
    attributes = {"valid": [0, [1]], "by": {"who": ["Ada"]}}
    data = xr.Dataset({"a": ("x", np.arange(5), attributes)}, attrs=attributes)
    to_zarr(data, tmp_path / "a.zarr", zarr_format=zarr_format)
    with opened(tmp_path / "a.zarr") as first:
        for attrs in (first.attrs, first["a"].attrs):
            attrs["valid"][1].append(2)
            attrs["by"]["who"].append("Bob")
    with opened(tmp_path / "a.zarr") as second:
        assert second.attrs == second["a"].attrs == attributes
    group = zarr.open_group(tmp_path / "a.zarr", mode="r")
    stored = group["a"].attrs.asdict()
    assert {name: stored[name] for name in attributes} == attributes
