"""Finds habits of prose that this project avoids, in pages, comments, docstrings and messages.

    python .ci/words.py [PATH ...]    # print path:line, what was found and what to write; exit 1
    python .ci/words.py --count       # the number of findings in pages, Python and Rust

`docs/words.md` has the terms. A table of patterns finds only the commonest habits. We rejected a
grammar checker: it does not know the terms, and it reports every second sentence.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
START = r"(?:^|(?<=[.:;] )|(?<=[.:;]  ))"


@dataclass(frozen=True)
class Habit:
    """A habit: how it is found, what to write instead, and sentences that have it or not."""

    name: str
    pattern: str
    write: str
    wrong: tuple[str, ...]
    right: tuple[str, ...] = ()
    flags: int = 0


HABITS = (
    Habit(
        "is no",
        r"(?<!\b[Tt]here )(?<!\bor )(?<!\bthere would )(?<!\bthere must )"
        r"(?<!\bthere may )\b(?:is|are|was|were|be) no "
        r"(?!(?:longer|more|less|fewer|slower|faster|larger|smaller|older|newer|such)\b)\w+",
        '"is not a ..." or "has no ..."',
        ("2.5 is no length", "those are no stores", "where this is no problem"),
        (
            "there is no store",
            "there would be no chunk",
            "it is no longer open",
            "the index is no more than a hint",
            "it is not a store",
        ),
    ),
    Habit(
        "free relative",
        r"\b(?:[Ww]ho(?:m|so)?ever|[Nn]obody|[Ss]omebody)\b(?! else|/)",
        'the noun: "a process that ...", "the caller", "another writer", "no thread"',
        ("whoever is killed leaves no node", "Nobody closes it", "for somebody who waits"),
        ("a process that is killed leaves no node", "no thread closes it"),
    ),
    Habit(
        "whatever",
        r"\b[Ww]hatever\b",
        '"any ...", "everything that ...", "regardless of ..."',
        ("Whatever is killed when, the archive is whole.", "whatever a user passes"),
        (
            "The archive stays complete, even if a writer is killed.",
            "any object that a user passes",
        ),
    ),
    Habit(
        "who as a noun",
        START + r"Who (?!\w+ (?:is|was) it\b)[a-z]+\b(?![^.]*\?)"
        r"|\b(?:of|for|to|by|from|with|but|than|and|before|after|from|told to) who\b"
        r"|\b[Oo]nly who\b",
        'the noun: "a writer that ...", "the caller that ..."',
        (
            "Who writes chunks of the node is waited for.",
            "behind the back of who cancelled",
            "it is told to who asked",
        ),
        ("users who write chunks", "Who owns the lock?", "the message says who holds the lock"),
    ),
    Habit(
        "object left out",
        r"\bof (?:a )?few,|\bof nobody's\b|"
        + START
        + r"Of (?!course\b|\d|the \d|the same\b)[a-z]\w*\b",
        'the noun and then the verb: "With fewer chunks than threads, ..."',
        (
            "Of a few, most threads would have none",
            "Of lzma, all filters are native",
            "a value of nobody's",
        ),
        ("the memory of a few chunks", "Of the 64 writes, 64 survive.", "Of course it is."),
    ),
    Habit(
        "far",
        r"\b(?:[Ff]ar away|[Ff]ar (?:stores?|servers?))\b",
        '"remote", or "high latency"',
        ("a store far away answers late", "the indexes of far stores"),
        ("a remote store has a higher latency", "so far, two stores"),
    ),
    Habit(
        "elements without a size",
        r"\b(?:without|have|has|having|with) a size\b(?! of \d)",
        '"variable-length" or "fixed-size"',
        ("elements without a size", "elements that have a size"),
        ("variable-length elements", "elements with a size of 8 bytes"),
    ),
    Habit(
        "format 2",
        r"\b[Ff]ormats? [23]\b",
        '"v2" or "v3"',
        ("an array of format 2", "Formats 2 and 3"),
        ("a v2 array", "zarr_format=2"),
    ),
    Habit(
        "on its way",
        r"\bon (?:its|their) way\b|\bpass(?:es|ing)? the caches\b"
        r"|\b(?:goes|go|going) behind\b|\bbehind the back\b",
        '"in flight"; "non-temporal copy"; "unnoticed"',
        (
            "requests that are on their way",
            "stores that pass the caches",
            "nothing goes on behind the back",
        ),
        ("requests in flight", "a non-temporal copy"),
    ),
    Habit(
        "whole or not at all",
        r"\b(?:whole|complete(?:ly)?|entirely|all) or (?:not at all|none at all)\b"
        r"|\b(?:was|is|were|are) killed when\b",
        '"atomic", "atomically"',
        ("A value appears whole or not at all", "whatever was killed when"),
        ("A value is replaced atomically",),
    ),
    Habit(
        "but for",
        r"\bbut for\b(?! now)|\b(?:are|is) but [a-z]|\blooked after by\b",
        '"except"; "only"; "maintained by"',
        ("the same but for its shape", "elements are but bytes"),
        ("the same except for its shape", "it is small, but for now it is enough"),
    ),
    Habit(
        "the more",
        r"\b(?:has|have|takes?) the (?:more|fewer|less)\b",
        '"the higher ..., the more ..."',
        ("One call has the fewer the nearer the server is.",),
        ("The lower the latency, the fewer requests a call keeps in flight.",),
    ),
)
COMPILED = tuple((habit, re.compile(habit.pattern, habit.flags)) for habit in HABITS)


@dataclass(frozen=True)
class Passage:
    """A text that is read in one piece, and the line on which each part of it begins."""

    parts: tuple[tuple[int, str], ...]

    def findings(self) -> Iterator[tuple[int, str, Habit]]:
        text, starts = "", []
        for line, part in self.parts:
            starts.append((len(text), line))
            text += part.strip() + " "
        for habit, pattern in COMPILED:
            for match in pattern.finditer(text.rstrip()):
                line = max((at, line) for at, line in starts if at <= match.start())[1]
                yield line, match[0], habit


def _lines(first: int, text: str) -> Iterator[Passage]:
    """The paragraphs of ``text``, which begins at line ``first``; code of examples is left out."""
    paragraph: list[tuple[int, str]] = []
    for number, line in enumerate(text.splitlines(), first):
        bare = line.strip()
        begins = re.match(r"(?:[-*] |\d+\. |\||#+ )", bare)
        if paragraph and (not bare or begins or bare.startswith((">>>", "..."))):
            yield Passage(tuple(paragraph))
            paragraph = []
        if bare and not bare.startswith((">>>", "... ")):
            paragraph.append((number, re.sub(r"^(?:[-*] |\d+\. |#+ )", "", bare)))
    if paragraph:
        yield Passage(tuple(paragraph))


def of_page(text: str) -> Iterator[Passage]:
    """The prose of a page: without code, and with each cell of a table by itself."""
    fenced = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    text = fenced.sub(lambda match: "\n" * match[0].count("\n"), text)
    text = re.sub(r"(?m)(?:(?<=\n\n)|\A)(?: {4}[^\n]*\n)+", lambda m: "\n" * m[0].count("\n"), text)
    text = re.sub(r"`[^`\n]+`", "X", text)
    for passage in _lines(1, text):
        line, first = passage.parts[0]
        if first.startswith("|"):
            for cell in first.strip("|").split("|"):
                yield Passage(((line, cell),))
        else:
            yield passage


def _comments(found: list[tuple[int, bool, str]]) -> Iterator[Passage]:
    """Comments on lines of their own that follow each other are one passage."""
    run: list[tuple[int, str]] = []
    for number, alone, text in found:
        if run and not (alone and number == run[-1][0] + 1):
            yield from _lines(run[0][0], "\n".join(part for _, part in run))
            run = []
        run.append((number, text))
    if run:
        yield from _lines(run[0][0], "\n".join(part for _, part in run))


def of_python(text: str) -> Iterator[Passage]:
    """The comments, docstrings and messages of a Python file; other strings than messages too."""
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            alone = not token.line[: token.start[1]].strip()
            comments.append((token.start[0], alone, token.string.lstrip("#: ")))
    yield from _comments(comments)
    inside: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            inside.update(id(value) for value in node.values)
            parts = (v.value if isinstance(v, ast.Constant) else "X" for v in node.values)
            yield from _lines(node.lineno, "".join(str(part) for part in parts))
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in inside
        ):
            yield from _lines(node.lineno, node.value)


RUST = re.compile(
    r"""(?P<comment>//[^\n]*)|(?P<block>/\*.*?\*/)|r(?P<hash>\#*)"(?P<raw>.*?)"(?P=hash)"""
    r"""|b?"(?P<string>(?:\\.|[^"\\])*)"|'(?:\\[^']+|[^'\\])'""",
    re.DOTALL,
)


