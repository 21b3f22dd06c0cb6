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
# What people ask in the trackers and forums of Zarr libraries, as they type it, and the pages that
# answer it. Most of them find one of these pages in the first three results.
REAL = {
    "sharding": ["howto/use-shards"],
    "too many small files": ["howto/use-shards"],
    "inode limit": ["howto/use-shards"],
    "slow S3": ["howto/open-faster-on-s3", "howto/use-s3", "performance"],
    "reading is slow": ["howto/choose-chunks", "trace", "performance", "measure"],
    "opening is slow": ["howto/open-faster-on-s3", "performance"],
    "what chunk size should I use": ["howto/choose-chunks"],
    "auto chunks": ["howto/choose-chunks"],
    "read only a part of an array": ["howto/read-a-crop", "indexing"],
    "fancy indexing": ["indexing"],
    "boolean mask": ["indexing"],
    "random crops for deep learning": ["howto/read-many-crops", "training"],
    "DataLoader num_workers": ["training"],
    "shuffle samples": ["training"],
    "data augmentation": ["training"],
    "GPU": ["training"],
    "multiprocessing": ["howto/write-in-parallel", "training", "reliability"],
    "concurrent writes": ["howto/write-in-parallel", "reliability"],
    "thread safe": ["howto/write-in-parallel", "reliability"],
    "ProcessSynchronizer": ["migration", "howto/write-in-parallel", "api/zarrix"],
    "append rows": ["howto/append", "howto/append-by-label"],
    "append a time step": ["howto/append", "howto/append-by-label"],
    "streaming from a camera": ["howto/store-frames-as-they-arrive"],
    "convert netCDF to Zarr": ["convert"],
    "convert HDF5 to Zarr": ["convert"],
    "TIFF stack": ["convert", "howto/many-files-as-one-array", "tutorials/files-to-statistics"],
    "open many netCDF files": ["howto/many-files-as-one-array", "convert"],
    "kerchunk": ["howto/many-files-as-one-array", "convert", "stores", "ecosystem"],
    "xarray": ["ecosystem", "howto/select-by-label", "indexing"],
    "dask": ["ecosystem", "jobs", "howto/use-a-cluster"],
    "rechunk": ["jobs", "howto/use-a-cluster", "howto/choose-chunks"],
    "out of memory": ["howto/limit-threads-and-memory", "tutorials/large-arrays"],
    "corrupted chunks": ["damaged", "howto/check-for-damage"],
    "checksums": ["howto/check-for-damage", "damaged"],
    "which chunks exist": ["howto/missing-chunks"],
    "NaN fill value": ["howto/missing-chunks", "support", "migration"],
    "compression level": ["howto/choose-a-compressor", "performance"],
    "lossy compression": ["howto/choose-a-compressor", "howto/store-photographs"],
    "JPEG": ["howto/store-photographs"],
    "datetime64": ["howto/dates", "support"],
    "variable length strings": ["howto/strings", "support"],
    "structured arrays": ["howto/tables", "support"],
    "ragged arrays": ["howto/ragged"],
    "copy to S3": ["howto/copy-an-array", "howto/resume-a-copy", "howto/use-s3"],
    "credentials expire": ["howto/use-s3", "stores"],
    "anonymous access to a public bucket": ["howto/use-s3", "stores"],
    "Google Cloud Storage": ["stores"],
    "list the arrays in a group": ["howto/groups"],
    "consolidated metadata": ["howto/open-faster-on-s3"],
    "zip store": ["howto/zip-archives", "stores"],
    "asyncio": ["howto/async-code"],
    "tqdm": ["howto/progress-bars"],
    "number of threads": ["howto/limit-threads-and-memory", "settings"],
    "Slurm": ["howto/use-a-cluster", "jobs"],
    "plot an array": ["viewer"],
    "Jupyter": ["viewer"],
    "OME-Zarr": ["viewer", "convert", "ecosystem", "jobs"],
    "pyramid": ["jobs", "viewer", "tool"],
    "undo a write": ["versions"],
    "difference between v2 and v3": ["howto/change-the-format", "migration"],
}
LEAST_FOUND = 55


@pytest.fixture(scope="module")
def answers() -> dict[str, list[str]]:
    build = [sys.executable, str(ROOT / ".ci" / "website.py")]
    subprocess.run(build, check=True, capture_output=True, timeout=600)
    asked = list(QUESTIONS | REAL)
    command = ["node", str(ROOT / ".ci" / "search.mjs"), str(ROOT / "build" / "site"), *asked]
    ran = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    return dict(zip(asked, map(json.loads, ran.stdout.splitlines()), strict=True))


@pytest.mark.parametrize(("question", "page"), QUESTIONS.items())
def test_a_question_leads_to_its_page(
    question: str, page: str, answers: dict[str, list[str]]
) -> None:
    found = [address.split("#")[0] for address in answers[question]]
    assert found[:1] == [f"{page}.html"], found[:5]


def test_real_questions_are_answered_in_the_first_three(answers: dict[str, list[str]]) -> None:
    assert len(REAL) == 60
    missed = {}
    for question, pages in REAL.items():
        # A page counts once, however many of its sections are found.
        found = dict.fromkeys(address.split("#")[0] for address in answers[question])
        if not {f"{page}.html" for page in pages} & set(list(found)[:3]):
            missed[question] = list(found)[:3]
    assert len(REAL) - len(missed) >= LEAST_FOUND, missed
    # These are those that the site was made to find.
    assert not {"sharding", "too many small files", "slow S3"} & set(missed), missed
