"""An example of a docstring runs in an empty folder, and leaves the package's logger as it was."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

# The pool of threads that numpy's OpenBLAS starts takes a third of the time that a process takes to
# start, and no test multiplies matrices. Before numpy is imported, and for all processes of tests.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@pytest.fixture
def example_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    logger = logging.getLogger("zarrix")
    level, handlers = logger.level, list(logger.handlers)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    logger.setLevel(level)
    logger.handlers[:] = handlers


@pytest.fixture(autouse=True)
def _in_a_folder_of_its_own(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("example_folder")
