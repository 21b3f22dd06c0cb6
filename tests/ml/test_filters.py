"""Filters: every crop passes, every place that passes can be drawn, and counts are exact."""

import numpy as np
import pytest
import zarrix as zarr
from zarrix import ml


def masks() -> np.ndarray:
    random = np.random.default_rng(3)
    coarse = random.random((6, 5, 7)) < [[[0.1]], [[0.3]], [[0.5]], [[0.7]], [[0.9]], [[0.0]]]
    return coarse.repeat(4, axis=1).repeat(4, axis=2)


@pytest.mark.parametrize("ratio", [1, 2, 4])
@pytest.mark.parametrize(("op", "threshold"), [(">", 0.5), (">=", 0.75), ("<", 0.25), ("<=", 0.0)])
def test_every_crop_passes_and_all_places_are_drawn(ratio: int, op: str, threshold: float) -> None:
    mask = masks()
    image = zarr.array(mask.astype("u1"), chunks=(1, 8, 8))
    half = zarr.array(mask[:, ::2, ::2], chunks=(2, 8, 8))
    crops = ml.Crops(
        {"x": image, "half": half},
        dims="tyx",
        size={"y": 8, "x": 12},
        per_item=150,
        where=ml.fraction(zarr.array(mask[:, ::ratio, ::ratio]), op, threshold),
    )
    compare = {">": np.greater, ">=": np.greater_equal, "<": np.less, "<=": np.less_equal}[op]
    allowed = {
        (t, y, x)
        for t in range(6)
        for y in range(0, 13, 2)
        for x in range(0, 17, 2)
        if compare(share(mask[t, ::ratio, ::ratio], y, x, ratio), threshold)
    }
    seen = {
        tuple(start)
        for batch in ml.Loader(crops, batch_size=64)
        for start in batch["start"].tolist()
    }
    assert seen <= allowed
    assert len(seen) > 0.9 * len(allowed)
    assert len(crops) == 150 * len({t for t, _, _ in allowed})


def share(mask: np.ndarray, y: int, x: int, ratio: int) -> float:
    y, x = y // ratio, x // ratio
    return float(mask[y : y + 8 // ratio, x : x + 12 // ratio].mean())


def test_a_share_of_crops_has_a_label_in_its_centre() -> None:
    labels = np.zeros((3, 40, 40), "u1")
    labels[0, 10, 12], labels[1, 30, 30], labels[1, 5:7, 5:9] = 1, 2, 3
    crops = ml.Crops(
        {"labels": zarr.array(labels, chunks=(1, 20, 20))},
        dims="tyx",
        size={"y": 8, "x": 8},
        per_item=200,
        where=ml.foreground(labels, 0.25),
    )
    assert len(crops) == 600
    found = np.zeros(3)
    for batch in ml.Loader(crops, batch_size=50):
        centred = batch["labels"][:, 4, 4] > 0
        for frame in range(3):
            found[frame] += centred[batch["start"][:, 0] == frame].sum()
    assert 35 < found[0] < 65
    assert 35 < found[1] < 65
    assert found[2] == 0


def test_weights_draw_classes_equally_often() -> None:
    labels = np.array([0] * 90 + [1] * 9 + [2])
    rows = ml.Rows({"label": zarr.array(labels, chunks=10)})
    loader = ml.Loader(rows, batch_size=100, weights=ml.weights(labels), samples=3000)
    counts = np.zeros(3)
    for batch in loader:
        counts += np.bincount(batch["label"], minlength=3)
    assert counts.sum() == 3000
    assert (abs(counts - 1000) < 120).all()


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros((6, 20, 28)), "has no items"),
        (np.zeros((6, 19, 28)), "neither is a multiple"),
        (np.zeros((1, 1, 6, 20, 28)), "pass dims="),
    ],
)
def test_a_mask_that_does_not_fit_is_an_error(mask: np.ndarray, message: str) -> None:
    image = zarr.zeros((6, 20, 28), chunks=(1, 8, 8))
    with pytest.raises(ValueError, match=message):
        ml.Crops({"x": image}, dims="tyx", size=(8, 8), where=ml.fraction(mask))


@pytest.mark.parametrize("stored", [True, False])
@pytest.mark.parametrize("border", ["inside", "edge"])
@pytest.mark.parametrize(("op", "threshold"), [(">", 0.5), ("<=", 0.25)])
def test_a_lazy_mask_is_read_with_the_samples(
    stored: bool, border: str, op: str, threshold: float
) -> None:
    mask = masks()
    given = zarr.array(mask[:, ::2, ::2], chunks=(1, 3, 5)) if stored else mask[:, ::2, ::2]

    def crops(tries: int, size: int = 16) -> list[ml.Batch]:
        dataset = ml.Crops(
            {"x": zarr.array(mask.astype("u1"), chunks=(1, 8, 8))},
            dims="tyx",
            size={"y": 8, "x": 12},
            per_item=50,
            where=ml.fraction(given, op, threshold, lazy=True, tries=tries),
            border=border,
        )
        assert len(dataset) == 300
        return list(ml.Loader(dataset, size, seed=1))

    padded = np.pad(mask[:, ::2, ::2], ((0, 0), (8, 8), (8, 8)))
    compare = np.greater if op == ">" else np.less_equal
    passed = []
    for tries in (1, 4, 16):
        batches = crops(tries)
        for batch in batches:
            for (t, y, x), ok in zip(batch["start"].tolist(), batch["passes"], strict=True):
                part = padded[t, 8 + y // 2 :][:4, 8 + x // 2 :][:, :6]
                assert bool(compare(part.mean(), threshold)) == ok
        passed.append(sum(int(batch["passes"].sum()) for batch in batches))
    assert passed[0] < passed[1] < passed[2]
    again = np.concatenate([batch["start"] for batch in crops(16, 7)])
    assert np.array_equal(again, np.concatenate([batch["start"] for batch in batches]))


def test_masks_beyond_two_to_the_31_elements_are_lazy() -> None:
    mask = zarr.zeros((3, 30_000, 30_000), chunks=(1, 1000, 1000), dtype="u1")
    mask[1, :2000] = 1
    crops = ml.Crops(
        {"x": mask},
        dims="tyx",
        size={"y": 40, "x": 40},
        where=ml.fraction(mask, ">=", 1.0, tries=200),
    )
    batch = crops.__getitems__(range(3)).batch
    assert batch["passes"].tolist() == [False, True, False]
    assert batch["start"][1, 1] <= 1960
    with pytest.raises(ValueError, match="is indexed in memory"):
        ml.Crops(
            {"x": mask},
            dims="tyx",
            size={"y": 40, "x": 40},
            where=ml.fraction(mask, ">=", 1.0, lazy=False),
        )
