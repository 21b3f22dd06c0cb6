"""`zarrix show`: a plane as a picture, in a terminal and in a file."""

from __future__ import annotations

import base64
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.viewer import _terminal
from zarrix.viewer._answers import Refused
from zarrix.viewer._colours import MAPS, colour_map, flow_colours
from zarrix.viewer._picture import picture_of

SOURCES = Path(__file__).resolve().parents[2] / "viewer" / "src" / "paint" / "hex.ts"


def test_colour_maps_are_those_of_the_front_end() -> None:
    if not SOURCES.exists():
        pytest.skip("the sources of the front end are not here")
    text = SOURCES.read_text(encoding="utf-8")
    for name in MAPS[1:]:
        block = re.search(rf'{name}:\n((?:\s+"[0-9a-f]+"[ +,]*\n)+)', text)
        assert block is not None
        found = bytes.fromhex("".join(re.findall(r'"([0-9a-f]+)"', block[1])))
        assert found == colour_map(name).tobytes()


def test_motions_have_the_colours_of_the_wheel() -> None:
    u = np.array([0.0, 1.0, -1.0, 0.0, 0.0, 2.0])
    v = np.array([0.0, 0.0, 0.0, 1.0, -1.0, 0.0])
    found = flow_colours(u, v, 1.0).tolist()
    assert found[0] == [255, 255, 255]
    assert found[1] == [255, 0, 0]
    assert len({tuple(one) for one in found}) == 6
    assert found[5] == [191, 0, 0]


def test_rgb_is_shown_as_it_is_planar_and_interleaved() -> None:
    values = np.random.default_rng(1).integers(0, 256, (2, 3, 8, 9), "u1")
    found = picture_of(zarr.array(values), "rgb", "1")
    assert (found.kind, found.selection) == ("rgb", "1,0:3,0:8,0:9")
    assert np.array_equal(found.image, values[1].transpose(1, 2, 0))
    last = np.ascontiguousarray(values.transpose(0, 2, 3, 1))
    assert np.array_equal(picture_of(zarr.array(last), "rgb").image, last[0])


def test_a_plane_is_thinned_out_to_the_size() -> None:
    values = np.arange(100 * 200, dtype="f4").reshape(100, 200)
    found = picture_of(zarr.array(values), "x", size=(30, 50))
    assert found.image.shape == (25, 50, 3)
    level = np.floor(values[::4, ::4] / values[::4, ::4].max() * 255 + 0.5).astype("u1")
    assert np.array_equal(found.image, colour_map("viridis")[level])


def test_values_that_are_not_finite_have_a_colour_of_their_own() -> None:
    values = np.ones((4, 5), "f2")
    values[1, 2] = np.nan
    found = picture_of(zarr.array(values), "depth", range=(0, 2))
    assert found.image[1, 2].tolist() == [128, 0, 128]
    assert found.image[0, 0].tolist() == colour_map("turbo")[128].tolist()


def test_other_kinds_are_drawn() -> None:
    labels = zarr.array(np.arange(40, dtype="u4").reshape(5, 8))
    found = picture_of(labels, "labels").image
    assert found[0, 0].tolist() == [0, 0, 0]
    assert len(np.unique(found.reshape(-1, 3), axis=0)) > 30
    for values, kind in ((np.eye(6) > 0, "mask"), (np.eye(40) * 1j, "complex")):
        found = picture_of(zarr.array(values), "x", kind=kind)
        assert found.image[0, 0].tolist() == [255, 255, 255]
        assert found.image[0, 1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("values", [np.arange(5), np.array([["a"]]), np.zeros((0, 4))])
def test_what_is_not_a_plane_is_refused(values: Any) -> None:
    with pytest.raises(Refused):
        picture_of(zarr.array(values), "x")


def test_half_blocks_have_the_colours_of_two_rows() -> None:
    image = np.arange(3 * 2 * 3, dtype="u1").reshape(3, 2, 3)
    lines = _terminal.blocks(image).split("\n")
    assert len(lines) == 2
    first = r"\x1b\[38;2;0;1;2m\x1b\[48;2;6;7;8m▀\x1b\[38;2;3;4;5m\x1b\[48;2;9;10;11m▀\x1b\[0m"
    assert re.fullmatch(first, lines[0])
    assert "48;2;0;0;0" in lines[1]


def test_the_protocol_of_kitty_has_the_picture_as_png() -> None:
    image_module = pytest.importorskip("PIL.Image")
    image = np.random.default_rng(1).integers(0, 256, (60, 70, 3), "u1")
    parts = re.findall(r"\x1b_G(.*?);(.*?)\x1b\\", _terminal.kitty(image))
    assert [one[0][-3:] for one in parts] == ["m=1"] * (len(parts) - 1) + ["m=0"]
    assert parts[0][0].startswith("a=T,f=100,")
    assert max(len(one[1]) for one in parts) <= 4096
    data = base64.b64decode("".join(one[1] for one in parts))
    assert np.array_equal(np.asarray(image_module.open(io.BytesIO(data))), image)


def test_the_verb_writes_a_file_and_says_what_it_shows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    image_module = pytest.importorskip("PIL.Image")
    values = np.random.default_rng(1).integers(0, 256, (2, 3, 8, 9), "u1")
    path, file = str(tmp_path / "a.zarr"), tmp_path / "a.png"
    zarr.save(path, values)
    assert main(["show", path, "-s", "1", "--png", str(file), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["kind"], told["height"], told["width"]) == ("rgb", 8, 9)
    with image_module.open(file) as opened:
        assert np.array_equal(np.asarray(opened), values[1].transpose(1, 2, 0))
    assert main(["show", path, "--protocol", "blocks"]) == 0
    assert "▀" in capsys.readouterr().out
    assert main(["show", path, "-s", "7"]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1
