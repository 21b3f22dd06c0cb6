"""Run each example of a docstring in an empty folder, so that it may name files."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _folder_of_an_example(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        folder: Path = request.getfixturevalue("tmp_path")
        monkeypatch.chdir(folder)
