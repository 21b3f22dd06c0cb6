"""Templates in braces in kerchunk references of version 1, evaluated without executing code.

The specification uses Jinja2. This module implements the required subset: names of templates,
templates that are called with words, and integers with ``+ - * // %``. Everything else is an error,
and so is a document whose templates expand beyond the limits.
"""

from __future__ import annotations

import ast
import itertools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from zarrix._errors import CorruptStoreError, shorten

__all__ = ["Templates"]

T = TypeVar("T")

_BRACES = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)
_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
# The limit of the expanded size of a document; more is a mistake, or an attack on the memory. Each
# key or URL from a template, and each template, has at most this many characters.
_MOST_GENERATED = 1_000_000
_MOST_TEXT = 256 << 20
_LONGEST = 8192
# Names, numbers and operators that are evaluated in all: 32 for each reference of gen.
_MOST_STEPS = 32 * _MOST_GENERATED
_MOST_PARSED = 64


class Templates:
    """The templates of one document, and the remaining limit of expanded characters.

    Parameters
    ----------
    templates : object
        The ``templates`` of the document.
    shown : str
        The name of the document in errors.

    Raises
    ------
    CorruptStoreError
        They are not a mapping of names to texts.
    """

    def __init__(self, templates: Any, shown: str) -> None:
        is_table = isinstance(templates, Mapping)
        if not is_table or not all(isinstance(text, str) for text in templates.values()):
            raise CorruptStoreError(f"{shown}: the templates are {shorten(templates)}")
        self._templates: Mapping[str, str] = templates
        self._shown = shown
        self._parsed: dict[str, list[str | ast.expr]] = {}
        self._rendered: dict[str, str] = {}
        self._left, self._text_left = _MOST_GENERATED, _MOST_TEXT
        self._steps_left = _MOST_STEPS

    def rendered(self, text: str) -> str:
        """Expand each pair of braces in ``text``.

        Raises
        ------
        ValueError
            A name does not exist, an expression is not names, words and integers, or the text is
            too long.
        """
        # Cached, because most references of a document have one of a few texts.
        known = self._rendered.get(text)
        if known is None:
            known = self._render(text, {}, self._templates)
            if known is not text:
                self._spend(known)
                self._rendered[text] = known
        return known

    def _spend(self, *texts: str) -> None:
        self._text_left -= sum(map(len, texts))
        if self._text_left < 0:
            raise ValueError(f"the templates make more than {_MOST_TEXT} characters")

    def _render(self, text: str, names: Mapping[str, Any], templates: Mapping[str, str]) -> str:
        if "{{" not in text:
            return text
        parts, length = [], 0
        for part in self._parts(text):
            if isinstance(part, str):
                made = part
            else:
                try:
                    made = str(self._value(part, names, templates))
                except KeyError as missing:
                    raise ValueError(f"{text!r} has no template of that name: {missing}") from None
                except (ZeroDivisionError, OverflowError, RecursionError) as error:
                    raise _not_evaluated(ast.unparse(part), text, error) from None
            parts.append(made)
            length += len(made)
            if length > _LONGEST:
                raise ValueError(f"{shorten(text)} makes more than {_LONGEST} characters")
        return "".join(parts)

    def _parts(self, text: str) -> list[str | ast.expr]:
        """The text outside braces and the parsed expressions in braces, alternately."""
        known = self._parsed.get(text)
        if known is not None:
            return known
        if len(text) > _LONGEST:
            raise ValueError(f"a template has {len(text)} characters, more than {_LONGEST}")
        parts: list[str | ast.expr] = []
        for number, piece in enumerate(_BRACES.split(text)):
            if number % 2 == 0:
                parts.append(piece)
                continue
            if piece.startswith("-"):
                # In Jinja2 this is not a sign: it removes the blanks before it.
                raise ValueError(f"{text!r}: write a sign as '{{{{ -' or in parentheses")
            try:
                parts.append(ast.parse(piece.strip(), mode="eval").body)
            except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
                raise _not_evaluated(piece.strip(), text, error) from None
        # Parsed trees take a hundred times the memory of their text; those of gen are reused.
        if len(self._parsed) >= _MOST_PARSED:
            self._parsed = {}
        self._parsed[text] = parts
        return parts

    def _value(self, tree: ast.expr, names: Mapping[str, Any], templates: Mapping[str, str]) -> Any:
        self._steps_left -= 1
        if self._steps_left < 0:
            raise ValueError(f"the templates take more than {_MOST_STEPS} steps")
        match tree:
            case ast.Constant(value=str() | int() as constant) if not isinstance(constant, bool):
                return constant
            case ast.Name(id=name):
                return names[name] if name in names else templates[name]
            case ast.UnaryOp(op=ast.USub(), operand=inner):
                return -_number(self._value(inner, names, templates))
            case ast.BinOp(left=left, op=kind, right=right) if type(kind) in _OPERATORS:
                sides = (_number(self._value(side, names, templates)) for side in (left, right))
                return _number(_OPERATORS[type(kind)](*sides))
            case ast.Call(func=ast.Name(id=name), args=[], keywords=words):
                given = {str(word.arg): self._value(word.value, names, templates) for word in words}
                # Without templates inside, because one that calls itself would never end.
                return self._render(templates[name], given, {})
        raise ValueError(
            f"{ast.unparse(tree)!r} is not only names, words and whole numbers; code is not "
            "executed"
        )

    def generated(self, entries: Any) -> Iterator[tuple[str, list[Any]]]:
        """The keys and references from each entry of ``gen``.

        Raises
        ------
        CorruptStoreError
            An entry is invalid, or the entries expand to too many references.
        """
        if not isinstance(entries, list):
            raise CorruptStoreError(f"{self._shown}: gen is {shorten(entries)}")
        # All are counted before the first is generated.
        plans = [self._told(entry, self._plan, entry) for entry in entries]
        for entry, axes in zip(entries, plans, strict=True):
            for values in itertools.product(*axes.values()):
                names = dict(zip(axes, values, strict=True))
                yield self._told(entry, self._one, entry, names)

    def _told(self, entry: Any, make: Callable[..., T], *arguments: Any) -> T:
        try:
            return make(*arguments)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise CorruptStoreError(f"{self._shown}: {shorten(entry)} of gen: {error}") from None

    def _plan(self, entry: Any) -> dict[str, Sequence[Any]]:
        """The values of each name of an entry, in turn."""
        if not isinstance(entry, Mapping) or ("offset" in entry) != ("length" in entry):
            raise TypeError("not an entry with key, url, dimensions, and offset with length")
        if not isinstance(entry["key"], str) or not isinstance(entry["url"], str):
            raise TypeError("key and url are text")
        axes = {name: _axis(axis) for name, axis in entry["dimensions"].items()}
        counts = [len(axis) for axis in axes.values()]
        count = math.prod(counts)
        self._left -= max(count, 1)
        if self._left < 0 or max(counts, default=0) > _MOST_GENERATED:
            raise ValueError(
                f"it stands for {count} references; gen may stand for {_MOST_GENERATED} in all"
            )
        return axes

    def _one(self, entry: Any, names: Mapping[str, Any]) -> tuple[str, list[Any]]:
        key, url = (self._render(entry[name], names, self._templates) for name in ("key", "url"))
        self._spend(key, url)
        part = [entry[name] for name in ("offset", "length") if name in entry]
        made = [int(self._render(str(one), names, self._templates)) for one in part]
        return key, [url, *made]


def _not_evaluated(source: str, text: str, error: BaseException) -> ValueError:
    return ValueError(f"{shorten(source)} in {shorten(text)} cannot be evaluated: {error}")


def _number(value: Any) -> int:
    if not isinstance(value, int) or abs(value) >= 2**63:
        raise ValueError(f"{shorten(value)} is not a whole number of 64 bits")
    return value


def _axis(axis: Any) -> Any:
    if not isinstance(axis, list):
        return range(axis.get("start", 0), axis["stop"], axis.get("step", 1))
    if not all(isinstance(value, int | str) for value in axis):
        raise TypeError("a dimension is a list of numbers and texts, or start, stop and step")
    return axis
