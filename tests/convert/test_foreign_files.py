"""Files of the libraries of all formats, drawn at random: exact, or one error, or named."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from foreign_files import KINDS, checked, draw, missing

# A part of the 500 by default.
_EACH = 4


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        pytest.param(kind, number, marks=[] if number < _EACH else [pytest.mark.long])
        for kind, (_, count) in KINDS.items()
        for number in range(count)
    ],
)
def test_a_file_is_what_its_library_reads(kind: str, number: int, tmp_path: Path) -> None:
    if lacking := missing(kind):
        pytest.skip(f"{lacking} is not installed")
    with warnings.catch_warnings():
        # The libraries warn of what they write.
        warnings.simplefilter("ignore")
        told = checked(draw(kind, number, tmp_path))
    # Filters of PyTables are not installed everywhere.
    assert told == "exact" or (kind == "pytables" and told == "exact except what is named")
