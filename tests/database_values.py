"""Values that tests of databases store, and what must be seen of them."""

from typing import Any


def fill(store: Any) -> None:
    for key, value in {"a": b"aaa", "c/d": b"ddd", "c/e/f": b"fff", "c/e/g": b"gggg"}.items():
        store[key] = value
    store["c0"] = b"behind c/"


def check_filled(store: Any) -> None:
    assert sorted(store) == ["a", "c/d", "c/e/f", "c/e/g", "c0"]
    assert (len(store), store["c/e/f"], "c/d" in store, "c" in store) == (5, b"fff", True, False)
    assert store.getitems(["a", "x", "c/d"]) == {"a": b"aaa", "c/d": b"ddd"}
    assert (store.listdir(), store.listdir("c")) == (["a", "c", "c0"], ["d", "e"])
    assert (store.getsize("a"), store.getsize("c/e"), store.getsize("x")) == (3, 7, 0)
