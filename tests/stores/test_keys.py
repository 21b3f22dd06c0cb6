"""Names of metadata documents and the joining of keys are written in one file."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
import zarrix
from zarrix._stores import keys

PACKAGE = Path(zarrix.__file__).parent
HOME = Path(keys.__file__)


def found_in(source: str) -> Iterator[str]:
    """The names and joins that a module writes; docstrings and messages may have them."""
    tree = ast.parse(source)
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in texts and _is_name(node.value):
            yield f"{node.lineno}: {node.value!r}"
        elif isinstance(node, ast.IfExp) and _is_join(node):
            yield f"{node.lineno}: {ast.unparse(node)}"


def _is_name(value: object) -> bool:
    text = value.decode("latin-1") if isinstance(value, bytes) else value
    if not isinstance(text, str) or any(map(str.isspace, text)):
        # A name has no blanks: this is a message.
        return False
    # Regular expressions have backslashes in names.
    plain = text.replace("\\", "")
    # f".z{kind}" builds one.
    return plain == ".z" or any(name in plain for name in keys.DOCUMENTS)


def _is_join(node: ast.IfExp) -> bool:
    """Whether it is ``f"{path}/{name}" if path else name``."""
    if not isinstance(node.body, ast.JoinedStr) or not isinstance(node.orelse, ast.Name):
        return False
    values = [one.value for one in node.body.values if isinstance(one, ast.FormattedValue)]
    slashes = [one.value for one in node.body.values if isinstance(one, ast.Constant)]
    names = [ast.unparse(value) for value in values]
    return slashes == ["/"] and names == [ast.unparse(node.test), node.orelse.id]


@pytest.mark.parametrize(
    "source",
    [
        "key = '.zarray'",
        "key = path + '/zarr.json'",
        "key = f'{path}/.zattrs'",
        "key = f'.z{kind}'",
        "found = re.compile(r'(.*/)?\\.zgroup')",
        "names = {b'.zmetadata': 1}",
        "def read(key='zarr.json'): pass",
        "key = f'{path}/{name}' if path else name",
        "key = f'{self._path}/{name}' if self._path else name",
    ],
)
def test_names_and_joins_are_found(source: str) -> None:
    assert len(list(found_in(source))) == 1


@pytest.mark.parametrize(
    "source",
    [
        "def read():\n    'Reads .zarray.'",
        "raise ValueError(f'{path}: .zarray is missing')",
        "key = key_of(path, ZARRAY)",
        "path = f'{root}/{path}' if path else root",
    ],
)
def test_docstrings_and_messages_may_have_names(source: str) -> None:
    assert not list(found_in(source))


@pytest.mark.parametrize(
    "file",
    sorted(set(PACKAGE.rglob("*.py")) - {HOME}),
    ids=lambda file: str(file.relative_to(PACKAGE)),
)
def test_no_other_file_writes_them(file: Path) -> None:
    assert list(found_in(file.read_text(encoding="utf-8"))) == []
