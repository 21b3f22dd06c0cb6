"""What the pictures of the how-tos show: what their blocks make, in a notebook or in the viewer."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Notebook:
    """The HTML of an object, as a notebook shows it; of several objects, one below the other."""

    show: str
    # Runs after the blocks of the page, in their namespace.
    code: str = ""
    width: int = 640


@dataclass(frozen=True)
class Terminal:
    """What a command or a function prints: the value of an expression."""

    show: str
    code: str = ""


@dataclass(frozen=True)
class View:
    """One pane of the viewer: what is served, and the fragment of the address."""

    serve: str
    fragment: str
    # A selector and a text that is there once the pane is complete.
    wait: tuple[str, str]
    code: str = ""
    size: tuple[int, int] = (760, 460)


TEMPERATURES = """
lat, lon = era5["lat"][:, None], era5["lon"][None, :]
warm = 35 * np.cos(np.radians(lat - 10)) ** 2 - 12 + 4 * np.sin(np.radians(2 * lon + lat))
era5["t2m"][3624:3648] = warm
era5["t2m"].attrs["units"] = "degC"
era5["lat"].attrs["units"], era5["lon"].attrs["units"] = "degrees_north", "degrees_east"
"""

BARS = """
import contextlib, io
drawn = io.StringIO()
zarr.open("y.zarr", mode="w", shape=(400, 400), chunks=(10, 10), dtype="f8")[:] = 1
with contextlib.redirect_stderr(drawn):
    verify("y.zarr", progress=True)
bars = [bar for bar in drawn.getvalue().split("\\r") if "chunks" in bar]
def far(bar):
    return abs(bar.count("#") - 20)
"""

TRACED = """
rows = zarr.open("rows.zarr", mode="w", shape=(8, 2_000_000), chunks=(4, 500_000), dtype="i4")
with ThreadPoolExecutor(4) as pool:
    list(pool.map(fill, range(8)))
    with zarr.trace() as trace:
        list(pool.map(fill, range(8)))
"""

PICTURES: dict[str, Notebook | Terminal | View] = {
    "append-by-label": View("'all.zarr'", "path=depth", (".frame.curve", "5 values")),
    "attributes": Notebook("z"),
    "check-for-damage": View(
        "'x.zarr'", "path=&as=kind:gray;range:0:2&grid=1", (".pane > .notice", "c/1/1")
    ),
    "copy-an-array": Notebook("source['x'], target['y']"),
    "groups": Notebook("root.tree(expand=True)", width=420),
    "many-files-as-one-array": View(
        "year", "path=&as=kind:line;axes::0:", (".frame.curve", "91 values")
    ),
    "progress-bars": Terminal("min(bars, key=far)", BARS),
    "ragged": View("tracks", "path=", (".cells", "1"), size=(620, 150)),
    "resize": Notebook("z.chunk_map()", width=420),
    "select-by-label": View(
        "'era5.zarr'",
        "path=t2m&as=map:coolwarm&at=time=3636",
        ("footer.sliders", "2020-05-31"),
        TEMPERATURES,
    ),
    "store-photographs": View(
        "'frames.zarr'", "path=&as=kind:rgb", (".pane", "uint8"), size=(620, 430)
    ),
    "tables": View("table", "path=", (".cells", "Kiel"), size=(620, 160)),
    "use-a-cluster": Notebook("job", width=860),
    "use-shards": Notebook("volume"),
    "write-in-parallel": Notebook("trace", TRACED, width=1020),
}
