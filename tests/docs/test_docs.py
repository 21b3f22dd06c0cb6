"""Every Python block of the README and of the documents in docs/ runs, in its order."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# The page of stores wants a server: tests/stores/remote/test_remote_docs.py.
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


NAMED = re.compile(r"\bzarrix((?:\.[A-Za-z]\w*)+)")
RESOLVE = """
import sys
import zarrix

found = zarrix
for name in sys.argv[1].split("."):
    found = getattr(found, name)
"""


def test_every_name_that_the_documents_write_is_there_after_one_import() -> None:
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    names = {match[1].strip(".") for match in NAMED.finditer(text)}
    assert {"interop.ZarrStore", "testing.check_store"} <= names
    failed = {}
    for name in sorted(names):
        # One process a name: an import for another name must not help.
        run = subprocess.run(
            [sys.executable, "-c", RESOLVE, name], text=True, capture_output=True, check=False
        )
        # What needs another package says so.
        if run.returncode != 0 and "which is not installed: pip install" not in run.stderr:
            failed[name] = run.stderr.splitlines()[-1]
    assert failed == {}
