"""The code of docs/stores.md runs, against a server whose address the environment has."""

import re
from pathlib import Path

import pytest
from servers import KEY, SECRET, s3_client

PAGE = Path(__file__).resolve().parents[3] / "docs" / "stores.md"
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_code_of_the_page_runs(serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    server = serve("moto")
    client = s3_client(server)
    client.create_bucket(Bucket="bucket")
    client.close()
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.endpoint)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    blocks = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert blocks
    names: dict[str, object] = {"__name__": "document"}
    for code in blocks:
        exec(compile(code, PAGE.name, "exec"), names)
