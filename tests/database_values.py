"""What tests of databases do with any: values that are stored, and a fork."""

import os
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


def check_fork(store: Any) -> None:
    """A forked child and its parent both go on with a store that was used before."""
    store["a"] = b"1"
    child = os.fork()
    if child == 0:
        try:
            store["child"] = store["a"]
            os._exit(0 if store["child"] == b"1" else 1)
        except BaseException:
            os._exit(2)
    store["parent"] = store["a"]
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert (store["child"], store["parent"]) == (b"1", b"1")
