"""The table of what opens which store."""

import os
from pathlib import Path

import pytest
from zarrix._stores.open import as_store
from zarrix._stores.registry import OPENERS, SERVER_SCHEMES, opener
from zarrix._stores.remote.store import service_of


@pytest.mark.parametrize("row", OPENERS)
def test_every_row_names_a_function_that_is_there(row: str) -> None:
    assert callable(opener(row))


def test_servers_are_those_that_the_engine_serves() -> None:
    assert all(map(service_of, SERVER_SCHEMES))
    assert not any(map(service_of, ("memory", "file", "ftp", "")))


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a.zip", "ZipStore"),
        ("a.ozx", "ZipStore"),
        ("a.zarr", "DirectoryStore"),
        ("a.json", "DirectoryStore"),
        ("a.zip/b", "DirectoryStore"),
        ("memory://a", "MemoryStore"),
        ("file://a", "DirectoryStore"),
        ("s3://bucket/a", "RemoteStore"),
        ("https://host/a", "RemoteStore"),
    ],
)
def test_a_path_is_opened_by_its_scheme_or_suffix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, kind: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert type(as_store(path)).__name__ == kind


def test_a_directory_stays_one_whatever_its_suffix(tmp_path: Path) -> None:
    for name in ("a.zip", "a.json", "a.parq", "a.n5"):
        os.mkdir(tmp_path / name)
        assert type(as_store(tmp_path / name)).__name__ == "DirectoryStore"
