"""Downloads of pieces have a bound in bytes, make room for others, and leave nothing behind."""

from __future__ import annotations

import contextlib
import gc
import http.server
import os
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from virtual.test_remote_files import Web, temporary, web
from zarrix import virtual
from zarrix._runtime.system import HAS_FLOCK
from zarrix.convert._downloads import downloads
from zarrix.errors import DownloadLimitError, ZarrixError

__all__ = ["temporary", "web"]

ROWS = 100
SIZE = 128 + 8 * ROWS


def write(web: Web, count: int) -> tuple[list[str], Any]:
    """Files of npy of `SIZE` bytes on a server, by their URLs, and the whole."""
    parts = [np.arange(float(ROWS)) + ROWS * number for number in range(count)]
    for number, part in enumerate(parts):
        np.save(web.folder / f"{number}.npy", part)
        assert (web.folder / f"{number}.npy").stat().st_size == SIZE
    return [f"{web.url}/{number}.npy" for number in range(count)], np.concatenate(parts)


def used(folder: Path) -> int:
    """The bytes of all files below a folder, some of which may vanish meanwhile."""
    found = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                found += os.path.getsize(os.path.join(parent, name))
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left(temporary: Path) -> Iterator[None]:
    gc.collect()
    assert downloads.held_bytes() == 0
    yield
    gc.collect()
    assert downloads.held_bytes() == 0
    assert not any(temporary.iterdir())


def test_a_file_beyond_the_bound_is_not_fetched(web: Web) -> None:
    (url,), _ = write(web, 1)
    with zarr.config(max_download_bytes=SIZE - 1), pytest.raises(DownloadLimitError) as caught:
        virtual.concat([url])
    assert f"{url} has {SIZE:,} bytes, and is not downloaded" in str(caught.value)
    assert f"config.max_download_bytes is {SIZE - 1:,}; raise it" in str(caught.value)
    assert {one.split()[0] for one in web.asked} == {"HEAD"}
    with zarr.config(max_download_bytes=SIZE):
        assert virtual.concat([url])[3] == 3


