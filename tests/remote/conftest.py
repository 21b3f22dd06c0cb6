"""Servers of this folder's tests: one of each kind for the run, a fresh bucket for each test."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from servers import SERVERS, Running, new_bucket, running
from servers.faulty import FaultyServer

_numbers = itertools.count()
# What became of each server that a test wanted: that it ran, or how to have it.
_asked: dict[str, str] = {}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _asked:
        terminalreporter.section("servers")
        for name, outcome in sorted(_asked.items()):
            terminalreporter.write_line(f"{name}: {outcome}")


@pytest.fixture(scope="session")
def serve() -> Iterator[Callable[[str], Running]]:
    """Starts a server by name, once; skips where it is not installed."""
    started: dict[str, Running] = {}
    with contextlib.ExitStack() as stack:

        def start(name: str) -> Running:
            if name not in started:
                missing = SERVERS[name].missing
                if missing:
                    _asked[name] = missing
                    pytest.skip(f"{name} is not installed: {missing}")
                _asked[name] = "ran"
                found = stack.enter_context(running(SERVERS[name]))
                # One for all tests: a bucket costs some servers more than all that is in it.
                found.bucket = new_bucket(found, f"zarrix-{os.getpid()}")
                started[name] = found
            return started[name]

        yield start


@pytest.fixture(autouse=True)
def _no_credentials_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("AWS_", "FSSPEC_", "GOOGLE_", "AZURE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", os.devnull)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@dataclass
class Bucket:
    """An empty place in a bucket: its URL, what opens it, and the server."""

    url: str
    options: dict[str, Any]
    server: Running


S3 = ["moto", "seaweedfs", "versitygw"]


@pytest.fixture(params=[*S3, "azurite", "fake-gcs-server"])
def bucket(request: pytest.FixtureRequest, serve: Callable[[str], Running]) -> Bucket:
    """A new place on each server that can be written to."""
    found = serve(request.param)
    return Bucket(f"{found.bucket}/{next(_numbers)}", found.options, found)


@pytest.fixture(params=S3)
def s3_bucket(request: pytest.FixtureRequest, serve: Callable[[str], Running]) -> Bucket:
    """A new place on each server that speaks S3."""
    found = serve(request.param)
    return Bucket(f"{found.bucket}/{next(_numbers)}", found.options, found)


@pytest.fixture
def faulty() -> Iterator[FaultyServer]:
    """A server of our own that goes wrong as it is told."""
    with FaultyServer() as server:
        yield server
