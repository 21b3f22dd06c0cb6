"""The same array by two handles, which two threads use: in turn, and at once."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from random import Random
from typing import Any

import numpy as np

from model.array import MOST_ELEMENTS, StoredArray
from model.drawn import count


class TwoHandles(StoredArray):
    """The same steps, each by the other one of two handles; and steps that both make at once, of
    elements that lie beside each other."""

    steps = (*StoredArray.steps, "write_at_once", "write_at_once", "append_at_once")

    def __init__(self) -> None:
        super().__init__()
        self.threads = [ThreadPoolExecutor(1), ThreadPoolExecutor(1)]
        self.handles: list[Any] = []

    def use(self, array: Any) -> None:
        # The stored state, after any change of the shape by the other handle.
        keywords = {"cache_metadata": False, "write_empty_chunks": array.write_empty_chunks}
        self.handles = [self.open("r+", **keywords) for _ in self.threads]

    def do(self, work: Callable[..., Any], *args: Any) -> Any:
        self.handles.reverse()
        self.threads.reverse()
        return self.threads[0].submit(work, self.handles[0], *args).result()

    def both(self, work: Callable[[Any, int], Any]) -> None:
        """Call ``work`` with both handles, and the numbers 0 and 1, at the same time."""
        ready = threading.Barrier(2)

        def wait_and_work(handle: Any, number: int) -> None:
            ready.wait(60)
            work(handle, number)

        pairs = enumerate(zip(self.threads, self.handles, strict=True))
        for each in [thread.submit(wait_and_work, z, i) for i, (thread, z) in pairs]:
            each.result()

    def write_at_once(self, random: Random) -> None:
        """Every second element along an axis by one, those between by the other."""
        if not self.model.ndim:
            return
        count(step="write at once")
        axis = random.randint(0, self.model.ndim - 1)
        new = self.values(random, self.model.shape)

        def write(z: Any, number: int) -> None:
            key = (slice(None),) * axis + (slice(number, None, 2),)
            z[key] = new[key]

        self.both(write)
        self.model = new

    def append_at_once(self, random: Random) -> None:
        """Both append: one of them is first, and neither loses a row."""
        if not self.model.ndim or self.model.size > MOST_ELEMENTS:
            return
        count(step="append at once")
        axis, first = self.draw_rows(random, 1, 3)
        added = [first, self.values(random, first.shape)]
        self.both(lambda z, number: z.append(added[number], axis=axis))
        self.second = None
        orders = [np.concatenate([self.model, *order], axis) for order in (added, added[::-1])]
        found = self.do(lambda z: z[...])
        self.model = orders[0].astype(self.dtype)
        try:
            self.same(found, self.model)
        except AssertionError:
            self.model = orders[1].astype(self.dtype)

    def close(self) -> None:
        for thread in self.threads:
            thread.shutdown()
        super().close()
