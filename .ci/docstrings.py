"""Check the docstrings of all public names by numpydoc's validation and one rule of our own.

    python .ci/docstrings.py            # print path:line: name: code message; exit 1 if any
    python .ci/docstrings.py --count    # the number of findings by code

What is public: the names in ``__all__`` of `zarrix` and of its public modules, and the members of
their classes that have no leading underscore. What another package defines (the codecs of
numcodecs) is not checked. An override without a docstring has that of the method it overrides,
which is what ``help()`` shows.

The rules, by kind:

- A function or method has a summary of one line that ends with a period, Parameters that are those
  of its signature in the same order, each with a type, Returns or Yields where it returns or
  yields, Raises where it has parameters, and Examples. Doctest runs the examples.
- A class has the same, with the parameters of its constructor. A dataclass of results, which users
  read and do not construct, may list its fields under Attributes instead.
- A property, and a method of an abstract base or protocol, has a summary; the class shows its use.
- An error, an enumeration and a type alias have a summary; what raises the error shows it.

Raises may be absent where every argument is accepted: `NEVER_RAISES` lists these names.
"""

from __future__ import annotations

import argparse
import enum
import importlib
import inspect
import pkgutil
import re
import sys
import typing
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Any

import zarrix
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import Validator, validate

PACKAGE = Path(zarrix.__file__).parent

SUMMARY = {"GL01", "GL03", "GL05", "GL06", "GL07", "GL08", "GL10", "SS01", "SS03", "SS04", "SS06"}
SECTIONS = {"PR01", "PR02", "PR03", "PR04", "PR05", "RT01", "YD01", "EX01"}
# Left out: ES01 and SA01 (not every function needs a second paragraph or a neighbour), PR06 to PR09
# and RT03 to RT05 (a type such as "selection : int or slice" can say it all), SS05 (it takes every
# verb that ends in "s" for the third person), GL02 (summaries of one line close in that line).

# Every argument is accepted, so there is no error to document.
NEVER_RAISES = (
    "ArrayMetadata.at",
    "Format",
    "StorePath.of",
    "encode_group_metadata",
    "engine_path",
    "is_integer",
    "is_scalar",
    "is_slice",
    "vouching_for",
)
# Users get them from an attribute or a method, and do not construct them.
NOT_CONSTRUCTED = ("LazyArray", "Subset")


@dataclass(frozen=True, order=True)
class Finding:
    """One rule that one public name breaks."""

    path: str
    line: int
    name: str
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.name}: {self.code} {self.message}"


def modules() -> Iterator[Any]:
    """The public modules, the package itself last, so that a name is that of its own module."""
    for module in pkgutil.walk_packages(zarrix.__path__, "zarrix."):
        parts = module.name.split(".")[1:]
        if any(part.startswith("_") for part in parts) or parts[0] == "cli":
            continue
        found = importlib.import_module(module.name)
        if module.name == "zarrix.as_zarr":
            # Importing it has installed the alias, by which other modules would find a zarr.
            found.uninstall()
        yield found
    yield zarrix


def names_of(module: Any) -> list[str]:
    """The public names of a module."""
    listed = list(getattr(module, "__all__", ()))
    return sorted(set(listed))


def source_of(found: Any) -> tuple[Path, int] | None:
    """File and line of what the package defines; None for anything else."""
    if inspect.isclass(found):
        return place_of_class(found) if found.__module__.startswith("zarrix") else None
    try:
        path = Path(inspect.getsourcefile(found) or "")
        line = inspect.getsourcelines(found)[1]
    except (TypeError, OSError):
        return None
    return (path, line) if path.is_relative_to(PACKAGE) else None


def place_of_class(found: type) -> tuple[Path, int]:
    """Where a class is written: its ``__module__`` may be the public one that re-exports it.

    A class that is made from a row of a table is written nowhere.
    """
    for name, module in list(sys.modules.items()):
        if name.startswith("zarrix") and vars(module).get(found.__name__) is found:
            path = Path(module.__file__ or "")
            written = path.read_text() if path.suffix == ".py" else ""
            match = re.search(rf"^ *class {found.__name__}\b", written, re.MULTILINE)
            if match:
                return path, written.count("\n", 0, match.start() + 1) + 1
    return PACKAGE, 0


def public() -> Iterator[tuple[str, Any, Any]]:
    """(name, object, class that has it or None), each object once."""
    seen: set[int] = set()
    for module in modules():
        for name in names_of(module):
            try:
                found = getattr(module, name)
            except ImportError:  # It needs a package that is not installed.
                continue
            if not (inspect.isclass(found) or inspect.isroutine(found)):
                # An object, such as `zarrix.config`, is documented by its class.
                found = type(found)
            target = found if inspect.isclass(found) else function_of(found)
            if id(target) in seen or source_of(target) is None:
                continue
            seen.add(id(target))
            yield f"{module.__name__}.{name}", found, None
            if inspect.isclass(found):
                yield from members(f"{module.__name__}.{name}", found, seen)


def members(name: str, owner: type, seen: set[int]) -> Iterator[tuple[str, Any, Any]]:
    """The public members that classes of the package define."""
    for member in sorted(dir(owner)):
        if member.startswith("_"):
            continue
        found = inspect.getattr_static(owner, member)
        if isinstance(found, staticmethod | classmethod):
            found = found.__func__
        if not (inspect.isroutine(found) or is_property(found)):
            continue
        if id(function_of(found)) not in seen and source_of(function_of(found)) is not None:
            seen.add(id(function_of(found)))
            yield f"{name}.{member}", found, owner


