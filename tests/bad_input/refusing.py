"""What a refusal is: one sentence of the right class, and no byte changed."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarrix as zarr

NUMBERS = np.arange(60, dtype="<i4").reshape(6, 10)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    """Every file below ``folder`` with its bytes, and every directory and link."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        found[name] = path.read_bytes() if path.is_file() else None
    return found


@contextlib.contextmanager
def refused(folder: Path, kind: type[Exception], *words: str) -> Iterator[None]:
    """What is inside fails as ``kind`` in one sentence with ``words``, and changes no byte."""
    before = snapshot(folder)
    with pytest.raises(kind) as caught:
        yield
    assert snapshot(folder) == before
    message = str(caught.value)
    assert "\n" not in message, message
    assert 15 <= len(message) <= 400, message
    for word in words:
        assert word in message, f"{word!r} is not in {message!r}"


def at(folder: Path, inner: str = "") -> str:
    return str(folder / "x.zarr" / inner) if inner else str(folder / "x.zarr")


Case = tuple[Callable[[Path], Any], type[Exception], tuple[str, ...]]


def cases(table: dict[str, Case]) -> Any:
    return pytest.mark.parametrize(
        ("call", "kind", "words"),
        list(table.values()),
        ids=[name.replace(" ", "-") for name in table],
    )


def root_group(f: Path) -> Any:
    return zarr.open_group(at(f), mode="r+")


def array_of(f: Path) -> Any:
    return zarr.open_array(at(f, "a"), mode="r+")
