"""Every Python block of the README and of the pages in docs/ runs, and prints what they say."""

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from ci_tools import load
from optional import skipped_where_absent
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
# These pages want a server: tests/stores/remote/test_remote_docs.py.
REMOTE = ("stores.md", "use-s3.md")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [page for page in PAGES if page.name not in REMOTE]
# Pages of lessons and tasks show what each block prints.
SHOWN = [page for page in DOCUMENTS if page.parent != ROOT / "docs" and page.parent != ROOT]

pages = load("pages")


def blocks(document: Path) -> list[Any]:
    found: list[Any] = pages.blocks(document.read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(
    "document",
    [page for page in DOCUMENTS if blocks(page)],
    ids=lambda page: page.relative_to(ROOT).as_posix(),
)
def test_the_code_of_a_document_runs_and_prints_what_the_page_says(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found = blocks(document)
    with skipped_where_absent():
        outputs = pages.printed(document, found)
    assert pages.differences(document, found, outputs) == ""
    text = document.read_text(encoding="utf-8")
    for shown, saved in pages.pictures(document, text, tmp_path):
        assert not pages.looks_different(shown, saved), shown
    if document in SHOWN:
        assert [
            one.line for one, said in zip(found, outputs, strict=True) if said and not one.output
        ] == []


def test_what_a_block_prints_is_compared_and_written() -> None:
    text = "```python\nprint(6 * 7)\n```\n\n```text\n41\n```\n\n```python\nprint('a b')\n```\n"
    page = Path("page.md")
    found = pages.blocks(text)
    outputs = pages.printed(page, found)
    assert outputs == ["42\n", "a b\n"]
    assert "page.md:1\n" in pages.differences(page, found, outputs)
    better = pages.written(text, outputs)
    assert better.count("```text") == 2
    assert pages.differences(page, pages.blocks(better), outputs) == ""
    assert pages.written(better.replace("42", "..."), outputs) == better.replace("42", "...")


def test_a_picture_that_changed_is_noticed(tmp_path: Path) -> None:
    first, second = tmp_path / "first.png", tmp_path / "second.png"
    Image.new("RGB", (4, 4), (10, 20, 30)).save(first)
    Image.new("RGB", (4, 4), (10, 20, 31)).save(second)
    assert not pages.looks_different(first, second)
    Image.new("RGB", (4, 4), (10, 20, 40)).save(second)
    assert pages.looks_different(first, second)
    assert pages.looks_different(tmp_path / "missing.png", second)
    page = ROOT / "docs" / "tutorials" / "training-set.md"
    text = page.read_text(encoding="utf-8")
    (tmp_path / "training-set.png").write_bytes(b"")
    assert pages.pictures(page, text, tmp_path) == [
        (page.parent / "../images/training-set.png", tmp_path / "training-set.png")
    ]


def test_the_readme_has_code() -> None:
    assert len(blocks(ROOT / "README.md")) == 1


# Not the accessor of xarray's objects, as in ds.zarrix.to_zarr.
NAMED = re.compile(r"(?<!\.)\bzarrix((?:\.[A-Za-z]\w*)+)")
# A child for the names of each module, which an import for another module does not help. They are
# forked from a process that has only what zarrix takes from others.
RESOLVE = """
import asyncio, importlib, json, os, sys, numpy

def resolve(path):
    import zarrix

    # The alias is not an attribute until it is imported, because its import has an effect.
    before, alias, _ = path.partition("as_zarr")
    if alias:
        importlib.import_module(f"zarrix.{before}as_zarr")
    found = zarrix
    for name in path.split("."):
        found = getattr(found, name)

failed = {}
for paths in json.loads(sys.argv[1]):
    reader, writer = os.pipe()
    if not os.fork():
        found = {}
        for path in paths:
            try:
                resolve(path)
            except Exception as error:
                found[path] = f"{type(error).__name__}: {error}"[:1000]
        os.write(writer, json.dumps(found).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as told:
        answer = told.read()
    _, status = os.wait()
    failed |= json.loads(answer) if answer else {path: f"status {status}" for path in paths}
print(json.dumps(failed))
"""


def test_every_name_that_the_documents_write_is_there_after_one_import() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in [*PAGES, ROOT / "CHANGELOG.md"])
    names = {match[1].strip(".") for match in NAMED.finditer(text)}
    assert {"interop.ZarrStore", "testing.check_store"} <= names
    names.discard("converters")  # a group of entry points, not a module
    modules: dict[str, list[str]] = {}
    for name in sorted(names):
        is_module = find_spec(f"zarrix.{name.partition('.')[0]}") is not None
        # Functions and classes of the package itself are found in the same way, each by its name.
        module = name.rpartition(".")[0] or (name if is_module else "")
        modules.setdefault(module, []).append(name)
    # Threads of NumPy's own would not be in the children.
    run = subprocess.run(
        [sys.executable, "-c", RESOLVE, json.dumps(list(modules.values()))],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        text=True,
        capture_output=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    # What needs another package says so.
    assert {
        name: message
        for name, message in json.loads(run.stdout).items()
        if "which is not installed: pip install" not in message
    } == {}
