"""What notebooks show: small, valid and escaped HTML that never lists a large or remote store."""

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, MutableMapping

import numpy as np
import pytest
import zarrix as zarr
from zarrix._display.drawing import Axis, grid_svg
from zarrix._metadata.chunk_grid import AxisGrid

HOSTILE = "<script>alert(1)</script>\x1b[31m\u202e" + "x" * 5000


class Unlisted(MutableMapping):
    """A store of values that must not be listed."""

    def __init__(self) -> None:
        self.values_of: dict[str, bytes] = {}
        self.reads = 0

    def __getitem__(self, key: str) -> bytes:
        self.reads += 1
        return self.values_of[key]

    def __setitem__(self, key: str, value: bytes) -> None:
        self.values_of[key] = bytes(value)

    def __delitem__(self, key: str) -> None:
        del self.values_of[key]

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("the store is listed")

    def __len__(self) -> int:
        raise AssertionError("the store is counted")


def parsed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<body>{html}</body>")


def axes(shape: tuple[int, ...], chunks: tuple[int, ...]) -> list[Axis]:
    return [Axis("", n, AxisGrid(even=c)) for n, c in zip(shape, chunks, strict=True)]


def test_arrays_and_groups_show_themselves_as_html() -> None:
    root = zarr.group()
    z = root.zeros("array_3D", shape=(10, 10, 10), chunks=(5, 5, 5))
    root.zeros("inner/array_1D", shape=4)
    html = z._repr_html_()
    assert '<td style="text-align: left">(10, 10, 10)</td>' in html
    assert html.count("<svg") == 1
    assert z.info._repr_html_() in html
    assert "array_1D (4,)" in root._repr_html_()


def test_the_html_of_an_array_reads_its_documents_and_lists_nothing() -> None:
    store = Unlisted()
    z = zarr.create(shape=(10**6, 1000), chunks=(1, 1000), dtype="f4", store=store)
    z.attrs["unit"] = "m"
    store.reads = 0
    html = zarr.open_array(store, mode="r")._repr_html_()
    assert "not counted here" in html
    assert "Chunks initialized" not in html
    assert store.reads <= 3


def test_a_local_array_of_many_chunks_is_not_counted(tmp_path) -> None:
    few = zarr.create(shape=4096, chunks=1, store=tmp_path / "few.zarr")
    many = zarr.create(shape=4097, chunks=1, store=tmp_path / "many.zarr")
    assert "0/4096" in few._repr_html_()
    assert "not counted here" in many._repr_html_()


def test_the_html_of_an_array_is_small_and_valid_whatever_it_is_called() -> None:
    root = zarr.group()
    fields = [(f"field{k}", "f4") for k in range(500)]
    for number, (shape, chunks, dtype) in enumerate(
        [
            ((3,) * 9, (1,) * 9, "u1"),
            ((10**9, 3, 7), (1, 3, 7), "f8"),
            (5, 2, fields),
            ((), (), "i1"),
        ]
    ):
        z = root.create_dataset(f"<b>&{number}", shape=shape, chunks=chunks, dtype=dtype)
        z.attrs.put({HOSTILE[: 50 + k]: HOSTILE for k in range(40)})
        html = z._repr_html_()
        assert len(html.encode()) <= 8192
        body = parsed(html)
        assert body.find(".//script") is None
        assert "\x1b" not in html
        assert "\u202e" not in html


def test_the_html_of_a_group_is_small_however_many_members_it_has() -> None:
    root = zarr.group()
    for number in range(1200):
        root.create_group(f"member-{number:05}")
    html = root._repr_html_()
    assert len(html.encode()) <= 61440
    assert html.count("member-") == 500
    assert html.count("... and more") == 1
    parsed(html)


def test_a_group_shows_its_attributes() -> None:
    root = zarr.group()
    assert "<summary>Attributes" not in root._repr_html_()
    root.attrs.update(title="a <b>", years=[2025, 2026])
    html = root._repr_html_()
    assert "<summary>Attributes (2)</summary>" in html
    assert "&quot;a &lt;b&gt;&quot;" in html


def test_the_drawing_has_a_line_where_chunks_meet() -> None:
    svg = grid_svg(axes((100, 200), (50, 40)))
    assert svg.count("h140.0") == 2  # the edge of the box, and one line between two rows of chunks
    assert svg.count("v-70.0") == 5  # the other edge, and four lines


def test_a_box_is_in_proportion() -> None:
    svg = grid_svg(axes((50, 100, 200), (50, 100, 200)))
    assert "v70.0h140.0v-70.0z" in svg  # in front
    assert "l12.2 -12.2h140.0" in svg  # a quarter as deep as wide, and foreshortened


def test_shards_are_bold_and_the_first_has_its_inner_chunks() -> None:
    z = zarr.create_array({}, shape=(64, 64), shards=(32, 32), chunks=(8, 8), dtype="u1")
    svg = z._repr_html_()
    assert 'stroke-width="1.6"' in svg
    inner = next(one for one in parsed(svg).iter("path") if one.get("stroke-width") == "0.5")
    assert (inner.get("d") or "").count("M") == 6
    assert "chunks (8, 8), shards (32, 32)" in svg


def test_axes_have_their_names_and_lengths() -> None:
    z = zarr.create_array({}, shape=(9, 4, 6), dtype="u1", dimension_names=["time", None, "<x>"])
    texts = [one.text for one in parsed(z._repr_html_()).iter("text")]
    assert sorted(filter(None, texts)) == ["4", "<x> 6", "time 9"]
    old = zarr.zeros((4, 6))
    old.attrs["_ARRAY_DIMENSIONS"] = ["y", "x"]
    assert {one.text for one in parsed(old._repr_html_()).iter("text")} == {"y 4", "x 6"}


@pytest.mark.parametrize(
    ("shape", "chunks"), [((), ()), ((5,), (2,)), ((10**6, 3, 7), (1, 3, 7)), ((9,) * 7, (1,) * 7)]
)
def test_any_array_can_be_drawn_small(shape: tuple[int, ...], chunks: tuple[int, ...]) -> None:
    svg = grid_svg(axes(shape, chunks))
    assert svg.startswith("<svg")
    assert len(svg) < 6000
    ElementTree.fromstring(svg)


def test_an_array_without_elements_has_a_table_only() -> None:
    assert "<svg" not in zarr.zeros((0, 3))._repr_html_()


def test_values_of_attributes_that_are_not_text_are_shown_as_json() -> None:
    z = zarr.zeros(3)
    z.attrs["range"] = np.array([1, 2])
    assert "[1, 2]" in z._repr_html_()


def test_plans_and_checks_are_small_tables_and_escaped() -> None:
    z = zarr.zeros((100, 100), chunks=(10, 10), dtype="f4")
    z[:50] = 1
    plan = z.plan((slice(0, 20), 5))._repr_html_()
    parsed(plan)
    assert "<td" in plan
    assert f">{z.plan((slice(0, 20), 5)).chunks}</td>" in plan
    root = zarr.group()
    root["<b>"] = np.arange(600)
    root["<b>"].store["<b>/0"] = b"damaged"
    report = zarr.verify(root)
    html = report._repr_html_()
    parsed(html)
    assert "1 problem" in html
    assert "<b>" not in html
    assert len(html) < 8192
