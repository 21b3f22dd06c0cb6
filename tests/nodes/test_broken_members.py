"""One member that cannot be opened: the others are listed, it is named, and trees show it."""

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from zarrix.cli import main
from zarrix.errors import MetadataError

DOCUMENTS = {2: ".zarray", 3: "zarr.json"}


def not_json(path: Path) -> None:
    path.write_text("{")


def not_an_array(path: Path) -> None:
    path.write_text('{"zarr_format": 3, "node_type": "table"}')


def unknown_codec(path: Path) -> None:
    text = path.read_text().replace('"id": "blosc"', '"id": "no_such_codec"')
    path.write_text(text.replace('"name": "zstd"', '"name": "no_such_codec"'))


@pytest.fixture(params=[2, 3])
def zarr_format(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture(params=[not_json, not_an_array, unknown_codec], ids=lambda one: one.__name__)
def group(request: pytest.FixtureRequest, zarr_format: int, tmp_path: Path) -> Any:
    g = zarr.open_group(str(tmp_path / "x"), mode="w", zarr_format=zarr_format)
    g["a"] = np.arange(3)
    g["bad"] = np.arange(3)
    g["sub/c"] = np.arange(3)
    g["sub/worse"] = np.arange(3)
    for name in ("bad", "sub/worse"):
        request.param(tmp_path / "x" / name / DOCUMENTS[zarr_format])
    return zarr.open_group(str(tmp_path / "x"))


LISTINGS: dict[str, Callable[[Any], list[str]]] = {
    "arrays": lambda g: [name for name, _ in g.arrays()],
    "array_values": lambda g: [one.path for one in g.array_values()],
    "items": lambda g: [name for name, _ in g.items()],
    "values": lambda g: [one.path for one in g.values()],
    "members": lambda g: [name for name, _ in g.members()],
    "visit": lambda g: _visited(g.visit),
    "visitkeys": lambda g: _visited(g.visitkeys),
    "visitvalues": lambda g: [one.path for one in _visited(g.visitvalues)],
    "visititems": lambda g: _visited(lambda add: g.visititems(lambda name, _: add(name))),
}


def _visited(visit: Callable[[Any], Any]) -> list[Any]:
    found: list[Any] = []
    visit(found.append)
    return found


@pytest.mark.parametrize("name", LISTINGS)
def test_a_listing_goes_on_and_names_what_cannot_be_opened(group: Any, name: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = LISTINGS[name](group)
    assert found[0] == "a"
    assert "bad" not in found
    told = [one for one in caught if "member '/bad' cannot be opened" in str(one.message)]
    assert len(told) == 1
    assert told[0].category.__name__ == "BrokenMemberWarning"
    assert told[0].filename == __file__


def test_everything_below_is_listed_but_what_cannot_be_opened(group: Any) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert [name for name, _ in group.members(None)] == ["a", "sub", "sub/c"]
        assert [name for name, _ in group.arrays(recurse=True)] == ["a", "c"]
    assert [str(one.message).split("'")[1] for one in caught] == ["/bad", "/sub/worse"] * 2


def test_the_names_hold_all_members_and_asking_for_a_broken_one_is_its_error(group: Any) -> None:
    assert list(group) == ["a", "bad", "sub"]
    assert "bad" in group
    with pytest.raises(ValueError, match="bad/"):
        group["bad"]


def test_a_tree_shows_what_cannot_be_opened(group: Any, capsys: pytest.CaptureFixture) -> None:
    text = repr(group.tree())
    assert "a (3,) int64" in text
    assert re.search(r"── bad \(cannot be opened: .+\)", text)
    assert re.search(r"── worse \(cannot be opened: .+\)", text)
    assert "worse (cannot be opened" in group._repr_html_()
    assert main(["tree", group.store.path]) == 0
    assert capsys.readouterr().out.rstrip("\n") == text


def test_what_cannot_be_opened_can_be_replaced_and_deleted(group: Any) -> None:
    group["bad"] = np.arange(5)
    assert group["bad"][:].tolist() == [0, 1, 2, 3, 4]
    del group["sub/worse"]
    assert list(group["sub"]) == ["c"]


def test_consolidation_says_which_document_is_not_json(zarr_format: int) -> None:
    store = zarr.MemoryStore()
    zarr.open_group(store, mode="w", zarr_format=zarr_format).zeros("deep/x", shape=3)
    store[f"deep/x/{DOCUMENTS[zarr_format]}"] = b"{"
    with pytest.raises(MetadataError, match=rf"^deep/x/{re.escape(DOCUMENTS[zarr_format])}: not J"):
        zarr.consolidate_metadata(store)


def test_an_array_of_pickles_does_not_take_its_group_down() -> None:
    g = zarr.group(zarr.MemoryStore())
    g["a"] = np.arange(3)
    options: dict[str, Any] = {"dtype": object, "object_codec": zarr.Pickle(), "allow_pickle": True}
    g.create_dataset("p", shape=1, **options)
    assert "p (cannot be opened: " in repr(g.tree())
    with pytest.warns(UserWarning, match="'/p' cannot be opened .*allow_pickle"):
        assert [name for name, _ in g.items()] == ["a"]


class Refusing(dict):  # type: ignore[type-arg]
    """A store that has the document of one member, and fails to give it."""

    error: Exception | None = None

    def __getitem__(self, key: str) -> Any:
        if key == "bad/.zarray" and self.error is not None:
            raise self.error
        return super().__getitem__(key)


@pytest.fixture
def refusing() -> Refusing:
    store = Refusing()
    g = zarr.group(store)
    g["a"] = np.arange(3)
    g["bad"] = np.arange(3)
    return store


def test_a_document_that_may_not_be_read_hides_no_other(refusing: Refusing) -> None:
    refusing.error = PermissionError("not for you")
    with pytest.warns(UserWarning, match="'/bad' cannot be opened .*not for you"):
        assert [name for name, _ in zarr.open_group(refusing).arrays()] == ["a"]


def test_a_store_that_fails_is_not_taken_for_a_broken_member(refusing: Refusing) -> None:
    refusing.error = TimeoutError("the server does not answer")
    with pytest.raises(TimeoutError, match="does not answer"):
        list(zarr.open_group(refusing).arrays())
