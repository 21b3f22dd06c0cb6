"""Man pages: one for each verb, which groff reads without a warning."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from zarrix.cli import main
from zarrix.cli._commands import parser_of
from zarrix.cli._man import page
from zarrix.cli._table import VERBS


@pytest.mark.parametrize("verb", [None, *VERBS])
def test_a_page_names_every_option(verb: str | None) -> None:
    text = page(verb).replace("\\-", "-")
    assert text.startswith('.TH "ZARRIX')
    if verb is None:
        assert all(f"zarrix-{one} (1)" in text for one in VERBS)
        return
    for action in parser_of(verb)[0]._actions:
        for name in action.option_strings or [action.dest]:
            assert name in text
    assert all(example in text for example in parser_of(verb)[1].EXAMPLES)


def test_pages_are_written_and_groff_reads_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["help", "--man", str(tmp_path / "man1")]) == 0
    assert f"wrote {len(VERBS) + 1} pages" in capsys.readouterr().out
    pages = sorted((tmp_path / "man1").iterdir())
    assert len(pages) == len(VERBS) + 1
    groff = shutil.which("groff")
    if groff is None:
        pytest.skip("groff is not installed")
    ran = subprocess.run(
        [groff, "-man", "-Tutf8", "-wall", "-z", *pages], capture_output=True, text=True,
        check=False, timeout=120,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
