"""The examples of all public docstrings run, each in an empty folder with its own imports.

``--doctest-modules`` finds the examples of functions. It leaves out those of classes whose
``__module__`` is the public module that re-exports them, with their methods.
"""

import doctest
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("docstrings", ROOT / ".ci" / "docstrings.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["docstrings"] = module  # dataclasses look it up
    spec.loader.exec_module(module)
    return module


DOCSTRINGS = _load()
TEXTS = {name: DOCSTRINGS.docstring(*rest, name) for name, *rest in DOCSTRINGS.public()}
EXAMPLES = {name: text for name, text in TEXTS.items() if ">>>" in text}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.usefixtures("example_folder")
def test_the_examples_of_a_public_docstring_run(name: str) -> None:
    found = doctest.DocTestParser().get_doctest(EXAMPLES[name], {}, name, None, None)
    told: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(found, out=told.append)
    assert not told, "".join(told)
