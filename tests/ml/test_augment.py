"""Sizes, mirrors and quarter turns of samples, against NumPy, Pillow and formulas."""

import itertools
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from ml.data import scenes
from zarrix import ml

SIZE = {"y": 24, "x": 24}
D4 = (ml.Flip("x"), ml.Rot90("yx"))


def crops_of(arrays: Any, **options: Any) -> Any:
    return ml.Crops(arrays, dims="tcyx", size=SIZE, per_item=6, **options)


def turned(values: Any, batch: Any, row: int) -> Any:
    """What NumPy makes of a sample whose last axes are y and x, by what a batch says of it."""
    values = np.flip(values, -1) if batch["flips"][row, 0] else values
    return np.rot90(values, int(batch["turns"][row, 0]), (-2, -1))


def check(plain: Any, augmented: Any, names: Any, **options: Any) -> set[tuple[bool, int]]:
    """Compare the batches of two loaders; the turns that were drawn."""
    drawn = set()
    pairs = zip(ml.Loader(plain, 5, **options), ml.Loader(augmented, 5, **options), strict=True)
    for was, batch in pairs:
        assert (was["item"] == batch["item"]).all()
        assert (was["start"] == batch["start"]).all()
        for row in range(len(batch["item"])):
            drawn.add((bool(batch["flips"][row, 0]), int(batch["turns"][row, 0])))
            for name in names:
                wanted = turned(was[name][row], batch, row)
                assert np.array_equal(batch[name][row], wanted), (name, row)
    return drawn


@pytest.mark.parametrize("shuffle", ["full", "block", False])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_fields_of_several_resolutions_are_turned_alike(shuffle: Any, prefetch: int) -> None:
    arrays, _ = scenes()
    plain = crops_of(arrays)
    drawn = check(plain, plain.augment(*D4), arrays, shuffle=shuffle, prefetch=prefetch)
    assert len(drawn) == 8


@pytest.mark.parametrize("border", ["inside", "pad", "edge", "reflect"])
def test_borders_are_turned_with_their_window(border: str) -> None:
    arrays, _ = scenes()
    crops = ml.Crops(arrays, dims="tcyx", size={"y": 90, "x": 90}, border="pad")
    if border != "pad":
        size = {"y": 72, "x": 72} if border == "inside" else {"y": 90, "x": 90}
        crops = ml.Crops(arrays, dims="tcyx", size=size, border=border)
    check(crops, crops.augment(*D4), arrays)


def stored(kind: str, values: Any, folder: Path) -> Any:
    """The same values, in one of the forms that a field may have."""
    if kind == "numpy":
        return values
    if kind == "view":
        return zarr.array(values, chunks=(3, 5, 4)).astype(values.dtype)
    chunks, options = (3, 5, 4), dict[str, Any]()
    if kind == "shards":
        options = {"zarr_format": 3, "shards": (6, 10, 8)}
    if kind == "raw":
        options = {"compressor": None}
    if kind == "one chunk":
        chunks = values.shape
    if kind == "disk":
        options = {"store": str(folder / "x.zarr")}
    z = zarr.create(values.shape, chunks=chunks, dtype=values.dtype, **options)
    z[:] = values
    return z


KINDS = ["numpy", "view", "chunks", "shards", "raw", "one chunk", "disk"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["u1", ">i2", "f4", "c16", "M8[s]", "S3", "?"])
def test_all_forms_and_data_types_of_a_field_are_turned(
    kind: str, dtype: str, tmp_path: Path
) -> None:
    numbers = np.arange(6 * 11 * 11).reshape(6, 11, 11)
    values = numbers.astype("i8").astype(dtype) if dtype != "S3" else numbers.astype("S3")
    field = ml.Field(stored(kind, values, tmp_path), dims="nyx")
    rows = ml.Rows({"x": field})
    check(rows, rows.augment(*D4), ["x"])


@pytest.mark.parametrize("kind", ["numpy", "chunks", "disk"])
def test_text_is_mirrored(kind: str, tmp_path: Path) -> None:
    values = np.array([[["a", "bb", "c"]] * 3] * 4, dtype=object)
    z = stored("numpy", values, tmp_path)
    if kind != "numpy":
        z = zarr.array(values.astype(str), chunks=(2, 2, 2), dtype=str)
    rows = ml.Rows({"x": ml.Field(z, dims="nyx")}).augment(ml.Flip("x", p=1))
    assert rows[2]["x"].tolist() == [["c", "bb", "a"]] * 3


