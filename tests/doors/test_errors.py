"""The tree of errors: what its text says is what the classes are."""

import inspect
import pickle
import re

import pytest
from zarrix import _errors
from zarrix import errors as public
from zarrix._runtime.signatures import check_keywords

ROW = re.compile(r"^( +)(\w+)(?:\(([\w, ]+)\))? +([a-z-]+)$")


def rows():
    """(depth, name, builtin bases, kind) of each line of the text tree."""
    found = [match for line in _errors.__doc__.splitlines() if (match := ROW.match(line))]
    return [
        (len(m[1]) // 4 - 1, m[2], tuple((m[3] or "").split(", ")) if m[3] else (), m[4])
        for m in found
    ]


def test_the_text_tree_equals_the_classes():
    parents = {}
    for depth, name, builtins, kind in rows():
        cls = getattr(_errors, name)
        parents[depth] = cls
        own = tuple(base.__name__ for base in cls.__bases__)
        above = (parents[depth - 1].__name__,) if depth else ()
        assert own == above + builtins
        assert cls.kind == kind
    assert [name for _, name, _, _ in rows()] == _errors.__all__


def test_every_class_is_in_the_tree_and_public():
    classes = {
        name
        for name, value in vars(_errors).items()
        if inspect.isclass(value)
        and issubclass(value, Exception)
        and not issubclass(value, Warning)
    }
    assert classes == set(_errors.__all__) <= set(public.__all__)
    others = {getattr(public, name) for name in set(public.__all__) - classes}
    assert all(kind.__name__ in classes or issubclass(kind, Warning) for kind in others)


def test_kinds_are_unique():
    kinds = [getattr(_errors, name).kind for name in _errors.__all__]
    assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize("name", _errors.__all__)
def test_an_error_takes_one_sentence_prints_it_and_pickles(name):
    error = getattr(public, name)("no 'array' here")
    assert str(error) == "no 'array' here"
    assert type(error).__module__ == "zarrix.errors"
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert copy.args == ("no 'array' here",)


@pytest.mark.parametrize("builtin", [FileNotFoundError, KeyError, ValueError])
@pytest.mark.parametrize("name", ["ArrayNotFoundError", "GroupNotFoundError", "PathNotFoundError"])
def test_not_found_is_each_builtin_that_callers_catch(name, builtin):
    with pytest.raises(builtin):
        raise getattr(public, name)("nothing at 'x'")


def test_read_only_has_a_message_of_its_own():
    assert str(public.ReadOnlyError()) == "object is read-only"


def test_a_misspelt_keyword_suggests_the_right_one():
    with pytest.raises(TypeError) as caught:
        check_keywords(["compresor"], ["compressor", "chunks"], "create")
    assert str(caught.value) == (
        "create() got an unexpected keyword argument 'compresor'; did you mean 'compressor'?"
    )


def test_a_keyword_like_no_other_gets_no_suggestion():
    with pytest.raises(TypeError) as caught:
        check_keywords(["zzz"], ["compressor", "chunks"], "create")
    assert str(caught.value) == "create() got an unexpected keyword argument 'zzz'"


def test_a_value_in_a_message_is_short_however_deep_or_long_it_is():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    assert _errors.shorten(deep) == "[[[[[...]]]]]"
    assert len(_errors.shorten({"k" * 1000: ["v" * 1000] * 1000})) == 200
