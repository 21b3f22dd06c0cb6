"""Basic keys against what NumPy does with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarrix._errors import ArrayIndexError, BoundsCheckError
from zarrix._selection.basic import parse_basic, split_fields


def apply(selection, new_axes, array):
    """What an engine that follows the contract of ``parse_basic`` reads."""
    key = []
    for axis in selection:
        if isinstance(axis, int):
            key.append(axis)
        else:
            start, step, count = axis
            key.append(np.array([start + step * place for place in range(count)], dtype=int))
    kept = [part if isinstance(part, np.ndarray) else np.array([part]) for part in key]
    result = array[np.ix_(*kept)] if kept else array
    dropped = tuple(place for place, part in enumerate(key) if isinstance(part, int))
    return np.expand_dims(result.squeeze(dropped), new_axes)


@st.composite
def shapes_and_keys(draw):
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=4)))
    items = []
    for size in shape[: draw(st.integers(0, len(shape)))]:
        bound = st.none() | st.integers(-7, 7)
        step = st.none() | st.integers(-4, 4).filter(bool)
        kinds = [st.builds(slice, bound, bound, step)]
        if size:
            kinds.append(st.integers(-size, size - 1))
            kinds.append(st.integers(-size, size - 1).map(np.int64))
        items.append(draw(st.one_of(kinds)))
    if draw(st.booleans()):
        items.insert(draw(st.integers(0, len(items))), Ellipsis)
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return shape, items[0] if len(items) == 1 and draw(st.booleans()) else tuple(items)


@given(shapes_and_keys())
def test_a_key_selects_what_numpy_selects(case):
    shape, key = case
    # The part after an Ellipsis must fit the axes it lands on; NumPy tells whether it does.
    array = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    try:
        expected = array[key]
    except IndexError:
        with pytest.raises(IndexError):
            parse_basic(key, shape)
        return
    selection, out_shape, new_axes = parse_basic(key, shape)
    assert len(selection) == len(shape)
    assert out_shape == tuple(axis[2] for axis in selection if not isinstance(axis, int))
    for axis, size in zip(selection, shape, strict=True):
        first, last = (axis, axis) if isinstance(axis, int) else (axis[0], axis[0])
        if not isinstance(axis, int) and axis[2]:
            last = axis[0] + axis[1] * (axis[2] - 1)
        if isinstance(axis, int) or axis[2]:
            assert 0 <= first < size
            assert 0 <= last < size
    result = apply(selection, new_axes, array)
    assert result.shape == np.shape(expected)
    assert np.array_equal(result, expected)


@pytest.mark.parametrize(
    ("key", "shape", "expected"),
    [
        ((), (), ((), (), ())),
        (..., (), ((), (), ())),
        (None, (), ((), (), (0,))),
        (3, (10,), ((3,), (), ())),
        (-1, (10,), ((9,), (), ())),
        (slice(None, None, -1), (10,), (((9, -1, 10),), (10,), ())),
        (slice(5, 5), (10,), (((0, 1, 0),), (0,), ())),
        ((..., 0), (2, 3), (((0, 1, 2), 0), (2,), ())),
        ((0, ..., 0), (2, 3), ((0, 0), (), ())),
    ],
)
def test_what_the_engine_is_given(key, shape, expected):
    assert parse_basic(key, shape) == expected


@pytest.mark.parametrize(
    ("key", "shape", "message"),
    [
        (
            (0, 7),
            (2, 3),
            "index 7 is out of bounds for axis 1 of size 3 (allowed: -3 to 2)",
        ),
        (
            0,
            (0,),
            "index 0 is out of bounds for axis 0 of size 0 (allowed: none, the axis is empty)",
        ),
    ],
)
def test_an_index_out_of_bounds_names_axis_index_and_size(key, shape, message):
    with pytest.raises(BoundsCheckError) as caught:
        parse_basic(key, shape)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ((0, 0, 0), "too many indices: the array has 2 axes, but 3 were indexed"),
        ((..., ...), "one Ellipsis"),
        ([0, 1], "allowed here are integers, slices, Ellipsis and newaxis"),
        (np.array([True, False]), "allowed here are integers, slices, Ellipsis and newaxis"),
        (np.array([1]), "allowed here are integers, slices, Ellipsis and newaxis"),
        (True, "a bool (True) cannot index axis 0; write 0 or 1"),
        (np.True_, "cannot index axis 0; write 0 or 1"),
        (1.5, "1.5 (float) cannot index axis 0"),
        ("field", "whose dtype has no fields"),
        ((0, "field"), "whose dtype has no fields"),
    ],
)
def test_what_is_no_basic_index_gets_one_clear_sentence(key, words):
    with pytest.raises(ArrayIndexError) as caught:
        parse_basic(key, (2, 3))
    assert words in str(caught.value)


@pytest.mark.parametrize("key", [slice(None, None, 0), (slice(0, 1, 0), 0)])
def test_a_step_of_zero_is_refused_as_numpy_does(key):
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        parse_basic(key, (2, 3))


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", ("a", ...)),
        (["a", "b"], (["a", "b"], ...)),
        (("a", "b"), (["a", "b"], ...)),
        (("a", slice(2)), ("a", slice(2))),
        ((0, "a", 1), ("a", (0, 1))),
        ((["a"], 0), (["a"], 0)),
        (slice(3), (None, slice(3))),
        ((), (None, ())),
    ],
)
def test_field_names_are_split_from_a_key(key, expected):
    assert split_fields(key) == expected
