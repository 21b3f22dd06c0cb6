"""The house: which rooms the source has, in the order in which they may call each other.

    python .ci/house.py             # print the section of docs/design.md
    python .ci/house.py --write     # write it there
    python .ci/house.py --figures   # print figures of the source: arrows, circles, long functions

A room is a folder of private modules in python/zarrix, or a folder of crates/*/src. Its sentence is
the first one of its `__init__.py` or `mod.rs`, and its files are those in the folder. The order of
the Python rooms is that of the contract in pyproject.toml, which import-linter checks. The order of
the Rust rooms is that of the table in the tests/rooms.rs of each crate, which that test checks.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "design.md"
BEGIN, END = "<!-- house: written by .ci/house.py -->\n", "<!-- end of house -->\n"
CRATES = ("py", "engine", "hdfs", "store", "codec")
WIDTH = 110
LONG = 40


def python_layers(root: Path = ROOT) -> list[list[str]]:
    """The rows of the contract, top to bottom; the rooms of a row."""
    settings = tomllib.loads((root / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    rows = next(one["layers"] for one in contracts if one["name"] == "rooms")
    return [re.split(r"\s*[:|]\s*", row) for row in rows]


def rust_rooms(crate: Path) -> list[str]:
    """The rooms of a crate in the order of the table of its test, top to bottom."""
    table = crate / "tests" / "rooms.rs"
    folders = {one.name for one in (crate / "src").iterdir() if one.is_dir()}
    if not table.is_file():
        return sorted(folders)
    text = table.read_text()
    rows = re.search(r"const LAYERS.*? = \[\n(.*?)^\];", text, re.DOTALL | re.MULTILINE)
    named = re.findall(r'"(\w+)"', rows[1]) if rows else []
    return [room for room in dict.fromkeys(named) if room in folders]


def sentence(path: Path) -> str:
    """The first sentence that a module, a package or a crate says of itself."""
    if path.suffix == ".py":
        text = ast.get_docstring(ast.parse(path.read_text())) or ""
    else:
        lines = path.read_text().splitlines()
        text = "\n".join(line[3:].strip() for line in lines if line.startswith("//!"))
    paragraph = " ".join(text.split("\n\n")[0].split())
    return re.split(r"(?<=[.])\s", paragraph, maxsplit=1)[0]


def files(folder: Path, suffix: str, own: str) -> str:
    """The names of what lies in a room."""
    names = [
        one.name + "/" if one.is_dir() else one.stem
        for one in sorted(folder.iterdir())
        if one.name != own and (one.suffix == suffix or (one.is_dir() and (one / own).is_file()))
    ]
    return " ".join(names)


def room(name: str, text: str, names: str) -> Iterator[str]:
    first, below = f"    {name:<13} ", " " * 18
    for part in filter(None, (text, names)):
        yield from textwrap.wrap(part, WIDTH, initial_indent=first, subsequent_indent=below)
        first = below


def house() -> Iterator[str]:
    """The section: each room with its sentence and its files."""
    package = ROOT / "python" / "zarrix"
    yield "python/zarrix, from the top down. A room imports only from rows below its own."
    yield ""
    for row in python_layers():
        private = [one for one in row if one.startswith("_")]
        if not private:
            yield f"    {'  '.join(row)}"
        for name in private:
            if (package / name).is_dir():
                own = package / name / "__init__.py"
                yield from room(name, sentence(own), files(package / name, ".py", "__init__.py"))
            elif (package / f"{name}.py").is_file():
                yield from room(name, sentence(package / f"{name}.py"), "")
    for crate in CRATES:
        source = ROOT / "crates" / crate / "src"
        if not source.is_dir():
            continue
        yield ""
        yield f"crates/{crate}: {sentence(source / 'lib.rs')}"
        yield ""
        flat = files(source, ".rs", "lib.rs").split()
        rooms = rust_rooms(source.parent)
        alone = " ".join(one for one in flat if one.rstrip("/") not in rooms)
        for name in rooms:
            folder = source / name
            yield from room(name, sentence(folder / "mod.rs"), files(folder, ".rs", "mod.rs"))
        if alone:
            yield from room("alone", "", alone)


def section() -> str:
    return BEGIN + "\n".join(line.rstrip() for line in house()) + "\n" + END


def written() -> str:
    """The section as it is in the page."""
    text = PAGE.read_text()
    return text[text.index(BEGIN) : text.index(END) + len(END)]


class Imports:
    """What the modules of the package import from each other."""

    def __init__(self, root: Path):
        self.modules: dict[str, Path] = {}
        for path in sorted((root / "python" / "zarrix").rglob("*.py")):
            parts = list(path.relative_to(root / "python").with_suffix("").parts)
            self.modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
        self.found: list[tuple[str, str, bool]] = []
        for name, path in self.modules.items():
            self._visit(name, ast.parse(path.read_text()), inside=False)

    def _visit(self, name: str, node: ast.AST, inside: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            if isinstance(child, ast.ImportFrom) and (child.module or "").startswith("zarrix"):
                for alias in child.names:
                    whole = f"{child.module}.{alias.name}"
                    target = whole if whole in self.modules else str(child.module)
                    self.found.append((name, target, inside))
            is_function = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef)
            self._visit(name, child, inside or is_function)

    def between_files(self) -> set[tuple[str, str]]:
        return {(a, b) for a, b, _ in self.found if a != b and b in self.modules}

    def between_rooms(self) -> set[tuple[str, str]]:
        def room_of(module: str) -> str:
            return module.split(".")[1] if "." in module else module

        return {
            (room_of(a), room_of(b)) for a, b in self.between_files() if room_of(a) != room_of(b)
        }

    def circles(self) -> list[set[str]]:
        """Sets of files that import each other, directly or not."""
        below: dict[str, set[str]] = {name: set() for name in self.modules}
        for a, b in self.between_files():
            if b != "zarrix":
                below[a].add(b)
        reached = {name: _reach(name, below) for name in below}
        circles: list[set[str]] = []
        for name in below:
            if name in reached[name] and not any(name in one for one in circles):
                circles.append({one for one in reached[name] if name in reached[one]})
        return circles


def _reach(start: str, below: dict[str, set[str]]) -> set[str]:
    seen: set[str] = set()
    rest = list(below[start])
    while rest:
        name = rest.pop()
        if name not in seen:
            seen.add(name)
            rest += below[name]
    return seen


def long_functions(root: Path) -> list[str]:
    """Python functions whose body is longer than `LONG` lines without its docstring."""
    found = []
    for path in sorted((root / "python" / "zarrix").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                body = node.body[1:] if ast.get_docstring(node) else node.body
                lines = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
                if lines > LONG:
                    found.append(f"{path.relative_to(root)}:{node.name} {lines}")
    return found


def figures(root: Path) -> Iterator[str]:
    """One line a figure, for any checkout of the project."""
    package = root / "python" / "zarrix"
    imports = Imports(root)
    private = {
        one.stem
        for one in package.iterdir()
        if one.name.startswith("_") and not one.name.startswith("__") and one.suffix in ("", ".py")
    }
    sources = [*package.rglob("*.py"), *(root / "crates").glob("*/src/**/*.rs")]
    largest = max(sources, key=lambda one: len(one.read_text().splitlines()))
    yield f"private entries at the top of python/zarrix: {len(private)}"
    yield f"imports between files: {len(imports.between_files())}"
    yield f"imports between rooms: {len(imports.between_rooms())}"
    circles = imports.circles()
    yield f"circles of files: {len(circles)} {[len(one) for one in circles]}"
    yield f"imports inside functions: {sum(inside for *_, inside in imports.found)}"
    long = long_functions(root)
    yield f"functions over {LONG} lines: {len(long)}"
    lines = len(largest.read_text().splitlines())
    yield f"largest file: {largest.relative_to(root)}, {lines} lines"
    for crate in CRATES:
        source = root / "crates" / crate / "src"
        if source.is_dir():
            kinds = Counter("folders" if one.is_dir() else "files" for one in source.iterdir())
            count = f"{kinds['folders']} folders, {kinds['files']} files"
            yield f"entries of crates/{crate}/src: {count}"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--figures", action="store_true")
    parser.add_argument("--root", type=Path, default=ROOT)
    asked = parser.parse_args()
    if asked.figures:
        print(*figures(asked.root), sep="\n")
    elif asked.write:
        PAGE.write_text(PAGE.read_text().replace(written(), section()))
    else:
        print(section(), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
