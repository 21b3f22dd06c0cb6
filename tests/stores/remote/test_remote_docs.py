"""The code of the pages about S3 runs, against a server whose address the environment has."""

import shutil
from pathlib import Path

import pytest
from ci_tools import load
from servers import KEY, SECRET, s3_client

DOCS = Path(__file__).resolve().parents[3] / "docs"
PAGES = load("pages")


@pytest.mark.parametrize("name", ["stores.md", "howto/use-s3.md"])
def test_the_code_of_the_page_runs(
    name: str, serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.unpack_archive(DOCS.parent / "tests/golden/icechunk/v2.zip", tmp_path / "era5")
    server = serve("moto")
    client = s3_client(server)
    client.create_bucket(Bucket="bucket")
    client.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    blocks = PAGES.blocks((DOCS / name).read_text(encoding="utf-8"))
    assert blocks
    page = DOCS / name
    assert PAGES.differences(page, blocks, PAGES.printed(page, blocks)) == ""
