"""Servers of this folder's tests: one of each kind for the run, a fresh bucket for each test."""

import fcntl
import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from servers import Running
from servers.faulty import FaultyServer
from servers.shared import locked

_numbers = itertools.count()


@pytest.fixture(autouse=True)
def _no_credentials_around(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in os.environ:
        if name.startswith(("AWS_", "FSSPEC_", "GOOGLE_", "AZURE_", "HADOOP_")):
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


@pytest.fixture
def _hdfs(
    serve: Callable[[str], Running], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Bucket:
    """A new place on HDFS; its lock files are this test's own."""
    found = serve("hdfs")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user's cache"))
    return Bucket(f"{found.bucket}/{next(_numbers)}", found.options, found)


@pytest.fixture
def hdfs(_hdfs: Bucket, common_folder: Path) -> Iterator[Bucket]:
    """A new place on HDFS, while no other test stops it."""
    with locked(common_folder / "hdfs.alone", fcntl.LOCK_SH):
        yield _hdfs


@pytest.fixture
def hdfs_alone(_hdfs: Bucket, common_folder: Path) -> Iterator[Bucket]:
    """A new place on HDFS, while no test of another worker uses it: this one may stop it."""
    with locked(common_folder / "hdfs.alone"):
        yield _hdfs


# Said of every file system, once in each process.
_HDFS_WARNS = pytest.mark.filterwarnings(
    "ignore:HDFS has no conditional writes:zarrix.errors.LostUpdateWarning"
)


@pytest.fixture(params=[*S3, "azurite", "fake-gcs-server", pytest.param("hdfs", marks=_HDFS_WARNS)])
def bucket(request: pytest.FixtureRequest, serve: Callable[[str], Running]) -> Bucket:
    """A new place on each server that can be written to."""
    if request.param == "hdfs":
        place: Bucket = request.getfixturevalue("hdfs")
        return place
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
