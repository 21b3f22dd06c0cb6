"""The examples of docs/ecosystem.md that need zarr-python run."""

import re
from pathlib import Path

import pytest

pytest.importorskip("zarr.testing", reason="tests/interop/setup stores")
import zarrix.interop

PAGE = Path(__file__).resolve().parents[2] / "docs" / "ecosystem.md"
BLOCKS = re.findall(
    r"^```python zarr-python\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL
)


@pytest.mark.parametrize("block", BLOCKS)
def test_an_example_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with zarrix.interop.accelerate(False):
        exec(compile(block, str(PAGE), "exec"), {})


def test_the_page_has_examples() -> None:
    assert BLOCKS
