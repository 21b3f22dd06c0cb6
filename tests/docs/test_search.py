"""The search of the documentation site leads a newcomer's words to the page that answers.

It builds the site, and asks the program that searches in the browser, in Node.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NEEDED = [name for name in ("zensical", "mkdocstrings") if importlib.util.find_spec(name) is None]
pytestmark = pytest.mark.skipif(
    bool(NEEDED) or shutil.which("node") is None,
    reason='the site cannot be built: it needs Node and pip install -e ".[docs]"',
)

# what a reader types, and the page that should be first.
QUESTIONS = {
    "crop": "howto/read-a-crop",
    "training set": "tutorials/training-set",
    "train": "training",
    "PyTorch": "training",
    "larger than memory": "tutorials/large-arrays",
    "save a NumPy array": "tutorials/saving-arrays",
    "read a crop": "howto/read-a-crop",
    "many crops": "howto/read-many-crops",
    "select by date": "howto/select-by-label",
    "append": "howto/append",
    "resize": "howto/resize",
    "choose chunks": "howto/choose-chunks",
    "use shards": "howto/use-shards",
    "choose compressor": "howto/choose-a-compressor",
    "S3 keys": "howto/use-s3",
    "write from several processes": "howto/write-in-parallel",
    "store attributes": "howto/attributes",
    "delete arrays": "howto/rename-and-delete",
    "copy an array": "howto/copy-an-array",
    "resume a copy": "howto/resume-a-copy",
    "check damage": "howto/check-for-damage",
    "damaged store": "damaged",
    "recover a damaged chunk": "damaged",
    "strings": "howto/strings",
    "array in zip archive": "howto/zip-archives",
    "progress": "howto/progress-bars",
    "limit memory": "howto/limit-threads-and-memory",
    "coming from zarr-python": "migration",
    "migrate from zarr 2": "migration",
    "migrate from zarr 3": "migration",
    "change v2 to v3": "howto/change-the-format",
    "write a codec": "howto/write-a-codec",
    "write a store": "howto/write-a-store",
    "errors and warnings": "errors",
    "convert HDF5": "convert",
    "How do I crop an array?": "howto/read-a-crop",
    "How do I append to an array?": "howto/append",
    "How do I resize an array?": "howto/resize",
    "How do I choose chunks?": "howto/choose-chunks",
    "How do I use S3 keys?": "howto/use-s3",
    "How do I resume a copy?": "howto/resume-a-copy",
    "How do I convert HDF5?": "convert",
    "How do I train with PyTorch?": "training",
    "How do I migrate from zarr 2?": "migration",
    "How do I migrate from zarr-python 3?": "migration",
    "How do I recover a damaged chunk?": "damaged",
    "How do I save a NumPy array?": "tutorials/saving-arrays",
    "How do I store strings?": "howto/strings",
    "How can I write from several processes?": "howto/write-in-parallel",
    "How do I limit memory?": "howto/limit-threads-and-memory",
    "How do I delete an array?": "howto/rename-and-delete",
    "How do I write a codec?": "howto/write-a-codec",
    "Which compressor should I choose?": "howto/choose-a-compressor",
    "What should I do with a damaged store?": "damaged",
    "How do I copy a group?": "howto/copy-an-array",
    "How do I use shards?": "howto/use-shards",
    "How do I install it on Windows?": "platforms",
    "How do I look at an array?": "viewer",
    # Other forms of the words on the page.
    "cropping": "howto/read-a-crop",
    "appending": "howto/append",
    "resizing an array": "howto/resize",
    "renaming": "howto/rename-and-delete",
    "copying": "howto/copy-an-array",
    "writing from processes": "howto/write-in-parallel",
    "compressed chunks": "tutorials/large-arrays",
    "string": "howto/strings",
    # Words that the page has for those who use them.
    "memory usage": "howto/limit-threads-and-memory",
    "multithreading": "howto/limit-threads-and-memory",
    "visualize": "viewer",
    "upgrade from zarr": "migration",
}


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    build = [sys.executable, str(ROOT / ".ci" / "website.py")]
    subprocess.run(build, check=True, capture_output=True, timeout=600)
    command = ["node", str(ROOT / ".ci" / "search.mjs"), str(ROOT / "build" / "site"), *QUESTIONS]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return dict(zip(QUESTIONS, map(json.loads, ran.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("question", "page"), QUESTIONS.items())
def test_a_question_leads_to_its_page(
    question: str, page: str, answers: dict[str, list[str]]
) -> None:
    found = [address.split("#")[0] for address in answers[question]]
    assert found[:1] == [f"{page}.html"], found[:5]
