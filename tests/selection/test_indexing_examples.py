"""zarr-python's documented selections print under zarrix what they print under zarr-python."""

import doctest
from pathlib import Path

import numpy as np
import pytest
import zarrix as zarr

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("indexing_*.txt"))


@pytest.mark.parametrize("document", EXAMPLES, ids=lambda document: document.stem)
def test_documented_selections_run_unchanged(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parser = doctest.DocTestParser()
    test = parser.get_doctest(
        document.read_text(), {"np": np, "zarr": zarr}, document.name, str(document), 0
    )
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
    results = runner.run(test, out=report.append)
    assert results.attempted > 40
    assert results.failed == 0, "".join(report)