def test_any_axis_is_mirrored_and_conversions_and_layouts_stay(tmp_path: Path) -> None:
    values = np.random.default_rng(1).integers(0, 255, (5, 3, 6, 7, 8)).astype("u1")
    z = zarr.array(values, chunks=(2, 3, 4, 4, 4))
    means, stds = [10, 20, 30], [1, 2, 4]
    field = ml.Field(
        z, dims="nczyx", dtype="float32", mean=means, std=stds, layout="yzxc", clip=(-20, 40)
    )
    rows = ml.Rows({"v": field})
    for dim, axis in (("y", 0), ("z", 1), ("x", 2)):
        mirrored = rows.augment(ml.Flip(dim, p=1))
        for item in range(5):
            assert np.array_equal(mirrored[item]["v"], np.flip(rows[item]["v"], axis))
    with pytest.raises(ValueError, match="values of scale= or mean= along 'c'"):
        rows.augment(ml.Flip("c"))


@pytest.mark.parametrize("options", [{}, {"every": 2}, {"every": 2, "border": "reflect"}])
def test_all_frames_of_a_clip_are_turned_alike(options: Any) -> None:
    arrays, _ = scenes(frames=16)
    clips = ml.Clips(arrays, dims="tcyx", frames=3, size=SIZE, **options)
    assert len(check(clips, clips.augment(*D4), arrays)) > 4
    if not options:
        backwards = clips.augment(ml.Flip("t", p=1))
        assert np.array_equal(backwards[4]["rgb"], clips[4]["rgb"][::-1])
    else:
        with pytest.raises(ValueError, match="one index along 't'"):
            clips.augment(ml.Flip("t"))


def test_samples_that_are_not_square_have_half_turns() -> None:
    z = zarr.array(np.arange(120).reshape(2, 6, 10), chunks=(1, 4, 4))
    rows = ml.Rows({"x": ml.Field(z, dims="nyx")})
    for turns in ((0, 1, 2, 3), 1, 3):
        with pytest.raises(ValueError, match="half turns only"):
            rows.augment(ml.Rot90("yx", turns))
    assert np.array_equal(rows.augment(ml.Rot90("yx", 2))[1]["x"], np.rot90(rows[1]["x"], 2))


def samples_by_item(batches: Iterator[Any]) -> dict[int, Any]:
    samples = {}
    for batch in batches:
        for row, item in enumerate(batch["item"].tolist()):
            samples[item] = {name: np.array(value[row]) for name, value in batch.items()}
    return samples


def test_ranks_batch_sizes_resumed_runs_and_workers_draw_the_same() -> None:
    arrays, _ = scenes()
    crops = crops_of(arrays).augment(*D4, ml.Resize({"y": 12, "x": 12}, "area"))
    wanted = samples_by_item(iter(ml.Loader(crops, 4, seed=3)))
    assert len(wanted) == 72
    ranks = [
        ml.Loader(crops, size, seed=3, rank=rank, world=2, drop_last=False)
        for rank, size in ((0, 3), (1, 3))
    ]
    halves = [samples_by_item(iter(loader)) for loader in ranks]
    first = ml.Loader(crops, 5, seed=3)
    batches = iter(first)
    begun = samples_by_item(iter([next(batches), next(batches)]))
    resumed = ml.Loader(crops, 3)
    resumed.load_state_dict(first.state_dict())
    begun.update(samples_by_item(iter(resumed)))
    for other in ({**halves[0], **halves[1]}, begun):
        assert other.keys() == wanted.keys()
        for item, sample in wanted.items():
            for name in ("rgb", "flow", "depth", "flips", "turns"):
                assert np.array_equal(other[item][name], sample[name]), (item, name)
    second = samples_by_item(iter(ml.Loader(crops, 4, seed=4)))
    assert any((second[item]["turns"] != wanted[item]["turns"]).any() for item in wanted)


def test_a_state_of_other_augmentations_is_refused() -> None:
    arrays, _ = scenes()
    crops = crops_of(arrays)
    state = ml.Loader(crops.augment(*D4), 4).state_dict()
    ml.Loader(crops.augment(*D4), 4).load_state_dict(state)
    others = [
        crops,
        crops.augment(ml.Flip("x")),
        crops.augment(ml.Flip("x", p=0.4), D4[1]),
        crops.augment(D4[1], D4[0]),
    ]
    for other in others:
        with pytest.raises(zarr.errors.StateError, match="augment"):
            ml.Loader(other, 4).load_state_dict(state)


