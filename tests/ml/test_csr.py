"""Rows of sparse matrices, as anndata stores them, against the dense matrix in memory."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.data import items_of
from zarrix import ml
from zarrix.ml._reading import csr_reading as _csr_reading


def dense(rows: int, columns: int, dtype: Any = "f4", density: float = 0.1) -> Any:
    random = np.random.default_rng(rows)
    values = random.integers(1, 100, (rows, columns)).astype(dtype)
    values[random.random((rows, columns)) >= density] = 0
    values[rows // 3 : rows // 3 + 4] = 0
    return values


def stored(
    values: Any, where: Any = None, *, chunk: int = 64, index: Any = "i4", **keywords: Any
) -> Any:
    """The group of a matrix."""
    group = zarr.open_group(where, mode="w", zarr_format=keywords.pop("zarr_format", 2))
    row, column = np.nonzero(values)
    indptr = np.searchsorted(row, np.arange(len(values) + 1))
    parts = {"data": values[row, column], "indices": column.astype(index)}
    for name, part in parts.items():
        group.create_dataset(name, data=part, chunks=max(1, min(chunk, len(part))), **keywords)
    group.create_dataset("indptr", data=indptr.astype(index))
    group.attrs.update({"encoding-type": "csr_matrix", "shape": list(values.shape)})
    return group


def assert_equal(loader: Any, values: Any) -> None:
    seen = []
    for batch in loader:
        np.testing.assert_array_equal(batch["x"], values[batch["item"]])
        assert batch["x"].dtype == values.dtype
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(len(values)))


@pytest.mark.parametrize("dtype", ["f4", ">f8", "u1", "i2", "?", "c8", "f2"])
@pytest.mark.parametrize("index", ["i4", ">u4", "i8", "u2"])
def test_rows_are_those_of_the_dense_matrix(dtype: str, index: str) -> None:
    values = dense(60, 30, dtype)
    rows = ml.Rows({"x": ml.CSR(stored(values, index=index))})
    for shuffle in (False, "full", "block"):
        assert_equal(ml.Loader(rows, 7, shuffle=shuffle, drop_last=False), values)
    np.testing.assert_array_equal(rows[25]["x"], values[25])


@pytest.mark.parametrize(
    "keywords", [{"zarr_format": 3}, {"zarr_format": 3, "shards": 256}, {"compressor": None}]
)
def test_formats_shards_and_folders(tmp_path: Path, keywords: dict[str, Any]) -> None:
    values = dense(100, 40)
    group = stored(values, tmp_path / "m.zarr", **keywords)
    assert_equal(ml.Loader(ml.Rows({"x": ml.CSR(group)}), 16, drop_last=False), values)


def test_rows_go_with_other_fields_and_several_groups() -> None:
    first, second = dense(50, 20), dense(31, 20)
    groups = [
        {"label": zarr.array(np.arange(len(one)), chunks=8), "x": ml.CSR(stored(one))}
        for one in (first, second)
    ]
    both = np.concatenate([first, second])
    loader = ml.Loader(ml.Rows(groups), 9, drop_last=False)
    for batch in loader:
        np.testing.assert_array_equal(batch["x"], both[batch["item"]])
        assert (batch["label"] == batch["item"] - 50 * batch["group"]).all()


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_any_matrix_whatever_is_stored_twice_and_in_any_order(data: Any) -> None:
    """What scipy.sparse does: elements that are stored twice are added."""
    rows, columns = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 6))
    lengths = data.draw(st.lists(st.integers(0, 9), min_size=rows, max_size=rows))
    total = sum(lengths)
    index = st.lists(st.integers(0, columns - 1), min_size=total, max_size=total)
    places = np.array(data.draw(index), np.int64)
    numbers = np.arange(1, total + 1, dtype="i8")
    wanted = np.zeros((rows, columns), "i8")
    np.add.at(wanted, (np.repeat(np.arange(rows), lengths), places), numbers)
    group = zarr.group()
    chunk = data.draw(st.integers(1, 8))
    group.create_dataset("data", data=numbers, chunks=chunk)
    group.create_dataset("indices", data=places, chunks=data.draw(st.integers(1, 8)))
    group.create_dataset("indptr", data=np.cumsum([0, *lengths]))
    matrix = ml.CSR(group, shape=(rows, columns))
    size = data.draw(st.integers(1, rows + 1))
    shuffle = data.draw(st.sampled_from([False, "full", "block"]))
    most = data.draw(st.sampled_from([1, 40, 2**25]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_csr_reading, "_MOST_BYTES", most)
        loader = ml.Loader(ml.Rows({"x": matrix}), size, shuffle=shuffle, drop_last=False)
        assert_equal(loader, wanted)


def test_a_choice_of_columns_in_any_order() -> None:
    values = dense(80, 50, density=0.3)
    group = stored(values)
    columns = [40, 3, 7, 49, 0]
    chosen = ml.Rows({"x": ml.CSR(group, columns=columns)})
    assert_equal(ml.Loader(chosen, 8, drop_last=False), values[:, columns])
    mask = np.zeros(50, bool)
    mask[columns] = True
    masked = ml.Rows({"x": ml.CSR(group, columns=mask)})
    assert_equal(ml.Loader(masked, 8, drop_last=False), values[:, sorted(columns)])
    # States of the two do not fit each other.
    state = ml.Loader(chosen, 8).state_dict()
    with pytest.raises(ValueError, match="dataset"):
        ml.Loader(masked, 8).load_state_dict(state)


def test_values_are_converted_by_column() -> None:
    values = dense(40, 5, "u2")
    scale = np.arange(1, 6) / 7
    field = ml.Field(ml.CSR(stored(values)), dtype="float32", scale=scale, offset=-1.0)
    for batch in ml.Loader(ml.Rows({"x": field}), 8):
        wanted = (values[batch["item"]] * scale - 1).astype("f4")
        np.testing.assert_array_equal(batch["x"], wanted)


def test_an_epoch_is_resumed(tmp_path: Path) -> None:
    values = dense(90, 12)
    rows = ml.Rows({"x": ml.CSR(stored(values, tmp_path / "m.zarr"))})
    whole = items_of(ml.Loader(rows, 8, seed=3, drop_last=False))
    loader = ml.Loader(rows, 8, seed=3, drop_last=False)
    batches = iter(loader)
    begun = [item for _ in range(4) for item in next(batches)["item"].tolist()]
    again = ml.Loader(rows, 5, seed=3, drop_last=False)
    again.load_state_dict(loader.state_dict())
    assert begun + items_of(again) == whole


def test_a_pickle_is_small_and_a_process_reads_row_pointers_once(tmp_path: Path) -> None:
    values = dense(2000, 8, density=0.5)
    rows = ml.Rows({"x": ml.CSR(stored(values, tmp_path / "m.zarr"))})
    before = pickle.dumps(rows)
    np.testing.assert_array_equal(rows[77]["x"], values[77])
    after = pickle.dumps(rows)
    assert max(len(before), len(after)) < 4096
    np.testing.assert_array_equal(pickle.loads(after)[1999]["x"], values[1999])


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_workers_of_a_dataloader_read_rows(tmp_path: Path, start: str) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    values = dense(120, 12)
    rows = ml.Rows({"x": ml.CSR(stored(values, tmp_path / "m.zarr"))})
    assert rows[5]["x"].shape == (12,)
    loader = torch.utils.data.DataLoader(
        rows,
        batch_sampler=ml.torch.BatchSampler(rows, 16, seed=0),
        num_workers=2,
        multiprocessing_context=start,
        collate_fn=ml.torch.collate,
    )
    seen = []
    for batch in loader:
        np.testing.assert_array_equal(batch["x"].numpy(), values[batch["item"].numpy()])
        seen += batch["item"].tolist()
    assert sorted(seen) == list(range(120))


def test_a_block_has_the_rows_of_a_chunk_and_each_chunk_is_decoded_once() -> None:
    values = dense(400, 30)
    rows = ml.Rows({"x": ml.CSR(stored(values, chunk=128))})
    plan = ml.Loader(rows, 16, shuffle="block").plan()
    assert plan.blocks > 5
    assert plan.amplification == pytest.approx(1, rel=0.3)
    assert plan.other_amplification >= plan.amplification


def broken(where: Path) -> tuple[Any, list[int]]:
    """A matrix with a corrupt chunk of values, and the rows that need it."""
    values = dense(100, 20, density=0.5)
    group = stored(values, where, chunk=64, compressor=zarr.Zlib())
    path = where / "data" / "4"
    path.write_bytes(path.read_bytes()[:9])
    matrix = ml.CSR(group)
    ends = matrix._bounds
    rows = np.flatnonzero((ends[1:] > 4 * 64) & (ends[:-1] < 5 * 64) & (np.diff(ends) > 0))
    return matrix, rows.tolist()


@pytest.mark.parametrize("shuffle", [False, "full", "block"])
def test_a_corrupt_chunk_concerns_the_rows_that_need_it(tmp_path: Path, shuffle: Any) -> None:
    matrix, bad = broken(tmp_path / "m.zarr")
    assert 2 < len(bad) < 20
    rows = ml.Rows({"x": matrix})
    with pytest.raises(zarr.errors.CorruptChunkError, match="data"):
        list(ml.Loader(rows, 10, shuffle=shuffle))
    # Which rows are replaced does not depend on the batch that they are in.
    for size in (1, 10, 50):
        loader = ml.Loader(rows, size, shuffle=shuffle, on_error="fill")
        invalid = []
        for batch in loader:
            invalid += batch["item"][~batch["valid"]].tolist()
            assert not batch["x"][~batch["valid"]].any()
        assert sorted(invalid) == bad
        replacing = ml.Loader(rows, size, shuffle=shuffle, on_error="replace")
        for batch in replacing:
            assert batch["x"].shape == (size, 20)
        assert sorted(one["item"] for one in replacing.errors) == bad


def test_what_is_not_a_sparse_matrix_is_an_error_that_says_so(tmp_path: Path) -> None:
    values = dense(20, 10)
    group = stored(values)
    with pytest.raises(TypeError, match=r"ml\.CSR\(group\)"):
        ml.Rows({"x": group})
    with pytest.raises(TypeError, match="Crops does not take"):
        ml.Crops({"x": ml.CSR(group)}, dims="yx", size={"x": 4})
    with pytest.raises(TypeError, match="not Array"):
        ml.CSR(group["data"])
    wrong: list[Any] = [[10], [-1], [1, 1], [], [0.5], np.zeros((2, 2), bool)]
    for columns in wrong:
        with pytest.raises(ValueError, match="columns="):
            ml.CSR(group, columns=columns)
    group.attrs["encoding-type"] = "csc_matrix"
    with pytest.raises(ValueError, match="csc_matrix"):
        ml.CSR(group)
    group.attrs["encoding-type"] = "csr_matrix"
    del group.attrs["shape"]
    with pytest.raises(zarr.errors.MetadataError, match="shape="):
        ml.CSR(group)
    with pytest.raises(zarr.errors.MetadataError, match="20 row pointers"):
        ml.CSR(group, shape=(19, 10))
    with pytest.raises(zarr.errors.MetadataError, match="'data'"):
        ml.CSR(zarr.group(), shape=(19, 10))


def test_stored_numbers_that_lie_are_an_error_that_names_the_matrix() -> None:
    values = dense(20, 10, density=0.5)
    group = stored(values)
    rows = ml.Rows({"x": ml.CSR(group, shape=(20, 4))})
    with pytest.raises(zarr.errors.MetadataError, match="column indices 0 to 9, and 4 columns"):
        list(ml.Loader(rows, 4))
    for lie in ([5, 3], [1, 1], [0, 10**9]):
        pointers = group["indptr"][:]
        pointers[[0, -1]] = lie
        other = stored(values)
        other["indptr"][:] = pointers
        with pytest.raises(zarr.errors.MetadataError, match="row pointers"):
            list(ml.Loader(ml.Rows({"x": ml.CSR(other)}), 4))


def test_a_row_that_claims_more_than_it_can_have_is_refused_before_it_takes_memory() -> None:
    group = zarr.group()
    group.create_dataset("data", shape=2**40, chunks=2**20, dtype="f4")
    group.create_dataset("indices", shape=2**40, chunks=2**20, dtype="i4")
    group.create_dataset("indptr", data=np.array([0, 3, 2**40]))
    rows = ml.Rows({"x": ml.CSR(group, shape=(2, 50))})
    with pytest.raises(zarr.errors.MetadataError, match="1099511627773 elements"):
        list(ml.Loader(rows, 2))
