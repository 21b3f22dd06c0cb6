"""Results of functions in a notebook: what they print and their picture, not their fields."""

import dataclasses
import importlib
import inspect
import xml.etree.ElementTree as ET
from html import unescape

import numpy as np
import pytest
import zarrix as zarr

ROOMS = ("measure", "convert", "operate", "jobs")


def results():
    """Classes of results: public dataclasses that print a text of their own."""
    for room in ROOMS:
        module = importlib.import_module(f"zarrix.{room}")
        for name in module.__all__:
            found = getattr(module, name)
            is_result = inspect.isclass(found) and dataclasses.is_dataclass(found)
            if is_result and hasattr(found, "to_json") and "__str__" in vars(found):
                yield pytest.param(found, id=f"{room}.{name}")


@pytest.mark.parametrize("kind", list(results()))
def test_a_result_is_shown_by_its_text(kind):
    assert hasattr(kind, "_repr_html_")


def test_a_result_shows_what_it_prints_and_its_picture():
    z = zarr.ones((64, 64), chunks=(64, 1))
    for found in (
        zarr.suggest((100, 64), "u1", access="crop 16x16"),
        zarr.advise(z, access="frame", budget=0.2),
    ):
        shown = found._repr_html_()
        assert str(found) in unescape(shown)
        assert ("<svg" in shown) == hasattr(found, "to_svg")


def test_a_job_shows_its_plan(tmp_path):
    zarr.create_array(tmp_path / "<b>.zarr", shape=(20, 20), chunks=(1, 20), dtype="f4")
    job = zarr.jobs.rechunk(tmp_path / "<b>.zarr", tmp_path / "to.zarr", chunks=(20, 1), run=False)
    assert str(job) in unescape(job._repr_html_())
    assert "<b>" not in job._repr_html_()


def test_the_drawing_beside_a_wide_table_is_not_cut():
    shown = zarr.zeros((100, 100), chunks=(10, 10))._repr_html_()
    assert ET.fromstring(shown[shown.index("<svg") : shown.index("</svg>") + 6]).get("style") == (
        "flex: none"
    )


def test_names_in_a_result_are_text():
    a, b = zarr.group(), zarr.group()
    a.create_dataset("<script>alert(1)</script>", data=np.zeros(3))
    assert "<script>" not in zarr.diff(a, b)._repr_html_()


def test_the_caption_of_a_map_of_chunks_has_room():
    found = zarr.zeros((6, 6, 400, 400, 400), chunks=(1, 1, 100, 100, 100)).chunk_map()
    svg = ET.fromstring(found._repr_svg_())
    caption = svg.findall("{http://www.w3.org/2000/svg}text")[-1].text
    assert "the first 6 of" in caption
    assert float(svg.get("width")) >= 7 * len(caption)