def test_a_pickled_dataset_a_part_and_a_mix_are_augmented() -> None:
    arrays, _ = scenes()
    crops = crops_of(arrays)
    whole = crops.augment(*D4)
    again = pickle.loads(pickle.dumps(whole))
    part = crops.select(range(10, 20)).augment(*D4)
    for number, item in enumerate(range(10, 20)):
        for name in arrays:
            assert np.array_equal(part[number][name], again[item][name])
            assert np.array_equal(whole[item][name], again[item][name])
    mix = ml.Mix({"a": whole, "b": part}, weights={"a": 1, "b": 1})
    for batch in ml.Loader(mix, 4):
        assert batch["flips"].shape == (4, 1)


def test_a_damaged_sample_is_replaced_by_an_augmented_one() -> None:
    store: dict[str, bytes] = {}
    values = np.arange(8 * 36).reshape(8, 6, 6)
    z = zarr.create(values.shape, chunks=(1, 6, 6), dtype="i8", store=store)
    z[:] = values
    store["3.0.0"] = store["3.0.0"][:-4]
    rows = ml.Rows({"x": ml.Field(z, dims="nyx")}).augment(*D4)
    for rule in ("replace", "fill"):
        loader = ml.Loader(rows, 4, on_error=rule, shuffle=False)
        for batch in loader:
            for row, item in enumerate(batch["item"].tolist()):
                valid = rule == "replace" or batch["valid"][row]
                wanted = values[item] if valid else np.zeros((6, 6), "i8")
                assert np.array_equal(batch["x"][row], turned(wanted, batch, row))
        assert len(loader.errors) == 1


@pytest.mark.parametrize("codec", ["raw", "lz4"])
def test_a_stage_gives_the_same_turns_and_sizes(codec: str, tmp_path: Path) -> None:
    values = np.random.default_rng(0).integers(0, 255, (20, 64, 64)).astype("u1")
    z = zarr.create(values.shape, chunks=(2, 32, 32), dtype="u1", store=str(tmp_path / "x.zarr"))
    z[:] = values
    crops = ml.Crops({"x": z}, dims="tyx", size=SIZE)
    for steps in (D4, (*D4, ml.Resize({"y": 16, "x": 16}, "bilinear"))):
        augmented = crops.augment(*steps)
        (tmp_path / "stage").mkdir(exist_ok=True)
        stage = ml.Stage(tmp_path / "stage", codec=codec)
        staged = ml.Loader(augmented, 4, stage=stage)
        for _ in range(3):
            assert len(list(staged)) == 5
        staged.set_epoch(0)
        plain = ml.Loader(augmented, 4)
        for batch, wanted in zip(staged, plain, strict=True):
            assert np.array_equal(batch["x"], wanted["x"])
        assert staged.stats().staged > 0


def weights_of(method: str, old: int, new: int) -> Any:
    """The matrix that makes an axis of ``new`` elements of one of ``old``, by its definition."""
    matrix = np.zeros((new, old))
    scale = old / new
    for index, source in itertools.product(range(new), range(old)):
        centre = (index + 0.5) * scale
        if method == "nearest":
            matrix[index, source] = source == (2 * index + 1) * old // (2 * new)
        elif method == "bilinear":
            matrix[index, source] = max(0, 1 - abs(source + 0.5 - centre) / max(scale, 1))
        else:
            low, high = centre - scale / 2, centre + scale / 2
            matrix[index, source] = max(0, min(high, source + 1) - max(low, source))
    return matrix / matrix.sum(axis=1, keepdims=True)


def resized(values: Any, method: str, size: dict[int, int]) -> Any:
    """Values in another size, by matrices in double precision."""
    result = values.astype("f8")
    for axis, length in size.items():
        matrix = weights_of(method, values.shape[axis], length)
        result = np.moveaxis(np.tensordot(matrix, result, (1, axis)), 0, axis)
    return result


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["nearest", "bilinear", "area"]),
    st.sampled_from(["u1", "i2", "u4", "f2", "f4", "f8"]),
    st.tuples(*[st.integers(1, 24)] * 4),
    st.booleans(),
)
def test_a_size_is_what_the_formula_says(
    method: str, dtype: str, lengths: tuple[int, int, int, int], in_memory: bool
) -> None:
    """Floats to 1e-6 of the largest value, halves to their own precision, integers to 1."""
    height, width, high, wide = lengths
    random = np.random.default_rng(sum(lengths))
    values = (random.random((3, 2, height, width)) * 200).astype(dtype)
    z = values if in_memory else zarr.array(values, chunks=(2, 1, 7, 5))
    rows = ml.Rows({"x": ml.Field(z, dims="ncyx")})
    made = rows.augment(ml.Resize({"y": high, "x": wide}, method))
    for item in range(3):
        wanted = resized(values[item], method, {1: high, 2: wide})
        got = made[item]["x"]
        assert got.shape == (2, high, wide)
        assert got.dtype == dtype
        if method == "nearest":
            assert np.array_equal(got, wanted.astype(dtype))
        elif np.dtype(dtype).kind in "iu":
            # Ties may fall to either side.
            assert np.abs(got - wanted).max() <= 0.5 + 1e-9
        else:
            precision = 2e-3 if dtype == "f2" else 1e-6
            assert np.abs(got - wanted).max() <= 200 * precision


