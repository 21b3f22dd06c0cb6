"""The viewer draws a view of JPEG chunks in a smaller size."""

from __future__ import annotations

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer
from zarrix.viewer._picture import picture_of


def test_a_reduced_array_is_drawn_in_its_own_size() -> None:
    z = zarr.create_array(
        {}, shape=(2, 64, 64, 3), chunks=(1, 64, 64, 3), dtype="u1", compressors="jpeg:90"
    )
    z[...] = np.arange(64, dtype="u1")[:, None, None]
    client = Client(viewer.app(z.reduced(4)))
    assert client.get("/api/node", path="").json()["shape"] == [2, 16, 16, 3]
    found = client.get("/api/npy", path="", sel="0")
    assert found.status == 200
    pixels = np.frombuffer(bytes(found.body)[-16 * 16 * 3 :], "u1").reshape(16, 16, 3)
    np.testing.assert_array_equal(pixels, z.reduced(4)[0])


def photographs(**options: object) -> zarr.Array:
    rng = np.random.default_rng(2)
    y, x = np.mgrid[:128, :192]
    waves = np.stack([127 + 90 * np.sin(x / 9 + k + y / 13) for k in range(3)], -1)
    pixels = (waves + rng.normal(0, 12, (2, 128, 192, 3))).clip(0, 255).astype("u1")
    given = {"chunks": (1, 64, 64, 3), "compressors": "jpeg:95", **options}
    return zarr.create_array({}, data=pixels, **given)


@pytest.mark.parametrize(
    ("side", "sel", "factor", "step"),
    [
        # 3 would be enough along the second axis.
        ("64", "1", 2, (2, 4)),
        ("16", "1", 4, (8, 12)),
        ("24", "1,8:,17:", 2, (6, 8)),
        ("8", "1,5:128:2", 8, (16, 24)),
    ],
)
def test_an_overview_decodes_jpeg_in_the_smallest_size_that_has_its_elements(
    side: str, sel: str, factor: int, step: tuple[int, int]
) -> None:
    z = photographs()
    found = Client(viewer.app(z)).get("/api/overview", axes="1,2", sel=sel, side=side)
    begin = [int(one) for one in found.headers["x-zarrix-begin"].split(",")]
    assert found.headers["x-zarrix-quality"] == "reduced"
    assert found.headers["x-zarrix-step"] == ",".join(map(str, step))
    small = z.reduced(factor)[1]
    (y, x), (down, right) = (one // factor for one in begin), (one // factor for one in step)
    np.testing.assert_array_equal(found.array(), small[y::down, x::right])
    # Near the elements themselves, which decode from the same coefficients.
    whole = z[1][begin[0] :: step[0], begin[1] :: step[1]].astype(float)
    assert np.abs(whole - found.array()).mean() < 60


@pytest.mark.parametrize(
    ("options", "axes", "sel", "side"),
    [
        # One axis that is seen whole; another codec; axes that are not those of the picture;
        # chunks that are not multiples.
        ({}, "1,2", "1", "130"),
        ({"compressors": "png"}, "1,2", "1", "43"),
        ({}, "1,3", "0,:,5", "16"),
        ({"chunks": (1, 43, 43, 3)}, "1,2", "1", "16"),
    ],
)
def test_other_overviews_are_every_nth_element(
    options: dict[str, object], axes: str, sel: str, side: str
) -> None:
    z = photographs(**options)
    found = Client(viewer.app(z)).get("/api/overview", axes=axes, sel=sel, side=side)
    steps = [int(one) for one in found.headers["x-zarrix-step"].split(",")]
    assert found.headers["x-zarrix-quality"] == "step"
    wanted = (
        z[0][:, 5][:: steps[0], :: steps[1]] if axes == "1,3" else z[1][:: steps[0], :: steps[1]]
    )
    np.testing.assert_array_equal(found.array(), wanted)


def test_a_picture_for_a_terminal_is_decoded_in_a_smaller_size() -> None:
    z = photographs()
    found = picture_of(z, "rgb", "1", size=(32, 48), range=(0, 255))
    assert found.selection == "1,0:128:4,0:192:4,0:3"
    np.testing.assert_array_equal(found.image, z.reduced(4)[1])
