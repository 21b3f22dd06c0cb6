"""What mappings give that are not dicts of bytes, and what their errors become."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from zarrix.storage import KVStore


class Failing(dict[str, Any]):
    """Fails for some keys, as a mapping of files does."""

    def __getitem__(self, key: str) -> Any:
        if key == "none":
            return None
        if key == "bad":
            raise OSError("bad disk")
        return super().__getitem__(key)

    def __delitem__(self, key: str) -> None:
        if key not in self or key == "bad":
            raise OSError("bad disk")
        super().__delitem__(key)


class Many(Failing):
    """Has fsspec's way to ask for many values."""

    fs = "a file system"

    def getitems(self, keys: Sequence[str], on_error: str) -> dict[str, Any]:
        assert on_error == "return"
        return {key: self._found(key) for key in keys}

    def _found(self, key: str) -> Any:
        try:
            return self[key]
        except Exception as error:
            return error


VALUES = {"a": b"1", "none": b"", "bad": b""}


@pytest.fixture(params=[Failing, Many])
def store(request: pytest.FixtureRequest) -> KVStore:
    return KVStore(request.param(VALUES))


def test_an_error_is_raised_and_a_missing_value_is_missing(store: KVStore) -> None:
    assert store.getitems(["a", "b"]) == {"a": b"1"}
    for call in (
        lambda: store["bad"],
        lambda: store.getitems(["a", "bad"]),
        lambda: "bad" in store,
    ):
        with pytest.raises(OSError, match="bad disk"):
            call()


def test_none_is_an_error_and_not_a_missing_value(store: KVStore) -> None:
    for call in (
        lambda: store["none"],
        lambda: store.getitems(["a", "none"]),
        lambda: "none" in store,
    ):
        with pytest.raises(TypeError, match="a bytes-like object is required, not 'NoneType'"):
            call()


def test_deleting_a_missing_value_is_a_key_error(store: KVStore) -> None:
    with pytest.raises(KeyError):
        del store["b"]
    with pytest.raises(OSError, match="bad disk"):
        del store["bad"]


def test_keys_that_are_not_text_are_refused() -> None:
    store = KVStore({1: b"", "a/b": b""})  # type: ignore[dict-item]
    for call in (store.listdir, lambda: store.listdir("a"), lambda: store.rmdir("a")):
        with pytest.raises(TypeError, match="int"):
            call()


@pytest.mark.parametrize(
    "value", [np.arange(3, dtype="i2"), np.array(["2020"], dtype="M8[D]"), bytearray(b"1"), b"2"]
)
def test_values_with_a_buffer_are_read_measured_and_moved_as_bytes(value: Any) -> None:
    store = KVStore({"a/b": value})
    as_bytes = value.tobytes() if isinstance(value, np.ndarray) else bytes(value)
    assert store["a/b"] == as_bytes
    assert store.getsize("a/b") == len(as_bytes)
    store.rename("a", "c")
    assert store._mutable_mapping == {"c/b": as_bytes}