@pytest.mark.parametrize("method", ["bilinear", "area", "nearest"])
@pytest.mark.parametrize("size", [(11, 40), (64, 31), (3, 5)])
def test_a_size_is_that_of_pillow(method: str, size: tuple[int, int]) -> None:
    """Floats to 1e-4 of 255, and bytes to 1: Pillow computes bytes in integers. Its centres that
    lie between two elements may fall to either of them, so that these sizes have none.
    """
    image = pytest.importorskip("PIL.Image")
    # Pillow's BOX counts each source element as a whole; where the size is a divisor both agree.
    shape = (33, 80) if method != "area" else (size[0] * 3, size[1] * 2)
    kinds = {
        "bilinear": image.Resampling.BILINEAR,
        "area": image.Resampling.BOX,
        "nearest": image.Resampling.NEAREST,
    }
    for dtype, tolerance in (("u1", 1), ("f4", 0.0255)):
        values = np.random.default_rng(2).integers(0, 255, shape).astype(dtype)
        rows = ml.Rows({"x": ml.Field(zarr.array(values[None]), dims="nyx")})
        got = rows.augment(ml.Resize({"y": size[0], "x": size[1]}, method))[0]["x"]
        wanted = np.asarray(image.fromarray(values).resize(size[::-1], kinds[method]))
        assert np.abs(got.astype("f8") - wanted).max() <= tolerance


def test_sizes_of_aligned_fields_are_of_one_ratio_and_labels_keep_their_values() -> None:
    arrays, _ = scenes()
    labels = np.random.default_rng(3).choice([0, 7, 200], (12, 1, 72, 96)).astype("u1")
    fields = {**arrays, "label": zarr.array(labels, chunks=(1, 1, 20, 20))}
    methods = {"rgb": "bilinear", "flow": "area", "depth": "nearest", "label": "nearest"}
    crops = crops_of(fields)
    made = crops.augment(ml.Resize({"y": 12, "x": 18}, methods))
    turned_after = crops.augment(ml.Flip("y", p=1), ml.Resize({"y": 12, "x": 18}, methods))
    for was, batch, mirrored in zip(
        ml.Loader(crops, 6), ml.Loader(made, 6), ml.Loader(turned_after, 6), strict=True
    ):
        for name, down in (("rgb", 1), ("flow", 2), ("depth", 3), ("label", 1)):
            height, width = 12 // down, 18 // down
            assert batch[name].shape[2:] == (height, width)
            for row in range(6):
                wanted = resized(was[name][row], methods[name], {1: height, 2: width})
                assert np.abs(batch[name][row] - wanted).max() <= (
                    0.5 + 1e-9 if name == "rgb" else 0.1
                )
            # Samples are flipped after they are resized, to the bit.
            assert np.array_equal(mirrored[name], batch[name][:, :, ::-1])
        assert set(np.unique(batch["label"])) <= {0, 7, 200}


def test_a_volume_and_a_clip_are_resized_along_all_their_axes() -> None:
    values = np.random.default_rng(4).random((3, 10, 12, 14))
    z = zarr.array(values, chunks=(1, 4, 5, 6))
    rows = ml.Rows({"v": ml.Field(z, dims="nzyx", layout="xzy", dtype="float32")})
    got = rows.augment(ml.Resize({"z": 5, "y": 6, "x": 21}, "area"))[1]["v"]
    wanted = resized(values[1], "area", {0: 5, 1: 6, 2: 21}).transpose(2, 0, 1)
    assert np.abs(got - wanted).max() <= 1e-6
    arrays, _ = scenes()
    for options in ({}, {"every": 2}):
        clips = ml.Clips({"rgb": arrays["rgb"]}, dims="tcyx", frames=4, size=SIZE, **options)
        made = clips.augment(ml.Resize({"y": 8, "x": 12}, "bilinear"))
        wanted = resized(clips[2]["rgb"], "bilinear", {2: 8, 3: 12})
        assert made[2]["rgb"].shape == (4, 3, 8, 12)
        assert np.abs(made[2]["rgb"] - wanted).max() <= 0.5 + 1e-9


