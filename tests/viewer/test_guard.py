"""What other users, other sites and false requests get from the viewer: nothing."""

from __future__ import annotations

import numpy as np
import pytest
import zarrix as zarr

pytest.importorskip("starlette")

from viewer.asgi import Client
from zarrix import viewer


@pytest.fixture
def client() -> Client:
    root = zarr.group()
    root["a"] = np.arange(12, dtype="u1").reshape(3, 4)
    return Client(viewer.app(root))


@pytest.mark.parametrize(
    "host",
    ["evil.example", "127.0.0.1.evil.example:8000", "evil.example:8000", "", "127.0.0.1@evil",
     "[::1]evil", "127.0.0.2:8000", "localhost:8000:80", "localhost:port"],
)  # fmt: skip
def test_a_host_of_another_name_is_refused(client: Client, host: str) -> None:
    for target in ("/", "/view.js", "/api/hello"):
        assert client.get(target, headers={"host": host}).status == 421


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost:1", "[::1]:8000", "LOCALHOST"])
def test_names_of_the_loopback_address_are_answered(client: Client, host: str) -> None:
    assert client.get("/api/hello", headers={"host": host}).status == 200


def test_with_a_port_the_host_has_to_be_exact() -> None:
    client = Client(viewer.app(zarr.zeros(3), hosts=["127.0.0.1:8000"]))
    assert client.get("/api/hello").status == 200
    assert client.get("/api/hello", headers={"host": "127.0.0.1:8001"}).status == 421
    assert client.get("/api/hello", headers={"host": "127.0.0.1"}).status == 421


@pytest.mark.parametrize("token", [None, "x" * 43, "\xff" * 43])
def test_without_the_token_there_is_no_data(client: Client, token: str | None) -> None:
    for target in ("/api/hello", "/api/tree", "/api/tile?path=a", "/api/none"):
        found = client.get(target, token=token)
        assert found.status == 401
        assert set(found.json()) == {"error", "kind"}


def test_tokens_are_long_and_differ() -> None:
    tokens = {viewer.app(zarr.zeros(3)).state.token for _ in range(20)}
    assert len(tokens) == 20
    assert {len(one) for one in tokens} == {43}


@pytest.mark.parametrize(
    "headers",
    [{"origin": "http://evil.example"}, {"origin": "null"}, {"origin": "http://127.0.0.1:8001"},
     {"sec-fetch-site": "cross-site"}, {"sec-fetch-site": "same-site"},
     {"sec-fetch-site": "same-site", "sec-fetch-mode": "no-cors"}],
)  # fmt: skip
def test_requests_of_other_sites_are_refused(client: Client, headers: dict[str, str]) -> None:
    assert client.get("/api/hello", headers=headers).status == 403


@pytest.mark.parametrize("site", ["same-origin", "none"])
def test_requests_of_the_page_itself_are_answered(client: Client, site: str) -> None:
    headers = {"origin": "http://127.0.0.1:8000", "sec-fetch-site": site}
    assert client.get("/api/hello", headers=headers).status == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "CONNECT", "X"])
def test_there_is_no_method_that_changes_anything(client: Client, method: str) -> None:
    assert client.get("/api/hello", method=method).status == 405


def test_no_answer_allows_other_sites_and_all_forbid_foreign_code(client: Client) -> None:
    answers = [
        client.get("/"),
        client.get("/api/hello"),
        client.get("/api/none"),
        client.get("/api/hello", token=None),
        client.get("/api/hello", headers={"host": "evil"}),
        client.get("/api/hello", method="POST"),
        client.get("/api/tile", path="a"),
    ]
    for found in answers:
        assert not [name for name in found.headers if name.startswith("access-control")]
        parts = found.headers["content-security-policy"].split(";")
        policy = dict(part.strip().split(" ", 1) for part in parts)
        assert policy["default-src"] == "'none'"
        assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
        assert policy["frame-ancestors"] == "'none'"
        assert found.headers["x-content-type-options"] == "nosniff"
        assert found.headers["referrer-policy"] == "no-referrer"
        assert found.headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "target",
    ["/../../etc/passwd", "/%2e%2e/x", "/static/view.js", "//view.js", "/view.js/", "/view.js\0",
     "/index.html/../view.js", "/api", "/api/", "/api/../hello", "/api/hello/", "/_guard.py"],
)  # fmt: skip
def test_files_are_those_of_a_table(client: Client, target: str) -> None:
    assert client.get(target).status == 404