def is_property(found: Any) -> bool:
    return isinstance(found, property) or hasattr(found, "func")


def function_of(found: Any) -> Any:
    """The function that is written in the source, below decorators and properties."""
    if is_property(found):
        found = found.fget if isinstance(found, property) else found.func
    return inspect.unwrap(found)


def is_summary_only(found: Any, owner: Any) -> bool:
    """Whether a summary is enough, by the rules at the top."""
    if inspect.isclass(found):
        return issubclass(found, BaseException | enum.Enum) or is_protocol(found)
    return (
        is_property(found)
        or getattr(found, "__isabstractmethod__", False)
        or (owner is not None and is_protocol(owner))
    )


def is_protocol(found: Any) -> bool:
    return getattr(found, "_is_protocol", False) or typing.is_typeddict(found)


def docstring(found: Any, owner: Any, name: str) -> str:
    """What ``help()`` shows: an override without a docstring has that of the base."""
    if owner is not None:
        found = getattr(owner, name.rpartition(".")[2])
    return inspect.getdoc(found) or ""


def parameters(found: Any) -> dict[str, inspect.Parameter]:
    """The parameters of a signature, without the object itself and what only the package passes."""
    try:
        signature = inspect.signature(found)
    except (TypeError, ValueError):
        return {}
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return {
        stars.get(one.kind, "") + name: one
        for index, (name, one) in enumerate(signature.parameters.items())
        if not (index == 0 and name in {"self", "cls"}) and not name.startswith("_")
    }


class _Named(Validator):
    """numpydoc's checks of an object that is at hand, with the docstring that ``help()`` shows."""

    def __init__(self, obj_name: str, found: Any, text: str) -> None:
        self._target = found if inspect.isclass(found) else function_of(found)
        super().__init__(get_doc_object(self._target, doc=text))
        self.raw_doc = f"\n{text}\n"
        self._found = found
        self._called = obj_name

    @property
    def name(self) -> str:
        return self._called

    @property
    def source_file_name(self) -> str | None:
        place = source_of(self._target)
        return None if place is None else str(place[0])

    @property
    def source_file_def_line(self) -> int | None:
        place = source_of(self._target)
        return None if place is None else place[1]

    @property
    def parameter_mismatches(self) -> list[tuple[str, str]]:
        """PR01, PR02 and PR03, where ``**kwargs`` may stand for keywords that are passed on."""
        if is_property(self._found):
            return []
        shown = parameters(self._found)
        own = shown if inspect.isclass(self._found) else parameters(inspect.unwrap(self._found))
        documented = list(self.doc_all_parameters)
        named = [name for name in own if name in shown or name.startswith("*")]
        rest = [name for name in own if name.startswith("**")]
        needed = named if not rest or rest[0] in documented else [*shown]
        missing = [name for name in needed if name not in documented]
        unknown = [name for name in documented if name not in shown and name not in own]
        errors = []
        if missing:
            errors.append(("PR01", f"Parameters {', '.join(missing)} not documented"))
        if unknown:
            errors.append(("PR02", f"Unknown parameters {', '.join(unknown)}"))
        order = [name for name in documented if name in named]
        if order != [name for name in named if name in order]:
            errors.append(("PR03", f"The order is {', '.join(named)}, not {', '.join(order)}"))
        return errors


def findings() -> Iterator[Finding]:
    """Each rule that is broken."""
    for name, found, owner in public():
        place = source_of(found if inspect.isclass(found) else function_of(found))
        if place is None:
            continue
        path, line = place
        for code, message in errors_of(name, found, owner):
            yield Finding(str(path.relative_to(PACKAGE.parent.parent)), line, name, code, message)


def errors_of(name: str, found: Any, owner: Any) -> Iterator[tuple[str, str]]:
    """Code and message of each rule that the docstring of this object breaks."""
    text = docstring(found, owner, name)
    if not text:
        yield "GL08", "The object does not have a docstring"
        return
    whole = not is_summary_only(found, owner)
    wanted = SUMMARY | SECTIONS if whole else SUMMARY
    taken = parameters(found)
    if inspect.isclass(found) and ends(name, NOT_CONSTRUCTED):
        wanted, taken = wanted - {"PR01"}, {}
    if is_dataclass(found) and has_section(text, "Attributes"):
        wanted, taken = wanted - {"PR01"}, {}
    for code, message in validate(name, _Named, found=found, text=text)["errors"]:
        if code in wanted:
            yield code, message
    if whole and taken and not ends(name, NEVER_RAISES) and not has_section(text, "Raises"):
        yield "RS01", "No Raises section found, and it has parameters"


def ends(name: str, ends: tuple[str, ...]) -> bool:
    return name.endswith(tuple(f".{end}" for end in ends))


def has_section(text: str, title: str) -> bool:
    return re.search(rf"^{title}\n-+$", text, re.MULTILINE) is not None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--count", action="store_true", help="print how many of each kind")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    found = sorted(set(findings()))
    if not arguments.count:
        for finding in found:
            print(finding)
    kinds = Counter(finding.code for finding in found)
    count = sum(1 for _ in public())
    print(f"{count} public names, {len(found)} findings", dict(sorted(kinds.items())))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
