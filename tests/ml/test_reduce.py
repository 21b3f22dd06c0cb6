"""Loaders of smaller pictures: the batches of a dataset of `Array.reduced`."""

import json
import pickle

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml

SIZE = {"y": 12, "x": 20}
DIMS = {"rgb": "tyxc", "depth": "tyx"}


def photographs(count=6, seed=0):
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:64, :96]
    waves = np.stack([127 + 90 * np.sin(x / 9 + k + y / 13) for k in range(3)], -1)
    return (waves + rng.normal(0, 12, (count, 64, 96, 3))).clip(0, 255).astype("u1")


def jpeg(data, chunks=(1, 64, 96, 3), **options):
    return zarr.create_array({}, data=data, chunks=chunks, compressors="jpeg:90", **options)


RGB = jpeg(photographs())
DEPTH = zarr.array(np.random.default_rng(1).random((6, 32, 48), "f4"), chunks=(1, 32, 48))
MASK = np.indices((6, 64, 96)).sum(0) % 5 > 0


def both(make, factor=2, fields=None, smaller=None, **options):
    """Batches of a loader with ``reduce``, and of one of the dataset of the smaller views."""
    fields = {"rgb": RGB, "depth": DEPTH} if fields is None else fields
    smaller = {"rgb": RGB.reduced(factor), "depth": DEPTH} if smaller is None else smaller
    given = {"batch_size": 4, "seed": 3, **options}
    ours = ml.Loader(make(fields), reduce=factor, **given)
    return ours, ml.Loader(make(smaller), **given)


def assert_same(one, other):
    found, wanted = list(one), list(other)
    assert len(found) == len(wanted) > 0
    for a, b in zip(found, wanted, strict=True):
        assert a.keys() == b.keys()
        for name in a:
            assert np.array_equal(a[name], b[name]), name
    assert one.state_dict() == other.state_dict()
    return found


def crops(fields, **options):
    return ml.Crops(fields, dims=DIMS, size=SIZE, **options)


@pytest.mark.parametrize("factor", [2, 4])
@pytest.mark.parametrize("prefetch", [0, 2])
def test_crops_are_windows_of_the_smaller_view(factor, prefetch):
    loader, other = both(lambda fields: crops(fields, per_item=3), factor, prefetch=prefetch)
    small = RGB.reduced(factor)[:]
    for batch in assert_same(loader, other):
        for (t, y, x, _), pixels in zip(batch["start"], batch["rgb"], strict=True):
            assert y <= small.shape[1] - 12
            assert np.array_equal(pixels, small[t, y : y + 12, x : x + 20])


MAKERS = {
    "rows": lambda fields: ml.Rows({"rgb": fields["rgb"]}),
    "clips": lambda fields: ml.Clips(fields, dims=DIMS, frames=2, size=SIZE, episodes=[2, 6]),
    "grid": lambda fields: ml.Grid(fields, SIZE, dims=DIMS, stride={"y": 8}),
    "where": lambda fields: crops(fields, where=ml.fraction(MASK, ">", 0.5)),
    "density": lambda fields: crops(fields, density=1.0, border="pad", pad_value=7),
    "part": lambda fields: crops(fields).split({"a": 0.5, "b": 0.5})[1],
    "chosen": lambda fields: ml.Rows({"rgb": fields["rgb"]}).select([4, 1, 2]),
    "joined": lambda fields: crops(fields).join(ml.Table({"label": list("abcdef")})),
    "mix": lambda fields: ml.Mix(
        {"a": crops(fields), "b": crops(fields)}, weights={"a": 2, "b": 1}
    ),
    "field": lambda fields: crops(
        {**fields, "rgb": ml.Field(fields["rgb"], dtype="float32", scale=1 / 255, layout="cyx")}
    ),
    "groups": lambda fields: crops([fields, fields]),
    "pickled": lambda fields: pickle.loads(pickle.dumps(crops(fields))),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_dataset_is_that_of_the_smaller_view(name):
    assert_same(*both(MAKERS[name]))


def crops_of_two(fields):
    return ml.Crops(fields, dims="tyxc", size=SIZE)


def test_two_cameras_are_both_smaller():
    right = jpeg(photographs(seed=5))
    fields = {"left": RGB, "right": right}
    smaller = {"left": RGB.reduced(4), "right": right.reduced(4)}
    found = assert_same(*both(crops_of_two, 4, fields, smaller))
    assert found[0]["right"].shape == (4, 12, 20, 3)


def test_the_dataset_of_the_caller_is_not_changed():
    dataset = crops({"rgb": RGB})
    ml.Loader(dataset, reduce=2)
    assert np.array_equal(
        next(iter(ml.Loader(dataset)))["rgb"], next(iter(ml.Loader(crops({"rgb": RGB}))))["rgb"]
    )


def test_a_state_is_of_one_size():
    first = ml.Loader(crops({"rgb": RGB}), 2, reduce=2)
    next(iter(first))
    state = json.loads(json.dumps(first.state_dict()))
    for changed in ({}, {"reduce": 4}):
        with pytest.raises(zarr.errors.StateError, match="another dataset"):
            ml.Loader(crops({"rgb": RGB}), 2, **changed).load_state_dict(state)
    ml.Loader(crops({"rgb": RGB}), 3, reduce=2).load_state_dict(state)


@pytest.mark.parametrize(
    ("make", "factor", "words"),
    [
        (lambda: crops({"rgb": RGB}), 3, "2, 4 or 8"),
        (lambda: crops({"rgb": RGB}), "2", "2, 4 or 8"),
        (lambda: crops({"depth": DEPTH, "rgb": RGB}), 2, "JPEG pictures.*downsample"),
        (lambda: ml.Rows({"x": zarr.array(photographs(2))}), 2, "JPEG pictures"),
        (lambda: ml.Rows({"x": photographs(2)}), 2, "'x', the first field, is of ndarray"),
        (lambda: crops({"rgb": RGB.reduced(2)}), 2, "view of reduced"),
        (lambda: crops({"rgb": RGB}), 8, "size 20 along 'x'|larger"),
        (
            lambda: ml.Grid({"rgb": RGB}, SIZE, dims="tyxc").split({"a": 0.5, "b": 0.5})[0],
            2,
            "other items",
        ),
    ],
)
def test_what_cannot_be_smaller_is_an_error_that_says_why(make, factor, words):
    with pytest.raises(ValueError, match=words):
        ml.Loader(make(), reduce=factor)
