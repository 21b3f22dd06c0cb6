"""What all tests share: the switch for long ones, one fixture per kind of store, and servers.

Hypothesis draws the same examples in every run, twice as many with ``--long``; where
ZARRIX_EXPLORE is set, as many others. It has no deadline: how long an example takes says more about
the machine than about the code.
"""

import contextlib
import gc
import importlib.util
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import zarrix as zarr
from hypothesis import settings
from servers import SERVERS, Running, new_bucket
from servers.shared import shared

# Before any module of tests imports netCDF4: its HDF5 would be the one that the plugins find, and
# h5py could not create a dataset with their Blosc.
with contextlib.suppress(ImportError):
    import hdf5plugin  # noqa: F401

EXPLORE = os.environ.get("ZARRIX_EXPLORE")

# Programs and plugins that run in the environments of other projects, which have what they import.
collect_ignore = [
    "as_zarr/hierarchies.py",
    "ecosystem/under_engine.py",
    "ecosystem/accelerated.py",
    "ecosystem/bioio_images.py",
    "jobs/ome_peer.py",
    "golden/icechunk/make.py",
    "golden/pictures/make_arrays.py",
]

if importlib.util.find_spec("moto") is None:
    collect_ignore.append("servers/moto_in_turn.py")

for name, examples in (("quick", 50), ("long", 100)):
    settings.register_profile(
        name,
        derandomize=EXPLORE is None,
        max_examples=int(EXPLORE or examples),
        deadline=None,
        database=None,
    )
settings.load_profile("quick")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="run the tests that take minutes, too")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--long"):
        settings.load_profile("long")
    # A shell that runs the tests in the background has Ctrl-C ignored, and children inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--long"):
        return
    for item in items:
        if "long" in item.keywords:
            item.add_marker(pytest.mark.skip(reason="minutes long; run with --long"))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """One worker more than there are processors: many tests wait for processes and servers."""
    # macOS has no affinity.
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return (usable or 1) + 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker without tests takes some of another one, which it would wait for otherwise."""
    if config.getoption("dist") != "load":
        return None
    # Only pytest-xdist calls this.
    from xdist.scheduler import WorkStealingScheduling

    return WorkStealingScheduling(config, log)


def pytest_collection_finish() -> None:
    # The half million objects that describe the tests stay to the end: no collection of garbage
    # looks at them again, which takes 0.3 s each time.
    gc.collect()
    gc.freeze()


# What became of each server that a test wanted: that it ran, or how to have it.
_asked: dict[str, str] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _asked:
        terminalreporter.section("servers")
        for name, outcome in sorted(_asked.items()):
            terminalreporter.write_line(f"{name}: {outcome}")


@pytest.fixture
def is_long(pytestconfig: pytest.Config) -> bool:
    """Whether this run takes minutes: tests that kill, fork or draw then do so more often."""
    return bool(pytestconfig.getoption("--long"))


@pytest.fixture(params=["directory", "nested", "memory", "dict", "zip"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """An empty store of each kind that arrays and groups are used on."""
    kinds: dict[str, Callable[[], Any]] = {
        "directory": lambda: zarr.DirectoryStore(tmp_path / "store.zarr"),
        "nested": lambda: zarr.NestedDirectoryStore(tmp_path / "store.zarr"),
        "memory": zarr.MemoryStore,
        "dict": lambda: zarr.KVStore({}),
        "zip": lambda: zarr.ZipStore(tmp_path / "store.zip"),
    }
    return kinds[request.param]()


@pytest.fixture(scope="session")
def common_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all workers of this run share."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def serve(common_folder: Path) -> Iterator[Callable[[str], Running]]:
    """Starts a server by name, once for all workers; skips where it is not installed."""
    started: dict[str, Running] = {}
    with contextlib.ExitStack() as stack:

        def start(name: str) -> Running:
            if name not in started:
                missing = SERVERS[name].missing
                if missing:
                    _asked[name] = missing
                    pytest.skip(f"{name} is not installed: {missing}")
                _asked[name] = "ran"
                found = stack.enter_context(shared(SERVERS[name], common_folder))
                # One for all tests here: a bucket costs some servers more than all that is in it.
                found.bucket = new_bucket(found, f"zarrix-{os.getpid()}")
                started[name] = found
            return started[name]

        yield start
