"""The design page, the recipes and the source agree on where things are."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from ci_tools import load

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())
PACKAGE = ROOT / "python" / "zarrix"
DESIGN = (ROOT / "docs" / "design.md").read_text()
RECIPES = (ROOT / "CONTRIBUTING.md").read_text()


HOUSE = load("house")
# | question | file | what in it answers |
QUESTIONS = re.findall(r"^\| ([^|]*\?) \| `([^`]+)` \| `([^`]+)` \|$", DESIGN, re.MULTILINE)
RECIPE = re.compile(r"^### (Add an? .*?)\n(.*?)(?=^##|\Z)", re.MULTILINE | re.DOTALL)
# What public modules define: what only zarr-python 2 has, and `testing`.
DEFINED = """
    context Context
    indexing is_integer is_slice is_scalar ceildiv replace_ellipsis check_fields
    meta parse_metadata decode_array_metadata encode_array_metadata decode_group_metadata
    meta encode_group_metadata _as_json Metadata2
    storage contains_array contains_group init_array init_group listdir rmdir rename getsize
    storage normalize_store_arg atexit_rmtree atexit_rmglob
    as_zarr is_installed install uninstall support _has
    util is_total_slice buffer_size
"""


def files_named(text: str) -> Iterator[str]:
    """Paths of source files in backticks; those of a crate or of the package may be short."""
    yield from re.findall(r"`([\w./-]+\.(?:rs|py|pyi|toml|md))`", text)


def source(path: str) -> Path:
    """The file that a short path means."""
    crate, _, rest = path.partition("/")
    choices = [ROOT / path, PACKAGE / path, ROOT / "crates" / crate / "src" / rest]
    return next((one for one in choices if one.is_file()), ROOT / path)


def test_the_section_of_the_page_is_what_the_folders_are() -> None:
    assert HOUSE.written() == HOUSE.section()


def test_there_are_questions_enough() -> None:
    assert len(QUESTIONS) >= 25
    assert len({question for question, *_ in QUESTIONS}) == len(QUESTIONS)


@pytest.mark.parametrize(("question", "path", "name"), QUESTIONS)
def test_a_question_has_its_answer_in_the_file_it_names(
    question: str, path: str, name: str
) -> None:
    is_defined = rf"\b(?:def|class|fn|struct|enum|trait|const|static) {name}\b|^{name}\b.*="
    assert re.search(is_defined, source(path).read_text(), re.MULTILINE), question


@pytest.mark.parametrize("path", sorted({*files_named(DESIGN), *files_named(RECIPES)}))
def test_a_file_that_a_page_names_exists(path: str) -> None:
    assert source(path).is_file()


def test_each_recipe_names_at_most_three_files() -> None:
    recipes = dict(RECIPE.findall(RECIPES))
    assert set(recipes) == {"Add a codec", "Add a store", "Add a selection", "Add a verb"}
    for text in recipes.values():
        assert 1 <= len({*files_named(text)}) <= 3


def test_the_top_of_the_package_has_few_private_entries() -> None:
    private = [
        one.name
        for one in PACKAGE.iterdir()
        if re.match(r"_[a-z]", one.name) and "engine" not in one.name
    ]
    assert len(private) <= 13


def test_an_import_inside_a_function_says_what_it_is_for() -> None:
    silent = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line in late_imports(path.read_text())
    ]
    assert silent == []


def late_imports(text: str) -> Iterator[int]:
    """Lines of imports inside functions that no comment explains, on them or above the first."""
    lines = text.splitlines()

    def visit(node: ast.AST, inside: bool) -> Iterator[int]:
        for child in ast.iter_child_nodes(node):
            if inside and isinstance(child, ast.Import | ast.ImportFrom):
                above = child.lineno - 2
                while lines[above].strip().startswith(("import ", "from ")):
                    above -= 1
                if "#" not in lines[child.lineno - 1] and not lines[above].strip().startswith("#"):
                    yield child.lineno
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            yield from visit(child, inside or is_function)

    return visit(ast.parse(text), False)


def _is_plain(node: ast.stmt) -> bool:
    """Whether a statement only names what is elsewhere; a room may find what moved, for pickles."""
    if isinstance(node, ast.FunctionDef):
        return node.name == "__getattr__"
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.AnnAssign)


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in sorted(PACKAGE.rglob("__init__.py"))
        if path.parent.relative_to(PACKAGE).name.startswith("_")
    ],
    ids=lambda path: path.parent.relative_to(PACKAGE).as_posix(),
)
def test_a_private_room_says_what_it_is_and_has_no_logic(path: Path) -> None:
    first, *rest = ast.parse(path.read_text()).body
    assert isinstance(first, ast.Expr)
    assert isinstance(first.value, ast.Constant)
    assert first.value.value.split("\n\n")[0].rstrip().endswith(".")
    assert all(map(_is_plain, rest))


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "crates").glob("*/src/**/mod.rs")),
    ids=lambda path: path.parent.relative_to(ROOT / "crates").as_posix(),
)
def test_a_room_of_rust_says_what_it_is_and_has_no_logic(path: Path) -> None:
    text = path.read_text()
    assert text.startswith("//! ")
    found = re.findall(
        r"^\s*(?:pub(?:\([^)]*\))? )?(fn|impl|struct|enum|trait|static)\b", text, re.M
    )
    # A constant may name a limit of the room.
    assert found == []


def test_the_check_of_late_imports_finds_one() -> None:
    assert [*late_imports("def f():\n    import a\n")] == [2]
    assert [*late_imports("def f():\n    # Optional.\n    import a\n    from b import c\n")] == []


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("[a-z]*.py")), ids=lambda path: path.stem)
def test_a_public_module_defines_only_what_is_listed(path: Path) -> None:
    lines = [line.split() for line in DEFINED.splitlines() if line]
    listed = {name for module, *names in lines for name in names if module == path.stem}
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    body = ast.parse(path.read_text()).body
    defined = {node.name for node in body if isinstance(node, definitions)}
    assert defined - {"__getattr__", "__dir__"} == listed
