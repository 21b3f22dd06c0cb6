"""`zarr.replacing`: the old content is readable until the new one is complete."""
# A replacement is a block, and raises at its end.
# ruff: noqa: PT012

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr
from commits import steps
from zarrix.cli import main
from zarrix.errors import NotAtomicError

FORMATS = (2, 3)


@pytest.fixture(params=FORMATS)
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    root = zarr.open_group(tmp_path / "x.zarr", mode="w", zarr_format=request.param)
    data = np.arange(8).reshape(4, 2)
    root.create_dataset("a", data=data, chunks=(2, 2), attributes={"unit": "K"})
    root.create_dataset("line", data=[1, 2, 3])
    group = root.create_group("g", attributes={"k": 2})
    group.create_dataset("x", data=np.ones((2, 2)))
    group.create_dataset("y", data=np.ones(3))
    zarr.consolidate_metadata(root.store)
    return root


@pytest.mark.parametrize("how", ["auto", "keys", "exchange"])
def test_the_new_content_is_computed_from_the_old_one(root: Any, how: str) -> None:
    z, path = root["a"], root.store.path
    with zarr.replacing(z, how=how) as new:
        assert not new[:].any()
        new[:] = z[::-1]
        assert z[0, 0] == 0
    with zarr.replacing(root["g"], how=how) as new:
        assert list(new) == []
        new.create_dataset("x", data=root["g/x"][:] * 5)
    for found in (zarr.open_group(path), zarr.open_consolidated(path)):
        assert found["a"][:, 0].tolist() == [6, 4, 2, 0]
        assert dict(found["a"].attrs) == {"unit": "K"}
        assert list(found["g"]) == ["x"]
        assert (found["g/x"][:] == 5).all()
        assert dict(found["g"].attrs) == {"k": 2}
    assert not list(Path(path).rglob("*.partial"))


@pytest.mark.parametrize("how", ["keys", "exchange"])
def test_an_error_keeps_the_old_content(root: Any, how: str) -> None:
    before = {key: root.store[key] for key in root.store}
    for name in ("a", "g"):
        with pytest.raises(ZeroDivisionError), zarr.replacing(root[name], how=how) as new:
            if name == "a":
                new[:] = 9
            else:
                new.create_dataset("x", shape=3)
            raise ZeroDivisionError
        assert {key: root.store[key] for key in root.store} == before
    assert not list(Path(root.store.path).rglob("*.partial"))


def test_another_layout(root: Any) -> None:
    like = zarr.create_array(
        {}, shape=(3, 5), chunks=(3, 2), dtype="f4", zarr_format=root._zarr_format
    )
    with zarr.replacing(root["a"], like=like) as new:
        new[:] = 2
    found = zarr.open_consolidated(root.store.path)["a"]
    assert (found.shape, found.chunks, found.dtype) == ((3, 5), (3, 2), "f4")
    assert (found[:] == 2).all()


def test_an_array_of_one_axis_of_v2_is_exchanged(root: Any) -> None:
    if root._zarr_format == 2:
        with pytest.raises(NotAtomicError, match="spelling"):
            zarr.replacing(root["line"], how="keys").__enter__()
    with zarr.replacing(root["line"]) as new:
        new[:] = root["line"][:] * 2
    assert zarr.open_consolidated(root.store.path)["line"][:].tolist() == [2, 4, 6]


def test_what_is_refused(root: Any) -> None:
    with pytest.raises(TypeError, match="open array"):
        zarr.replacing(root.store.path)
    with pytest.raises(TypeError, match="like="):
        zarr.replacing(root, like=root["a"])
    with pytest.raises(ValueError, match="how="):
        zarr.replacing(root, how="moves")
    other = zarr.create_array({}, shape=3, dtype="i4", zarr_format=5 - root._zarr_format)
    with pytest.raises(ValueError, match="format"):
        zarr.replacing(root["a"], like=other)


def test_the_verbs_recover_and_sweep(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.zarr"
    steps.make(path, 3)
    number = 0
    while not (path / ".zarrix-commit.json").exists():
        assert steps.dies_at(number, lambda: steps.commit(path, 1))
        number += 7
    assert main(["recover", str(path), "-n"]) == 0
    assert "was removed" in capsys.readouterr().out
    assert (path / ".zarrix-commit.json").exists()
    assert main(["recover", str(path)]) == 0
    assert "was removed" in capsys.readouterr().out
    assert not (path / ".zarrix-commit.json").exists()
    assert main(["recover", str(path), "--json"]) == 0
    assert '"direction": "nothing"' in capsys.readouterr().out
    steps.commit(path, 1)
    assert main(["sweep", str(path), "--now"]) == 0
    assert "chunks deleted" in capsys.readouterr().out
