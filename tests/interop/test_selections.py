"""Keys and values of zarr-python's selections, resolved without zarr-python, against NumPy.

That they mean what zarr-python means is in tests/zarr_python, where it is installed.
"""

import itertools
from random import Random
from typing import Any

import numpy as np
import pytest
from zarrix.interop import _batch as batch
from zarrix.interop import _elements as elements
from zarrix.interop import _keys as keys

SHAPE = (7, 9, 4)
VALUES = np.arange(7 * 9 * 4).reshape(SHAPE)


class Axis:
    """Chunks along an axis, as zarr-python describes them."""

    def __init__(self, size: int, chunk: int) -> None:
        self.size, self.chunk = size, chunk
        self.nchunks = -(-size // chunk)

    def chunk_offset(self, number: int) -> int:
        return number * self.chunk


def chosen(indexer: Any) -> Any:
    """The elements that an indexer selects, in its shape."""
    if indexer.coords:
        return VALUES[indexer.coords].reshape(indexer.shape)
    axes = []
    for axis in indexer.axes:
        if isinstance(axis, tuple):
            start, step, count = axis
            axes.append(np.arange(count) * step + start)
        else:
            axes.append(np.atleast_1d(axis))
    return VALUES[np.ix_(*axes)].reshape(indexer.shape)


def basic_key(random: Random) -> Any:
    items = []
    for size in SHAPE[: random.randint(0, 3)]:
        ends = sorted(random.randint(-size, size) for _ in range(2))
        step = random.choice([None, 1, 2, 3])
        items.append(random.choice([slice(*ends, step), random.randrange(-size, size)]))
    if random.random() < 0.3:
        items.insert(random.randint(0, len(items)), ...)
    return tuple(items)


@pytest.mark.parametrize("seed", range(200))
def test_boxes_are_those_of_numpy(seed: int) -> None:
    key = basic_key(Random(seed))
    box = keys.basic(key, SHAPE)
    try:
        expected = VALUES[key]
    except IndexError:
        assert box is None
    else:
        assert box is not None
        assert np.array_equal(chosen(keys.Indexer(*box)), expected)


@pytest.mark.parametrize("seed", range(100))
def test_arrays_select_along_their_axes_and_points_as_numpy_does(seed: int) -> None:
    random = Random(seed)
    lists = [[random.randrange(-size, size) for _ in range(4)] for size in SHAPE]
    found = keys.coordinate(tuple(lists), SHAPE)
    assert np.array_equal(chosen(found), VALUES[tuple(lists)])
    mask = np.array([random.random() < 0.5 for _ in range(SHAPE[1])])
    found = keys.orthogonal((lists[0], mask, slice(1, 3)), SHAPE)
    assert np.array_equal(chosen(found), VALUES[lists[0]][:, mask][:, :, 1:3])
    whole = VALUES % random.randint(2, 5) == 0
    assert np.array_equal(chosen(keys.mask(whole, SHAPE)), VALUES[whole])


@pytest.mark.parametrize(
    ("key", "expected"),
    [(1, VALUES[3:6]), ((-1, 0), VALUES[6:, :4]), ((slice(1, None), ..., 1), VALUES[3:, :, 3:])],
)
def test_blocks_are_whole_chunks(key: Any, expected: Any) -> None:
    borders = [Axis(7, 3), Axis(9, 4), Axis(4, 3)]
    box = keys.block(key, SHAPE, borders)
    assert box is not None
    assert np.array_equal(chosen(keys.Indexer(*box)), expected)


NEVER = [None, True, 1.5, "x", [0.5], np.array(1), 7, -8, slice(None, None, -1), (..., ...)]


@pytest.mark.parametrize("key", NEVER, ids=str)
@pytest.mark.parametrize("rule", [keys.basic, keys.orthogonal, keys.coordinate, keys.mask])
def test_what_is_not_certain_is_left_to_zarr_python(rule: Any, key: Any) -> None:
    assert rule(key, SHAPE) is None
    assert keys.block(key, SHAPE, [Axis(7, 3), Axis(9, 4), Axis(4, 3)]) is None


def test_values_are_cast_or_left_to_zarr_python() -> None:
    number = np.dtype("i4")
    assert elements.elements_of(2.7, number, (2,)) == 2
    assert elements.elements_of(np.array([1.5, 2.5]), number, (2,)).tolist() == [1, 2]
    assert elements.elements_of([[1], [2]], number, (2,)) is None
    assert elements.elements_of(np.ones((1, 2)), number, (2,)) is None
    assert elements.elements_of(iter([1, 2]), number, (2,)) is None
    record = np.dtype([("a", "i4"), ("b", "i4")])
    assert elements.elements_of(np.zeros(2, [("c", "i8")]), record, (2,)) is None
    assert elements.flat_elements_of([[1, 2], [3, 4]], number, 4).tolist() == [1, 2, 3, 4]


def divided(selections: list[Any], chunk_shape: tuple[int, ...]) -> list[Any]:
    """A selection by an index array for each axis, divided by chunks as zarr-python does."""
    parts = []
    for indices, chunk in zip(selections, chunk_shape, strict=True):
        numbers = np.asarray(indices) // chunk
        at = {int(n): np.nonzero(numbers == n)[0] for n in np.unique(numbers)}
        parts.append([(n, np.asarray(indices)[to] - n * chunk, to) for n, to in at.items()])
    return [
        (tuple(n for n, _, _ in one), tuple(i for _, i, _ in one), tuple(to for _, _, to in one))
        for one in itertools.product(*parts)
    ]


@pytest.mark.parametrize("seed", range(50))
def test_divided_selections_are_joined(seed: int) -> None:
    random = Random(seed)
    selections = [random.sample(range(size), random.randint(1, size)) for size in SHAPE]
    chunks = divided(selections, (3, 4, 2))
    random.shuffle(chunks)
    found = batch.selection_of(chunks, (3, 4, 2), ())
    assert found is not None
    assert np.array_equal(chosen(found), VALUES[np.ix_(*selections)])
    if len(chunks) > 1:
        # The caller compares the shape with that of the buffer.
        fewer = batch.selection_of(chunks[1:], (3, 4, 2), ())
        assert fewer is None or fewer.shape != found.shape
