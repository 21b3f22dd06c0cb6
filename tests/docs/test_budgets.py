"""The counts of the source are at their budgets, and the counting finds what is over one."""

from __future__ import annotations

import ast
from pathlib import Path

from ci_tools import load

BUDGETS = load("budgets")


def test_the_source_is_at_its_budgets() -> None:
    assert list(BUDGETS.findings()) == []


def test_exceptions_are_few_and_have_reasons() -> None:
    assert len(BUDGETS.LONG) <= 25
    assert len(BUDGETS.MANY) <= 46
    reasons = [*BUDGETS.LONG.values(), *BUDGETS.MANY.values()]
    assert all(len(reason) > 15 for reason in reasons)
    # Private functions among those with many parameters.
    public = ("signature", "public:", "a hook")
    private = [name for name, why in BUDGETS.MANY.items() if not any(one in why for one in public)]
    assert len(private) <= 8


def _function(text: str) -> ast.FunctionDef:
    node = ast.parse(text).body[0]
    assert isinstance(node, ast.FunctionDef)
    return node


def test_parameters_and_lines_are_counted() -> None:
    text = 'def f(self, a, /, b, *rest, c=1, **more):\n    """One."""\n    x = 1\n    return x\n'
    assert BUDGETS.parameters(_function(text)) == ["a", "b", "c"]
    assert BUDGETS.body_lines(_function(text)) == 2


def test_what_is_over_a_budget_is_found(tmp_path: Path) -> None:
    package = tmp_path / "python" / "zarrix"
    package.mkdir(parents=True)
    body = "\n".join(f"    x{number} = 1" for number in range(41))
    text = f"def long(where):\n{body}\n\n\ndef many(a, b, c, d, e, f, g):\n    pass\n"
    (package / "_room.py").write_text(text + "# more\n" * 600)
    source = tmp_path / "crates" / "one" / "src"
    source.mkdir(parents=True)
    (source / "a.rs").write_text("struct Twin;\n")
    (source / "b.rs").write_text("pub(crate) enum Twin {}\n#[cfg(test)]\nstruct Other;\n")
    found = list(BUDGETS.findings(tmp_path))
    assert "_room.py:long has 41 lines; at most 40, or a row with a reason" in found
    assert "_room.py:many has 7 parameters; at most 6, or a row with a reason" in found
    assert "2 types are called Twin; the budget is 0" in found
    assert any(one.startswith("1 parameters are called 'where'") for one in found)
    assert any("_room.py has" in one and "at most 600" in one for one in found)
