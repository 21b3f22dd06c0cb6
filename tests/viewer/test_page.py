"""A page without a server: what it has, what it lacks, and that only the front end runs in it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from zarrix.cli import main
from zarrix.viewer._app import root_of
from zarrix.viewer._page import page_of
from zarrix.viewer._roots import Roots


def roots(node: Any) -> Roots:
    return Roots([root_of(node)])


def data_of(html: str) -> Any:
    found = re.search(r'<script type="application/json" id="zarrix-data">(.*?)</script>', html)
    assert found is not None
    return json.loads(found[1])


def test_what_does_not_fit_is_left_out_and_named() -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    for name, shape, dtype in (
        ("a/small", (20, 30), "u1"), ("large", (3000, 3000), "u1"), ("b", (400, 400), "f4"),
        ("text", (4,), "U3"),
    ):  # fmt: skip
        group.create_array(name, shape=shape, dtype=dtype)
    page = page_of(roots(group), 10_000)
    assert page.arrays == ["a/small"]
    assert sorted(page.left_out) == ["b", "large", "text"]
    data = data_of(page.html)
    assert sorted(data["answers"]["hello"]["left_out"]) == ["b", "large", "text"]
    assert data["answers"]["hello"]["first"] == "a/small"
    assert next(iter(data["tiles"])) == "raw a/small"
    # More room: only what has no numbers, or too many of them, is left out.
    assert sorted(page_of(roots(group), 10**8).left_out) == ["large", "text"]
    with pytest.raises(zarr.errors.ZarrixError, match="no array is small enough"):
        page_of(roots(group), 100)


def test_names_and_attributes_are_data_alone() -> None:
    name = "</script><script>alert(1)</script>"
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.attrs["x"] = "<!--<script>" + name
    group.create_array("<img src=x onerror=alert(1)>", shape=(4, 5), dtype="u1",
                       attributes={"note": name})  # fmt: skip
    html = page_of(roots(group)).html
    assert (
        len(re.findall(r"<script", html.split("<body>")[1].split('<script type="module">')[0])) == 1
    )
    assert "<img" not in html.split("<body>")[1].split('<script type="module">')[0]
    data = data_of(html)
    assert data["answers"]["node <img src=x onerror=alert(1)>"]["attributes"] == {"note": name}
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "unsafe" not in policy[1]
    assert "default-src &#x27;none&#x27;" in policy[1]


@pytest.mark.parametrize("given", ["", "/rgb"])
def test_the_command_writes_the_page_and_says_what_it_lacks(
    given: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    group = zarr.open_group(tmp_path / "data.zarr", mode="w", zarr_format=3)
    group.create_array("rgb", shape=(20, 30, 3), dtype="u1")[:] = 7
    group.create_array("large", shape=(900, 900), dtype="u1")
    file = tmp_path / "page.html"
    arguments = ["view", f"{tmp_path}/data.zarr{given}", "--export", str(file)]
    assert main([*arguments, "--export-bytes", "100kB"]) == 0
    said = capsys.readouterr()
    assert ("left out: large" in said.out + said.err) == (given == "")
    assert "1 arrays" in said.out
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main([*arguments, "--export-bytes", "100kB", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (len(found["arrays"]), len(found["left_out"])) == (1, int(given == ""))


def test_empty_arrays_and_nothing_but_nan_are_exported() -> None:
    group = zarr.open_group(zarr.MemoryStore(), mode="w", zarr_format=3)
    group.create_array("empty", shape=(0, 5), dtype="f4")
    group.create_array("nan", shape=(4, 5), dtype="f4")[:] = np.nan
    assert sorted(page_of(roots(group)).arrays) == ["empty", "nan"]