def test_what_is_not_a_step_of_samples_is_refused() -> None:
    arrays, _ = scenes()
    crops = crops_of(arrays)
    refused = [
        ([ml.Flip("z")], "no field has 'z'"),
        ([ml.Flip("t")], "one index along 't'"),
        ([ml.Resize({"y": 5, "x": 24}, "area")], "not a multiple of 2"),
        ([ml.Resize({"z": 5}, "area")], "not a dimension"),
        ([ml.Resize({"y": 12}, {"rgb": "area"})], "none for field 'flow'"),
        ([ml.Resize({"y": 12}, {"rbg": "area"})], "not a field"),
        ([ml.Resize({"y": 12}, "area"), ml.Resize({"x": 12}, "area")], "two sizes"),
        ([ml.Resize({"y": 12}, "area"), ml.Rot90("yx")], "half turns only"),
    ]
    for steps, message in refused:
        with pytest.raises(ValueError, match=message):
            crops.augment(*steps)
    with pytest.raises(TypeError, match="not str"):
        crops.augment("flip")
    with pytest.raises(ValueError, match="augmented already"):
        crops.augment(*D4).augment(*D4)
    group = zarr.group()
    for name, values in (("data", [3.0]), ("indices", [1]), ("indptr", [0, 1, 1])):
        group.create_dataset(name, data=np.array(values))
    group.attrs.update({"encoding-type": "csr_matrix", "shape": [2, 3]})
    cells = ml.Rows({"x": ml.Field(ml.CSR(group), dims="nx")})
    with pytest.raises(ValueError, match="sparse matrix"):
        cells.augment(ml.Flip("x"))
    ragged = ml.Ragged({"x": zarr.ones((5, 3))}, offsets=[0, 2, 5])
    with pytest.raises(ValueError, match="differ in length"):
        ragged.augment(ml.Flip("x"))
    for wrong in (
        lambda: ml.Flip("x", p=1.5),
        lambda: ml.Rot90("y"),
        lambda: ml.Rot90("yx", []),
        lambda: ml.Resize({}, "area"),
        lambda: ml.Resize({"y": 0}, "area"),
        lambda: ml.Resize({"y": 2}, "bicubic"),
    ):
        with pytest.raises(ValueError, match=r"needed|allowed"):
            wrong()
    mask = ml.Rows({"m": ml.Field(zarr.ones((3, 4), dtype="?"), dims="nx")})
    with pytest.raises(ValueError, match="not resized"):
        mask.augment(ml.Resize({"x": 2}, "area"))


@pytest.mark.parametrize("kind", ["numpy", "chunks"])
@pytest.mark.parametrize("target", ["uint8", "int16", "int32", "int64", "uint64"])
def test_integers_become_those_of_a_field(kind: str, target: str, tmp_path: Path) -> None:
    values = np.array([[0, 1, 250, 300, -5, 2**53 + 1, 2**63 - 1, -(2**63)]] * 3)
    z = values if kind == "numpy" else zarr.array(values, chunks=(2, 3))
    limits = np.iinfo(target)
    wanted = [min(max(value, limits.min), limits.max) for value in values[0].tolist()]
    got = ml.Rows({"x": ml.Field(z, dtype=target)})[1]["x"]
    assert got.dtype == target
    assert got.tolist() == wanted
    floats = np.array([[0.5, 1.5, -0.5, np.nan, 1e30, -np.inf]] * 3)
    with pytest.raises(ValueError, match="number for NaN"):
        ml.Field(floats, dtype=target)
    z = floats if kind == "numpy" else zarr.array(floats, chunks=(2, 3))
    got = ml.Rows({"x": ml.Field(z, dtype=target, nan=9)})[1]["x"]
    assert got.tolist() == [0, 2, 0, 9, limits.max, limits.min]


@pytest.mark.parametrize("workers", [0, 2])
def test_workers_of_a_data_loader_draw_the_same(workers: int) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    arrays, _ = scenes()
    crops = crops_of(arrays).augment(*D4, ml.Resize({"y": 12, "x": 12}, "area"))
    loader = ml.torch.DataLoader(crops, 6, seed=2, num_workers=workers)
    for batch, wanted in zip(loader, ml.Loader(crops, 6, seed=2), strict=True):
        assert batch.seeds.tolist() == wanted.seeds.tolist()
        for name in (*arrays, "flips", "turns"):
            assert np.array_equal(batch[name].numpy(), wanted[name]), name
