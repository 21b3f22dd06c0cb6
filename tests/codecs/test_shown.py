"""The text of a codec is what numcodecs prints, and needs no import of numcodecs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from zarrix._codecs.numcodecs import shown_codec
from zarrix._codecs.shown import codec_text

CONFIGS: list[dict[str, Any]] = [
    *(
        {"id": "blosc", "cname": cname, "clevel": level, "shuffle": shuffle, "blocksize": size}
        for cname, level, shuffle, size in (
            ("lz4", 5, 1, 0), ("zstd", 9, 2, 4096), ("zlib", 0, 0, 0), ("lz4hc", 1, -1, 1),
            ("zstd", 99, 1, 0), ("what", 5, 1, 0), ("lz4", 5, 7, 0), ("lz4", "5", 1, 0),
        )
    ),
    {"id": "blosc"},
    {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1, "blocksize": 0, "typesize": 4},
    *({"id": name, "level": n} for name in ("zlib", "gzip", "bz2") for n in (1, 9, 0, -1, 77)),
    *({"id": "zstd", "level": n, "checksum": c} for n in (-7, 0, 22, 99) for c in (False, True)),
    {"id": "zstd", "level": True},
    {"id": "lz4", "acceleration": 3},
    {"id": "delta", "dtype": "<i4"},
]  # fmt: skip


@pytest.mark.parametrize("config", CONFIGS, ids=str)
def test_the_text_is_that_of_the_object(config: dict[str, Any]) -> None:
    try:
        expected = repr(shown_codec(config, "x"))
    except ValueError:
        with pytest.raises(ValueError, match="x"):
            codec_text(config, "x")
        return
    assert codec_text(config, "x") == expected


def test_no_codec_is_none() -> None:
    assert codec_text(None, "x") == "None"


def test_a_report_does_not_import_numcodecs(tmp_path: Path) -> None:
    zarr.save(tmp_path / "x.zarr", [1, 2, 3])
    code = (
        "import sys, zarrix; print(zarrix.open(sys.argv[1], mode='r').info); "
        "sys.exit('numcodecs' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "x.zarr"], capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "Blosc(cname='lz4'" in ran.stdout
