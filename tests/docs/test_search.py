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
    "training set": "tutorials/training-set",
    "larger than memory": "tutorials/large-arrays",
    "save a NumPy array": "tutorials/saving-arrays",
    "read a crop": "howto/read-a-crop",
    "many crops": "howto/read-many-crops",
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
    "check damage": "howto/check-for-damage",
    "damaged store": "damaged",
    "strings": "howto/strings",
    "array in zip archive": "howto/zip-archives",
    "progress": "howto/progress-bars",
    "limit memory": "howto/limit-threads-and-memory",
    "coming from zarr-python": "migration",
    "change v2 to v3": "howto/change-the-format",
    "write a codec": "howto/write-a-codec",
    "write a store": "howto/write-a-store",
    "errors and warnings": "errors",
    "convert HDF5": "convert",
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
