"""The examples of all public docstrings run, and the check of docstrings finds what one lacks.

Each example runs in an empty folder with its own imports.

``--doctest-modules`` finds the examples of functions. It leaves out those of classes whose
``__module__`` is the public module that re-exports them, with their methods.
"""

import doctest
from pathlib import Path

import pytest
import zarrix as zarr
from ci_tools import load
from optional import skip_where_absent

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


DOCSTRINGS = load("docstrings")
TEXTS = {name: DOCSTRINGS.docstring(*rest, name) for name, *rest in DOCSTRINGS.public()}
EXAMPLES = {name: text for name, text in TEXTS.items() if ">>>" in text}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.usefixtures("example_folder")
def test_the_examples_of_a_public_docstring_run(name: str) -> None:
    found = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(found, out=told.append)
    skip_where_absent("".join(told))
    assert not told, "".join(told)


def test_the_check_finds_what_a_docstring_lacks() -> None:
    def scaled(values: list[float], factor: float, *, power: int = 1, **kwargs: float) -> float:
        """Scale some values

        Parameters
        ----------
        factor : float
        values
        offset : float

        Examples
        --------
        >>> 1
        1
        """
        return sum(values) * factor**power

    found = sorted({code for code, _ in DOCSTRINGS.errors_of("zarrix.scaled", scaled, None)})
    assert found == ["PR01", "PR02", "PR03", "PR04", "RS01", "RT01", "SS03"]


def test_kwargs_may_stand_for_keywords_that_are_passed_on() -> None:
    full = [code for code, _ in DOCSTRINGS.errors_of("zarrix.zeros", zarr.zeros, None)]
    assert full == []
    text = TEXTS["zarrix.api.asynchronous.zeros"]
    assert "**kwargs" in text
    assert "zarr_format :" not in text


def test_every_exemption_of_the_check_names_something_public() -> None:
    exempt = DOCSTRINGS.NEVER_RAISES + DOCSTRINGS.NOT_CONSTRUCTED
    assert [one for one in exempt if not any(name.endswith(f".{one}") for name in TEXTS)] == []
