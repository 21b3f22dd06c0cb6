"""A program that only uses files loads no options of a service, and nothing of the web."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import zarrix as zarr

_REMOTE = "zarrix._stores.remote"
# Some of them load modules of the web, which take as long as all else of a small copy.
_SERVICES = {f"{_REMOTE}.{name}" for name in ("azure", "gcs", "hdfs", "http", "providers", "s3")}
_WEB = {"http.client", "http.cookiejar", "urllib.request", "xml.etree.ElementTree"}


def loaded(program: str, folder: Path) -> set[str]:
    """The modules of a new Python that has run ``program``."""
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys, zarrix as zarr\n{program}\nprint(*sys.modules)"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return {*ran.stdout.split()}


@pytest.mark.parametrize(
    "program", ["zarr.copy_store('a.zarr', 'b.zarr')", "zarr.open_array('a.zarr')[:]"]
)
def test_files_need_no_module_of_a_service(tmp_path: Path, program: str) -> None:
    zarr.save(tmp_path / "a.zarr", [1, 2, 3])
    found = loaded(program, tmp_path)
    assert "zarrix._stores.remote.store" in found
    assert not found & (_SERVICES | _WEB)


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/a", "gs://a/b", "az://a/b", "hdfs://a:1/b"])
def test_a_service_loads_its_own_options_only(tmp_path: Path, url: str) -> None:
    service = url.partition(":")[0]
    module = {"gs": "gcs", "az": "azure"}.get(service, service)
    options = {"az": {"account_name": "a", "anon": True}, "gs": {"token": "anon"}}.get(service)
    found = loaded(f"zarr.storage.RemoteStore({url!r}, {options!r})", tmp_path)
    assert found & _SERVICES - {f"{_REMOTE}.providers"} == {f"{_REMOTE}.{module}"}
    assert not found & _WEB
