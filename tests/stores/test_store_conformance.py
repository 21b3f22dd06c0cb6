"""`zarrix.testing.check_store` on every store, what it finds, and the table of what it ran on."""

import asyncio
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from async_stores import Coroutines
from every_store import HELD, KINDS
from servers import SERVERS
from zarrix import storage
from zarrix.testing import check_store

PAGE = Path(__file__).resolve().parents[2] / "docs" / "stores.md"
# What is served by a server, or is an older name.
ELSEWHERE = {"ABSStore", "DictStore", "RedisStore", "RemoteStore", "RemoteZipStore", "Store"}


@pytest.mark.parametrize("name", KINDS)
def test_a_store_conforms(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    if kind.missing:
        pytest.skip(f"{kind.needs} is not installed: pip install {kind.needs}")
    store, twin = kind.pair(tmp_path)
    check_store(store, twin, holds=kind.holds)


def rows(page: str) -> dict[str, str]:
    """First and second cell of each row below "What ran where"."""
    section = page.partition("## What ran where")[2].partition("\n## ")[0]
    cells = [line.split("|")[1:3] for line in section.splitlines() if line.startswith("| ")]
    return {name.strip(): outcome.strip() for name, outcome in cells if name.strip()}


def test_the_table_of_what_ran_where_is_what_runs() -> None:
    found = rows(PAGE.read_text(encoding="utf-8"))
    servers = {name: one for name, one in found.items() if re.split("[ :]", name)[0] in SERVERS}
    assert {re.split("[ :]", name)[0]: outcome for name, outcome in servers.items()} == {
        name: "passes, read only" if server.scheme == "http" else "passes"
        for name, server in SERVERS.items()
    }
    others = {name: outcome for name, outcome in found.items() if name not in servers}
    assert others == {name: kind.outcome for name, kind in KINDS.items()}


def test_every_public_store_is_in_the_table() -> None:
    public = {name: getattr(storage, name) for name in storage.__all__}
    stores = {
        name
        for name, one in public.items()
        if inspect.isclass(one) and issubclass(one, storage.Store)
    }
    named = {name for row in KINDS for name in re.findall(r"`(\w+)", row)}
    assert stores - named == ELSEWHERE - named


class Truncating(dict[str, bytes]):
    def __setitem__(self, key: str, value: bytes) -> None:
        super().__setitem__(key, value[:1000])


class Hiding(dict[str, bytes]):
    def __iter__(self) -> Any:
        return iter([key for key in super().__iter__() if not key.endswith("z")])


class TwoVersions(Coroutines):
    """Replaces a value in two steps, and takes the second once a reader has seen the first."""

    def __init__(self) -> None:
        super().__init__()
        self.stored_halves = False
        self.seen = False
        self.before_get = self.look

    def look(self, key: str) -> None:
        self.seen = self.seen or (self.stored_halves and key == "atomic/key")

    async def set(self, key: str, value: Any) -> None:
        if key == "atomic/key" and key in self.values:
            whole = value.to_bytes()
            self.values[key] = whole[: len(whole) // 2]
            self.stored_halves = True
            while not self.seen:
                await asyncio.sleep(0)
        await super().set(key, value)


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (Truncating, "a stored value is read back, whole and by ranges: value: found"),
        (
            Hiding,
            "a deletion removes the given keys and nothing else: below: found 1, expected 2",
        ),
        (TwoVersions, "readers see complete versions while writers replace them: one version"),
    ],
)
def test_what_a_store_does_wrong_is_named(broken: Any, fault: str) -> None:
    with pytest.raises(AssertionError, match=re.escape(fault)):
        check_store(broken())


def test_two_handles_that_do_not_share_locks_are_found(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    with pytest.raises(AssertionError, match="items: found"):
        check_store(storage.LocalStore(tmp_path / "one"), storage.LocalStore(tmp_path / "other"))
    shared: dict[str, bytes] = {}
    with pytest.raises(AssertionError, match="handles on one place have one id"):
        check_store(storage.KVStore(shared), Proxy(shared))


class Proxy(dict[str, bytes]):
    """Another object on the same values, which cannot be recognised as such."""

    def __init__(self, values: dict[str, bytes]) -> None:
        self.values_ = values

    def __getitem__(self, key: str) -> bytes:
        return self.values_[key]

    def __iter__(self) -> Any:
        return iter(list(self.values_))

    def __len__(self) -> int:
        return len(self.values_)

    def items(self) -> Any:
        return self.values_.items()


def test_what_is_stored_is_never_deleted(tmp_path: Path) -> None:
    place = {"a": b"1"}
    with pytest.raises(ValueError, match="holds something, and all in it would be deleted"):
        check_store(place)
    assert place == {"a": b"1"}


def test_a_store_that_holds_something_else_than_it_should_is_found() -> None:
    place = Coroutines(read_only=True)
    place.values.update(HELD)
    with pytest.raises(AssertionError, match="held values are read, whole and in parts"):
        check_store(place, holds={**HELD, "a/c": b"12346"})
    with pytest.raises(AssertionError, match="listings are sorted, complete and by name"):
        check_store(place, holds={"a/c": b"12345"})