def of_rust(text: str) -> Iterator[Passage]:
    """The comments and strings of a Rust file."""
    comments = []
    for match in RUST.finditer(text):
        number = text.count("\n", 0, match.start()) + 1
        if match["comment"]:
            before = text.rfind("\n", 0, match.start()) + 1
            alone = not text[before : match.start()].strip()
            comments.append((number, alone, match["comment"].lstrip("/! ")))
            continue
        string = match["string"] or match["raw"] or match["block"]
        if string:
            joined = re.sub(r"\\\n\s*", "", string)
            yield from _lines(number, re.sub(r"\{[^{}]*\}", "X", joined))
    yield from _comments(comments)


READERS = {".md": of_page, ".py": of_python, ".pyi": of_python, ".rs": of_rust}
# The patterns themselves; other people's words and names; the page that lists the words to replace.
LEFT_OUT = re.compile(r"^(?:\.ci/words\.py|tests/(?:[\w/]+/)?test_words\.py|docs/words\.md)$")


def findings(path: Path) -> Iterator[tuple[int, str, Habit]]:
    """Line, words and habit of each finding in a file."""
    for passage in READERS[path.suffix](path.read_text(encoding="utf-8")):
        yield from passage.findings()


def files() -> list[Path]:
    """Every file of the repository that has prose; pages outside of ``docs`` by name."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        text=True,
        capture_output=True,
        check=True,
    ).stdout.split("\n")
    names = (name for name in sorted({*listed}) if Path(name).suffix in READERS)
    return [ROOT / name for name in names if not LEFT_OUT.match(name) and (ROOT / name).is_file()]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, metavar="PATH")
    parser.add_argument("--count", action="store_true", help="print only how many there are")
    asked = parser.parse_args()
    counts = {"pages": 0, "Python": 0, "Rust": 0}
    named = [
        each for path in asked.paths for each in (path.rglob("*") if path.is_dir() else [path])
    ]
    for path in [each for each in named if each.suffix in READERS] if named else files():
        kind = {".md": "pages", ".rs": "Rust"}.get(path.suffix, "Python")
        for line, words, habit in sorted(findings(path), key=lambda each: each[0]):
            counts[kind] += 1
            if not asked.count:
                shown = (
                    path.resolve().relative_to(ROOT)
                    if path.resolve().is_relative_to(ROOT)
                    else path
                )
                print(f"{shown}:{line}: {words!r} ({habit.name}): write {habit.write}")
    total = sum(counts.values())
    print(f"{total} findings: " + ", ".join(f"{kind} {count}" for kind, count in counts.items()))
    return int(total > 0)


if __name__ == "__main__":
    sys.exit(main())
