"""The demo: its pictures, its formats, its sheet, and that it leaves nothing half-written."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import zarrix as zarr
from PIL import Image
from rich.console import Console
from waiting import PATIENCE_S, until

pytest.importorskip("h5py", reason="the demo needs h5py")
from zarrix.cli import main
from zarrix.cli._demo import contenders
from zarrix.cli._demo.contenders import CONTENDERS, Contender, Shape
from zarrix.cli._demo.report import Report, Row
from zarrix.cli._demo.scene import Scene
from zarrix.cli._demo.sheet import depth_picture, flow_picture, levelled

NAMES = {
    *("demo.zarr", "png", "tiff", "gt.h5", "gt.npy", "jpeg.zarr", "gt.npz", "contact-sheet.png"),
}
SMALL = ["demo", "--size", "360p", "--frames", "2", "--seconds", "0.02", "--no-progress"]


def small(path: Path, *flags: str) -> list[str]:
    return [*SMALL, "--path", str(path), *flags]


class Finished(NamedTuple):
    path: Path
    out: str
    err: str


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """A demo that has ended: where, and what it printed."""
    path = tmp_path_factory.mktemp("demo") / "out"
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        assert main(small(path)) == 0
    return Finished(path, out.getvalue(), err.getvalue())


@pytest.fixture(scope="module")
def finished(run: Finished) -> Path:
    return run.path


@pytest.fixture(scope="module")
def scene() -> Scene:
    return Scene(360, 640, seed=3)


# The pictures


def test_a_frame_is_the_same_whenever_it_is_made(scene: Scene) -> None:
    first, later = scene.frame(5), scene.frame(9)
    again = Scene(360, 640, seed=3).frame(5)
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one, other)
    assert not np.array_equal(first.rgb, later.rgb)
    assert not np.array_equal(first.rgb, Scene(360, 640, seed=4).frame(5).rgb)


def test_a_frame_has_the_documented_shapes_and_dtypes(scene: Scene) -> None:
    frame = scene.frame(0)
    assert [(part.shape, part.dtype.name) for part in frame] == [
        ((3, 360, 640), "uint8"),
        ((2, 360, 640), "float16"),
        ((360, 640), "float16"),
    ]
    assert [(part.shape, part.dtype.name) for part in frame.reduced(3)] == [
        ((3, 120, 213), "uint8"),
        ((2, 120, 213), "float16"),
        ((120, 213), "float16"),
    ]


def test_the_flow_says_where_every_pixel_goes(scene: Scene) -> None:
    now, then = scene.frame(4), scene.frame(5)
    y, x = np.mgrid[:360, :640]
    right, down = np.rint(now.flow).astype(int)
    inside = (x + right >= 0) & (x + right < 640) & (y + down >= 0) & (y + down < 360)
    arrived = then.rgb[:, (y + down)[inside], (x + right)[inside]].astype(int)
    moved = np.abs(arrived - now.rgb[:, inside]).max(axis=0)
    stayed = np.abs(then.rgb.astype(int) - now.rgb).max(axis=0)[inside]
    # Twice the noise of seven deviations; what is left is covered or uncovered by something.
    assert np.mean(moved <= 10) > 0.97
    assert np.mean(stayed <= 10) < 0.85


def test_what_is_nearer_hides_and_moves_more(scene: Scene) -> None:
    frame = scene.frame(0)
    ground = frame.depth[-100:].astype(float)
    assert np.all(np.diff(ground[:, 0]) < 0)
    speed = np.abs(frame.flow[0, -100:, 0].astype(float))
    assert np.all(np.diff(speed) >= 0)
    assert speed[-1] > speed[0]
    assert frame.depth.min() > 0
    assert float(frame.depth.max()) == 20000


def test_half_a_frame_keeps_colours_and_halves_the_flow(scene: Scene) -> None:
    frame = scene.frame(0)
    half = frame.reduced(2)
    blocks = frame.rgb.reshape(3, 180, 2, 320, 2).mean(axis=(2, 4))
    assert np.abs(half.rgb - blocks).max() <= 0.5
    np.testing.assert_array_equal(half.flow, frame.flow[:, 1::2, 1::2] / np.float16(2))
    np.testing.assert_array_equal(half.depth, frame.depth[1::2, 1::2])


@pytest.mark.parametrize(("height", "seed"), [(360, 0), (360, 1), (1080, 0)])
def test_the_pictures_compress_like_pictures(height: int, seed: int) -> None:
    rgb = Scene(height, height * 16 // 9, seed).frame(1).rgb
    stored = len(contenders.compressor().encode(np.ascontiguousarray(rgb)))
    assert 1.3 < rgb.nbytes / stored < 2.5


def test_things_that_leave_the_picture_come_back(scene: Scene) -> None:
    late = scene.frame(100_000)
    assert late.rgb.std() > 20
    assert float(np.abs(late.flow).max()) < 40


# The formats


def jpeg_tile(frame: Any, top: int, left: int) -> bytes:
    """What Pillow makes of a crop."""
    file = io.BytesIO()
    crop = frame[:, top : top + 100, left : left + 100].transpose(1, 2, 0)
    Image.fromarray(np.ascontiguousarray(crop)).save(file, "JPEG", quality=90)
    return file.getvalue()


@pytest.mark.parametrize("contender", CONTENDERS, ids=lambda contender: contender.name)
def test_every_format_gives_back_every_crop(contender: Contender, tmp_path: Path) -> None:
    shape = Shape(frames=3, height=300, width=530, crop=100)
    frames = np.random.default_rng(0).integers(0, 256, shape.array, np.uint8)
    frames[1] = 0
    path = tmp_path / contender.target
    with contender.writer(path, shape) as put:
        for t, frame in enumerate(frames):
            put(t, frame)
    corners = [(0, 0), (200, 430), (0, 430), (200, 0), (156, 156), (100, 200), (57, 301)]
    with contender.reader(path, shape.crop) as crop:
        for t in range(3):
            for top, left in corners:
                part = crop(t, top, left)
                expected = frames[t, :, top : top + 100, left : left + 100]
                if contender.lossy:
                    with Image.open(io.BytesIO(jpeg_tile(frames[t], top, left))) as tile:
                        near = np.asarray(tile).transpose(2, 0, 1).astype("i4")
                    assert t != 1 or not part.any()
                    assert (top, left) != (0, 0) or np.array_equal(part, near)
                else:
                    np.testing.assert_array_equal(part, expected)
                assert part.dtype == np.uint8
                assert part.flags.c_contiguous


def test_a_format_that_gives_other_pixels_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    @contextlib.contextmanager
    def wrong(path: Path, size: int) -> Any:
        yield lambda t, top, left: np.zeros((3, size, size), np.uint8)

    damaged = [c._replace(reader=wrong) if c.name == "PNG" else c for c in CONTENDERS]
    monkeypatch.setattr(importlib.import_module("zarrix.cli._demo.demo"), "CONTENDERS", damaged)
    assert main(small(tmp_path / "out")) == 1
    assert capsys.readouterr().err.startswith("zarrix: PNG gave a crop of frame ")


# The whole program


def test_the_folder_holds_what_the_demo_promises(finished: Path) -> None:
    assert {entry.name for entry in finished.iterdir()} == NAMES | {".zarrix-demo"}
    assert sorted(file.name for file in (finished / "png").iterdir()) == [
        "frame-0000.png",
        "frame-0001.png",
    ]


def test_the_data_set_is_laid_out_as_in_the_tutorial(finished: Path) -> None:
    root = zarr.open_group(str(finished / "demo.zarr"), mode="r")
    found = {
        f"{size}/{name}": (array.shape, array.chunks, array.dtype.name)
        for size, group in root["lr"].groups()
        for name, array in group.arrays()
    }
    assert found == {
        "120p/rgb": ((2, 3, 120, 213), (1, 3, 60, 106), "uint8"),
        "120p/flow": ((2, 2, 120, 213), (1, 2, 60, 106), "float16"),
        "120p/depth": ((2, 120, 213), (1, 60, 106), "float16"),
        "180p/rgb": ((2, 3, 180, 320), (1, 3, 60, 106), "uint8"),
        "180p/flow": ((2, 2, 180, 320), (1, 2, 60, 106), "float16"),
        "180p/depth": ((2, 180, 320), (1, 60, 106), "float16"),
    }
    gt = root["gt"]
    assert (gt.shape, gt.chunks) == ((2, 3, 360, 640), (1, 3, 160, 160))
    assert gt.compressor.get_config() == {
        "id": "blosc",
        "cname": "zstd",
        "clevel": 5,
        "shuffle": 2,
        "blocksize": 0,
    }


def test_the_stored_frames_are_those_of_the_scene(finished: Path) -> None:
    root = zarr.open_group(str(finished / "demo.zarr"), mode="r")
    scene = Scene(360, 640, seed=0)
    for t in range(2):
        frame = scene.frame(t)
        half = frame.reduced(2)
        np.testing.assert_array_equal(root["gt"][t], frame.rgb)
        for name, part in zip(("rgb", "flow", "depth"), half, strict=True):
            np.testing.assert_array_equal(root[f"lr/180p/{name}"][t], part)


def test_the_table_has_a_row_for_each_format(run: Finished) -> None:
    path, printed = run.path, run.out
    table = [line.split() for line in printed.splitlines() if line.startswith("  ")]
    assert [row[0] for row in table if row and row[0].isalnum()] == [
        "format",
        *("zarrix", "PNG", "TIFF", "HDF5", "npy", "JPEG", "npz"),
    ]
    assert "- zarrix.ml.Loader: " in printed
    assert "- a loop over PNG files: " in printed
    assert f"Data set:      {path}/demo.zarr\n" in printed
    assert f"Contact sheet: {path}/contact-sheet.png\n" in printed
    left = sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    assert printed.endswith(
        f"The folder keeps {left / 1e6:.1f} MB. To remove it:\nrm -r {path}\n\n"
        f"Look at it in the browser:\nzarrix view {path}/demo.zarr\n"
    )
    assert run.err == ""


@pytest.mark.parametrize("width", [104, 80, 64, 40])
def test_the_table_fits_into_the_terminal(width: int) -> None:
    """Each row of it broke into two or three lines in 80 columns."""
    rows = [
        Row(one.name, one.how, 123_400_000, 99.5, 300 + 999 * number, 2.0)
        for number, one in enumerate(CONTENDERS)
    ]
    report = Report(
        Shape(1, 360, 640, 160), rows, Path("x/demo.zarr"), Path("x/sheet.png"), 12.0, 10**7
    )
    text = io.StringIO()
    report.print_table(Console(file=text, width=width))
    printed = text.getvalue().splitlines()
    assert max(map(len, printed)) <= width
    assert printed[0].startswith("1 frame of 3 x 360 x 640")
    for row in rows:
        (line,) = [one for one in printed if one.strip().startswith(f"{row.name}: ")] or [""]
        assert row.how in (line if width < 100 else text.getvalue())
        crops = f"{row.crops_per_s:.0f}" if row.crops_per_s >= 100 else f"{row.crops_per_s:.1f}"
        assert any(crops in one and ("faster" in one or row is rows[0]) for one in printed)
    assert "chunk_cache_bytes" in text.getvalue()


def test_what_the_demo_refuses_is_one_line(tmp_path: Path) -> None:
    """Bars that had not begun left an empty line before it."""
    (tmp_path / "out").write_text("mine")
    ran = subprocess.run(
        [sys.executable, "-m", "zarrix.cli", "demo", "--path", str(tmp_path / "out")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (ran.stdout, ran.returncode) == ("", 1)
    assert ran.stderr == f"zarrix: {tmp_path / 'out'} is a file; name a folder with --path\n"


def test_json_says_what_the_table_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(small(tmp_path / "out", "--json", "--seed", "2")) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["shape"] == [2, 3, 360, 640]
    assert report["raw_bytes"] == 2 * 3 * 360 * 640
    rows = {row["name"]: row for row in report["rows"]}
    assert list(rows) == ["zarrix", "PNG", "TIFF", "HDF5", "npy", "JPEG", "npz"]
    assert rows["npy"]["stored_bytes"] == (tmp_path / "out" / "gt.npy").stat().st_size
    assert rows["zarrix"]["stored_bytes"] == sum(
        file.stat().st_size for file in (tmp_path / "out/demo.zarr/gt").rglob("*")
    )
    assert rows["zarrix"]["relative"] == 1
    for row in rows.values():
        assert row["crops"] >= 1
        assert row["crops_per_s"] == pytest.approx(row["crops"] / row["crop_s"])
        assert row["write_s"] > 0
    assert 1.2 < rows["zarrix"]["ratio"] < 2.5
    loaders = [one["name"].split()[0] for one in report["loaders"]]
    assert loaders[:2] == ["zarrix.ml.Loader", "a"]
    assert all(one["crops"] >= 1 and one["crops_per_s"] > 0 for one in report["loaders"])


def test_the_contact_sheet_is_a_full_page(finished: Path) -> None:
    with Image.open(finished / "contact-sheet.png") as sheet:
        assert sheet.size[0] == 1960
        page = np.asarray(sheet.convert("RGB"))
    views = {
        "rgb": page[200:400, 100:600],
        "flow": page[200:400, 700:1200],
        "depth": page[200:400, 1350:1850],
    }
    for name, view in views.items():
        colours = len(np.unique(view.reshape(-1, 3), axis=0))
        assert colours > 500, name
        assert view.std() > 8, name
    grid = page[-600:-100]
    assert np.mean(np.all(grid == page[0, 0], axis=-1)) < 0.2


def test_the_colour_wheel_is_white_at_rest_and_opposite_for_opposite_ways() -> None:
    flow = np.array([[[0, 5, -5, 50]], [[0, 0, 0, 0]]], np.float32)
    rest, right, left, fast = flow_picture(flow, fastest=5.0)[0].astype(int)
    assert rest.tolist() == [255, 255, 255]
    assert right.tolist() == fast.tolist()
    assert right.argmax() == 0
    assert left.argmin() == 0


def test_the_steps_of_what_is_stored_are_levelled_and_edges_stay() -> None:
    # Whole pixels from frame 5 to frame 6, at half the size; the last rows are another thing's.
    speed = 6 + 0.0375 * np.arange(128)
    stored = ((np.round(6 * speed) - np.round(5 * speed)) / 2).astype(np.float32)
    stored[100:] = 40
    smooth = levelled(stored[:, None], 0.51, 14, axis=0)[:, 0]
    assert np.abs(stored[:100] - speed[:100] / 2).max() > 0.24
    assert np.abs(smooth[14:86] - speed[14:86] / 2).max() < 0.13
    np.testing.assert_array_equal(smooth[100:], 40)


def test_depth_is_brighter_where_it_is_nearer() -> None:
    depth = np.repeat(np.geomspace(10, 1000, 8, dtype=np.float32)[:, None], 4, axis=1)
    bright = depth_picture(depth, 10, 1000)[:, 0].sum(axis=-1).astype(int)
    assert np.all(np.diff(bright) < 0)


# The folder


def test_a_second_run_replaces_the_first_and_leaves_other_files(
    finished: Path, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    shutil.copytree(finished, path)
    (path / "notes.txt").write_text("mine")
    (path / "png" / "frame-0099.png").write_text("old")
    (path / "gt.h5.partial").write_text("of a run that crashed")
    assert main(small(path, "--seed", "1")) == 0
    assert (path / "notes.txt").read_text() == "mine"
    assert {entry.name for entry in path.iterdir()} == NAMES | {".zarrix-demo", "notes.txt"}
    assert not (path / "png" / "frame-0099.png").exists()
    np.testing.assert_array_equal(
        zarr.open_group(str(path / "demo.zarr"), mode="r")["gt"][0], Scene(360, 640, 1).frame(0).rgb
    )


def test_a_folder_with_files_of_others_is_refused_and_not_touched(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "demo.zarr").mkdir()
    (tmp_path / "thesis.tex").write_text("years of work")
    assert main(small(tmp_path)) == 1
    assert capsys.readouterr().err == (
        f"zarrix: {tmp_path} holds files that are not the demo's (demo.zarr, thesis.tex); "
        "name a new or empty folder with --path\n"
    )
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["demo.zarr", "thesis.tex"]


def test_a_file_in_place_of_the_folder_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out").write_text("mine")
    assert main(small(tmp_path / "out")) == 1
    assert capsys.readouterr().err == (
        f"zarrix: {tmp_path / 'out'} is a file; name a folder with --path\n"
    )


def test_more_than_the_disk_holds_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full:
        free = 1_000_000

    monkeypatch.setattr("shutil.disk_usage", lambda path: Full)
    assert main(small(tmp_path / "out")) == 1
    assert "2 frames need up to 0.0 GB" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_failing_write_leaves_nothing_unfinished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tifffile.imwrite", full)
    assert main(small(tmp_path / "out")) == 1
    assert capsys.readouterr().err == "zarrix: [Errno 28] No space left on device\n"
    assert {entry.name for entry in (tmp_path / "out").iterdir()} == {
        ".zarrix-demo",
        "demo.zarr",
        "png",
    }


# Ctrl-C

# Python leaves Ctrl-C ignored where the parent ignored it, as a job in the background does.
START = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from zarrix.cli import main; print('started', flush=True); sys.exit(main(sys.argv[1:]))"
)


# As many as are needed for a moment within each format.
FRAMES = 6


@contextlib.contextmanager
def started(path: Path) -> Iterator[subprocess.Popen[str]]:
    """A demo that loads crops for so long that it never ends by itself."""
    with subprocess.Popen(
        [sys.executable, "-c", START, *small(path, "--frames", str(FRAMES), "--seconds", "600")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "started\n"
            yield child
        finally:
            child.kill()


def wait_for(folder: Path, name: str, child: subprocess.Popen[str]) -> None:
    """Until ``name`` is there, or is complete already because this test was not given its turn."""
    complete = name.partition("/")[0].removesuffix(".partial")

    def there() -> bool:
        assert child.poll() is None, child.communicate()
        return (folder / name).exists() or (folder / complete).exists()

    until(there)


def assert_nothing_half_written(path: Path) -> None:
    if not path.exists():
        return
    names = {entry.name for entry in path.iterdir()}
    assert names <= NAMES | {".zarrix-demo"}
    shape = Shape(FRAMES, 360, 640, 160)
    for contender in CONTENDERS:
        if contender.target in names:
            with contender.reader(path / contender.target, shape.crop) as crop:
                for t in range(shape.frames):
                    assert crop(t, 200, 480).shape == (3, 160, 160)
                    assert crop(t, 0, 0).any()
    if "contact-sheet.png" in names:
        with Image.open(path / "contact-sheet.png") as sheet:
            sheet.load()


@pytest.mark.parametrize(
    "moment",
    [
        pytest.param(".zarrix-demo", marks=pytest.mark.long),
        pytest.param("demo.zarr.partial", marks=pytest.mark.long),
        "demo.zarr.partial/gt/5.0.0.0",
        pytest.param("png.partial", marks=pytest.mark.long),
        "tiff.partial/frame-0003.tif",
        pytest.param("gt.h5.partial", marks=pytest.mark.long),
        pytest.param("gt.npy", marks=pytest.mark.long),
        pytest.param("gt.npz.partial", marks=pytest.mark.long),
        "gt.npz",
    ],
)
def test_ctrl_c_leaves_only_what_is_complete(moment: str, tmp_path: Path) -> None:
    path = tmp_path / "out"
    with started(path) as child:
        wait_for(path, moment, child)
        child.send_signal(signal.SIGINT)
        printed = child.communicate(timeout=PATIENCE_S)
    assert printed[0] == ""
    assert printed[1].startswith("zarrix: interrupted; ")
    assert printed[1].count("\n") == 1
    assert child.returncode == 130
    assert_nothing_half_written(path)
    assert path.exists() == ("nothing was written" not in printed[1])
    if moment == "gt.npz":
        assert {"demo.zarr", "png", "tiff", "gt.h5", "gt.npy"} < {p.name for p in path.iterdir()}


def test_ctrl_c_at_any_moment_and_twice_leaves_only_what_is_complete(
    tmp_path: Path, is_long: bool
) -> None:
    draw = random.Random(0)
    for attempt in range(4 if is_long else 2):
        path = tmp_path / str(attempt)
        with started(path) as child:
            wait_for(path, ".zarrix-demo", child)
            time.sleep(draw.uniform(0.0, 1.5))
            child.send_signal(signal.SIGINT)
            time.sleep(draw.uniform(0, 0.01))
            child.send_signal(signal.SIGINT)
            _, complaint = child.communicate(timeout=PATIENCE_S)
        assert (child.returncode, complaint.count("\n")) == (130, 1)
        assert_nothing_half_written(path)


def test_after_ctrl_c_the_next_run_completes(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with started(path) as child:
        wait_for(path, "png", child)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE_S)
    assert main(small(path)) == 0
    assert {entry.name for entry in path.iterdir()} == NAMES | {".zarrix-demo"}


def test_two_demos_do_not_share_a_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "out"
    with started(path) as child:
        wait_for(path, "demo.zarr.partial", child)
        assert main(small(path)) == 1
        assert capsys.readouterr().err == f"zarrix: another demo is writing to {path}\n"
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=PATIENCE_S)


class Interrupted:
    def __del__(self) -> None:
        signal.raise_signal(signal.SIGINT)


def replaced_by_another_error(*_: object, **__: object) -> None:
    try:
        signal.raise_signal(signal.SIGINT)
    except KeyboardInterrupt:
        raise RuntimeError("could not finish") from None


def lost_where_nothing_can_be_raised(*_: object, **__: object) -> None:
    Interrupted()


@pytest.mark.parametrize("write", [replaced_by_another_error, lost_where_nothing_can_be_raised])
def test_an_interrupt_that_a_library_swallows_still_ends_the_demo(
    write: Callable[..., None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tifffile.imwrite", write)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        assert main(small(tmp_path / "out")) == 130
    finally:
        signal.signal(signal.SIGINT, before)
    assert capsys.readouterr().err == (
        f"zarrix: interrupted; demo.zarr, png in {tmp_path / 'out'} complete, "
        "no unfinished file is left\n"
    )
