"""The JSON of documents, against Python's ``json``, which makes the same line breaks slowly."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from zarrix._metadata.json import json_dumps

TEXT = st.text('abc"\\{}[],: \n\té\u2028\U0001f600\x00/')
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=30
)


def expected(value: Any, indent: int, sort_keys: bool) -> bytes:
    separators = (",", ": ")
    text = json.dumps(value, indent=indent, sort_keys=sort_keys, separators=separators)
    return text.encode("ascii")


@given(VALUES, st.sampled_from([0, 1, 2, 4]), st.booleans())
def test_line_breaks_are_those_of_json(value: Any, indent: int, sort_keys: bool) -> None:
    assert json_dumps(value, indent, sort_keys) == expected(value, indent, sort_keys)


def test_long_documents_and_long_strings() -> None:
    value = {"quotes": '"\\' * 10**6, "members": [{"a": [n, {}], "b": []} for n in range(10_000)]}
    assert json_dumps(value, 2, False) == expected(value, 2, False)


def test_equal_documents_may_be_indented_differently() -> None:
    value = {"b": [1, 2], "a": {"c": None}}
    for _ in range(2):
        for indent in (0, 2, 4):
            for sort_keys in (False, True):
                assert json_dumps(value, indent, sort_keys) == expected(value, indent, sort_keys)


def test_values_that_are_equal_in_python_are_different_documents() -> None:
    documents = [json_dumps([value]) for value in (1, 1.0, True, 0, False, -0.0, 0.0)]
    texts = ["1", "1.0", "true", "0", "false", "-0.0", "0.0"]
    assert documents == [f"[\n    {text}\n]".encode() for text in texts]


def test_numbers_and_arrays_of_numpy() -> None:
    value = {"a": np.arange(2), "b": np.float32(1.5), "c": np.bool_(True), "d": np.array([])}
    python = {"a": [0, 1], "b": 1.5, "c": True, "d": []}
    assert json_dumps(value, 2) == expected(python, 2, True)


@pytest.mark.parametrize("value", [object(), {("a",): 1}, {1: 2, "a": 3}])
def test_what_json_cannot_express_is_an_error(value: Any) -> None:
    with pytest.raises(TypeError):
        json_dumps(value)


def test_a_value_that_contains_itself_is_an_error() -> None:
    value: list[Any] = []
    value.append({"a": value})
    with pytest.raises(ValueError, match="Circular"):
        json_dumps(value)
