"""A wheel has the front end, with the licences of what is bundled in it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

import pytest

STATIC = Path(__file__).parents[2] / "python" / "zarrix" / "viewer" / "static"
FILES = {"index.html", "view.js", "view.css", "icon.svg", "licenses.txt"}
BUNDLED = ("preact", "@preact/signals", "@preact/signals-core", "uplot")


def test_the_front_end_is_complete_and_names_what_it_bundles() -> None:
    assert {path.name for path in STATIC.iterdir()} == FILES
    licences = (STATIC / "licenses.txt").read_text(encoding="utf-8")
    for name in BUNDLED:
        assert f"\n{name} " in licences
    assert licences.count("Permission is hereby granted") == len(BUNDLED)
    # Nothing of it is fetched from elsewhere.
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    assert "http" not in page
    assert "<script type" in page
    assert "style=" not in page


def test_a_built_wheel_has_the_same_front_end() -> None:
    wheel = os.environ.get("ZARRIX_WHEEL")
    if not wheel:
        pytest.skip("ZARRIX_WHEEL names no wheel; .ci/run builds one")
    with zipfile.ZipFile(wheel) as archive:
        for name in FILES:
            packed = archive.read(f"zarrix/viewer/static/{name}")
            assert packed == (STATIC / name).read_bytes()
