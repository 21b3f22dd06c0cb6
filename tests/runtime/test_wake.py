"""Threads beside the main thread: what an interrupted call leaves behind."""

import gc
import signal
import threading
import weakref

import pytest
from zarrix._array.length_lock import LengthLock
from zarrix._runtime.wake import begin, without_signals
from zarrix._stores.synchronizer import FileLock


class Held:
    """Something that a caller holds, such as an open writer."""


def fail() -> None:
    raise ValueError("no")


def interrupt() -> None:
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize(("call", "error"), [(fail, ValueError), (interrupt, KeyboardInterrupt)])
def test_an_exception_does_not_keep_what_the_callers_hold(call, error):
    def caller(held):
        without_signals(call)

    held = Held()
    alive = weakref.ref(held)
    gc.disable()
    try:
        with pytest.raises(error):
            caller(held)
        del held
        assert alive() is None
    finally:
        gc.enable()


def test_a_thread_that_cannot_begin_does_not_keep_what_the_callers_hold():
    def caller(held, thread):
        begin(thread)

    held = Held()
    alive = weakref.ref(held)
    thread = threading.Thread(target=len, args=((),))
    thread.start()
    thread.join()
    gc.disable()
    try:
        with pytest.raises(RuntimeError, match="started once"):
            caller(held, thread)
        del held
        assert alive() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", [FileLock, LengthLock])
def test_a_lock_whose_constructor_was_interrupted_has_nothing_to_give_up(kind):
    # As Ctrl-C leaves it between `__new__` and the first line of `__init__`.
    lock = kind.__new__(kind)
    assert lock._descriptor is None
    if hasattr(lock, "__del__"):
        lock.__del__()
