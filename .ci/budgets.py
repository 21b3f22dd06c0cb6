"""Counts of the source that may only fall: vague names, long functions, many parameters.

    python .ci/budgets.py    # print the counts, and what is over or under its budget; exit 1

A change that lowers a count lowers its budget here, and one that raises a count is sent back. The
exceptions from the two rules about functions are listed with their reasons, and nowhere else.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LINES, PARAMETERS, FILE_LINES = 40, 6, 600

NAMES = {
    "found": 3,
    "given": 26,
    "kept": 3,
    "most": 11,
    "one": 7,
    "place": 21,
    "told": 0,
    "wanted": 4,
    "where": 2,
    "words": 2,
}
"""How many parameters of functions have a name that says nothing of what is passed."""

TYPES = {
    "Axis": 2,
    "Before": 2,
    "Blocks": 4,
    "Change": 2,
    "Compressor": 2,
    "Configuration": 2,
    "Decode": 2,
    "Directory": 2,
    "Division": 2,
    "Document": 2,
    "Encode": 2,
    "Entry": 4,
    "Failure": 3,
    "Filter": 3,
    "Format": 2,
    "Member": 2,
    "Memory": 2,
    "Opened": 2,
    "Outcome": 2,
    "PythonStore": 2,
    "Shuffle": 2,
    "Status": 2,
    "Step": 2,
    "Streams": 2,
    "Terms": 2,
}
"""How many types of Rust share their name with another type of the same crate."""

LONG = {
    "_array/create.py:create": "passes 25 arguments on, one a line",
    "_array/create_array.py:create_array": "passes 27 arguments on, one a line",
    "_array/create_array.py:from_array": "passes 18 arguments on, one a line",
    "_array/open_array.py:open_array": "passes 25 arguments on, one a line",
    "_codecs/bind.py:_Walk._one": "one branch for each kind of codec",
    "_metadata/v3.py:new_array": "builds a document, a member a line",
}
"""Functions whose body, without the docstring, has more than `LINES` lines, and why."""

MANY = {
    "_array/array.py:Array.view": "the signature of zarr 2.18",
    "_array/create.py:create": "the signature of zarr 2.18",
    "_array/create_array.py:create_array": "the signature of zarr-python 3",
    "_array/create_array.py:from_array": "the signature of zarr-python 3",
    "_array/handle.py:ArrayHandle.__init__": "the signature of zarr 2.18's Array",
    "_array/open_array.py:open_array": "the signature of zarr 2.18",
    "_codecs/bind.py:bind_chain": "what of a layout codecs depend on",
    "_hierarchy/copy.py:copy": "the signature of zarr 2.18",
    "_hierarchy/copy.py:copy_all": "the signature of zarr 2.18",
    "commits/_commit.py:commit": "public: what the user knows of readers and of other writers",
    "_hierarchy/copy_store.py:copy_store": "the signature of zarr 2.18, and how the copy is made",
    "_hierarchy/sync_store.py:sync_store": "public: the options of `zarrix sync`",
    "_hierarchy/open.py:create_group": "the signature of zarr-python 3",
    "_hierarchy/open.py:group": "the signature of zarr 2.18",
    "_hierarchy/open.py:open": "the signature of zarr 2.18, and the version",
    "_hierarchy/open.py:open_group": "the signature of zarr 2.18",
    "_hierarchy/state.py:GroupState.__init__": "the signature of zarr 2.18's Group",
    "_metadata/v2.py:new_array": "the arguments of create, each a member of the document",
    "_metadata/v3.py:new_array": "the arguments of create_array, each a member of the document",
    "_nodes/attributes.py:Attributes._of_node": "the parameters of the class, and what was read",
    "_nodes/engine_array.py:engine_array": "what the engine needs of an array, once",
    "_nodes/location.py:Location.of": "how functions of every generation name a location",
    "_stores/fsspec.py:FSStore.__init__": "the signature of zarr 2.18",
    "_stores/remote/abs.py:ABSStore.__init__": "the signature of zarr 2.18",
    "_stores/zip.py:ZipStore.__init__": "the signature of zarr 2.18, with what zarr-python 3 adds",
    "convert/_export.py:export": "public: the options of `zarrix export`",
    "convert/_import.py:import_": "public: the options of `zarrix import`",
    "ingest/_append.py:append": "public: the options of `zarrix append`",
    "jobs/_operations/map.py:map_chunks": "public: the options of a job",
    "jobs/_operations/pyramid.py:pyramid": "public: the options of a job",
    "jobs/_operations/rechunk.py:rechunk": "public: the options of a job",
    "jobs/_operations/stack.py:stack": "public: the options of a job",
    "jobs/_operations/statistics.py:statistics": "public: the options of a job",
    "jobs/_operations/update_pyramid.py:update_pyramid": "public: the options of a job",
    "jobs/_running/job.py:Job.run": "public: how a job is run",
    "measure/_advise.py:advise": "public: what a layout is to be good for",
    "ml/_datasets/clips.py:Clips.__init__": "public: the settings of a dataset",
    "ml/_datasets/crops.py:Crops.__init__": "public: the settings of a dataset",
    "ml/_datasets/grid.py:Grid.__init__": "public: the settings of a dataset",
    "ml/_datasets/ragged.py:Ragged.__init__": "public: the settings of a dataset",
    "ml/_loading/loader.py:Loader.__init__": "public: the settings of a loader",
    "ml/_loading/torch.py:BatchSampler.__init__": "public: the settings of a sampler",
    "ml/_reading/fields.py:Field.__init__": "what is known of an array of a dataset",
    "storage.py:init_array": "the signature of zarr 2.18",
    "xarray/_write.py:to_zarr": "the signature of xarray",
    "versions/_snapshot.py:snapshot": "public: what a version keeps, how, and where",
}
"""Functions with more than `PARAMETERS` parameters, without ``self`` and ``cls``, and why."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(root: Path) -> Iterator[tuple[str, Function]]:
    """Every function of the package, as ``file:name`` or ``file:Class.name``."""
    package = root / "python" / "zarrix"
    for path in sorted(package.rglob("*.py")):
        file = path.relative_to(package).as_posix()
        yield from _below(file, "", ast.parse(path.read_text(encoding="utf-8")))


