"""The lint of words finds each habit that it names, and no sentence that only looks like one."""

import subprocess
import sys
from pathlib import Path

import pytest
from ci_tools import load

ROOT = next(p for p in Path(__file__).resolve().parents if (p / "pyproject.toml").is_file())


WORDS = load("words")
WRONG = [(habit.name, sentence) for habit in WORDS.HABITS for sentence in habit.wrong]
RIGHT = [sentence for habit in WORDS.HABITS for sentence in habit.right]


def names(passages: object) -> list[str]:
    return [habit.name for passage in passages for _, _, habit in passage.findings()]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "sentence"), WRONG)
def test_a_wrong_sentence_is_found_by_its_habit(name: str, sentence: str) -> None:
    assert name in names(WORDS.of_page(sentence))


@pytest.mark.parametrize("sentence", RIGHT)
def test_a_right_sentence_is_not_found(sentence: str) -> None:
    assert names(WORDS.of_page(sentence)) == []


def test_every_habit_has_sentences_of_both_kinds() -> None:
    assert [habit.name for habit in WORDS.HABITS if not habit.wrong or not habit.right] == []


@pytest.mark.parametrize(
    ("reader", "text", "lines"),
    [
        ("of_page", "one\n\nthis is\nno store\n", [3]),
        ("of_page", "```python\nx = 'is no store'\n```\n\n    is no store\n\n`is no store`\n", []),
        ("of_page", "| a | b |\n|---|---|\n| x | this is no store |\n", [3]),
        ("of_python", "# this is\n# no store\nx = 1  # nobody\n", [1, 3]),
        ("of_python", '"""One.\n\nThis is no store.\n"""\n', [3]),
        ("of_python", 'x = 3\nm = f"{x} is no" f" store"\n', [2]),
        (
            "of_rust",
            '//! One.\n//! This is no\n//! store.\nlet x = "it is no \\\n  key";\n',
            [2, 4],
        ),
        ("of_rust", 'let x = \'"\'; // nobody\nlet y = r#"nobody"#;\n', [1, 2]),
    ],
)
def test_each_kind_of_file_is_read(reader: str, text: str, lines: list[int]) -> None:
    passages = getattr(WORDS, reader)(text)
    found = [line for passage in passages for line, _, _ in passage.findings()]
    assert sorted(found) == lines


@pytest.mark.parametrize(("text", "code"), [("a key that is no key", 1), ("it is not a key", 0)])
def test_a_finding_is_told_with_its_place_and_what_to_write(
    text: str, code: int, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"One line.\n\n{text}\n")
    command = [sys.executable, str(ROOT / ".ci" / "words.py"), str(page)]
    run = subprocess.run(command, text=True, capture_output=True, check=False)
    assert run.returncode == code
    told = f'{page}:3: \'is no key\' (is no): write "is not a ..." or "has no ..."' in run.stdout
    assert told == bool(code)
    counted = subprocess.run([*command, "--count"], text=True, capture_output=True, check=False)
    assert counted.stdout.splitlines() == [f"{code} findings: pages {code}, Python 0, Rust 0"]