@pytest.mark.parametrize(
    "path", ["..", "../a", "a/..", "/a", "a//b", "./a", "a\0", "/", "a/", "a/./b", "/etc/passwd"]
)
def test_paths_stay_below_the_opened_nodes(client: Client, path: str) -> None:
    for route in ("node", "tile", "tree", "value", "cells"):
        found = client.get(f"/api/{route}", path=path)
        assert found.status in (400, 404), route


def test_an_opened_group_does_not_give_what_lies_beside_it() -> None:
    root = zarr.group()
    root["in/a"], root["out/b"] = [1], [2]
    client = Client(viewer.app(root["in"]))
    assert client.get("/api/node", path="a").status == 200
    for path in ("out/b", "../out/b", "/out/b", "in/a"):
        assert client.get("/api/node", path=path).status in (400, 404)


@pytest.mark.parametrize(
    ("route", "given"),
    [("tile", {"path": "a", "sel": "9"}), ("tile", {"path": "a", "sel": "1e9"}),
     ("tile", {"path": "a", "sel": "0,0,0"}), ("tile", {"path": "a", "sel": "::0"}),
     ("tile", {"path": "a", "sel": "99999999999999999999999"}),
     ("tile", {"path": "a", "as": "png"}), ("tile", {"path": "a", "field": "x"}),
     ("tile", {"path": "a", "other": "1"}), ("tile", {"path": "a" * 5000}),
     ("tree", {"limit": "0"}), ("tree", {"limit": "9999999"}), ("tree", {"offset": "-1"}),
     ("tree", {"offset": "٣"}), ("value", {"path": "a", "index": "x"}),
     ("tile", {"path": ""})],
)  # fmt: skip
def test_false_parameters_are_named(client: Client, route: str, given: dict[str, str]) -> None:
    found = client.get(f"/api/{route}", **given)
    assert found.status == 400
    assert len(found.json()["error"]) < 400


def test_a_parameter_that_is_there_twice_is_refused(client: Client) -> None:
    assert client.get("/api/tile?path=a&path=b").status == 400


def test_a_long_address_is_refused(client: Client) -> None:
    assert client.get("/api/tile?" + "x" * 9000).status == 414


def test_large_requests_are_refused_before_they_are_read() -> None:
    root = zarr.group()
    root.create_dataset("large", shape=(10**6, 10**6), chunks=(15000, 15000), dtype="f8")
    root.create_dataset("many", shape=(10**9,), chunks=(1000,), dtype="f8")
    client = Client(viewer.app(root))
    for path, sel in (("large", ""), ("large", "0,0"), ("many", ""), ("many", "::1000")):
        found = client.get("/api/tile", path=path, sel=sel)
        assert found.status == 413, (path, sel)
    assert client.get("/api/cells", path="many", sel=":10001").status == 413
    assert client.get("/api/value", path="many", index=":17").status == 413
    assert client.get("/api/tile", path="many", sel="5:10").status == 200


def test_an_application_without_a_token_is_possible_but_not_by_accident() -> None:
    open_to_all = viewer.app(zarr.zeros(3), token=False)
    assert open_to_all.state.token is None
    assert Client(open_to_all).get("/api/hello").status == 200
    with pytest.raises(ValueError, match="empty"):
        viewer.app(zarr.zeros(3), token="")
    with pytest.raises(ValueError, match="to show"):
        viewer.app()