def _below(file: str, inside: str, node: ast.AST) -> Iterator[tuple[str, Function]]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function):
            yield f"{file}:{inside}{child.name}", child
        named = isinstance(child, Function | ast.ClassDef)
        yield from _below(file, f"{inside}{child.name}." if named else inside, child)


def parameters(function: Function) -> list[str]:
    """The names of the parameters, without ``self`` and ``cls``."""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return [one.arg for one in every if one.arg not in ("self", "cls")]


def body_lines(function: Function) -> int:
    """The lines of the body, without the docstring."""
    body = function.body[1:] if ast.get_docstring(function) else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def twin_types(root: Path) -> Counter[str]:
    """Names that more than one type of a crate has, without tests; how many types have each."""
    found: Counter[str] = Counter()
    for source in sorted((root / "crates").glob("*/src")):
        kinds: Counter[str] = Counter()
        for path in source.rglob("*.rs"):
            text = path.read_text(encoding="utf-8").partition("#[cfg(test)]")[0]
            kinds.update(
                re.findall(r"^\s*(?:pub(?:\([^)]*\))? )?(?:struct|enum|trait) (\w+)", text, re.M)
            )
        found.update({name: count for name, count in kinds.items() if count > 1})
    return found


def findings(root: Path = ROOT) -> Iterator[str]:
    """What is over a budget, or under it."""
    every = dict(functions(root))
    names = Counter(name for one in every.values() for name in parameters(one) if name in NAMES)
    for name, budget in NAMES.items():
        if names[name] != budget:
            yield f"{names[name]} parameters are called {name!r}; the budget is {budget}"
    twins = twin_types(root)
    for name in sorted(twins.keys() | TYPES.keys()):
        if twins[name] != TYPES.get(name, 0):
            yield f"{twins[name]} types are called {name}; the budget is {TYPES.get(name, 0)}"
    sources = [*(root / "python/zarrix").rglob("*.py"), *(root / "crates").glob("*/src/**/*.rs")]
    for path in sorted(sources):
        lines = len(path.read_text(encoding="utf-8").splitlines())
        if lines > FILE_LINES:
            yield f"{path.relative_to(root)} has {lines} lines; at most {FILE_LINES}"
    rules = (
        ("lines", LINES, LONG, {name: body_lines(one) for name, one in every.items()}),
        (
            "parameters",
            PARAMETERS,
            MANY,
            {name: len(parameters(one)) for name, one in every.items()},
        ),
    )
    for noun, most, reasons, counts in rules:
        over = {name for name, count in counts.items() if count > most}
        for name in sorted(over - reasons.keys()):
            yield f"{name} has {counts[name]} {noun}; at most {most}, or a row with a reason"
        for name in sorted(reasons.keys() - over):
            yield f"{name} no longer has more than {most} {noun}: remove its row"


def main() -> int:
    found = list(findings())
    print(*found, sep="\n")
    print(
        f"{sum(NAMES.values())} parameters without a meaning, {sum(TYPES.values())} types with a "
        f"twin, {len(LONG)} long functions, {len(MANY)} with many parameters"
    )
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
