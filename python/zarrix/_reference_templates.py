"""What stands in braces in kerchunk's references of version 1, without running anything.

The specification uses Jinja2. Here is what it asks of it: names of templates, templates that are
called with words, and whole numbers with ``+ - * // %``. Everything else is refused.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from zarrix._errors import CorruptStoreError

__all__ = ["generated", "rendered"]

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
# More than that is a mistake, or meant to fill the memory.
_MOST_GENERATED = 10_000_000
_LONGEST = 4096


def rendered(text: str, names: Mapping[str, Any], templates: Mapping[str, str]) -> str:
    """``text`` with what each pair of braces stands for.

    Raises
    ------
    ValueError
        There is no such name, or it is more than names, words and whole numbers.
    """
    if "{{" not in text:
        return text

    def value(braces: re.Match[str]) -> str:
        source = braces[1].strip()
        if braces[1].startswith("-"):
            # In Jinja2 no sign, but what takes the blanks before it away.
            raise ValueError(f"{text!r}: write a sign as '{{{{ -' or in parentheses")
        try:
            tree = ast.parse(source, mode="eval").body
            return str(_value(tree, names, templates))
        except (SyntaxError, RecursionError, ZeroDivisionError, OverflowError) as error:
            raise ValueError(f"{source!r} in {text!r} cannot be evaluated: {error}") from None
        except KeyError as missing:
            raise ValueError(f"{text!r} has no template of that name: {missing}") from None

    if len(text) > _LONGEST:
        raise ValueError(f"a template has {len(text)} characters, more than {_LONGEST}")
    return _BRACES.sub(value, text)


def _value(tree: ast.expr, names: Mapping[str, Any], templates: Mapping[str, str]) -> Any:
    match tree:
        case ast.Constant(value=str() | int() as constant) if not isinstance(constant, bool):
            return constant
        case ast.Name(id=name):
            return names[name] if name in names else templates[name]
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return -_number(_value(inner, names, templates))
        case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
            sides = (_number(_value(side, names, templates)) for side in (left, right))
            return _number(_OPERATORS[type(kind)](*sides))
        case ast.Call(func=ast.Name(id=name), args=[], keywords=words):
            given = {str(word.arg): _value(word.value, names, templates) for word in words}
            # No templates within: one that calls itself would never end.
            return rendered(templates[name], given, {})
    raise ValueError(
        f"{ast.unparse(tree)!r} is more than names, words and whole numbers: nothing is run here"
    )


def _number(value: Any) -> int:
    if not isinstance(value, int) or abs(value) >= 2**63:
        raise ValueError(f"{value!r} is no whole number of 64 bits")
    return value


def generated(
    entries: Any, templates: Mapping[str, str], shown: str
) -> Iterator[tuple[str, list[Any]]]:
    """The keys and references that each entry of ``gen`` stands for.

    Raises
    ------
    CorruptStoreError
        An entry is not as the specification has it, or stands for too many.
    """
    for entry in entries:
        if not isinstance(entry, Mapping) or ("offset" in entry) != ("length" in entry):
            raise CorruptStoreError(f"{shown}: {entry!r} is no entry of gen")
        try:
            axes = {name: _axis(axis) for name, axis in entry["dimensions"].items()}
            key, url = entry["key"], entry["url"]
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise CorruptStoreError(f"{shown}: {entry!r} of gen: {error!r}") from None
        count = math.prod(map(len, axes.values()))
        if count > _MOST_GENERATED:
            raise CorruptStoreError(
                f"{shown}: one entry of gen stands for {count} references, more than "
                f"{_MOST_GENERATED}"
            )
        for values in itertools.product(*axes.values()):
            names = dict(zip(axes, values, strict=True))
            part = [
                int(rendered(str(entry[name]), names, templates))
                for name in ("offset", "length")
                if name in entry
            ]
            yield rendered(key, names, templates), [rendered(url, names, templates), *part]


def _axis(axis: Any) -> Any:
    if isinstance(axis, list):
        return axis
    return range(axis.get("start", 0), axis["stop"], axis.get("step", 1))
