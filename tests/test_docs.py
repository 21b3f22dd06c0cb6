"""Every Python block of the README and of the documents in docs/ runs, in its order."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
# The page of stores wants a server: tests/remote/test_remote_docs.py.
DOCUMENTS = [
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "stores.md"),
]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document: Path) -> list[str]:
    return BLOCK.findall(document.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "document", [d for d in DOCUMENTS if blocks(d)], ids=lambda document: document.name
)
def test_the_code_of_a_document_runs(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "document"}
    for code in blocks(document):
        exec(compile(code, document.name, "exec"), names)


def test_the_readme_has_code() -> None:
    assert len(blocks(ROOT / "README.md")) == 1