def test_the_default_is_half_of_what_is_free(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    (url,), _ = write(web, 1)
    free = SIZE * 2 - 1

    class Usage:
        @property
        def free(self) -> int:
            return free

    monkeypatch.setattr("shutil.disk_usage", lambda path: Usage())
    with pytest.raises(DownloadLimitError, match="half of what is free in"):
        virtual.concat([url])
    free += 1
    assert virtual.concat([url])[3] == 3


@pytest.mark.parametrize("room", [1, 2, 7])
def test_a_read_of_more_files_than_there_is_room_for(
    web: Web, temporary: Path, tmp_path: Path, room: int
) -> None:
    urls, whole = write(web, 20)
    most = []

    class Watch(list[str]):
        def append(self, one: str) -> None:
            most.append(used(temporary))
            super().append(one)

    web.watch(Watch())
    with zarr.config(max_download_bytes=room * SIZE):
        virtual.save(virtual.concat(urls), tmp_path / "list.json")
        z: Any = virtual.open(tmp_path / "list.json")
        np.testing.assert_array_equal(z[...], whole)
        np.testing.assert_array_equal(z[::-3], whole[::-3])
        picked = np.array([1950, 3, 777, 778, 1200])
        np.testing.assert_array_equal(z.vindex[picked], whole[picked])
        np.testing.assert_array_equal(z.oindex[np.sort(picked)], whole[np.sort(picked)])
        windows = zarr.read_many([(z, [[0], [1500]], [300])])[0]
        np.testing.assert_array_equal(windows, [whole[:300], whole[1500:1800]])
    most.append(used(temporary))
    assert 0 < max(most) <= room * SIZE


def test_files_that_no_call_reads_make_room(web: Web, temporary: Path) -> None:
    urls, _ = write(web, 3)
    with zarr.config(max_download_bytes=2 * SIZE):
        first: Any = virtual.concat(urls[:2])
        assert first[150] == 150
        second: Any = virtual.concat(urls[2:])
        assert second[0] == 200
        # The oldest one was removed, and is fetched again.
        web.asked.clear()
        assert first[150] == 150
        assert not web.asked
        assert first[50] == 50
        assert [one.split()[:2] for one in web.asked] == [["GET", "/0.npy"]]
        held = [one.store.opener.place(0)[0] for one in (first, second)]
        with pytest.raises(DownloadLimitError, match=r"beside 1,\d{3} bytes of other downloads"):
            virtual.concat([urls[1]])[...]
        del held
        assert virtual.concat([urls[1]])[0] == 100


def test_a_join_and_an_append_have_the_bound(web: Web, tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    names = []
    for month in range(1, 6):
        time = np.datetime64(f"2020-0{month}-01", "ns") + np.arange(3).astype("m8[D]")
        one = xr.Dataset({"t": ("time", np.arange(3.0) + month)}, {"time": time})
        one.to_netcdf(web.folder / f"{month}.nc")
        names.append(f"{web.url}/{month}.nc")
    size = max(one.stat().st_size for one in web.folder.iterdir())
    with zarr.config(max_download_bytes=2 * size):
        joined = virtual.join(names, "time")
        assert joined["t"][...].tolist() == [n + m for m in range(1, 6) for n in range(3)]
        del joined
        gc.collect()
        assert zarr.append(names[:2], tmp_path / "dest.zarr", along="time").added == 6
        # An append reads all of its sources at the same time.
        with pytest.raises(DownloadLimitError, match=r"3\.nc has .* beside .* in use"):
            zarr.append(names, tmp_path / "dest.zarr", along="time")
        assert zarr.open(tmp_path / "dest.zarr")["t"].shape == (6,)
    with (
        zarr.config(max_download_bytes=10),
        pytest.raises(DownloadLimitError, match="max_download_bytes is 10"),
    ):
        zarr.import_(names[0], tmp_path / "import.zarr")
    assert not (tmp_path / "import.zarr").exists()


class _Lies(http.server.BaseHTTPRequestHandler):
    """Says one length, and sends another one."""

    protocol_version = "HTTP/1.1"
    told: int
    sends: Callable[[Any], None]
    sent = 0

    def log_message(self, *args: Any) -> None:
        """Say nothing."""

    def head(self, length: int | None) -> None:
        self.send_response(200)
        self.send_header("ETag", '"1"')
        if length is None:
            self.send_header("Connection", "close")
            self.close_connection = True
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def do_HEAD(self) -> None:
        self.head(self.told)

    def do_GET(self) -> None:
        try:
            type(self).sends(self)
        except OSError:
            self.close_connection = True

    def write(self, block: bytes) -> None:
        self.wfile.write(block)
        type(self).sent += len(block)


def _endless(handler: Any) -> None:
    handler.head(None)
    while True:
        handler.write(b"x" * 65536)


def _cut(handler: Any) -> None:
    handler.head(handler.told)
    handler.write(b"x" * (handler.told // 2))
    handler.close_connection = True


def _longer(handler: Any) -> None:
    handler.head(10 * handler.told)
    handler.write(b"x" * (10 * handler.told))


def _shorter(handler: Any) -> None:
    handler.head(handler.told // 2)
    handler.write(b"x" * (handler.told // 2))


def _empty(handler: Any) -> None:
    handler.head(0)


_CASES = [
    *((told, sends) for told in (1000, 9 << 20) for sends in (_endless, _cut, _shorter, _empty)),
    *((1000, _longer), (9 << 20, _longer), (10**15, _endless)),
]


@pytest.mark.parametrize(("told", "sends"), _CASES)
def test_a_server_that_lies_stores_no_more_than_was_reserved(
    told: int, sends: Callable[[Any], None], temporary: Path
) -> None:
    handler = type("Lies", (_Lies,), {"told": told, "sends": staticmethod(sends), "sent": 0})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/x.npy"
        options = {"timeout": 3, "retries": 1}
        try:
            with (
                # A server that ignores ranges sends a long value as a whole, into memory.
                zarr.config(
                    max_download_bytes=64 << 20, max_chunk_bytes=32 << 20, max_document_bytes=1000
                ),
                pytest.raises((ZarrixError, OSError)) as caught,
            ):
                virtual.concat([url], storage_options=options)
        finally:
            server.shutdown()
            thread.join()
        assert isinstance(caught.value, DownloadLimitError) == (told == 10**15)
        assert used(temporary) == 0
        # What is in flight, and the tries of one call, come on top of the bounds.
        assert handler.sent < (64 if told == 1000 else 400) << 20


FULL = """
import resource, sys, tempfile
tempfile.tempdir = sys.argv[2]
from zarrix import virtual
resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
try:
    virtual.concat([sys.argv[1]])
except OSError as error:
    print(type(error).__name__, error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the system has no limits of files")
def test_a_full_disk_names_the_url_and_leaves_nothing(web: Web, temporary: Path) -> None:
    (url,), _ = write(web, 1)
    done = subprocess.run(
        [sys.executable, "-c", FULL, url, str(temporary)],
        capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )  # fmt: skip
    assert done.stdout.startswith("OSError [Errno 27] ")
    assert f"{url} has {SIZE:,} bytes, of which 500 could be stored in {temporary}" in done.stdout
    assert "TMPDIR names another folder" in done.stdout
    assert not any(temporary.iterdir())


def test_a_folder_of_zarr_that_is_named_as_a_file_is_one(web: Web, tmp_path: Path) -> None:
    # Such a server answers for folders as it does for files.
    zarr.create_array(web.folder / "x.nc", name="u", data=np.arange(3))
    url = f"{web.url}/x.nc"
    assert virtual.concat([f"{url}/u"] * 2)[...].tolist() == [0, 1, 2, 0, 1, 2]
    virtual.save(virtual.concat([f"{url}/u"]), tmp_path / "list.json")
    assert virtual.open(tmp_path / "list.json")[1:].tolist() == [1, 2]
    (web.folder / "y.nc").mkdir()
    with pytest.raises(zarr.errors.ConversionError, match=r"/y\.nc"):
        virtual.concat([f"{web.url}/y.nc/u"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system cannot fork")
def test_a_forked_process_removes_nothing_and_counts_its_own(web: Web, temporary: Path) -> None:
    (url,), _ = write(web, 1)
    z: Any = virtual.concat([url])
    assert z[1] == 1
    child = os.fork()
    if not child:
        is_new = downloads.held_bytes() == 0
        del z
        gc.collect()
        os._exit(0 if is_new and any(temporary.iterdir()) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert downloads.held_bytes() == SIZE
    assert z[2] == 2


LEFT = """
import os, sys, tempfile
tempfile.tempdir = sys.argv[2]
from zarrix import virtual
z = virtual.concat([sys.argv[1]])
print(z[0], flush=True)
os.kill(os.getpid(), 9) if sys.argv[3] == "dies" else sys.stdin.read()
"""


@pytest.mark.skipif(not HAS_FLOCK, reason="the system has no locks of folders")
def test_what_a_killed_process_has_left_is_removed_by_the_next(web: Web, temporary: Path) -> None:
    (url,), _ = write(web, 1)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}

    def begin(how: str) -> Any:
        return subprocess.Popen(
            [sys.executable, "-c", LEFT, url, str(temporary), how],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip

    with begin("lives") as living:
        assert living.stdout.readline() == "0.0\n"
        (its,) = temporary.iterdir()
        with begin("dies") as dead:
            assert dead.stdout.readline() == "0.0\n"
        assert dead.returncode == -9
        (left,) = {*temporary.iterdir()} - {its}
        assert used(left) == SIZE
        z: Any = virtual.concat([url])
        assert z[1] == 1
        assert its.exists()
        assert not left.exists()
        living.stdin.close()
    assert living.returncode == 0
    assert not its.exists()


def test_threads_share_the_room(web: Web, temporary: Path, tmp_path: Path) -> None:
    urls, whole = write(web, 12)
    virtual.save(virtual.concat(urls), tmp_path / "list.json")
    ended = Counter[str]()
    most = 0

    def read(seed: int) -> None:
        nonlocal most
        rng = random.Random(seed)
        z: Any = virtual.open(tmp_path / "list.json")
        for _ in range(15):
            begin = rng.randrange(len(whole))
            stop = min(len(whole), begin + rng.randrange(1, 400))
            try:
                np.testing.assert_array_equal(z[begin:stop], whole[begin:stop])
                ended["read"] += 1
            except DownloadLimitError:
                # Other threads have all of the room for what they read now.
                ended["no room"] += 1
            most = max(most, used(temporary))

    with zarr.config(max_download_bytes=5 * SIZE), ThreadPoolExecutor(4) as threads:
        for one in [threads.submit(read, seed) for seed in range(4)]:
            one.result()
    assert ended["read"] > 10
    assert ended.total() == 60
    assert 0 < most <= 5 * SIZE
